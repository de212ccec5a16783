//! Converts points to footprints on the image.

use rayon::prelude::*;

use super::camera::View;
use super::{Cloud, Depth};

/// Points of a cloud in one task.
const PIECE: usize = 1 << 14;
/// The smallest half-width of a footprint in pixels, wide enough that a point moving by less than a
/// pixel does not flicker.
const LEAST_REACH: f32 = 1.25;
/// The largest half-width of a footprint in pixels.
const MOST_REACH: f32 = 200.0;
/// Footprints with a larger half-width are Gaussian, because only a product of Gaussian profiles is round.
const LARGE: f32 = 4.0;
/// The factor of u^2 in the exponent of Gaussian footprints, which makes them small at the rim.
const STEEPNESS: f32 = 6.0;
/// The integral of exp(-6 u^2) from -1 to 1.
const LARGE_INTEGRAL: f32 = 0.723_2;

/// A point's footprint on the image.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Splat {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) depth: f32,
    /// The half-width of the footprint in pixels.
    pub(super) reach: f32,
    /// The sum of the footprint over all pixels.
    pub(super) flux: f32,
    pub(super) cloud: u32,
    /// The position of the value in the range of colours, 0 to 1.
    pub(super) value: f32,
}

/// The footprints of all visible points, cloud by cloud.
pub(super) fn splats(clouds: &[Cloud<'_>], view: &View, depth: &Depth, (width, height): (usize, usize)) -> Vec<Splat> {
    let mut all = Vec::new();
    for (index, cloud) in clouds.iter().enumerate() {
        let (low, high) = cloud.shown_range();
        let place = |value: f64| ((value - low) / (high - low)).clamp(0.0, 1.0) as f32;
        let on_image = |at: f32, reach: f32, side: usize| at + reach > 0.0 && at - reach < side as f32;
        let splat = |(i, &point): (usize, &[f64; 3])| {
            let seen = view.project(point)?;
            let nearness = view.distance / seen.depth;
            let reach = ((cloud.point_size * nearness) as f32).clamp(LEAST_REACH, MOST_REACH);
            let (x, y) = (seen.x as f32, seen.y as f32);
            let value = cloud.values.map_or(low, |values| values[i]);
            let shown = value.is_finite() && on_image(x, reach, width) && on_image(y, reach, height);
            shown.then(|| Splat {
                x,
                y,
                depth: seen.depth as f32,
                reach,
                flux: (cloud.weight * depth.brightness(seen.depth)) as f32,
                cloud: index as u32,
                value: place(value),
            })
        };
        let pieces: Vec<Vec<Splat>> = cloud
            .points
            .par_chunks(PIECE)
            .enumerate()
            .map(|(piece, points)| (piece * PIECE..).zip(points).filter_map(splat).collect())
            .collect();
        pieces.iter().for_each(|piece| all.extend_from_slice(piece));
    }
    all
}

impl Splat {
    /// The value of the footprint at its centre.
    pub(super) fn peak(&self) -> f32 {
        let integral = if self.reach > LARGE {
            LARGE_INTEGRAL
        } else {
            16.0 / 15.0
        };
        self.flux / (integral * self.reach).powi(2)
    }

    /// The pixels that the footprint covers along an axis of an image with `count` pixels.
    pub(super) fn span(at: f32, reach: f32, count: usize) -> std::ops::Range<usize> {
        let pixel = |x: f32| x.clamp(0.0, count as f32) as usize;
        pixel((at - reach + 0.5).floor())..pixel((at + reach + 0.5).floor())
    }
}

/// The profile of a footprint along one axis: (1 - u^2)^2, or Gaussian for large ones. It is scaled so that its sum
/// over all pixels is one, wherever the point lies between pixels.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub(super) first: i32,
    pub(super) parts: Vec<f32>,
}

impl Profile {
    pub(super) fn set(&mut self, at: f32, reach: f32) {
        // Pixel centres are at half-integers.
        let (from, to) = ((at - reach + 0.5).floor() as i32, (at + reach + 0.5).floor() as i32);
        self.first = from;
        self.parts.clear();
        let inverse = 1.0 / reach;
        let shape = |pixel: i32| {
            let u = (pixel as f32 + 0.5 - at) * inverse;
            let v = (1.0 - u * u).max(0.0);
            if reach > LARGE {
                (-STEEPNESS * u * u).exp()
            } else {
                v * v
            }
        };
        self.parts.extend((from..to).map(shape));
        let sum: f32 = self.parts.iter().sum();
        if sum > 0.0 {
            let scale = 1.0 / sum;
            self.parts.iter_mut().for_each(|part| *part *= scale);
        }
    }

    /// Pads the profile with zeros to a multiple of `lanes`, unless it would become longer than `most`.
    pub(super) fn pad(&mut self, lanes: usize, most: usize) {
        let padded = self.parts.len().next_multiple_of(lanes);
        if padded <= most {
            self.parts.resize(padded, 0.0);
        }
    }

    /// The parts on the `count` pixels from `start` on, and the index of the first of them, counted from
    /// `start`.
    pub(super) fn within(&self, start: i32, count: usize) -> (usize, &[f32]) {
        let length = self.parts.len() as i32;
        let first = self.first - start;
        let (from, to) = ((-first).clamp(0, length), (count as i32 - first).clamp(0, length));
        if from < to {
            ((first + from) as usize, &self.parts[from as usize..to as usize])
        } else {
            (0, &[])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footprint_keeps_its_sum_and_centre_at_any_position() {
        let mut profile = Profile::default();
        for i in 0..200 {
            let at = 10.0 + i as f32 * 0.01;
            for reach in [1.25, 1.7, 3.0, 12.5] {
                profile.set(at, reach);
                let sum: f32 = profile.parts.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5, "{at} {reach}");
                let centers = (profile.first..).zip(&profile.parts);
                let middle: f32 = centers.map(|(pixel, part)| (pixel as f32 + 0.5) * part).sum();
                assert!((middle - at).abs() < 0.1, "{at} {reach}: {middle}");
            }
        }
    }
}
