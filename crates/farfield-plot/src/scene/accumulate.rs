//! Light of all footprints, tile by tile and from front to back.

use rayon::prelude::*;

use super::develop::Paint;
use super::splat::{Profile, Splat};

/// Side of a tile in pixels: small enough for the cache, large enough that few footprints are in
/// more than one.
pub(super) const TILE: usize = 64;

/// The light that reaches a pixel from one cloud: its colour (red, green, blue times amount) and
/// its amount.
pub(super) type Light = [f32; 4];

/// The light on one tile of the image.
#[derive(Debug)]
pub(super) struct Tile {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    /// For each pixel, row after row, the light of each cloud. Empty if no point is here.
    pub(super) light: Vec<Light>,
}

/// Sums the footprints on every tile.
///
/// A point behind much light is dimmed: light `e` before it lets `exp(-absorption e)` through. So
/// near parts hide far ones, and however many points there are, a pixel gets no more than
/// `1 / absorption`.
///
/// Tiles are independent and points keep a fixed order, so the result does not depend on the
/// number of threads.
pub(super) fn accumulate(
    splats: &[Splat],
    paints: &[Paint],
    absorption: f32,
    (width, height): (usize, usize),
) -> Vec<Tile> {
    let columns = width.div_ceil(TILE);
    let lists = splats_by_tile(splats, (width, height));
    let tiles = lists.into_par_iter().enumerate().map(|(index, mut list)| {
        let (left, top) = (index % columns * TILE, index / columns * TILE);
        let mut tile = Tile {
            left,
            top,
            width: TILE.min(width - left),
            height: TILE.min(height - top),
            light: Vec::new(),
        };
        if !list.is_empty() {
            // By depth, then by number.
            list.sort_unstable();
            tile.light = vec![[0.0; 4]; tile.width * tile.height * paints.len()];
            let order = list.iter().map(|key| &splats[(key & u64::from(u32::MAX)) as usize]);
            tile.add(order, paints, absorption);
        }
        tile
    });
    tiles.collect()
}

/// For each tile the footprints that touch it: depth in the upper half of the key, number in the
/// lower.
fn splats_by_tile(splats: &[Splat], (width, height): (usize, usize)) -> Vec<Vec<u64>> {
    let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
    let tiles = |at: f32, reach: f32, count: usize| {
        let span = Splat::span(at, reach, count);
        span.start / TILE..span.end.div_ceil(TILE)
    };
    let touched = |splat: &Splat| {
        let across = tiles(splat.x, splat.reach, width);
        let down = tiles(splat.y, splat.reach, height);
        down.flat_map(move |row| across.clone().map(move |column| row * columns + column))
    };
    let mut counts = vec![0; columns * rows];
    for splat in splats {
        touched(splat).for_each(|tile| counts[tile] += 1);
    }
    let mut lists: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (number, splat) in splats.iter().enumerate() {
        // Positive floats are ordered as their bits are.
        let key = u64::from(splat.depth.to_bits()) << 32 | number as u64;
        touched(splat).for_each(|tile| lists[tile].push(key));
    }
    lists
}

impl Tile {
    fn add<'a>(&mut self, front_to_back: impl Iterator<Item = &'a Splat>, paints: &[Paint], absorption: f32) {
        let clouds = paints.len();
        let mut clear = vec![1.0_f32; self.width * self.height];
        let (mut across, mut down) = (Profile::default(), Profile::default());
        for splat in front_to_back {
            across.set(splat.x - self.left as f32, splat.reach);
            down.set(splat.y - self.top as f32, splat.reach);
            let [r, g, b] = paints[usize::from(splat.cloud)].table[usize::from(splat.shade)];
            let (x0, across) = visible(&across, self.width);
            let (y0, down) = visible(&down, self.height);
            for (y, &part) in (y0..).zip(down) {
                let flux = splat.flux * part;
                let row = y * self.width + x0;
                let clear = &mut clear[row..row + across.len()];
                for ((x, clear), &part) in (row..).zip(clear).zip(across) {
                    let amount = flux * part;
                    // 1 / (1 + d + d^2/2) stands for exp(-d), and the light from within the
                    // footprint is its integral, (1 - exp(-d)) / absorption.
                    let d = absorption * amount;
                    let through = 1.0 / (1.0 + d + 0.5 * d * d);
                    let seen = *clear * amount * (1.0 + 0.5 * d) * through;
                    *clear *= through;
                    let light = &mut self.light[x * clouds + usize::from(splat.cloud)];
                    for (light, color) in light.iter_mut().zip([r, g, b, 1.0]) {
                        *light += seen * color;
                    }
                }
            }
        }
    }
}

/// The part of a profile that lies on `count` pixels, and the first of them.
fn visible(profile: &Profile, count: usize) -> (usize, &[f32]) {
    let skipped = (-profile.first).clamp(0, profile.parts.len() as i32) as usize;
    let first = profile.first.max(0) as usize;
    let parts = &profile.parts[skipped..];
    let shown = parts.len().min(count.saturating_sub(first));
    (first, &parts[..shown])
}
