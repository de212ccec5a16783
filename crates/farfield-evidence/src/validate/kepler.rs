//! The orbit of the case `kepler` closes.

use super::{Validation, chart, line, march};
use crate::Error;
use crate::case::built_in;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Marker};
use farfield_sim::gravity::GravityModel;
use farfield_sim::vec3::{norm, sub};

/// The distance of the second body from its start after ten periods of `steps` steps each.
fn gap(scheme: &str, steps: usize) -> Result<f64, Error> {
    let period = 2.0 * std::f64::consts::PI;
    let set = [
        format!("time.scheme={scheme}"),
        format!("time.step={}", period / steps as f64),
    ];
    let case = built_in("kepler", &set)?;
    let mut model = GravityModel::new(&case, MachineProfile::default())?;
    let start = model.bodies()?.positions[1];
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok(norm(sub(model.bodies()?.positions[1], start)))
}

pub fn run() -> Result<Validation, Error> {
    let mut found = Validation::new("A Kepler orbit closes", &["scheme", "steps_per_period", "gap"]);
    let (x, y) = (Axis::log("steps per period"), Axis::log("distance from the start"));
    let mut chart =
        chart("Gap of a Kepler orbit after ten periods", x, y).subtitle("eccentricity 0.5, semi-major axis 1");
    let schemes = [("leapfrog", 2, [250, 500, 1000]), ("yoshida4", 4, [500, 1000, 2000])];
    for (k, (scheme, order, counts)) in schemes.into_iter().enumerate() {
        let mut points = Vec::new();
        for steps in counts {
            let gap = gap(scheme, steps)?;
            found.row(scheme, [steps as f64, gap]);
            points.push((steps as f64, gap));
        }
        chart = chart.series(line(format!("{scheme}, order {order}"), &points, k, Marker::Circle));
    }
    let gaps = found.column(1);
    let best = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    found.below("yoshida4, 2000 steps a period: gap after ten periods", best, 1e-6);
    found.order("leapfrog", (gaps[1] / gaps[2]).log2(), 2.0, 0.2);
    found.order("yoshida4", (gaps[4] / gaps[5]).log2(), 4.0, 0.3);
    Ok(found.with(chart))
}
