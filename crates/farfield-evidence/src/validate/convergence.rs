//! Orders of convergence of the integrators, on the leapfrogging filaments.

use super::leapfrog::RINGS;
use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::vec3::{Vec3, norm, sub};
use farfield_sim::vortex::VortexModel;

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
    let case = case(RINGS, &set)?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok(model.elements()?.positions)
}

pub fn run() -> Result<Validation, Error> {
    let truth = end_of("rk4", 320)?;
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    let mut chart = LineChart::new("Error of the positions at t = 0.8")
        .subtitle("leapfrogging filaments; against RK4 with 320 steps")
        .x_axis(Axis::log("time step"))
        .y_axis(Axis::log("root mean square error"));
    for (k, (scheme, order, steps)) in [
        ("euler", 1.0, [10, 20, 40, 80]),
        ("rk2", 2.0, [10, 20, 40, 80]),
        ("rk4", 4.0, [5, 10, 20, 40]),
    ]
    .into_iter()
    .enumerate()
    {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for n in steps {
            let found = end_of(scheme, n)?;
            let square: f64 = found.iter().zip(&truth).map(|(a, b)| norm(sub(*a, *b)).powi(2)).sum();
            let error = (square / truth.len() as f64).sqrt();
            let dt = END / n as f64;
            let measured = points
                .last()
                .map_or(f64::NAN, |(before, larger)| (larger / error).ln() / (before / dt).ln());
            rows.push((scheme.to_owned(), vec![dt, error, measured]));
            points.push((dt, error));
        }
        let last = rows.last().map_or(f64::NAN, |(_, values)| values[2]);
        claims.push(Claim {
            text: format!("{scheme}: order {last:.2}, theory {order}"),
            holds: (last - order).abs() < 0.25,
        });
        chart = chart.series(
            Series::new(scheme)
                .points(&points)
                .style(LineStyle::Solid, Marker::Circle)
                .color(Color::PALETTE[k]),
        );
        let (dt, error) = points[points.len() - 1];
        let guide: Vec<(f64, f64)> = points.iter().map(|(x, _)| (*x, error * (x / dt).powf(order))).collect();
        let name = format!("order {order}");
        chart = chart.series(
            Series::new(name)
                .points(&guide)
                .style(LineStyle::Dashed, Marker::None)
                .color(Color::GREY),
        );
    }
    Ok(Validation {
        title: "Orders of convergence".to_owned(),
        columns: vec!["scheme", "step", "error", "order"],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
