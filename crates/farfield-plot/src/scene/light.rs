//! Light on the image, before it is converted to colours, and its glow.

use rayon::prelude::*;

/// The side of a cell of the glow in pixels; the glow is too smooth to need every pixel.
const CELL: usize = 4;
/// The number of box blurs, which together approximate a Gaussian blur.
const ROUNDS: usize = 3;

/// The light that reaches a pixel from one cloud.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Light {
    pub(super) amount: f32,
    /// The sum of amount times value.
    pub(super) value: f32,
}

impl Light {
    fn add(&mut self, other: Self, factor: f32) {
        self.amount += factor * other.amount;
        self.value += factor * other.value;
    }
}

/// The light on every pixel.
#[derive(Debug, Clone)]
pub(super) struct LightField {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) clouds: usize,
    /// The light of each cloud for each pixel, row by row.
    pub(super) light: Vec<Light>,
}

impl LightField {
    pub(super) fn dark(width: usize, height: usize, clouds: usize) -> Self {
        Self {
            width,
            height,
            clouds,
            light: vec![Light::default(); width * height * clouds],
        }
    }

    /// Spreads a fraction of the light over a `radius` in pixels, as a lens does. The sum is unchanged,
    /// except for light that leaves the image.
    pub(super) fn glow(&mut self, fraction: f32, radius: f64) {
        if fraction <= 0.0 || self.clouds == 0 {
            return;
        }
        let mut coarse = self.coarse();
        // The variance of a box of width 2r + 1 is r (r + 1) / 3.
        let variance = (radius / CELL as f64).powi(2);
        let reach = ((0.25 + 3.0 * variance / ROUNDS as f64).sqrt() - 0.5).round().max(1.0) as usize;
        for _ in 0..ROUNDS {
            coarse = coarse.blurred_down(reach).transposed().blurred_down(reach).transposed();
        }
        let (width, clouds) = (self.width, self.clouds);
        self.light
            .par_chunks_exact_mut(width * clouds)
            .enumerate()
            .for_each(|(y, row)| {
                for (x, pixel) in row.chunks_exact_mut(clouds).enumerate() {
                    let spread = coarse.between((x as f32 + 0.5) / CELL as f32, (y as f32 + 0.5) / CELL as f32);
                    for (light, corners) in pixel.iter_mut().enumerate().map(|(cloud, light)| {
                        (
                            light,
                            spread.map(|(cell, part)| (coarse.light[cell * clouds + cloud], part)),
                        )
                    }) {
                        light.amount *= 1.0 - fraction;
                        light.value *= 1.0 - fraction;
                        for (other, part) in corners {
                            light.add(other, fraction * part);
                        }
                    }
                }
            });
    }

    /// The mean light of each cell.
    fn coarse(&self) -> Self {
        let mut coarse = Self::dark(self.width.div_ceil(CELL), self.height.div_ceil(CELL), self.clouds);
        let (columns, clouds) = (coarse.width, self.clouds);
        coarse
            .light
            .par_chunks_exact_mut(columns * clouds)
            .enumerate()
            .for_each(|(row, cells)| {
                for y in row * CELL..self.height.min((row + 1) * CELL) {
                    let pixels = &self.light[y * self.width * clouds..(y + 1) * self.width * clouds];
                    for (x, pixel) in pixels.chunks_exact(clouds).enumerate() {
                        let cell = &mut cells[x / CELL * clouds..(x / CELL + 1) * clouds];
                        for (sum, light) in cell.iter_mut().zip(pixel) {
                            sum.add(*light, 1.0 / (CELL * CELL) as f32);
                        }
                    }
                }
            });
        coarse
    }

    /// Each cell replaced by the mean of the cells up to `reach` above and below.
    fn blurred_down(&self, reach: usize) -> Self {
        let line = self.width * self.clouds;
        let mut blurred = Self::dark(self.width, self.height, self.clouds);
        let factor = 1.0 / (2 * reach + 1) as f32;
        blurred
            .light
            .par_chunks_exact_mut(line)
            .enumerate()
            .for_each(|(y, row)| {
                for other in y.saturating_sub(reach)..(y + reach + 1).min(self.height) {
                    for (sum, light) in row.iter_mut().zip(&self.light[other * line..(other + 1) * line]) {
                        sum.add(*light, factor);
                    }
                }
            });
        blurred
    }

    fn transposed(&self) -> Self {
        let mut turned = Self::dark(self.height, self.width, self.clouds);
        for (index, pixel) in self.light.chunks_exact(self.clouds).enumerate() {
            let (x, y) = (index % self.width, index / self.width);
            let start = (x * self.height + y) * self.clouds;
            turned.light[start..start + self.clouds].copy_from_slice(pixel);
        }
        turned
    }

    /// The four pixels around a point and their weights for linear interpolation.
    fn between(&self, x: f32, y: f32) -> [(usize, f32); 4] {
        let split = |at: f32, count: usize| {
            let at = (at - 0.5).clamp(0.0, (count - 1) as f32);
            let low = at as usize;
            (low, (low + 1).min(count - 1), at - low as f32)
        };
        let ((x0, x1, s), (y0, y1, t)) = (split(x, self.width), split(y, self.height));
        [
            (y0 * self.width + x0, (1.0 - s) * (1.0 - t)),
            (y0 * self.width + x1, s * (1.0 - t)),
            (y1 * self.width + x0, (1.0 - s) * t),
            (y1 * self.width + x1, s * t),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glow_preserves_the_sum_and_spreads_evenly() {
        let mut field = LightField::dark(200, 160, 2);
        let middle = (80 * 200 + 100) * 2;
        field.light[middle + 1] = Light {
            amount: 10.0,
            value: 4.0,
        };
        field.glow(0.5, 10.0);
        let sum = |of: fn(&Light) -> f32| field.light.iter().map(of).sum::<f32>();
        assert!((sum(|l| l.amount) - 10.0).abs() < 1e-3 && (sum(|l| l.value) - 4.0).abs() < 1e-3);
        assert!(
            field.light.iter().step_by(2).all(|l| l.amount == 0.0),
            "the other cloud stays dark"
        );
        let at = |x: usize, y: usize| field.light[(y * 200 + x) * 2 + 1].amount;
        assert!(at(100, 80) > 5.0 && at(110, 80) > at(125, 80) && at(125, 80) > 0.0);
        assert!((at(112, 82) - at(102, 92)).abs() < 0.2 * at(112, 82));
    }
}
