//! Two leapfrogging filaments of Winckelmans and Leonard's elements against thin rings of constant core.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::reference::{passes, thin_rings, thin_rings_of};
use farfield_sim::vortex::VortexModel;

pub(super) const RINGS: &str = "time = { end = 9.0, step = 0.03 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-10\n\
    [vortex]\ncore = \"winckelmans-leonard\"\nlayers = 0\naround = 100\n\
    [[vortex.rings]]\nradius = 0.7906\ncore = 0.07906\n\
    [[vortex.rings]]\nradius = 0.7906\ncore = 0.07906\ncentre = [0.0, 0.0, 0.7906]\n";

/// Of the thin-ring equations, computed for this project with another program.
const PASSES: [f64; 2] = [2.1876, 6.5627];
const PERIOD: f64 = 8.750;

pub fn run() -> Result<Validation, Error> {
    let case = case(RINGS, &[])?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    let mut rows = Vec::new();
    march(&mut model, &case, |model, time| {
        let rings = model.rings()?;
        let values = rings.iter().flat_map(|ring| [ring.centre[2], ring.radius]);
        rows.push((time.to_string(), values.collect::<Vec<f64>>()));
        Ok(())
    })?;
    let times: Vec<f64> = rows.iter().filter_map(|(t, _)| t.parse().ok()).collect();
    let column = |k: usize| rows.iter().map(|(_, values)| values[k]).collect::<Vec<f64>>();
    let found = passes(&times, &column(0), &column(2));
    let mut claims = Vec::new();
    for (k, expected) in PASSES.iter().enumerate() {
        let time = found.get(k).copied().unwrap_or(f64::INFINITY);
        claims.push(Claim::below(
            format!("pass {} at {time:.4}, theory {expected}: relative error", k + 1),
            (time / expected - 1.0).abs(),
            0.03,
        ));
    }
    if let [first, second, ..] = found[..] {
        let period = 2.0 * (second - first);
        claims.push(Claim::below(
            format!("period {period:.4}, theory {PERIOD}: relative error"),
            (period / PERIOD - 1.0).abs(),
            0.03,
        ));
    }
    let thin = case.vortex.as_ref().and_then(thin_rings_of).unwrap_or_default();
    let theory = thin_rings(&thin, case.time.end, 3000);
    let mut place = LineChart::new("Position")
        .x_axis(Axis::linear("time"))
        .y_axis(Axis::linear("z"));
    let mut radius = LineChart::new("Radius")
        .x_axis(Axis::linear("time"))
        .y_axis(Axis::linear("radius"));
    for k in 0..2 {
        let label = format!("ring {}", k + 1);
        let solid = |at: usize| {
            let points: Vec<(f64, f64)> = times.iter().copied().zip(column(at)).collect();
            Series::new(label.clone())
                .points(&points)
                .style(LineStyle::Solid, Marker::None)
                .color(Color::PALETTE[k])
        };
        place = place.series(solid(2 * k));
        radius = radius.series(solid(2 * k + 1));
        let name = if k == 0 { "thin rings" } else { "" };
        let dashed = |value: &dyn Fn(&farfield_sim::reference::ThinRing) -> f64| {
            let points: Vec<(f64, f64)> = theory.iter().map(|(t, rings)| (*t, value(&rings[k]))).collect();
            Series::new(name)
                .points(&points)
                .style(LineStyle::Dashed, Marker::None)
                .color(Color::INK)
        };
        place = place.series(dashed(&|ring| ring.place));
        radius = radius.series(dashed(&|ring| ring.radius));
    }
    Ok(Validation {
        title: "Leapfrogging filaments against thin rings".to_owned(),
        columns: vec!["time", "ring1_z", "ring1_radius", "ring2_z", "ring2_radius"],
        rows,
        figure: Box::new(
            ChartGrid::new("Leapfrogging vortex rings, single filaments")
                .subtitle("Γ = 1, R = distance = 0.7906, a = 0.1 R")
                .columns(2)
                .chart(place)
                .chart(radius)
                .size(1200, 500),
        ),
        claims,
    })
}
