//! Where a ring is, how large and how fast.

use crate::vec3::{Vec3, add_scaled, dot, norm, scale, sub};

/// A ring as measured; means are weighted with the magnitude of the strengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RingMeasure {
    /// The mean position.
    pub centre: Vec3,
    /// The mean distance from the axis through the centre.
    pub radius: f64,
    /// The mean velocity along the axis.
    pub speed: f64,
}

/// Measures the elements of one group about an axis.
pub fn measure_ring(
    positions: &[Vec3],
    strengths: &[Vec3],
    velocities: &[Vec3],
    groups: &[u32],
    group: u32,
    axis: Vec3,
) -> RingMeasure {
    let members = || (0..positions.len()).filter(|&k| groups[k] == group);
    let (mut weight, mut centre, mut speed) = (0.0, [0.0; 3], 0.0);
    for k in members() {
        let w = norm(strengths[k]);
        weight += w;
        centre = add_scaled(centre, w, positions[k]);
        speed += w * velocities.get(k).map_or(0.0, |u| dot(*u, axis));
    }
    let each = if weight > 0.0 { 1.0 / weight } else { 0.0 };
    let centre = scale(centre, each);
    let radius: f64 = members()
        .map(|k| {
            let d = sub(positions[k], centre);
            norm(strengths[k]) * norm(add_scaled(d, -dot(d, axis), axis))
        })
        .sum();
    RingMeasure {
        centre,
        radius: radius * each,
        speed: speed * each,
    }
}
