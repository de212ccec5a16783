//! The vortex of Lamb and Oseen: viscosity lets the mean square radius grow by $4\nu t$, and the velocity is
//! $\frac\Gamma{2\pi r}(1-e^{-r^2/(\sigma^2+4\nu t)})$.

use super::{advance, measured, model};
use crate::Error;
use crate::validate::{Validation, chart, dashed, largest, markers};
use farfield_plot::{Axis, Color, Marker};
use farfield_sim::model::Model;
use std::f64::consts::PI;

const VISCOSITY: f64 = 0.01;
/// With this circulation a step turns the middle of the vortex by half a radian.
const CIRCULATION: f64 = 0.1;
const CORE: f64 = 0.1;
const TIME: f64 = 3.0;

/// Mean square radii over time, and the largest error of the velocity at the end over the largest velocity.
fn spread(diffusion: &str, count: usize) -> Result<(Vec<(f64, f64)>, f64), Error> {
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
    Ok((squares, velocity_error(&mut vortex)?))
}

/// The largest error against the exact profile, at radii up to five cores, in the mean over eight directions.
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
    let fastest = largest(radii.iter().map(|r| exact(*r)));
    let errors = radii.iter().zip(turning.chunks(8)).map(|(r, around)| {
        let mean = around.iter().sum::<f64>() / around.len() as f64;
        (mean - exact(*r)).abs() / fastest
    });
    Ok(largest(errors))
}

pub fn run() -> Result<Validation, Error> {
    let columns = ["method", "blobs", "growth", "growth_error", "velocity_error"];
    let mut found = Validation::new("The vortex of Lamb and Oseen spreads as 4 nu t", &columns);
    let exact = [(0.0, CORE * CORE), (TIME, CORE * CORE + 4.0 * VISCOSITY * TIME)];
    let (x, y) = (Axis::linear("time"), Axis::linear("mean square radius"));
    let mut chart =
        chart("The vortex of Lamb and Oseen spreads", x, y).series(dashed("σ² + 4νt", &exact, Color::PALETTE[0]));
    // Three standard deviations of the mean square of n walkers, each of which is the mean square over the root of n.
    let walkers = |n: usize| 3.0 / (n as f64).sqrt();
    let methods = [
        ("core-spreading", 1, [1e-12, 1e-9], Marker::Circle),
        ("random-walk", 1000, [walkers(1000); 2], Marker::Square),
        ("random-walk", 4000, [walkers(4000); 2], Marker::Circle),
    ];
    for (k, (diffusion, count, [spread_limit, velocity_limit], marker)) in methods.into_iter().enumerate() {
        let label = format!("{diffusion}, {count} blob{}", if count == 1 { "" } else { "s" });
        let (squares, velocity) = spread(diffusion, count)?;
        let growth = squares[10].1 - squares[0].1;
        let error = (growth / (4.0 * VISCOSITY * TIME) - 1.0).abs();
        found.row(label.clone(), [count as f64, growth, error, velocity]);
        found.below(format!("{label}: growth over 4 nu t, less 1"), error, spread_limit);
        let text = format!("{label}: velocity against the exact one, over its largest");
        found.below(text, velocity, velocity_limit);
        chart = chart.series(markers(label, &squares, k + 1, marker));
    }
    Ok(found.with(chart))
}
