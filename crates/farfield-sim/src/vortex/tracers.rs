//! Where tracers start.

use super::tube::Line;
use crate::vec3::{Vec3, add, add_scaled, scale};
use farfield::points::Random;
use std::f64::consts::PI;

/// `count` tracers shared among the lines, filling a tube of `thickness` core radii around each, and the line each
/// belongs to.
pub fn place_tracers(lines: &[Line], count: usize, thickness: f64, seed: u64) -> (Vec<Vec3>, Vec<u32>) {
    let mut random = Random::new(seed);
    let mut positions = Vec::with_capacity(count);
    let mut groups = Vec::with_capacity(count);
    for (group, line) in lines.iter().enumerate() {
        let share = count * (group + 1) / lines.len() - count * group / lines.len();
        for _ in 0..share {
            positions.push(in_tube(line, thickness, &mut random));
            groups.push(group as u32);
        }
    }
    (positions, groups)
}

fn in_tube(line: &Line, thickness: f64, random: &mut Random) -> Vec3 {
    let n = line.points.len();
    let along = random.uniform() * n as f64;
    let at = (along as usize).min(n - 1);
    let (next, share) = ((at + 1) % n, along - at as f64);
    let radius = thickness * line.core * random.uniform().sqrt();
    let (sine, cosine) = (2.0 * PI * random.uniform()).sin_cos();
    let across = |k: usize| {
        let (first, second) = line.across[k];
        add(
            add_scaled(line.points[k], radius * cosine, first),
            scale(second, radius * sine),
        )
    };
    add(scale(across(at), 1.0 - share), scale(across(next), share))
}
