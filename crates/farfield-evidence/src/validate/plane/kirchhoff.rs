//! An elliptic patch of constant vorticity $\omega$ turns without changing its shape, at the rate $\omega ab/(a+b)^2$
//! (Kirchhoff 1876).

use super::{advance, measured, model};
use crate::Error;
use crate::validate::{Validation, chart, line};
use farfield_plot::{Axis, Marker};
use std::f64::consts::PI;

/// The relative error of the rate over an eighth of a turn, and the drift of the angular impulse.
fn error(axes: [f64; 2], count: usize) -> Result<(f64, f64), Error> {
    let [a, b] = axes;
    let rate = a * b / ((a + b) * (a + b));
    let mut ellipse = model(
        "rk4",
        1e-6,
        &format!(
            "[plane]\n[[plane.patches]]\ncount = {count}\naxes = [{a:?}, {b:?}]\nvorticity = 1.0\noverlap = 1.0\n"
        ),
    )?;
    let before = measured(&mut ellipse, "angular_impulse")?;
    let time = 0.25 * PI / rate;
    advance(&mut ellipse, time, 10, |_, _| Ok(()))?;
    let angle = measured(&mut ellipse, "patch1_angle")?;
    let drift = measured(&mut ellipse, "angular_impulse")? / before - 1.0;
    Ok(((angle / (rate * time) - 1.0).abs(), drift.abs()))
}

pub fn run() -> Result<Validation, Error> {
    let columns = ["ellipse", "blobs", "rate_error", "angular_impulse_drift"];
    let mut found = Validation::new("Kirchhoff's ellipse turns at its rate", &columns);
    let (x, y) = (Axis::log("blobs"), Axis::log("relative error of the rate"));
    let mut chart = chart("Rate of Kirchhoff's ellipse: relative error", x, y)
        .subtitle("Gaussian blobs as far apart as they are wide; exact rate ωab/(a+b)²");
    for (k, axes) in [[1.5, 1.0], [2.0, 1.0], [3.0, 1.0]].into_iter().enumerate() {
        let label = format!("axes {} and {}", axes[0], axes[1]);
        let mut errors = Vec::new();
        for count in [120, 500, 2000] {
            let (error, drift) = error(axes, count)?;
            found.row(label.clone(), [count as f64, error, drift]);
            errors.push((count as f64, error));
            if count == 2000 {
                found.below(format!("{label}, 2000 blobs: relative error of the rate"), error, 5e-3);
                found.below(
                    format!("{label}, 2000 blobs: drift of the angular impulse"),
                    drift,
                    1e-5,
                );
            }
        }
        let falls = errors.windows(2).all(|pair| pair[1].1 < 0.5 * pair[0].1);
        let list: Vec<String> = errors.iter().map(|(_, error)| format!("{error:.1e}")).collect();
        let list = list.join(", ");
        found.claim(
            format!("{label}: with 120, 500, 2000 blobs the error falls: {list}"),
            falls,
        );
        chart = chart.series(line(label, &errors, k, Marker::Circle));
    }
    Ok(found.with(chart))
}
