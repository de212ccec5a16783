//! Volume rendering of a field as a glowing cloud, with solid bodies in it.
//!
//! Rays pass from the viewer through the box in equal steps. Each step adds colour by the value of the field there,
//! dimmed by everything in front of it; larger values are denser. A ray that meets a body ends on its lit surface.

use crate::color::Color;
use crate::image::Image;
use crate::scene::ColourMap;
use rayon::prelude::*;

/// Values on a regular grid, x fastest, then y, then z, and the signed distance to bodies at the same points.
#[derive(Debug, Clone)]
pub struct Volume<'a> {
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// The values of the field, not negative.
    pub values: &'a [f32],
    /// The distance to the nearest body's surface in spacings, negative inside; empty without bodies.
    pub distance: &'a [f32],
    /// The value of the brightest colour.
    pub bright: f32,
    /// The direction of the viewer in degrees: the angle around z from the x axis, and the angle above the xy plane.
    pub view: [f64; 2],
}

/// Steps of a ray per spacing.
const STEPS: f32 = 2.0;
/// The optical density of the brightest value, per spacing.
const DENSITY: f32 = 0.55;
/// The fraction of the brightest value below which values are invisible.
const FAINT: f32 = 0.02;
/// The number of colours between zero and the brightest value.
const COLOURS: usize = 1024;
/// Cells along a side of the cubes that rays skip if they are empty.
const BRICK: usize = 8;
/// The colour of bodies.
const BODY: [f32; 3] = [0.72, 0.74, 0.78];
/// The direction of the light source, relative to the viewer: right, up, towards.
const LIGHT: [f32; 3] = [-0.45, 0.65, 0.61];

impl Volume<'_> {
    /// Draws the volume as large as it fits on the image.
    #[must_use]
    pub fn render(&self, width: u32, height: u32) -> Image {
        let (width, height) = (width.max(1) as usize, height.max(1) as usize);
        let axes = self.axes();
        let half = self.size.map(|n| 0.5 * (n as f32 - 1.0));
        // The extent of the box across the image determines the scale.
        let extent = |axis: [f32; 3]| (0..3).map(|a| axis[a].abs() * half[a]).sum::<f32>();
        let scale = (2.0 * extent(axes[0]) / width as f32).max(2.0 * extent(axes[1]) / height as f32);
        let depth = extent(axes[2]);
        let background = Color::hex(0x0B_0E14);
        let scene = Scene {
            volume: self,
            axes,
            bricks: Bricks::of(self),
            colours: (0..COLOURS)
                .map(|k| {
                    let own = ColourMap::Inferno.at(0.25 + 0.75 * k as f64 / (COLOURS - 1) as f64);
                    [own.r, own.g, own.b].map(|part| f32::from(part) / 255.0)
                })
                .collect(),
        };
        let mut pixels = vec![0u8; width * height * 3];
        pixels
            .par_chunks_exact_mut(width * 3)
            .enumerate()
            .for_each(|(row, line)| {
                for (column, pixel) in line.chunks_exact_mut(3).enumerate() {
                    let right = (column as f32 + 0.5 - 0.5 * width as f32) * scale;
                    let up = (0.5 * height as f32 - row as f32 - 0.5) * scale;
                    let start: [f32; 3] =
                        std::array::from_fn(|a| half[a] + right * axes[0][a] + up * axes[1][a] + depth * axes[2][a]);
                    let (colour, through) = scene.march(start, 2.0 * depth);
                    let behind = [background.r, background.g, background.b];
                    for c in 0..3 {
                        let value = colour[c] * 255.0 + through * f32::from(behind[c]);
                        pixel[c] = value.clamp(0.0, 255.0) as u8;
                    }
                }
            });
        Image::from_pixels(width, height, pixels)
    }

    /// Unit vectors to the right, up and towards the viewer.
    fn axes(&self) -> [[f32; 3]; 3] {
        let (turn, lift) = (self.view[0].to_radians(), self.view[1].to_radians());
        let ((s, c), (sl, cl)) = (turn.sin_cos(), lift.sin_cos());
        [
            [-s as f32, c as f32, 0.0],
            [(-sl * c) as f32, (-sl * s) as f32, cl as f32],
            [(cl * c) as f32, (cl * s) as f32, sl as f32],
        ]
    }

    /// Whether a point is inside the box.
    fn holds(&self, at: [f32; 3]) -> bool {
        (0..3).all(|a| at[a] >= 0.0 && at[a] <= self.size[a] as f32 - 1.0)
    }

    /// The brightness of a body's surface at a point.
    fn light(&self, at: [f32; 3], axes: [[f32; 3]; 3]) -> f32 {
        let slope: [f32; 3] = std::array::from_fn(|a| {
            let (mut low, mut high) = (at, at);
            (low[a], high[a]) = (at[a] - 1.0, at[a] + 1.0);
            self.sample(self.distance, high).unwrap_or(0.0) - self.sample(self.distance, low).unwrap_or(0.0)
        });
        let size = slope.iter().map(|c| c * c).sum::<f32>().sqrt().max(1e-9);
        let toward = |axis: [f32; 3]| (0..3).map(|a| slope[a] / size * axis[a]).sum::<f32>();
        let lit: f32 = (0..3).map(|k| LIGHT[k] * toward(axes[k])).sum();
        0.18 + 0.82 * lit.max(0.0)
    }

    /// The value at a point by linear interpolation; `None` outside the box.
    fn sample(&self, values: &[f32], at: [f32; 3]) -> Option<f32> {
        let mut low = [0usize; 3];
        let mut share = [0.0f32; 3];
        for a in 0..3 {
            if !(at[a] >= 0.0 && at[a] <= self.size[a] as f32 - 1.0) || self.size[a] < 2 {
                return None;
            }
            low[a] = (at[a] as usize).min(self.size[a] - 2);
            share[a] = at[a] - low[a] as f32;
        }
        let (line, plane) = (self.size[0], self.size[0] * self.size[1]);
        let first = low[2] * plane + low[1] * line + low[0];
        let mix = |k: usize| values[k] + share[0] * (values[k + 1] - values[k]);
        let low_plane = mix(first) + share[1] * (mix(first + line) - mix(first));
        let high = first + plane;
        let high_plane = mix(high) + share[1] * (mix(high + line) - mix(high));
        Some(low_plane + share[2] * (high_plane - low_plane))
    }
}

/// The volume with precomputed data for the rays.
struct Scene<'a> {
    volume: &'a Volume<'a>,
    /// Unit vectors to the right, up and towards the viewer.
    axes: [[f32; 3]; 3],
    bricks: Bricks,
    /// Colours by the fraction of the brightest value.
    colours: Vec<[f32; 3]>,
}

impl Scene<'_> {
    /// The colour that a ray collects, and the fraction of the background that it lets through.
    fn march(&self, start: [f32; 3], length: f32) -> ([f32; 3], f32) {
        let volume = self.volume;
        let (mut colour, mut through) = ([0.0f32; 3], 1.0f32);
        // Up to here along the ray there is no surface.
        let mut free = 0.0;
        for k in 0..(length * STEPS) as usize {
            let along = k as f32 / STEPS;
            let at: [f32; 3] = std::array::from_fn(|a| start[a] - along * self.axes[2][a]);
            if !volume.holds(at) {
                continue;
            }
            if !volume.distance.is_empty() && along >= free {
                let distance = volume.sample(volume.distance, at).unwrap_or(0.0);
                if distance < 0.0 {
                    let light = volume.light(at, self.axes);
                    for c in 0..3 {
                        colour[c] += through * BODY[c] * light;
                    }
                    return (colour, 0.0);
                }
                // The distance is interpolated linearly, so it may be wrong by the size of a cell.
                free = along + distance - 2.0;
            }
            if self.bricks.largest(at) < FAINT * volume.bright {
                continue;
            }
            let value = volume.sample(volume.values, at).unwrap_or(0.0);
            let share = (value / volume.bright).clamp(0.0, 1.0);
            if share < FAINT {
                continue;
            }
            let stopped = 1.0 - (-DENSITY * share * share.sqrt() / STEPS).exp();
            let own = self.colours[(share * (COLOURS - 1) as f32 + 0.5) as usize];
            for c in 0..3 {
                colour[c] += through * stopped * own[c];
            }
            through *= 1.0 - stopped;
            if through < 0.01 {
                break;
            }
        }
        (colour, through)
    }
}

/// The largest value of each cube of cells, by which rays skip empty cubes.
struct Bricks {
    size: [usize; 3],
    largest: Vec<f32>,
}

impl Bricks {
    fn of(volume: &Volume) -> Self {
        let size = volume.size.map(|n| n.div_ceil(BRICK).max(1));
        let largest = (0..size.iter().product())
            .into_par_iter()
            .map(|brick: usize| {
                let at = [brick % size[0], brick / size[0] % size[1], brick / size[0] / size[1]];
                // The last cells of a brick end at the first points of the next one.
                let range = |a: usize| at[a] * BRICK..(at[a] * BRICK + BRICK + 1).min(volume.size[a]);
                let mut largest = 0.0f32;
                for z in range(2) {
                    for y in range(1) {
                        let line = (z * volume.size[1] + y) * volume.size[0];
                        for x in range(0) {
                            largest = largest.max(volume.values[line + x]);
                        }
                    }
                }
                largest
            })
            .collect();
        Self { size, largest }
    }

    /// An upper bound of the value at a point inside the box.
    fn largest(&self, at: [f32; 3]) -> f32 {
        let brick: [usize; 3] = std::array::from_fn(|a| (at[a] as usize / BRICK).min(self.size[a] - 1));
        self.largest[(brick[2] * self.size[1] + brick[1]) * self.size[0] + brick[0]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with a bright ball at low x and a body at high x.
    fn picture(view: [f64; 2], with_body: bool) -> Image {
        let n = 33usize;
        let from = |x: f32| {
            move |k: usize| {
                let at = [k % n, k / n % n, k / n / n].map(|c| c as f32);
                ((at[0] - x).powi(2) + (at[1] - 16.0).powi(2) + (at[2] - 16.0).powi(2)).sqrt()
            }
        };
        let values: Vec<f32> = (0..n.pow(3))
            .map(|k| if from(8.0)(k) < 5.0 { 1.0 } else { 0.0 })
            .collect();
        let distance: Vec<f32> = (0..n.pow(3)).map(|k| from(24.0)(k) - 5.0).collect();
        let volume = Volume {
            size: [n; 3],
            values: &values,
            distance: if with_body { &distance } else { &[] },
            bright: 1.0,
            view,
        };
        volume.render(66, 66)
    }

    fn brightness(image: &Image, x: usize, y: usize) -> u32 {
        image
            .pixel(x, y)
            .map_or(0, |c| u32::from(c.r) + u32::from(c.g) + u32::from(c.b))
    }

    #[test]
    fn cloud_and_body_are_in_their_places_and_hide_each_other() {
        // Seen from -y, x points to the right.
        let side = picture([-90.0, 0.0], true);
        let (cloud, body, empty) = (
            brightness(&side, 17, 33),
            brightness(&side, 49, 33),
            brightness(&side, 33, 5),
        );
        assert!(cloud > 2 * empty && body > 2 * empty, "{cloud} {body} {empty}");
        // Seen from +x, the body is in front of the cloud.
        let (front, alone) = (picture([0.0, 0.0], true), picture([0.0, 0.0], false));
        let pixel = front.pixel(33, 33).unwrap();
        assert!(pixel.b > pixel.r / 2 + 20, "the body is grey: {pixel:?}");
        let cloud = alone.pixel(33, 33).unwrap();
        assert!(cloud.b < cloud.r, "the cloud is warm: {cloud:?}");
    }
}
