//! A star cluster over ten crossing times.

use super::{Validation, chart, largest, line, march};
use crate::Error;
use crate::case::case;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Figure, Marker};
use farfield_sim::gravity::GravityModel;
use farfield_sim::model::Model;

/// Plummer's model with G = M = a = 1 has the energy -3 pi/64; its crossing time is M^{5/2}/(2|E|)^{3/2} = 6.26.
const CLUSTER: &str = "seed = 2\ntime = { end = 62.6, step = 0.04, scheme = \"leapfrog\" }\n\
    [sum]\nmethod = \"direct\"\ntolerance = 1e-8\n[gravity]\nsoftening = 0.1\n[[gravity.plummer]]\ncount = 800\n";

pub fn run() -> Result<Validation, Error> {
    let case = case::<&str>(CLUSTER, &[])?;
    let mut model = GravityModel::new(&case, MachineProfile::default())?;
    let title = "A star cluster keeps its energy and stays virial";
    let mut found = Validation::new(title, &["time", "energy_change", "virial_ratio"]);
    let mut first = f64::NAN;
    let mut step = 0;
    march(&mut model, &case, |model, time| {
        if step % 10 == 0 {
            let values = model.measure(true)?;
            if first.is_nan() {
                first = values[0];
            }
            found.row(time.to_string(), [values[0] / first - 1.0, values[3]]);
        }
        step += 1;
        Ok(())
    })?;
    let (changes, ratios) = (found.column(0), found.column(1));
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let worst = largest(changes.iter().map(|change| change.abs()));
    found.below("energy, largest relative change over ten crossing times", worst, 1e-3);
    let text = format!("virial ratio {mean:.3} in the mean: difference from 1");
    found.below(text, (mean - 1.0).abs(), 0.05);
    let farthest = largest(ratios.iter().map(|ratio| (ratio - 1.0).abs()));
    found.below("virial ratio, largest difference from 1", farthest, 0.15);
    let panel = |title: &str, label: &str, k: usize| {
        chart(title, Axis::linear("time"), Axis::linear(label)).series(line("", &found.points(k), k, Marker::None))
    };
    let figure = ChartGrid::new("A star cluster over ten crossing times")
        .subtitle("800 stars, softening 0.1 a, leapfrog with step 0.04")
        .columns(2)
        .chart(panel("Energy", "relative change", 0))
        .chart(panel("Virial ratio 2 K / |W|", "ratio", 1))
        .size(1200, 480);
    Ok(found.with(figure))
}
