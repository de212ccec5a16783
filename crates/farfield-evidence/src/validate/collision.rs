//! The growth of two rings that meet head on, against thin rings until their cores touch.

use super::{Validation, chart, dashed, largest, line, march, vortices};
use crate::Error;
use farfield_plot::{Axis, Color, Marker};
use farfield_sim::reference::{thin_rings, thin_rings_of};

const RINGS: &str = "time = { end = 6.0, step = 0.05 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-8\n\
    [vortex]\ncore = \"winckelmans-leonard\"\nlayers = 0\naround = 128\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.1\ncentre = [0.0, 0.0, -0.75]\n\
    [[vortex.rings]]\nradius = 1.0\ncore = 0.1\ncentre = [0.0, 0.0, 0.75]\naxis = [0.0, 0.0, -1.0]\n";

pub fn run() -> Result<Validation, Error> {
    let (case, mut model) = vortices(RINGS, &[])?;
    let thin = case.vortex.as_ref().and_then(thin_rings_of).unwrap_or_default();
    let theory = thin_rings(&thin, case.time.end, 120);
    let columns = ["time", "ring1_radius", "ring2_radius", "ring1_z", "thin_ring_radius"];
    let mut found = Validation::new("Colliding rings grow", &columns);
    march(&mut model, &case, |model, time| {
        let rings = model.rings()?;
        let expected = theory
            .get(found.rows.len())
            .map_or(f64::NAN, |(_, rings)| rings[0].radius);
        let values = [rings[0].radius, rings[1].radius, rings[0].centre[2], expected];
        found.row(time.to_string(), values);
        Ok(())
    })?;
    let radii = found.column(0);
    let grows = radii.windows(2).all(|pair| pair[1] > pair[0]);
    let growth = radii.last().copied().unwrap_or(0.0) / radii[0];
    found.claim(
        format!("the radius grows all the time, to {growth:.2} times the first"),
        grows && growth > 1.5,
    );
    let worst = |rows: &[(String, Vec<f64>)], k: usize| {
        largest(rows.iter().map(|(_, values)| (values[k] / values[0] - 1.0).abs()))
    };
    let (mirror, thin) = (worst(&found.rows, 1), worst(&found.rows[..81.min(found.rows.len())], 3));
    found.below(
        "both rings stay mirror images: largest relative difference of the radii",
        mirror,
        1e-6,
    );
    found.below(
        "radius against thin rings up to t = 4, largest relative error",
        thin,
        0.03,
    );
    let chart = chart(
        "Radius of two rings that meet head on",
        Axis::linear("time"),
        Axis::linear("radius"),
    )
    .subtitle("Γ = 1, R = 1, a = 0.1, 1.5 apart; single filaments")
    .series(line("simulated", &found.points(0), 0, Marker::None))
    .series(dashed("thin rings", &found.points(3), Color::INK));
    Ok(found.with(chart))
}
