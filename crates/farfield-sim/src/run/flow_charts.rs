//! The charts of a flow: drag with reference curves, lift, invariants, the size of the grid.

use super::summary::{Columns, dashed, line, title};
use crate::case::{Case, ShapeName};
use crate::flow::Setup;
use crate::reference::sphere_drag;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart};

/// A column against T.
fn against(columns: &Columns, name: &str, from: f64) -> Vec<(f64, f64)> {
    let pairs = columns.get("T").iter().zip(columns.get(name));
    pairs
        .filter(|(t, v)| **t >= from && v.is_finite())
        .map(|(t, v)| (*t, *v))
        .collect()
}

fn chart(title: &str, unit: &str) -> LineChart {
    LineChart::new(title)
        .x_axis(Axis::linear("T = U t / R"))
        .y_axis(Axis::linear(unit))
}

/// All charts of a run.
pub fn charts(columns: &Columns, case: &Case) -> ChartGrid {
    let end = columns.get("T").last().copied().unwrap_or(1.0);
    let grid = ChartGrid::new(title(case)).columns(2);
    let grid = if case.body.is_empty() {
        let relative = |name: &str| -> Vec<(f64, f64)> {
            let points = against(columns, name, 0.0);
            let first = points.first().map_or(1.0, |p| p.1);
            points.iter().map(|(t, v)| (*t, v / first)).collect()
        };
        let energy = chart("Energy and enstrophy", "relative to the initial value")
            .series(line("energy", &relative("energy"), Color::PALETTE[0]))
            .series(line("enstrophy", &relative("enstrophy"), Color::PALETTE[1]));
        let mut impulse = chart("Impulse", "component");
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let points = against(columns, &format!("impulse_{axis}"), 0.0);
            impulse = impulse.series(line(axis, &points, Color::PALETTE[k]));
        }
        grid.chart(energy).chart(impulse)
    } else {
        let from = 0.02 * end;
        let mut drag = chart("Drag coefficient", "coefficient")
            .series(line(
                "from the impulse",
                &against(columns, "drag_impulse", from),
                Color::PALETTE[0],
            ))
            .series(line(
                "from penalisation",
                &against(columns, "drag_penalty", from),
                Color::PALETTE[1],
            ));
        for (name, points) in known_drag(case, from, end) {
            drag = drag.series(dashed(name, &points));
        }
        let lift = chart("Lift coefficients", "coefficient")
            .series(line("y", &against(columns, "lift_y", from), Color::PALETTE[2]))
            .series(line("z", &against(columns, "lift_z", from), Color::PALETTE[3]));
        grid.chart(drag).chart(lift)
    };
    let errors = chart("Vorticity: total, divergence, loss per step", "fraction")
        .y_axis(Axis::log("fraction"))
        .series(line(
            "total",
            &positive(against(columns, "total_vorticity", 0.0)),
            Color::PALETTE[0],
        ))
        .series(line(
            "divergence",
            &positive(against(columns, "divergence", 0.0)),
            Color::PALETTE[1],
        ))
        .series(line(
            "lost by remeshing",
            &positive(against(columns, "lost_moving", 0.0)),
            Color::PALETTE[2],
        ));
    let size = chart("Points and sources", "million")
        .series(line(
            "points",
            &millions(against(columns, "points", 0.0)),
            Color::PALETTE[4],
        ))
        .series(line(
            "sources",
            &millions(against(columns, "sources", 0.0)),
            Color::PALETTE[5],
        ));
    grid.chart(errors).chart(size).size(1200, 900)
}

fn positive(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.into_iter().filter(|p| p.1 > 0.0).collect()
}

fn millions(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.into_iter().map(|(t, v)| (t, 1e-6 * v)).collect()
}

/// Reference curves for the drag of a single impulsively started sphere.
pub(super) fn known_drag(case: &Case, from: f64, end: f64) -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let (Ok(setup), [body]) = (Setup::new(case), &case.body[..]) else {
        return Vec::new();
    };
    if body.shape != ShapeName::Sphere || setup.viscosity <= 0.0 {
        return Vec::new();
    }
    let reynolds = setup.speed * setup.length / setup.viscosity;
    let within = |points: Vec<(f64, f64)>| points.into_iter().filter(|p| p.0 >= from && p.0 <= end).collect();
    if (reynolds / sphere_drag::REYNOLDS - 1.0).abs() < 1e-3 {
        return vec![("reference", within(sphere_drag::curve().collect()))];
    }
    let early = (1..=40)
        .map(|k| from + (end.min(0.5) - from) * f64::from(k) / 40.0)
        .map(|t| (t, sphere_drag::early(reynolds, t)))
        .collect();
    vec![("early-time theory", within(early))]
}
