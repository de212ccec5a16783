//! Two vortices of circulations $\Gamma_1$, $\Gamma_2$ at a distance $d$ turn about their common centre with the period
//! $4\pi^2d^2/(\Gamma_1+\Gamma_2)$.

use super::{advance, measured, points, square};
use crate::Error;
use crate::validate::{Validation, chart, line};
use farfield_plot::{Axis, Marker};
use std::f64::consts::PI;

/// The distance between the two.
const DISTANCE: f64 = 0.9;

/// The relative error of the period, the distance of the first vortex from its start over the distance between the two,
/// and the relative drift of the Hamiltonian, after one period.
fn turn([first, second]: [f64; 2], steps: u64) -> Result<[f64; 3], Error> {
    // The origin is the common centre.
    let total = first + second;
    let places = [[DISTANCE * second / total, 0.0], [-DISTANCE * first / total, 0.0]];
    let mut pair = points(&[(first, places[0]), (second, places[1])])?;
    let energy = measured(&mut pair, "hamiltonian")?;
    let period = 4.0 * PI * PI * DISTANCE * DISTANCE / total;
    advance(&mut pair, period, steps, |_, _| Ok(()))?;
    let ends = pair.vortices()?.0.to_vec();
    // The line from the second to the first lay along x.
    let angle = (ends[0][1] - ends[1][1]).atan2(ends[0][0] - ends[1][0]);
    Ok([
        (angle / (2.0 * PI)).abs(),
        square(ends[0], places[0]).sqrt() / DISTANCE,
        (measured(&mut pair, "hamiltonian")? / energy - 1.0).abs(),
    ])
}

pub fn run() -> Result<Validation, Error> {
    let columns = [
        "vortices",
        "steps_per_period",
        "period_error",
        "gap",
        "hamiltonian_drift",
    ];
    let mut found = Validation::new("Two vortices turn with the exact period", &columns);
    let (x, y) = (Axis::log("steps a period"), Axis::log("relative error of the period"));
    let mut chart = chart("Period of two vortices: relative error", x, y)
        .subtitle("classical Runge-Kutta steps; exact period 4π²d²/(Γ₁+Γ₂)");
    for (k, circulations) in [[1.0, 1.0], [2.0, 1.0], [3.0, -1.0]].into_iter().enumerate() {
        let label = format!("circulations {} and {}", circulations[0], circulations[1]);
        let mut errors = Vec::new();
        for steps in [50, 100, 200, 400] {
            let [period, gap, energy] = turn(circulations, steps)?;
            found.row(label.clone(), [steps as f64, period, gap, energy]);
            errors.push((steps as f64, period));
            if steps == 400 {
                found.below(
                    format!("{label}, 400 steps: relative error of the period"),
                    period,
                    1e-8,
                );
                found.below(format!("{label}, 400 steps: drift of the Hamiltonian"), energy, 1e-8);
            }
        }
        found.order(&label, (errors[0].1 / errors[1].1).log2(), 4.0, 0.3);
        chart = chart.series(line(label, &errors, k, Marker::Circle));
    }
    Ok(found.with(chart))
}
