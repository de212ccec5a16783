//! Two rings that meet head on grow; thin rings say how fast, until their cores touch.

use super::{Claim, Validation, case, march};
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::reference::{thin_rings, thin_rings_of};
use farfield_sim::vortex::VortexModel;

const RINGS: &str = "time = { end = 6.0, step = 0.05 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-8\n\
    [vortex]\ncore = \"winckelmans-leonard\"\nlayers = 0\naround = 128\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.1\ncentre = [0.0, 0.0, -0.75]\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.1\ncentre = [0.0, 0.0, 0.75]\naxis = [0.0, 0.0, -1.0]\n";

pub fn run() -> Result<Validation, Error> {
    let case = case(RINGS, &[])?;
    let mut model = VortexModel::new(&case, MachineProfile::default())?;
    let thin = case.vortex.as_ref().and_then(thin_rings_of).unwrap_or_default();
    let theory = thin_rings(&thin, case.time.end, 120);
    let mut rows = Vec::new();
    march(&mut model, &case, |model, time| {
        let rings = model.rings()?;
        let expected = theory.get(rows.len()).map_or(f64::NAN, |(_, rings)| rings[0].radius);
        rows.push((
            time.to_string(),
            vec![rings[0].radius, rings[1].radius, rings[0].centre[2], expected],
        ));
        Ok(())
    })?;
    let radii: Vec<f64> = rows.iter().map(|(_, values)| values[0]).collect();
    let grows = radii.windows(2).all(|pair| pair[1] > pair[0]);
    let growth = radii.last().copied().unwrap_or(0.0) / radii[0];
    let worst = |rows: &[(String, Vec<f64>)], k: usize| {
        rows.iter()
            .map(|(_, values)| (values[k] / values[0] - 1.0).abs())
            .fold(0.0, f64::max)
    };
    let claims = vec![
        Claim {
            text: format!("the radius grows all the time, to {growth:.2} times the first"),
            holds: grows && growth > 1.5,
        },
        Claim::below(
            "both rings stay mirror images: largest relative difference of the radii",
            worst(&rows, 1),
            1e-6,
        ),
        Claim::below(
            "radius against thin rings up to t = 4, largest relative error",
            worst(&rows[..81.min(rows.len())], 3),
            0.03,
        ),
    ];
    let times: Vec<f64> = rows.iter().filter_map(|(t, _)| t.parse().ok()).collect();
    let series = |k: usize| {
        times
            .iter()
            .copied()
            .zip(rows.iter().map(|(_, values)| values[k]))
            .collect::<Vec<_>>()
    };
    let chart = LineChart::new("Radius of two rings that meet head on")
        .subtitle("Γ = 1, R = 1, a = 0.1, 1.5 apart; single filaments")
        .x_axis(Axis::linear("time"))
        .y_axis(Axis::linear("radius"))
        .series(
            Series::new("simulated")
                .points(&series(0))
                .style(LineStyle::Solid, Marker::None)
                .color(Color::PALETTE[0]),
        )
        .series(
            Series::new("thin rings")
                .points(&series(3))
                .style(LineStyle::Dashed, Marker::None)
                .color(Color::INK),
        );
    Ok(Validation {
        title: "Colliding rings grow".to_owned(),
        columns: vec!["time", "ring1_radius", "ring2_radius", "ring1_z", "thin_ring_radius"],
        rows,
        figure: Box::new(chart),
        claims,
    })
}
