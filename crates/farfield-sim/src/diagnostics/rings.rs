//! Position, radius and speed of a vortex ring.

use crate::ranks::{Ranks, sum_all};
use crate::vec3::{Vec3, add_scaled, dot, norm, scale, sub, sum};

/// Measurements of a ring; means are weighted by the magnitude of the strengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RingMeasure {
    /// The mean position.
    pub centre: Vec3,
    /// The mean distance from the axis through the centre.
    pub radius: f64,
    /// The speed of the centre along the axis.
    pub speed: f64,
}

/// The elements and rates of change from which a ring is measured.
pub struct Members<'a> {
    /// Positions of all elements.
    pub positions: &'a [Vec3],
    /// Their strengths.
    pub strengths: &'a [Vec3],
    /// Their velocities.
    pub velocities: &'a [Vec3],
    /// The rates of change of their strengths.
    pub strength_rates: &'a [Vec3],
    /// The ring of each element.
    pub groups: &'a [u32],
}

/// Measures the elements of one group about an axis.
///
/// The centre is $Z=\sum|\gamma|x/\sum|\gamma|$. Its speed differs from the mean velocity, because stretching of the
/// elements on the outside of a core and shortening of those on the inside change the weights:
/// $\dot Z = \sum\left(|\gamma|u + \frac{\gamma\cdot\dot\gamma}{|\gamma|}(x-Z)\right)/\sum|\gamma|$.
///
/// The elements of the ring may be spread over several ranks. Called by all ranks together.
pub fn measure_ring(of: &Members<'_>, group: u32, axis: Vec3, ranks: &dyn Ranks) -> RingMeasure {
    let members = || (0..of.positions.len()).filter(|&k| of.groups[k] == group);
    let weight = |k: usize| norm(of.strengths[k]);
    let total: f64 = members().map(weight).sum();
    let [x, y, z] = sum(members().map(|k| scale(of.positions[k], weight(k))));
    let mut sums = [total, x, y, z];
    sum_all(ranks, &mut sums);
    let [total, x, y, z] = sums;
    let each = if total > 0.0 { 1.0 / total } else { 0.0 };
    let centre = scale([x, y, z], each);
    let (mut radius, mut speed) = (0.0, 0.0);
    for k in members().filter(|&k| weight(k) > 0.0) {
        let d = sub(of.positions[k], centre);
        radius += weight(k) * norm(add_scaled(d, -dot(d, axis), axis));
        if let (Some(u), Some(rate)) = (of.velocities.get(k), of.strength_rates.get(k)) {
            speed += weight(k) * dot(*u, axis) + dot(of.strengths[k], *rate) / weight(k) * dot(d, axis);
        }
    }
    let mut sums = [radius, speed];
    sum_all(ranks, &mut sums);
    RingMeasure {
        centre,
        radius: sums[0] * each,
        speed: sums[1] * each,
    }
}
