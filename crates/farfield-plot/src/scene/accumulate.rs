//! Light of all footprints, tile by tile and from front to back.

use rayon::prelude::*;

use super::light::{Light, LightField};
use super::splat::{Profile, Splat};

/// Side of a tile in pixels: small enough for the cache, large enough that few footprints are in
/// more than one.
const TILE: usize = 64;

/// Sums the footprints on every pixel.
///
/// A point behind much light is dimmed: light `e` before it lets `exp(-absorption e)` through. So
/// near parts hide far ones, and however many points there are, a pixel gets no more than
/// `1 / absorption`.
///
/// Tiles are independent and points keep a fixed order, so the result does not depend on the
/// number of threads.
pub(super) fn accumulate(
    splats: &[Splat],
    clouds: usize,
    absorption: f32,
    (width, height): (usize, usize),
) -> LightField {
    let columns = width.div_ceil(TILE);
    let lists = splats_by_tile(splats, (width, height));
    let lit = lists.into_par_iter().enumerate().filter(|(_, list)| !list.is_empty());
    let tiles: Vec<Tile> = lit
        .map(|(index, mut list)| {
            // By depth, then by number.
            list.sort_unstable();
            let corner = (index % columns * TILE, index / columns * TILE);
            let mut tile = Tile::dark(corner, (width, height), clouds);
            let order = list.iter().map(|key| &splats[(key & u64::from(u32::MAX)) as usize]);
            tile.add(order, absorption);
            tile
        })
        .collect();

    let mut field = LightField::dark(width, height, clouds);
    for tile in &tiles {
        let rows = tile.light.chunks_exact(tile.width * clouds);
        for (y, row) in (tile.top..).zip(rows) {
            let start = (y * width + tile.left) * clouds;
            field.light[start..start + row.len()].copy_from_slice(row);
        }
    }
    field
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

/// The light on a part of the image.
struct Tile {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    clouds: usize,
    light: Vec<Light>,
}

impl Tile {
    fn dark((left, top): (usize, usize), (width, height): (usize, usize), clouds: usize) -> Self {
        let (width, height) = (TILE.min(width - left), TILE.min(height - top));
        Self {
            left,
            top,
            width,
            height,
            clouds,
            light: vec![Light::default(); width * height * clouds],
        }
    }

    fn add<'a>(&mut self, front_to_back: impl Iterator<Item = &'a Splat>, absorption: f32) {
        // How much of what is behind can still be seen.
        let mut clear = vec![1.0_f32; self.width * self.height];
        let (mut across, mut down) = (Profile::default(), Profile::default());
        for splat in front_to_back {
            across.set(splat.x - self.left as f32, splat.reach);
            down.set(splat.y - self.top as f32, splat.reach);
            let (x0, across) = visible(&across, self.width);
            let (y0, down) = visible(&down, self.height);
            for (y, &part) in (y0..).zip(down) {
                let flux = splat.flux * part;
                let row = y * self.width + x0;
                let pixels = self.light[row * self.clouds..].chunks_exact_mut(self.clouds);
                let clear = &mut clear[row..row + across.len()];
                for ((light, clear), &part) in pixels.zip(clear).zip(across) {
                    let amount = flux * part;
                    // 1 / (1 + d + d^2/2) stands for exp(-d), and the light from within the
                    // footprint is its integral, (1 - exp(-d)) / absorption.
                    let d = absorption * amount;
                    let through = 1.0 / (1.0 + d + 0.5 * d * d);
                    let seen = *clear * amount * (1.0 + 0.5 * d) * through;
                    *clear *= through;
                    let light = &mut light[splat.cloud as usize];
                    light.amount += seen;
                    light.value += seen * splat.value;
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
