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
    tiles.iter().for_each(|tile| tile.write_to(&mut field));
    field
}

/// For each tile the footprints that touch it: depth in the upper half of the key, number in the
/// lower.
fn splats_by_tile(splats: &[Splat], (width, height): (usize, usize)) -> Vec<Vec<u64>> {
    let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
    let tiles = |at: f32, reach: f32, count: usize| {
        let span = Splat::span(at, reach, count);
        let end = if span.is_empty() { 0 } else { span.end.div_ceil(TILE) };
        span.start / TILE..end
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

/// The light on a part of the image. Amounts and values are apart, and each cloud has its own, so
/// that the rows of a footprint are summed several pixels at a time.
struct Tile {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// How much of what is behind can still be seen.
    clear: Vec<f32>,
    amounts: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

impl Tile {
    fn dark((left, top): (usize, usize), (width, height): (usize, usize), clouds: usize) -> Self {
        let (width, height) = (TILE.min(width - left), TILE.min(height - top));
        let dark = || vec![vec![0.0; width * height]; clouds];
        Self {
            left,
            top,
            width,
            height,
            clear: vec![1.0; width * height],
            amounts: dark(),
            values: dark(),
        }
    }

    fn add<'a>(&mut self, front_to_back: impl Iterator<Item = &'a Splat>, absorption: f32) {
        let (mut across, mut down) = (Profile::default(), Profile::default());
        for splat in front_to_back {
            across.set(splat.x, splat.reach);
            down.set(splat.y, splat.reach);
            let (x0, across) = across.within(self.left, self.width);
            let (y0, down) = down.within(self.top, self.height);
            let (amounts, values) = (
                &mut self.amounts[splat.cloud as usize],
                &mut self.values[splat.cloud as usize],
            );
            for (y, &part) in (y0..).zip(down) {
                let flux = splat.flux * part;
                let row = y * self.width + x0..y * self.width + x0 + across.len();
                let clear = &mut self.clear[row.clone()];
                let amounts = &mut amounts[row.clone()];
                let values = &mut values[row];
                for (((clear, sum), value), &part) in clear.iter_mut().zip(amounts).zip(values).zip(across) {
                    let amount = flux * part;
                    // 1 / (1 + d + d^2/2 + d^3/6) stands for exp(-d), and the light from within
                    // the footprint is its integral, (1 - exp(-d)) / absorption.
                    let d = absorption * amount;
                    let less = 1.0 + d * (0.5 + d * (1.0 / 6.0));
                    let through = 1.0 / (1.0 + d * less);
                    let seen = *clear * amount * less * through;
                    *clear *= through;
                    *sum += seen;
                    *value += seen * splat.value;
                }
            }
        }
    }

    fn write_to(&self, field: &mut LightField) {
        let clouds = field.clouds;
        for (cloud, (amounts, values)) in self.amounts.iter().zip(&self.values).enumerate() {
            let rows = amounts.chunks_exact(self.width).zip(values.chunks_exact(self.width));
            for (y, (amounts, values)) in (self.top..).zip(rows) {
                let start = (y * field.width + self.left) * clouds + cloud;
                let pixels = field.light[start..].iter_mut().step_by(clouds);
                for ((light, &amount), &value) in pixels.zip(amounts).zip(values) {
                    *light = Light { amount, value };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (usize, usize) = (150, 100);

    /// Footprints all over the image and beyond its borders, of several sizes.
    fn many(count: usize) -> Vec<Splat> {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        (0..count)
            .map(|i| Splat {
                x: 170.0 * uniform() - 10.0,
                y: 120.0 * uniform() - 10.0,
                depth: 1.0 + uniform(),
                reach: 1.25 + 6.0 * uniform(),
                flux: 0.5 + uniform(),
                cloud: (i % 2) as u32,
                value: uniform(),
            })
            .collect()
    }

    /// The same sums pixel by pixel, with all points sorted at once and exponentials as they are.
    fn slow(splats: &[Splat], clouds: usize, absorption: f64) -> Vec<(f64, f64)> {
        let mut order: Vec<&Splat> = splats.iter().collect();
        order.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        let mut light = vec![(0.0, 0.0); SIZE.0 * SIZE.1 * clouds];
        let mut clear = vec![1.0; SIZE.0 * SIZE.1];
        let (mut across, mut down) = (Profile::default(), Profile::default());
        for splat in order {
            across.set(splat.x, splat.reach);
            down.set(splat.y, splat.reach);
            for (y, p) in (down.first..).zip(&down.parts) {
                for (x, q) in (across.first..).zip(&across.parts) {
                    if !(0..SIZE.0 as i32).contains(&x) || !(0..SIZE.1 as i32).contains(&y) {
                        continue;
                    }
                    let at = y as usize * SIZE.0 + x as usize;
                    let amount = f64::from(splat.flux * p * q);
                    let through = (-absorption * amount).exp();
                    let seen = clear[at]
                        * if absorption > 0.0 {
                            (1.0 - through) / absorption
                        } else {
                            amount
                        };
                    clear[at] *= through;
                    let sum = &mut light[at * clouds + splat.cloud as usize];
                    *sum = (sum.0 + seen, sum.1 + seen * f64::from(splat.value));
                }
            }
        }
        light
    }

    #[test]
    fn tiles_give_the_same_light_as_one_pixel_after_the_other() {
        let splats = many(4000);
        for absorption in [0.0, 0.7] {
            let field = accumulate(&splats, 2, absorption, SIZE);
            let expected = slow(&splats, 2, absorption.into());
            for (at, (light, slow)) in field.light.iter().zip(expected).enumerate() {
                let (a, b) = (f64::from(light.amount), f64::from(light.value));
                assert!((a - slow.0).abs() < 3e-3 * (0.05 + slow.0), "{at}: {a} {slow:?}");
                assert!((b - slow.1).abs() < 3e-3 * (0.05 + slow.0), "{at}: {b} {slow:?}");
            }
        }
    }

    #[test]
    fn without_absorption_every_footprint_arrives_whole() {
        let mut splats = many(3000);
        splats.retain(|s| (10.0..140.0).contains(&s.x) && (10.0..90.0).contains(&s.y));
        let field = accumulate(&splats, 2, 0.0, SIZE);
        let seen: f32 = field.light.iter().map(|l| l.amount).sum();
        let sent: f32 = splats.iter().map(|s| s.flux).sum();
        assert!((seen / sent - 1.0).abs() < 1e-4, "{seen} of {sent}");
    }

    #[test]
    fn absorption_bounds_the_light_and_hides_what_is_behind() {
        let point = |depth: f32, cloud: u32| Splat {
            x: 50.5,
            y: 50.5,
            depth,
            reach: 1.25,
            flux: 10.0,
            cloud,
            value: 0.5,
        };
        let splats: Vec<Splat> = (0..200).map(|i| point(1.0 + i as f32, u32::from(i >= 100))).collect();
        let field = accumulate(&splats, 2, 0.5, SIZE);
        let brightest = field
            .light
            .chunks_exact(2)
            .map(|l| l[0].amount + l[1].amount)
            .fold(0.0, f32::max);
        assert!(brightest < 2.0 + 1e-3 && brightest > 1.9, "{brightest}");
        let middle = &field.light[(50 * SIZE.0 + 50) * 2..][..2];
        assert!(middle[0].amount > 1.9 && middle[1].amount < 1e-3, "{middle:?}");
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let splats = many(5000);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| accumulate(&splats, 2, 0.3, SIZE).light)
        };
        assert!(with(1) == with(4));
    }
}
