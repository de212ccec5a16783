//! Invariants of an unbounded inviscid flow.

use crate::vec3::{Vec3, add_scaled, cross, dot};

/// Sums over vortex elements that an unbounded inviscid flow conserves. For the energy see [`crate::vortex::energy`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Invariants {
    /// $\sum\gamma$, which is zero.
    pub total_vorticity: Vec3,
    /// $\frac12\sum x\times\gamma$
    pub impulse: Vec3,
    /// $\frac13\sum x\times(x\times\gamma)$
    pub angular_impulse: Vec3,
    /// $\sum u\cdot\gamma$
    pub helicity: f64,
}

impl Invariants {
    /// The invariants of elements with these positions, strengths and velocities.
    pub fn of(positions: &[Vec3], strengths: &[Vec3], velocities: &[Vec3]) -> Self {
        let mut sums = Self::default();
        for (i, (x, strength)) in positions.iter().zip(strengths).enumerate() {
            let moment = cross(*x, *strength);
            sums.total_vorticity = add_scaled(sums.total_vorticity, 1.0, *strength);
            sums.impulse = add_scaled(sums.impulse, 0.5, moment);
            sums.angular_impulse = add_scaled(sums.angular_impulse, 1.0 / 3.0, cross(*x, moment));
            sums.helicity += velocities.get(i).map_or(0.0, |u| dot(*u, *strength));
        }
        sums
    }
}
