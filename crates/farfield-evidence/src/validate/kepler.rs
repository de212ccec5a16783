//! The orbit of the case `kepler` closes.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::case::BuiltIn;
use farfield_sim::gravity::GravityModel;
use farfield_sim::vec3::{norm, sub};

/// How far the second body is from its start after ten periods of `steps` steps each.
fn gap(scheme: &str, steps: usize) -> Result<f64, Error> {
    let text = BuiltIn::find("kepler").map_or("", |built_in| built_in.text);
    let period = 2.0 * std::f64::consts::PI;
    let case = case(
        text,
        &[
            format!("time.scheme={scheme}"),
            format!("time.step={}", period / steps as f64),
        ],
    )?;
    let mut model = GravityModel::new(&case, MachineProfile::default())?;
    let start = model.bodies()?.positions[1];
    march(&mut model, &case, |_, _| Ok(()))?;
    Ok(norm(sub(model.bodies()?.positions[1], start)))
}

pub fn run() -> Result<Validation, Error> {
    let mut rows = Vec::new();
    let mut chart = LineChart::new("Gap of a Kepler orbit after ten periods")
        .subtitle("eccentricity 0.5, semi-major axis 1")
        .x_axis(Axis::log("steps per period"))
        .y_axis(Axis::log("distance from the start"));
    let mut best = f64::INFINITY;
    for (k, (scheme, order, counts)) in [("leapfrog", 2, [250, 500, 1000]), ("yoshida4", 4, [500, 1000, 2000])]
        .into_iter()
        .enumerate()
    {
        let mut points = Vec::new();
        for steps in counts {
            let gap = gap(scheme, steps)?;
            rows.push((scheme.to_owned(), vec![steps as f64, gap]));
            points.push((steps as f64, gap));
            best = best.min(gap);
        }
        let name = format!("{scheme}, order {order}");
        chart = chart.series(
            Series::new(name)
                .points(&points)
                .style(LineStyle::Solid, Marker::Circle)
                .color(Color::PALETTE[k]),
        );
    }
    let order = |scheme: &str| {
        let gaps: Vec<f64> = rows
            .iter()
            .filter(|(name, _)| name == scheme)
            .map(|(_, values)| values[1])
            .collect();
        (gaps[1] / gaps[2]).log2()
    };
    let claims = vec![
        Claim::below("yoshida4, 2000 steps a period: gap after ten periods", best, 1e-6),
        Claim {
            text: format!("leapfrog: order {:.2}, theory 2", order("leapfrog")),
            holds: (order("leapfrog") - 2.0).abs() < 0.2,
        },
        Claim {
            text: format!("yoshida4: order {:.2}, theory 4", order("yoshida4")),
            holds: (order("yoshida4") - 4.0).abs() < 0.3,
        },
    ];
    Ok(Validation {
        title: "A Kepler orbit closes".to_owned(),
        columns: vec!["scheme", "steps_per_period", "gap"],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
