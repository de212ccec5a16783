//! How well invariants are kept: with the form of the stretching term, the step and the resolution.

use super::{Claim, Figure, Validation, case, march};
use crate::error::Error;
use crate::model::Model;
use crate::vortex::VortexModel;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Color, LineChart, LineStyle, Marker, Series};

/// Two rings, the second tilted, so that nothing is kept by symmetry.
const RINGS: &str = "time = { end = 1.5, step = 0.1 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-12\n\
    [vortex]\ncore = \"gaussian\"\nlayers = 0\naround = 64\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.2\n\
    [[vortex.rings]]\nradius = 0.8\ncore = 0.2\ncentre = [0.3, 0.0, 0.8]\naxis = [0.2, 0.0, 1.0]\n";

/// Relative drifts at the end: total strength, impulse, angular impulse, energy, helicity (over energy).
fn drifts(set: &[String]) -> Result<Vec<f64>, Error> {
    let case = case(RINGS, set)?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    let mut first: Vec<f64> = Vec::new();
    let mut last = Vec::new();
    let scale: f64 = model.elements().strengths.iter().map(|g| crate::vec3::norm(*g)).sum();
    let end = case.time.end;
    march(&mut model, &case, |model, time| {
        if first.is_empty() {
            first = model.measure(true)?;
        } else if time >= end * (1.0 - 1e-9) {
            last = model.measure(true)?;
        }
        Ok(())
    })?;
    let names = model.columns();
    let at = |name: &str| names.iter().position(|column| column == name).unwrap_or(0);
    let vector = |name: &str| {
        let k = at(&format!("{name}_x"));
        (0..3).map(|axis| (last[k + axis] - first[k + axis]).powi(2)).sum::<f64>().sqrt()
    };
    let k = at("impulse_x");
    let impulse = first[k..k + 3].iter().map(|x| x * x).sum::<f64>().sqrt();
    let energy = at("energy");
    let helicity = at("helicity");
    Ok(vec![
        vector("total_vorticity") / scale,
        vector("impulse") / impulse,
        vector("angular_impulse") / impulse,
        ((last[energy] - first[energy]) / first[energy]).abs(),
        (last[helicity] - first[helicity]).abs() / first[energy],
    ])
}

const NAMES: [&str; 5] = ["total_vorticity", "impulse", "angular_impulse", "energy", "helicity"];

pub fn run() -> Result<Validation, Error> {
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    for form in ["transpose", "classical", "mixed"] {
        rows.push((format!("{form} dt=0.1 around=64"), drifts(&[format!("vortex.stretching={form}")])?));
    }
    claims.push(Claim::below("transpose form: drift of the total strength, relative", rows[0].1[0], 1e-13));
    let steps = [0.3, 0.15, 0.075, 0.0375];
    let arounds = [32, 64, 128];
    let mut by_step = Vec::new();
    for dt in steps {
        // With Heun's scheme the error of the step is the larger one.
        let found = drifts(&[format!("time.step={dt}"), "time.scheme=rk2".to_owned(), "vortex.around=96".to_owned()])?;
        rows.push((format!("transpose rk2 dt={dt} around=96"), found.clone()));
        by_step.push(found);
    }
    let mut by_resolution = Vec::new();
    for around in arounds {
        let found = drifts(&[format!("vortex.around={around}"), "time.step=0.05".to_owned()])?;
        rows.push((format!("transpose rk4 dt=0.05 around={around}"), found.clone()));
        by_resolution.push(found);
    }
    let (first, last) = (&by_step[0], &by_step[by_step.len() - 1]);
    claims.push(Claim::below("energy drift, step 0.0375 over step 0.3", last[3] / first[3], 0.25));
    let (coarse, fine) = (&by_resolution[0], &by_resolution[by_resolution.len() - 1]);
    for k in [1, 2, 3] {
        claims.push(Claim::below(format!("{} drift, 128 elements over 32", NAMES[k]), fine[k] / coarse[k].max(1e-15), 1.0));
    }
    let panel = |title: &str, label: &str, x: &[f64], found: &[Vec<f64>]| {
        let mut chart = LineChart::new(title).x_axis(Axis::log(label)).y_axis(Axis::log("relative drift at t = 1.5"));
        for k in 1..NAMES.len() {
            let points: Vec<(f64, f64)> = x.iter().copied().zip(found.iter().map(|drifts| drifts[k])).collect();
            let series = Series::new(NAMES[k].replace('_', " ")).points(&points);
            chart = chart.series(series.style(LineStyle::Solid, Marker::Circle).color(Color::PALETTE[k]));
        }
        chart
    };
    let counts: Vec<f64> = arounds.iter().map(|n| f64::from(*n)).collect();
    let figure = ChartGrid::new("Drift of the invariants of two tilted rings")
        .subtitle("single filaments, transpose form, direct sums")
        .columns(2)
        .chart(panel("With the step, RK2", "time step", &steps, &by_step))
        .chart(panel("With the resolution, RK4", "elements around a ring", &counts, &by_resolution))
        .size(1200, 520);
    Ok(Validation {
        title: "Invariants of an inviscid flow".to_owned(),
        columns: [&["run"], &NAMES[..]].concat(),
        rows,
        figure: Figure::Grid(figure),
        claims,
    })
}
