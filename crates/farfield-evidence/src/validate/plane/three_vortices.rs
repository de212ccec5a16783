//! Two exact motions of three vortices: equal ones on a triangle turn rigidly, and those with
//! $\Gamma_1\Gamma_2+\Gamma_2\Gamma_3+\Gamma_3\Gamma_1=0$ and no angular impulse about their centre collapse to a point: their
//! triangle keeps its shape while its area falls linearly in time (Gröbli 1877, Aref 1979).

use super::{advance, points, square};
use crate::Error;
use crate::validate::{Validation, chart, dashed, markers};
use farfield_plot::{Axis, Color, Marker};
use std::f64::consts::PI;

type Place = [f64; 2];

/// The distance of equal vortices on a triangle from their places after a rigid quarter turn.
fn triangle(steps: u64) -> Result<f64, Error> {
    let corner = |k: usize| {
        let (sine, cosine) = (2.0 * PI * k as f64 / 3.0).sin_cos();
        [cosine, sine]
    };
    let mut three = points(&[(1.0, corner(0)), (1.0, corner(1)), (1.0, corner(2))])?;
    // Gamma (n - 1) / (4 pi R^2)
    let rate = 2.0 / (4.0 * PI);
    advance(&mut three, 0.5 * PI / rate, steps, |_, _| Ok(()))?;
    Ok(square(three.vortices()?.0[0], [0.0, 1.0]).sqrt())
}

/// Three vortices that collapse.
struct Collapse {
    circulations: [f64; 3],
    places: [Place; 3],
}

impl Collapse {
    /// Circulations 2, 2 and -1; with the third at this place the angular impulse about the centre is zero, and the area
    /// falls.
    fn new() -> Self {
        Self {
            circulations: [2.0, 2.0, -1.0],
            places: [[-1.0, 0.0], [1.0, 0.0], [1.0, 2f64.sqrt()]],
        }
    }

    /// The constant rate of the squared distance between the first two:
    /// $\frac2\pi\Gamma_3A\left(\frac1{l_{23}^2}-\frac1{l_{31}^2}\right)$ with $A$ the signed area.
    fn rate(&self) -> f64 {
        let [a, b, c] = self.places;
        let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        2.0 / PI * self.circulations[2] * area * (1.0 / square(b, c) - 1.0 / square(c, a))
    }

    /// The time at which they meet.
    fn end(&self) -> f64 {
        square(self.places[0], self.places[1]) / -self.rate()
    }
}

pub fn run() -> Result<Validation, Error> {
    let mut found = Validation::new("Three vortices in known motion", &["motion", "steps", "time", "value"]);
    let mut turned = f64::NAN;
    for steps in [50, 100, 200] {
        turned = triangle(steps)?;
        found.row("triangle", [steps as f64, 0.0, turned]);
    }
    let collapse = Collapse::new();
    let places: Vec<(f64, Place)> = collapse.circulations.into_iter().zip(collapse.places).collect();
    let mut three = points(&places)?;
    let sides = |p: &[Place]| [square(p[0], p[1]), square(p[1], p[2]), square(p[2], p[0])];
    let start = sides(&collapse.places);
    let (end, steps) = (collapse.end(), 2000);
    let (mut simulated, mut exact, mut worst, mut shape) = (Vec::new(), Vec::new(), 0.0f64, 0.0f64);
    // A tenth of the area is left at the end.
    advance(&mut three, 0.9 * end, steps, |three, time| {
        let now = sides(three.vortices()?.0);
        let share = 1.0 - time / end;
        let errors = [0, 1, 2].map(|side| now[side] / (start[side] * share) - 1.0);
        worst = errors.iter().fold(worst, |worst, error| worst.max(error.abs()));
        shape = (0..3).fold(shape, |shape, k| shape.max((errors[k] - errors[(k + 1) % 3]).abs()));
        simulated.push((time, now[0]));
        exact.push((time, start[0] * share));
        Ok(())
    })?;
    for (time, square) in simulated.iter().step_by(200) {
        found.row("collapse", [steps as f64, *time, *square]);
    }
    found.below(
        "equal vortices on a triangle, a quarter turn in 200 steps: distance",
        turned,
        1e-7,
    );
    let text = format!("collapse in t = {end:.4}, up to 0.9 of it: squared distances, relative error");
    found.below(text, worst, 1e-6);
    found.below("collapse: change of the triangle's shape", shape, 1e-6);
    let few: Vec<(f64, f64)> = simulated.iter().step_by(100).copied().collect();
    let (x, y) = (Axis::linear("time"), Axis::linear("squared distance of the first two"));
    let chart = chart("Three vortices collapse", x, y)
        .subtitle("circulations 2, 2, -1: the triangle keeps its shape, its area falls linearly")
        .series(dashed("exact", &exact, Color::PALETTE[1]))
        .series(markers("simulated", &few, 0, Marker::Circle));
    Ok(found.with(chart))
}
