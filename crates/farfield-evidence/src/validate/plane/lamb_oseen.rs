//! The vortex of Lamb and Oseen: viscosity lets the mean square radius grow by $4\nu t$, and the velocity is
//! $\frac\Gamma{2\pi r}(1-e^{-r^2/(\sigma^2+4\nu t)})$.

use super::{advance, measured, model};
use crate::validate::{Claim, Validation};
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::model::Model;
use std::f64::consts::PI;

const VISCOSITY: f64 = 0.01;
/// A step of the run turns the middle of the vortex by half a radian.
const CIRCULATION: f64 = 0.1;
const CORE: f64 = 0.1;
const TIME: f64 = 3.0;

/// Mean square radii over time, and the largest error of the velocity at the end, over the largest velocity.
struct Spread {
    squares: Vec<(f64, f64)>,
    velocity: f64,
}

fn spread(diffusion: &str, count: usize) -> Result<Spread, Error> {
    let part = if count == 1 {
        format!("[[plane.vortices]]\ncirculation = {CIRCULATION}\ncore = {CORE}\n")
    } else {
        format!("[[plane.clouds]]\ncount = {count}\nradius = 1e-9\ncirculation = {CIRCULATION}\ncore = {CORE}\n")
    };
    let name = if count == 1 { "vortex1_radius" } else { "cloud1_radius" };
    let mut vortex = model(
        "rk4",
        1e-4,
        &format!("[plane]\nviscosity = {VISCOSITY}\ndiffusion = \"{diffusion}\"\n{part}"),
    )?;
    let mut squares = vec![(0.0, measured(&mut vortex, name)?.powi(2))];
    advance(&mut vortex, TIME, 10, |vortex, time| {
        squares.push((time, measured(vortex, name)?.powi(2)));
        Ok(())
    })?;
    Ok(Spread {
        velocity: velocity_error(&mut vortex)?,
        squares,
    })
}

/// Against the exact profile, at radii up to five cores, in the mean over eight directions.
fn velocity_error(vortex: &mut impl Model) -> Result<f64, Error> {
    let core = CORE * CORE + 4.0 * VISCOSITY * TIME;
    let exact = |r: f64| CIRCULATION * (1.0 - (-r * r / core).exp()) / (2.0 * PI * r);
    let radii: Vec<f64> = (1..=20).map(|k| 0.25 * f64::from(k) * core.sqrt()).collect();
    let around = |r: f64| {
        (0..8).map(move |k| {
            let (sine, cosine) = (0.25 * PI * f64::from(k)).sin_cos();
            [r * cosine, r * sine, 0.0]
        })
    };
    let points: Vec<[f64; 3]> = radii.iter().flat_map(|r| around(*r)).collect();
    let Some(flow) = vortex.flow_at(&points)? else {
        return Ok(f64::NAN);
    };
    let turning: Vec<f64> = points
        .iter()
        .zip(&flow.velocities)
        .map(|(x, u)| (x[0] * u[1] - x[1] * u[0]) / x[0].hypot(x[1]))
        .collect();
    let largest = radii.iter().map(|r| exact(*r)).fold(0.0, f64::max);
    let errors = radii.iter().zip(turning.chunks(8)).map(|(r, around)| {
        let mean = around.iter().sum::<f64>() / around.len() as f64;
        (mean - exact(*r)).abs() / largest
    });
    Ok(errors.fold(0.0, f64::max))
}

pub fn run() -> Result<Validation, Error> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    let exact = [(0.0, CORE * CORE), (TIME, CORE * CORE + 4.0 * VISCOSITY * TIME)];
    let mut chart = LineChart::new("The vortex of Lamb and Oseen spreads")
        .x_axis(Axis::linear("time"))
        .y_axis(Axis::linear("mean square radius"))
        .series(
            Series::new("σ² + 4νt")
                .points(&exact)
                .style(LineStyle::Dashed, Marker::None)
                .color(Color::PALETTE[0]),
        );
    // The standard deviation of the mean square of n walkers is their mean square over the root of n; three of these.
    let walkers = |n: usize| 3.0 / (n as f64).sqrt();
    for (k, (diffusion, count, spread_limit, velocity_limit)) in [
        ("core-spreading", 1, 1e-12, 1e-9),
        ("random-walk", 1000, walkers(1000), walkers(1000)),
        ("random-walk", 4000, walkers(4000), walkers(4000)),
    ]
    .into_iter()
    .enumerate()
    {
        let label = format!("{diffusion}, {count} blob{}", if count == 1 { "" } else { "s" });
        let spread = spread(diffusion, count)?;
        let (first, last) = (spread.squares[0].1, spread.squares[10].1);
        let error = ((last - first) / (4.0 * VISCOSITY * TIME) - 1.0).abs();
        rows.push((label.clone(), vec![count as f64, last - first, error, spread.velocity]));
        claims.push(Claim::below(
            format!("{label}: growth over 4 nu t, less 1"),
            error,
            spread_limit,
        ));
        claims.push(Claim::below(
            format!("{label}: velocity against the exact one, over its largest"),
            spread.velocity,
            velocity_limit,
        ));
        chart = chart.series(
            Series::new(label)
                .points(&spread.squares)
                .style(LineStyle::None, [Marker::Circle, Marker::Square, Marker::Circle][k])
                .color(Color::PALETTE[k + 1]),
        );
    }
    Ok(Validation {
        title: "The vortex of Lamb and Oseen spreads as 4 nu t".to_owned(),
        columns: vec!["method", "blobs", "growth", "growth_error", "velocity_error"],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
