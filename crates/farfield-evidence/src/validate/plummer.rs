//! A star cluster over ten crossing times.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::gravity::GravityModel;
use farfield_sim::model::Model;

/// Plummer's model with G = M = a = 1 has the energy -3 pi/64; its crossing time is M^{5/2}/(2|E|)^{3/2} = 6.26.
const CLUSTER: &str = "seed = 2\ntime = { end = 62.6, step = 0.04, scheme = \"leapfrog\" }\n\
    [sum]\nmethod = \"direct\"\ntolerance = 1e-8\n[gravity]\nsoftening = 0.1\n[[gravity.plummer]]\ncount = 800\n";

pub fn run() -> Result<Validation, Error> {
    let case = case(CLUSTER, &[])?;
    let mut model = GravityModel::new(&case, MachineProfile::default())?;
    let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
    let mut first = f64::NAN;
    let mut step = 0;
    march(&mut model, &case, |model, time| {
        if step % 10 == 0 {
            let values = model.measure(true)?;
            if first.is_nan() {
                first = values[0];
            }
            rows.push((time.to_string(), vec![values[0] / first - 1.0, values[3]]));
        }
        step += 1;
        Ok(())
    })?;
    let worst = rows.iter().map(|(_, values)| values[0].abs()).fold(0.0, f64::max);
    let mean = rows.iter().map(|(_, values)| values[1]).sum::<f64>() / rows.len() as f64;
    let farthest = rows
        .iter()
        .map(|(_, values)| (values[1] - 1.0).abs())
        .fold(0.0, f64::max);
    let claims = vec![
        Claim::below("energy, largest relative change over ten crossing times", worst, 1e-3),
        Claim::below(
            format!("virial ratio {mean:.3} in the mean: difference from 1"),
            (mean - 1.0).abs(),
            0.05,
        ),
        Claim::below("virial ratio, largest difference from 1", farthest, 0.15),
    ];
    let series = |k: usize| -> Vec<(f64, f64)> {
        rows.iter()
            .filter_map(|(t, values)| Some((t.parse().ok()?, values[k])))
            .collect()
    };
    let line = |k: usize, color: usize| {
        Series::new("")
            .points(&series(k))
            .style(LineStyle::Solid, Marker::None)
            .color(Color::PALETTE[color])
    };
    let figure = ChartGrid::new("A star cluster over ten crossing times")
        .subtitle("800 stars, softening 0.1 a, leapfrog with step 0.04")
        .columns(2)
        .chart(
            LineChart::new("Energy")
                .x_axis(Axis::linear("time"))
                .y_axis(Axis::linear("relative change"))
                .series(line(0, 0)),
        )
        .chart(
            LineChart::new("Virial ratio 2 K / |W|")
                .x_axis(Axis::linear("time"))
                .y_axis(Axis::linear("ratio"))
                .series(line(1, 1)),
        )
        .size(1200, 480);
    Ok(Validation {
        title: "A star cluster keeps its energy and stays virial".to_owned(),
        columns: vec!["time", "energy_change", "virial_ratio"],
        rows,
        figure: Box::new(figure),
        claims,
    })
}
