//! Initial positions of tracers.

use super::tube::Line;
use crate::ranks::Kept;
use crate::vec3::{Vec3, add, add_scaled, scale};
use farfield::points::Random;
use std::f64::consts::PI;

/// Tracers in their initial state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tracers {
    /// Their positions.
    pub positions: Vec<Vec3>,
    /// The line of each.
    pub groups: Vec<u32>,
    /// The initial position of each along its line, from 0 to 1.
    pub along: Vec<f64>,
}

/// Places `count` tracers, shared evenly among the lines, in a tube of radius `thickness` core radii around each line.
/// Returns those that `kept` selects.
pub fn place_tracers(lines: &[Line], (count, thickness): (usize, f64), seed: u64, kept: &mut Kept) -> Tracers {
    let mut random = Random::new(seed);
    let mut tracers = Tracers::default();
    for (group, line) in lines.iter().enumerate() {
        let share = count * (group + 1) / lines.len() - count * group / lines.len();
        for _ in 0..share {
            let along = random.uniform();
            let place = in_tube(line, along, thickness, &mut random);
            if !kept.takes_next() {
                continue;
            }
            tracers.positions.push(place);
            tracers.groups.push(group as u32);
            tracers.along.push(along);
        }
    }
    tracers
}

fn in_tube(line: &Line, along: f64, thickness: f64, random: &mut Random) -> Vec3 {
    let n = line.points.len();
    let along = along * n as f64;
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
