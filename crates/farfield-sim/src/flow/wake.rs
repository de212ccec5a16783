//! The wake of a sphere: its length, the separation angle and the friction.

use super::body::Body;
use super::model::{Solver, VELOCITY};
use crate::error::Error;
use crate::vec3::{Vec3, add_scaled, dot, frame_across, scale};
use farfield_grid::forest::Cover;
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_SIDE, BlockId, Ghosted, Grid};
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::f64::consts::PI;

/// Distances from the wall, in spacings, at which the tangential velocity is read. The slope at the wall of the
/// polynomial through these values and zero at the wall is the wall vorticity. The vorticity field itself is blurred by
/// the band of the characteristic function, and so is the velocity nearer than the first point. With fewer points the
/// slope of a layer two spacings thick is too steep.
const AWAY: [f64; 5] = [1.5, 2.5, 3.5, 4.5, 5.5];
/// The number of half-planes through the axis that are averaged.
const PLANES: usize = 8;
/// The number of angles: one per degree.
const ANGLES: usize = 180;
/// The number of adjacent angles that one thread evaluates, because they share blocks.
const ANGLES_IN_A_ROW: usize = 12;

/// The wake of a sphere.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Wake {
    /// The length of the recirculation zone over the diameter.
    pub length: f64,
    /// The separation angle in degrees from the front, where the wall vorticity changes sign; 180 if the flow is
    /// attached.
    pub separation: f64,
    /// The friction force along the stream.
    pub friction: f64,
}

impl<T: Precision> Solver<T> {
    /// The wake of the first body, if it is a sphere at rest; else zeros.
    pub(super) fn wake(&self) -> Result<Wake, Error> {
        let Some((radius, centre)) = self.setup.bodies.first().and_then(Body::sphere_at_rest) else {
            return Ok(Wake::default());
        };
        let wall = self.wall_vorticity(radius, centre)?;
        Ok(Wake {
            length: self.wake_length(radius, centre)? / (2.0 * radius),
            separation: separation(&wall),
            friction: self.friction(radius, &wall),
        })
    }

    fn wake_length(&self, radius: f64, centre: Vec3) -> Result<f64, Error> {
        let (along, h) = (self.setup.along, self.setup.finest());
        let mut reader = Reader::new(&self.grid, VELOCITY);
        let mut velocity = |away: f64| -> Result<Option<f64>, Error> {
            let u = reader.at(add_scaled(centre, radius + away, along))?;
            Ok(u.map(|u| dot(u, along)))
        };
        let (mut last, mut seen) = (0.0, false);
        // Starts two spacings behind the wall, outside the band of the characteristic function.
        for k in 0..100_000 {
            let away = (2.0 + 0.5 * f64::from(k)) * h;
            let Some(u) = velocity(away)? else { break };
            if seen && u >= 0.0 {
                return Ok(away - 0.5 * h * u / (u - last));
            }
            if !seen && u >= 0.0 {
                break;
            }
            (last, seen) = (u, true);
        }
        Ok(0.0)
    }

    /// The azimuthal wall vorticity, positive for attached flow, at the centre of each degree from the front.
    fn wall_vorticity(&self, radius: f64, centre: Vec3) -> Result<Vec<f64>, Error> {
        let (along, h) = (self.setup.along, self.setup.finest());
        let (across, up) = frame_across(along);
        let weights = slope_at_rest(AWAY);
        let at_angle = |reader: &mut Reader<T>, k: usize| -> Result<f64, Error> {
            let (sine, cosine) = (PI * (k as f64 + 0.5) / ANGLES as f64).sin_cos();
            let mut sum = 0.0;
            for plane in 0..PLANES {
                let (s, c) = (2.0 * PI * (plane as f64 + 0.5) / PLANES as f64).sin_cos();
                let outward = add_scaled(scale(across, c), s, up);
                let normal = add_scaled(scale(along, -cosine), sine, outward);
                let tangent = add_scaled(scale(along, sine), cosine, outward);
                for (away, weight) in AWAY.into_iter().zip(weights) {
                    let u = reader.at(add_scaled(centre, radius + away * h, normal))?;
                    sum += weight / h * dot(u.unwrap_or_default(), tangent) / PLANES as f64;
                }
            }
            Ok(sum)
        };
        let grid = &self.grid;
        (0..ANGLES)
            .into_par_iter()
            .with_min_len(ANGLES_IN_A_ROW)
            .map_init(|| Reader::new(grid, VELOCITY), at_angle)
            .collect()
    }

    /// The force along the stream from the wall shear, $\nu\oint\omega\times n$.
    fn friction(&self, radius: f64, wall: &[f64]) -> f64 {
        let step = PI / ANGLES as f64;
        let shear = |(k, omega): (usize, &f64)| omega * ((k as f64 + 0.5) * step).sin().powi(2);
        let sum: f64 = wall.iter().enumerate().map(shear).sum();
        self.setup.viscosity * 2.0 * PI * radius * radius * step * sum
    }
}

/// The angle in degrees from the front at which the wall vorticity changes sign, on the rear half.
fn separation(wall: &[f64]) -> f64 {
    let degrees = 180.0 / wall.len() as f64;
    for k in wall.len() / 2..wall.len() {
        let (before, now) = (wall[k - 1], wall[k]);
        // Attached flow has positive wall vorticity; the flow separates where it first becomes negative.
        if before > 0.0 && now <= 0.0 {
            return degrees * (k as f64 + 0.5 - now / (now - before));
        }
    }
    180.0
}

/// The weights of values at `places` in the slope at 0 of the polynomial through these values and through 0 at 0.
fn slope_at_rest<const N: usize>(places: [f64; N]) -> [f64; N] {
    std::array::from_fn(|k| {
        let others = (0..N).filter(|j| *j != k);
        let product: f64 = others.map(|j| places[j] / (places[j] - places[k])).product();
        product / places[k]
    })
}

/// Interpolates a vector channel at any point by cubics along each axis. Caches blocks with their ghosts.
struct Reader<'a, T> {
    grid: &'a Grid<T>,
    channel: &'a str,
    blocks: HashMap<usize, Ghosted<T>>,
}

impl<'a, T: Precision> Reader<'a, T> {
    fn new(grid: &'a Grid<T>, channel: &'a str) -> Self {
        Self {
            grid,
            channel,
            blocks: HashMap::new(),
        }
    }

    /// The value at the point `x`; `None` outside the box.
    fn at(&mut self, x: Vec3) -> Result<Option<Vec3>, Error> {
        let grid = self.grid;
        let (domain, forest) = (grid.domain(), grid.forest());
        let level = forest.finest_level();
        let side = BLOCK_SIDE as f64 * domain.spacing(level);
        let at: Vec3 = std::array::from_fn(|a| ((x[a] - domain.origin()[a]) / side).floor());
        if at.iter().any(|c| *c < 0.0) {
            return Ok(None);
        }
        let place = BlockId {
            level,
            at: at.map(|c| c as u32),
        };
        let (Some(Cover::Leaf(leaf)) | Some(Cover::Coarser(leaf))) = forest.cover(place) else {
            return Ok(None);
        };
        let block = forest.leaves()[leaf];
        let (h, corner) = (domain.spacing(block.level), domain.corner(block));
        let q: Vec3 = std::array::from_fn(|a| (x[a] - corner[a]) / h - grid.wavelet().offset());
        let low = q.map(|c| c.floor().clamp(-1.0, BLOCK_SIDE as f64 - 1.0));
        let weights: [[f64; 4]; 3] = std::array::from_fn(|a| cubic(q[a] - low[a]));
        let ghosted = match self.blocks.entry(leaf) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(grid.ghosted(self.channel, leaf, 2)?),
        };
        let first = ghosted.index(low.map(|c| c as isize - 1));
        let side = ghosted.side();
        let mut sum = [0.0; 3];
        for (component, sum) in sum.iter_mut().enumerate() {
            let values = ghosted.values(component);
            for (k, wz) in weights[2].iter().enumerate() {
                for (j, wy) in weights[1].iter().enumerate() {
                    let line = &values[first + (k * side + j) * side..][..4];
                    let along: f64 = line.iter().zip(weights[0]).map(|(v, w)| w * v.to_f64()).sum();
                    *sum += wz * wy * along;
                }
            }
        }
        Ok(Some(sum))
    }
}

/// The weights of the points -1, 0, 1 and 2 for cubic interpolation at `t` from 0 to 1.
fn cubic(t: f64) -> [f64; 4] {
    [
        -t * (t - 1.0) * (t - 2.0) / 6.0,
        (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
        -(t + 1.0) * t * (t - 2.0) / 2.0,
        (t + 1.0) * t * (t - 1.0) / 6.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_interpolated_and_differentiated_exactly() {
        let f = |x: f64| 2.0 * x - x * x + 0.5 * x * x * x;
        let wall: f64 = AWAY.iter().zip(slope_at_rest(AWAY)).map(|(x, w)| w * f(*x)).sum();
        assert!((wall - 2.0).abs() < 1e-12, "{wall}");
        let between: f64 = (-1..=2).zip(cubic(0.3)).map(|(k, w)| w * f(f64::from(k))).sum();
        assert!((between - f(0.3)).abs() < 1e-12, "{between}");
    }

    #[test]
    fn separation_is_where_the_shear_changes_sign() {
        let wall: Vec<f64> = (0..180).map(|k| 114.3 - (f64::from(k) + 0.5)).collect();
        assert!((separation(&wall) - 114.3).abs() < 1e-9);
        assert_eq!(separation(&[1.0; 180]), 180.0);
    }
}
