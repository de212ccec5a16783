//! From light to the colours of an image.

use rayon::prelude::*;

use super::Cloud;
use super::accumulate::{Light, Tile};
use super::exposure::Exposure;
use crate::{Image, srgb};

/// Brightness below which a cloud's own darkest colour fades into the background.
const FADE: f32 = 0.12;
/// Brightness above which colours chosen by value turn towards white.
const HOT: f32 = 0.75;

/// What a cloud's light looks like.
#[derive(Debug)]
pub(super) struct Paint {
    /// The colour map as light.
    pub(super) table: Vec<[f32; 3]>,
    /// Whether points have a colour each; otherwise the colour follows the brightness.
    pub(super) by_value: bool,
}

/// Puts the light of the tiles over an image.
pub(super) fn develop(tiles: &[Tile], paints: &[Paint], exposure: &Exposure, mut backdrop: Image) -> Image {
    let brightness = exposure.brightness();
    let lit: Vec<(&Tile, Vec<u8>)> = tiles
        .par_iter()
        .filter(|tile| !tile.light.is_empty())
        .map(|tile| {
            let places = (0..tile.height).flat_map(|y| (0..tile.width).map(move |x| (tile.left + x, tile.top + y)));
            let pixels = tile.light.chunks_exact(paints.len()).zip(places);
            let pixels = pixels.flat_map(|(light, (x, y))| {
                let at = (y * backdrop.width() + x) * 3;
                let behind = &backdrop.pixels()[at..at + 3];
                pixel(light, paints, brightness, [behind[0], behind[1], behind[2]])
            });
            (tile, pixels.collect())
        })
        .collect();
    for (tile, pixels) in lit {
        let piece = Image::from_pixels(tile.width, tile.height, pixels);
        backdrop.put(&piece, (tile.left, tile.top));
    }
    backdrop
}

fn pixel(light: &[Light], paints: &[Paint], brightness: impl Fn(f32) -> f32, behind: [u8; 3]) -> [u8; 3] {
    let amount: f32 = light.iter().map(|l| l[3]).sum();
    if amount <= 0.0 {
        return behind;
    }
    let level = brightness(amount);
    let mut sum = [0.0; 3];
    for (light, paint) in light.iter().zip(paints).filter(|(light, _)| light[3] > 0.0) {
        let color = paint.color(light, level);
        for (sum, color) in sum.iter_mut().zip(color) {
            *sum += color * light[3] / amount;
        }
    }
    let open = 1.0 - level;
    let back = srgb::to_light(behind);
    srgb::from_light(std::array::from_fn(|i| sum[i] + open * open * back[i]))
}

impl Paint {
    pub(super) fn of(cloud: &Cloud<'_>) -> Self {
        Self {
            table: cloud.colours.table(),
            by_value: cloud.values.is_some(),
        }
    }

    fn color(&self, light: &Light, level: f32) -> [f32; 3] {
        let steps = (self.table.len() - 1) as f32;
        if !self.by_value {
            let fade = (level / FADE).min(1.0);
            let place = level * steps;
            let index = (place as usize).min(self.table.len() - 2);
            let part = place - index as f32;
            let (low, high) = (self.table[index], self.table[index + 1]);
            return std::array::from_fn(|i| fade * (low[i] + part * (high[i] - low[i])));
        }
        // Light grows with about the square of how bright it looks.
        let dim = level * level;
        let white = ((level - HOT) / (1.0 - HOT)).clamp(0.0, 1.0);
        let white = 0.35 * white * white;
        std::array::from_fn(|i| {
            let color = light[i] / light[3];
            dim * (color + white * (1.0 - color))
        })
    }
}
