//! Two leapfrogging filaments of Winckelmans and Leonard's elements against thin rings of constant core.

use super::{Validation, chart, dashed, line, march, vortices};
use crate::Error;
use farfield_plot::{Axis, ChartGrid, Color, Figure, Marker};
use farfield_sim::reference::{ThinRing, passes, thin_rings, thin_rings_of};

pub(super) const RINGS: &str = "time = { end = 9.0, step = 0.03 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-10\n\
    [vortex]\ncore = \"winckelmans-leonard\"\nlayers = 0\naround = 100\n\
    [[vortex.rings]]\nradius = 0.7906\ncore = 0.07906\n\
    [[vortex.rings]]\nradius = 0.7906\ncore = 0.07906\ncentre = [0.0, 0.0, 0.7906]\n";

/// Passes and period of the thin-ring equations, computed for this project with another program.
const PASSES: [f64; 2] = [2.1876, 6.5627];
const PERIOD: f64 = 8.750;

pub fn run() -> Result<Validation, Error> {
    let (case, mut model) = vortices(RINGS, &[])?;
    let columns = ["time", "ring1_z", "ring1_radius", "ring2_z", "ring2_radius"];
    let mut found = Validation::new("Leapfrogging filaments against thin rings", &columns);
    march(&mut model, &case, |model, time| {
        let rings = model.rings()?;
        let values = rings.iter().flat_map(|ring| [ring.centre[2], ring.radius]);
        found.row(time.to_string(), values.collect::<Vec<f64>>());
        Ok(())
    })?;
    let times: Vec<f64> = found.points(0).iter().map(|(time, _)| *time).collect();
    let passes = passes(&times, &found.column(0), &found.column(2));
    for (k, expected) in PASSES.iter().enumerate() {
        let time = passes.get(k).copied().unwrap_or(f64::INFINITY);
        let text = format!("pass {} at {time:.4}, theory {expected}: relative error", k + 1);
        found.below(text, (time / expected - 1.0).abs(), 0.03);
    }
    if let [first, second, ..] = passes[..] {
        let period = 2.0 * (second - first);
        let text = format!("period {period:.4}, theory {PERIOD}: relative error");
        found.below(text, (period / PERIOD - 1.0).abs(), 0.03);
    }
    let thin = case.vortex.as_ref().and_then(thin_rings_of).unwrap_or_default();
    let theory = thin_rings(&thin, case.time.end, 3000);
    let panel = |title: &str, label: &str, column: usize, value: fn(&ThinRing) -> f64| {
        (0..2).fold(chart(title, Axis::linear("time"), Axis::linear(label)), |chart, k| {
            let expected: Vec<(f64, f64)> = theory.iter().map(|(t, rings)| (*t, value(&rings[k]))).collect();
            let ring = format!("ring {}", k + 1);
            chart
                .series(line(ring, &found.points(2 * k + column), k, Marker::None))
                .series(dashed(if k == 0 { "thin rings" } else { "" }, &expected, Color::INK))
        })
    };
    let figure = ChartGrid::new("Leapfrogging vortex rings, single filaments")
        .subtitle("Γ = 1, R = distance = 0.7906, a = 0.1 R")
        .columns(2)
        .chart(panel("Position", "z", 0, |ring| ring.place))
        .chart(panel("Radius", "radius", 1, |ring| ring.radius))
        .size(1200, 500);
    Ok(found.with(figure))
}
