//! Two vortices of circulations $\Gamma_1$, $\Gamma_2$ at a distance $d$ turn about their common centre with the period
//! $4\pi^2d^2/(\Gamma_1+\Gamma_2)$.

use super::{advance, measured, points, square};
use crate::validate::{Claim, Validation};
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use std::f64::consts::PI;

/// The distance of the two.
const DISTANCE: f64 = 0.9;

/// What one period of two vortices shows.
struct Turn {
    /// How far the first is from where it began, over the distance of the two.
    gap: f64,
    /// The angle that is missing of a whole turn, as a share of it: the relative error of the period.
    period: f64,
    /// The drift of the Hamiltonian, relative.
    energy: f64,
}

fn turn([first, second]: [f64; 2], steps: u64) -> Result<Turn, Error> {
    // About their common centre, the origin.
    let total = first + second;
    let places = [[DISTANCE * second / total, 0.0], [-DISTANCE * first / total, 0.0]];
    let mut pair = points(&[(first, places[0]), (second, places[1])])?;
    let energy = measured(&mut pair, "hamiltonian")?;
    let period = 4.0 * PI * PI * DISTANCE * DISTANCE / total;
    advance(&mut pair, period, steps, |_, _| Ok(()))?;
    let ends = pair.vortices()?.0.to_vec();
    // The line from the second to the first lay along x.
    let angle = (ends[0][1] - ends[1][1]).atan2(ends[0][0] - ends[1][0]);
    Ok(Turn {
        gap: square(ends[0], places[0]).sqrt() / DISTANCE,
        period: (angle / (2.0 * PI)).abs(),
        energy: (measured(&mut pair, "hamiltonian")? / energy - 1.0).abs(),
    })
}

pub fn run() -> Result<Validation, Error> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    let mut chart = LineChart::new("Period of two vortices: relative error")
        .subtitle("classical Runge-Kutta steps; exact period 4π²d²/(Γ₁+Γ₂)")
        .x_axis(Axis::log("steps a period"))
        .y_axis(Axis::log("relative error of the period"));
    for (k, circulations) in [[1.0, 1.0], [2.0, 1.0], [3.0, -1.0]].into_iter().enumerate() {
        let label = format!("circulations {} and {}", circulations[0], circulations[1]);
        let mut errors = Vec::new();
        for steps in [50, 100, 200, 400] {
            let turn = turn(circulations, steps)?;
            rows.push((label.clone(), vec![steps as f64, turn.period, turn.gap, turn.energy]));
            errors.push((steps as f64, turn.period));
            if steps == 400 {
                claims.push(Claim::below(
                    format!("{label}, 400 steps: relative error of the period"),
                    turn.period,
                    1e-8,
                ));
                claims.push(Claim::below(
                    format!("{label}, 400 steps: drift of the Hamiltonian"),
                    turn.energy,
                    1e-8,
                ));
            }
        }
        let order = (errors[0].1 / errors[1].1).log2();
        claims.push(Claim {
            text: format!("{label}: order {order:.2}, theory 4"),
            holds: (order - 4.0).abs() < 0.3,
        });
        chart = chart.series(
            Series::new(label)
                .points(&errors)
                .style(LineStyle::Solid, Marker::Circle)
                .color(Color::PALETTE[k]),
        );
    }
    Ok(Validation {
        title: "Two vortices turn with the exact period".to_owned(),
        columns: vec![
            "vortices",
            "steps_per_period",
            "period_error",
            "gap",
            "hamiltonian_drift",
        ],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
