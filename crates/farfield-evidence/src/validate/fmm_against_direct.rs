//! A short run with the FMM against the same run with direct sums.

use super::{Validation, chart, dashed, line, march, vortices};
use crate::Error;
use farfield_plot::{Axis, Color, Marker};
use farfield_sim::vec3::{Vec3, norm, sub};

const RINGS: &str = "time = { end = 0.5, step = 0.1, scheme = \"rk2\" }\n[vortex]\ncore = \"gaussian\"\nlayers = 2\naround = 100\noverlap = 0.8\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.12\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.12\ncentre = [0.0, 0.0, 0.6]\n\
    [tracers]\ncount = 2000\n";

/// Positions of elements and tracers at the end.
fn end_of(method: &str, tolerance: f64) -> Result<[Vec<Vec3>; 2], Error> {
    let set = [format!("sum.method={method}"), format!("sum.tolerance={tolerance}")];
    let (case, mut model) = vortices(RINGS, &set)?;
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok([model.elements()?.positions, model.tracers()?.to_vec()])
}

/// The root mean square difference over the root mean square displacement.
fn difference(found: &[Vec3], truth: &[Vec3], start: &[Vec3]) -> f64 {
    let square = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| norm(sub(*a, *b)).powi(2)).sum::<f64>();
    (square(found, truth) / square(truth, start)).sqrt()
}

pub fn run() -> Result<Validation, Error> {
    let (_, start) = vortices(RINGS, &[])?;
    let [elements, tracers] = end_of("direct", 1e-12)?;
    let title = "A run with the FMM against the same run with direct sums";
    let mut found = Validation::new(title, &["tolerance", "elements", "tracers"]);
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        let end = end_of("fmm", tolerance)?;
        let of_elements = difference(&end[0], &elements, &start.elements()?.positions);
        let of_tracers = difference(&end[1], &tracers, start.tracers()?);
        found.row(tolerance.to_string(), [of_elements, of_tracers]);
        for (what, value) in [("elements", of_elements), ("tracers", of_tracers)] {
            let text = format!("tolerance {tolerance:.0e}: {what}, relative difference over the run");
            found.below(text, value, 3.0 * tolerance);
        }
    }
    let same: Vec<(f64, f64)> = found.points(0).iter().map(|(t, _)| (*t, *t)).collect();
    let (x, y) = (Axis::log("tolerance of each sum"), Axis::log("relative difference"));
    let chart = chart("Trajectories with the FMM against direct sums", x, y)
        .subtitle("relative difference of the ways of 3800 elements and 2000 tracers at t = 0.5")
        .series(line("elements", &found.points(0), 0, Marker::Circle))
        .series(line("tracers", &found.points(1), 1, Marker::Square))
        .series(dashed("the tolerance", &same, Color::INK));
    Ok(found.with(chart))
}
