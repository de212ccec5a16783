//! Orders of convergence of the integrators, on the leapfrogging filaments.

use super::leapfrog::RINGS;
use super::{Validation, chart, dashed, line, march, vortices};
use crate::Error;
use farfield_plot::{Axis, Color, Marker};
use farfield_sim::vec3::{Vec3, norm, sub};

const END: f64 = 0.8;

/// The positions at the end.
fn end_of(scheme: &str, steps: usize) -> Result<Vec<Vec3>, Error> {
    let set = [
        format!("time.end={END}"),
        format!("time.step={}", END / steps as f64),
        format!("time.scheme={scheme}"),
        "vortex.around=40".to_owned(),
        "vortex.rings.0.core=0.2".to_owned(),
        "vortex.rings.1.core=0.2".to_owned(),
        "sum.tolerance=1e-12".to_owned(),
    ];
    let (case, mut model) = vortices(RINGS, &set)?;
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok(model.elements()?.positions)
}

pub fn run() -> Result<Validation, Error> {
    let truth = end_of("rk4", 320)?;
    let mut found = Validation::new("Orders of convergence", &["scheme", "step", "error", "order"]);
    let (x, y) = (Axis::log("time step"), Axis::log("root mean square error"));
    let mut chart =
        chart("Error of the positions at t = 0.8", x, y).subtitle("leapfrogging filaments; against RK4 with 320 steps");
    let schemes = [
        ("euler", 1.0, [10, 20, 40, 80]),
        ("rk2", 2.0, [10, 20, 40, 80]),
        ("rk4", 4.0, [5, 10, 20, 40]),
    ];
    for (k, (scheme, order, steps)) in schemes.into_iter().enumerate() {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut measured = f64::NAN;
        for n in steps {
            let end = end_of(scheme, n)?;
            let square: f64 = end.iter().zip(&truth).map(|(a, b)| norm(sub(*a, *b)).powi(2)).sum();
            let error = (square / truth.len() as f64).sqrt();
            let dt = END / n as f64;
            if let Some((before, larger)) = points.last() {
                measured = (larger / error).ln() / (before / dt).ln();
            }
            found.row(scheme, [dt, error, measured]);
            points.push((dt, error));
        }
        found.order(scheme, measured, order, 0.25);
        let (dt, error) = points[points.len() - 1];
        let guide: Vec<(f64, f64)> = points.iter().map(|(x, _)| (*x, error * (x / dt).powf(order))).collect();
        chart = chart.series(line(scheme, &points, k, Marker::Circle)).series(dashed(
            format!("order {order}"),
            &guide,
            Color::GREY,
        ));
    }
    Ok(found.with(chart))
}
