//! Converts light to the colours of an image.

use rayon::prelude::*;

use super::Cloud;
use super::exposure::Exposure;
use super::light::{Light, LightField};
use crate::{Image, srgb};

/// The brightness below which a cloud coloured by brightness fades into the background.
const FADE: f32 = 0.12;
/// The brightness above which colours chosen by value turn towards white.
const HOT: f32 = 0.75;

/// The colours of a cloud's light.
#[derive(Debug)]
pub(super) struct Paint {
    /// The colour map as linear light.
    table: Vec<[f32; 3]>,
    /// Whether the colour follows the values of the points; otherwise it follows the brightness.
    by_value: bool,
}

/// Draws the light over an image.
pub(super) fn develop(field: &LightField, paints: &[Paint], exposure: &Exposure, mut backdrop: Image) -> Image {
    if paints.is_empty() {
        return backdrop;
    }
    let brightness = exposure.brightness();
    let width = field.width;
    let rows = backdrop.pixels_mut().par_chunks_exact_mut(3 * width);
    let light = field.light.par_chunks_exact(width * field.clouds);
    rows.zip(light).for_each(|(row, light)| {
        for (pixel, light) in row.chunks_exact_mut(3).zip(light.chunks_exact(field.clouds)) {
            let amount: f32 = light.iter().map(|l| l.amount).sum();
            if amount > 0.0 {
                let level = brightness(amount);
                let behind = srgb::to_light([pixel[0], pixel[1], pixel[2]]);
                pixel.copy_from_slice(&srgb::from_light(over(
                    behind,
                    mixed(light, paints, amount, level),
                    level,
                )));
            }
        }
    });
    backdrop
}

/// The colour of a pixel with light from several clouds.
fn mixed(light: &[Light], paints: &[Paint], amount: f32, level: f32) -> [f32; 3] {
    let mut sum = [0.0; 3];
    for (light, paint) in light.iter().zip(paints).filter(|(light, _)| light.amount > 0.0) {
        let color = paint.color(light, level);
        for (sum, color) in sum.iter_mut().zip(color) {
            *sum += color * light.amount / amount;
        }
    }
    sum
}

/// Draws a colour over the background; the brighter a pixel, the less of the background remains.
fn over(behind: [f32; 3], color: [f32; 3], level: f32) -> [f32; 3] {
    let open = (1.0 - level).powi(2);
    std::array::from_fn(|i| color[i] + open * behind[i])
}

impl Paint {
    pub(super) fn of(cloud: &Cloud<'_>) -> Self {
        Self {
            table: cloud.colours.table(),
            by_value: cloud.values.is_some(),
        }
    }

    fn color(&self, light: &Light, level: f32) -> [f32; 3] {
        if !self.by_value {
            let fade = (level / FADE).min(1.0);
            return self.at(level).map(|c| fade * c);
        }
        // The mean value along the line of sight determines the colour, the amount the brightness.
        let color = self.at(light.value / light.amount);
        let hot = ((level - HOT) / (1.0 - HOT)).clamp(0.0, 1.0);
        let white = 0.15 * hot * hot;
        color.map(|c| level * (c + white * (1.0 - c)))
    }

    fn at(&self, place: f32) -> [f32; 3] {
        let place = place.clamp(0.0, 1.0) * (self.table.len() - 1) as f32;
        let index = (place as usize).min(self.table.len() - 2);
        let part = place - index as f32;
        let (low, high) = (self.table[index], self.table[index + 1]);
        std::array::from_fn(|i| low[i] + part * (high[i] - low[i]))
    }
}
