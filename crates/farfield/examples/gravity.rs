//! A star cluster: softened accelerations, and one leapfrog step.
//!
//! `cargo run --release -p farfield --example gravity`

use farfield::kernel::Sizes;
use farfield::points::PointSet;

const STARS: usize = 50_000;
const STEP: f64 = 1e-3;

fn main() -> Result<(), farfield::Error> {
    let mut positions = PointSet::Plummer.generate::<f64>(STARS, 1);
    let masses = vec![1.0 / STARS as f64; STARS];
    let mut velocities = vec![[0.0; 3]; STARS];

    // Newton's constant is one; the force between stars closer than the softening length is reduced.
    let softening = Sizes::Global(1e-3);
    let accelerations = |positions: &[[f64; 3]]| {
        let sum = farfield::gravity(positions, &masses, 1.0).softening(softening.clone());
        Ok::<_, farfield::Error>(sum.tolerance(1e-5).evaluate()?.acceleration().to_vec())
    };

    // Kick, drift, kick.
    kick(&mut velocities, &accelerations(&positions)?);
    for (x, v) in positions.iter_mut().zip(&velocities) {
        for axis in 0..3 {
            x[axis] += STEP * v[axis];
        }
    }
    kick(&mut velocities, &accelerations(&positions)?);

    let energy: f64 = velocities
        .iter()
        .zip(&masses)
        .map(|(v, m)| 0.5 * m * v.iter().map(|c| c * c).sum::<f64>())
        .sum();
    println!("kinetic energy after one step from rest: {energy:e}");
    Ok(())
}

/// Advances the velocities by half a step.
fn kick(velocities: &mut [[f64; 3]], accelerations: &[[f64; 3]]) {
    for (v, a) in velocities.iter_mut().zip(accelerations) {
        for axis in 0..3 {
            v[axis] += 0.5 * STEP * a[axis];
        }
    }
}
