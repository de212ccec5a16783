//! Two coaxial vortex rings: the velocity they induce on each other and on themselves.
//!
//! `cargo run --release -p farfield --example vortex_rings`

use farfield::kernel::{Core, Sizes};
use std::f64::consts::TAU;

const ELEMENTS: usize = 20_000;
const CORE: f64 = 0.1;

/// Positions and strengths of the elements of a ring about the z axis, with radius one and circulation one.
fn ring(z: f64) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    let length = TAU / ELEMENTS as f64;
    (0..ELEMENTS)
        .map(|k| (k as f64 * length).sin_cos())
        .map(|(sin, cos)| ([cos, sin, z], [-sin * length, cos * length, 0.0]))
        .unzip()
}

fn main() -> Result<(), farfield::Error> {
    let ((mut positions, mut strengths), (more_positions, more_strengths)) = (ring(0.0), ring(0.5));
    positions.extend(more_positions);
    strengths.extend(more_strengths);

    let field = farfield::biot_savart(&positions, &strengths)
        .core(Core::Gaussian, Sizes::Global(CORE))
        .tolerance(1e-6)
        .evaluate()?;

    // The front ring widens and slows down, the rear one shrinks and speeds up: they will leapfrog.
    for (name, first) in [("rear", 0), ("front", ELEMENTS)] {
        // The first element lies on the x axis, so the x component of its velocity is the rate of change of the radius.
        let [radial, _, axial] = field.velocity()[first];
        println!("{name:>5} ring: speed {axial:.4}, its radius changes by {radial:+.4}");
    }
    Ok(())
}
