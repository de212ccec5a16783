//! A whole short run with the FMM against the same run with direct sums.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::vec3::{Vec3, norm, sub};
use farfield_sim::vortex::VortexModel;

const RINGS: &str = "time = { end = 0.5, step = 0.1, scheme = \"rk2\" }\n[vortex]\ncore = \"gaussian\"\nlayers = 2\naround = 100\noverlap = 0.8\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.12\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.12\ncentre = [0.0, 0.0, 0.6]\n\
    [tracers]\ncount = 2000\n";

/// Positions of elements and tracers at the end.
fn end_of(method: &str, tolerance: f64) -> Result<(Vec<Vec3>, Vec<Vec3>), Error> {
    let case = case(
        RINGS,
        &[format!("sum.method={method}"), format!("sum.tolerance={tolerance}")],
    )?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok((model.elements()?.positions, model.tracers()?.to_vec()))
}

/// The root mean square difference over the mean way.
fn difference(found: &[Vec3], truth: &[Vec3], start: &[Vec3]) -> f64 {
    let square = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| norm(sub(*a, *b)).powi(2)).sum::<f64>();
    (square(found, truth) / square(truth, start)).sqrt()
}

pub fn run() -> Result<Validation, Error> {
    let start = VortexModel::new(&case(RINGS, &[])?, MachineProfile::default())?;
    let (elements, tracers) = end_of("direct", 1e-12)?;
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        let found = end_of("fmm", tolerance)?;
        let of_elements = difference(&found.0, &elements, &start.elements()?.positions);
        let of_tracers = difference(&found.1, &tracers, start.tracers()?);
        rows.push((tolerance.to_string(), vec![of_elements, of_tracers]));
        claims.push(Claim::below(
            format!("tolerance {tolerance:.0e}: elements, relative difference over the run"),
            of_elements,
            3.0 * tolerance,
        ));
        claims.push(Claim::below(
            format!("tolerance {tolerance:.0e}: tracers, relative difference over the run"),
            of_tracers,
            3.0 * tolerance,
        ));
    }
    let series = |k: usize| -> Vec<(f64, f64)> {
        rows.iter()
            .filter_map(|(t, values)| Some((t.parse().ok()?, values[k])))
            .collect()
    };
    let same: Vec<(f64, f64)> = series(0).iter().map(|(t, _)| (*t, *t)).collect();
    let chart = LineChart::new("Trajectories with the FMM against direct sums")
        .subtitle("relative difference of the ways of 3800 elements and 2000 tracers at t = 0.5")
        .x_axis(Axis::log("tolerance of each sum"))
        .y_axis(Axis::log("relative difference"))
        .series(
            Series::new("elements")
                .points(&series(0))
                .style(LineStyle::Solid, Marker::Circle)
                .color(Color::PALETTE[0]),
        )
        .series(
            Series::new("tracers")
                .points(&series(1))
                .style(LineStyle::Solid, Marker::Square)
                .color(Color::PALETTE[1]),
        )
        .series(
            Series::new("the tolerance")
                .points(&same)
                .style(LineStyle::Dashed, Marker::None)
                .color(Color::INK),
        );
    Ok(Validation {
        title: "A run with the FMM against the same run with direct sums".to_owned(),
        columns: vec!["tolerance", "elements", "tracers"],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
