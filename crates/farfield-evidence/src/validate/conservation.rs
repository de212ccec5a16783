//! How well invariants are kept: with the form of the stretching term, the step and the resolution.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::model::Model;
use farfield_sim::vortex::VortexModel;

/// Two rings, the second tilted, so that nothing is kept by symmetry.
const RINGS: &str = "time = { end = 1.5, step = 0.1 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-12\n\
    [vortex]\ncore = \"gaussian\"\nlayers = 0\naround = 64\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.2\n\
    [[vortex.rings]]\nradius = 0.8\ncore = 0.2\ncentre = [0.3, 0.2, 0.8]\naxis = [0.2, -0.3, 1.0]\n";

/// Relative drifts at the end: total strength, impulse, angular impulse, energy, helicity (over energy).
fn drifts(set: &[String]) -> Result<Vec<f64>, Error> {
    let case = case(RINGS, set)?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    let mut first: Vec<f64> = Vec::new();
    let mut last = Vec::new();
    let scale: f64 = model
        .elements()?
        .strengths
        .iter()
        .map(|g| farfield_sim::vec3::norm(*g))
        .sum();
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
        (0..3)
            .map(|axis| (last[k + axis] - first[k + axis]).powi(2))
            .sum::<f64>()
            .sqrt()
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
        rows.push((
            format!("{form} dt=0.1 around=64"),
            drifts(&[format!("vortex.stretching={form}")])?,
        ));
    }
    claims.push(Claim::below(
        "transpose form: drift of the total strength, relative",
        rows[0].1[0],
        1e-13,
    ));
    let steps = [0.3, 0.15, 0.075, 0.0375];
    let mut by_step = Vec::new();
    for dt in steps {
        // Filaments that move with the flow and are stretched with it (the classical form) drift by the step alone.
        let set = ["time.scheme=rk2", "vortex.stretching=classical"].map(str::to_owned);
        let found = drifts(&[&set[..], &[format!("time.step={dt}")]].concat())?;
        rows.push((format!("classical rk2 dt={dt} around=64"), found.clone()));
        by_step.push(found);
    }
    // The transposed form differs from the classical one by omega x gamma, which is zero when strengths are along the
    // vorticity they make. They are as far as the cores of the elements are small against the core of the ring: so the
    // ring stays, and its elements become smaller. (Elements of a single filament are its core: nothing to resolve.)
    let (mut sizes, mut by_size) = (Vec::new(), Vec::new());
    for (layers, around) in [(2, 46), (3, 52), (4, 60)] {
        let set = [
            "vortex.rings.0.core=0.3".to_owned(),
            "vortex.rings.1.core=0.3".to_owned(),
            format!("vortex.layers={layers}"),
            format!("vortex.around={around}"),
            "time.step=0.15".to_owned(),
        ];
        let size = VortexModel::new(&case(RINGS, &set)?, MachineProfile::default())?
            .elements()?
            .sizes[0];
        let found = drifts(&set)?;
        rows.push((
            format!("transpose rk4 dt=0.15 layers={layers} size={size:.3}"),
            found.clone(),
        ));
        sizes.push(size);
        by_size.push(found);
    }
    for k in 1..NAMES.len() {
        // A filament has no twist to keep the helicity with; that drift does not depend on the step.
        if NAMES[k] != "helicity" {
            let ratio = by_step[by_step.len() - 1][k] / by_step[0][k];
            claims.push(Claim::below(
                format!("{}: drift with step 0.0375 over that with 0.3", NAMES[k]),
                ratio,
                0.1,
            ));
        }
        let ratio = by_size[by_size.len() - 1][k] / by_size[0][k];
        claims.push(Claim::below(
            format!("{}: drift with four layers of elements over that with two", NAMES[k]),
            ratio,
            0.85,
        ));
    }
    let shrinks = |k: usize| by_size.windows(2).all(|pair| pair[1][k] < pair[0][k]);
    claims.push(Claim {
        text: "every drift of the transpose form is smaller the smaller the elements of a ring are".to_owned(),
        holds: (1..NAMES.len()).all(shrinks),
    });
    let panel = |title: &str, label: &str, x: &[f64], found: &[Vec<f64>]| {
        let mut chart = LineChart::new(title)
            .x_axis(Axis::log(label))
            .y_axis(Axis::log("relative drift at t = 1.5"));
        for k in 1..NAMES.len() {
            let points: Vec<(f64, f64)> = x.iter().copied().zip(found.iter().map(|drifts| drifts[k])).collect();
            let series = Series::new(NAMES[k].replace('_', " ")).points(&points);
            chart = chart.series(series.style(LineStyle::Solid, Marker::Circle).color(Color::PALETTE[k]));
        }
        chart
    };
    let figure = ChartGrid::new("Drift of the invariants of two tilted rings")
        .subtitle("direct sums")
        .columns(2)
        .chart(panel(
            "With the step: filaments, RK2, classical form",
            "time step",
            &steps,
            &by_step,
        ))
        .chart(panel(
            "With the size of the elements: cores of 0.3, transpose form",
            "element size",
            &sizes,
            &by_size,
        ))
        .size(1200, 520);
    Ok(Validation {
        title: "Invariants of an inviscid flow".to_owned(),
        columns: [&["run"], &NAMES[..]].concat(),
        rows,
        figure: Box::new(figure),
        claims,
    })
}
