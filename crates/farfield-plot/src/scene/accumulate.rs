//! Sums the light of all footprints, tile by tile and from front to back.

use rayon::prelude::*;

use super::light::{Light, LightField};
use super::splat::{Profile, Splat};

/// The side of a tile in pixels: small enough for the cache, large enough that few footprints are in
/// more than one.
const TILE: usize = 64;
/// The margin around a tile in pixels, which belongs to its neighbours. Footprints up to this width are added
/// as a whole, and the light in the margin is discarded.
const MARGIN: usize = 8;
/// Pixels summed at a time.
const LANES: usize = 4;
/// Footprints sorted by tile in one task.
const PIECE: usize = 1 << 15;

/// Sums the footprints on every pixel.
///
/// Points are dimmed by the light in front of them: light `e` lets `exp(-absorption e)` through. Near
/// parts therefore hide far ones, and the light of a pixel is at most `1 / absorption` for any number of
/// points.
///
/// Tiles are independent and points have a fixed order, so the result does not depend on the
/// number of threads.
pub(super) fn accumulate(
    splats: &[Splat],
    clouds: usize,
    absorption: f32,
    (width, height): (usize, usize),
) -> LightField {
    let tiling = Tiling::new(width, height);
    let pieces: Vec<Piece> = splats.par_chunks(PIECE).map(|some| Piece::of(some, &tiling)).collect();
    let tiles: Vec<Tile> = (0..tiling.count())
        .into_par_iter()
        .filter_map(|index| {
            let here: Vec<&[Splat]> = pieces.iter().map(|piece| piece.of_tile(index)).collect();
            let here = here.concat();
            let mut tile = (!here.is_empty()).then(|| Tile::dark(tiling.corner(index), (width, height), clouds))?;
            tile.add(front_to_back(&here), absorption);
            Some(tile)
        })
        .collect();

    let mut field = LightField::dark(width, height, clouds);
    tiles.iter().for_each(|tile| tile.write_to(&mut field));
    field
}

/// The footprints sorted by depth; equal depths keep their order.
fn front_to_back(splats: &[Splat]) -> impl Iterator<Item = &Splat> {
    // Positive floats have the same order as their bits.
    let key = |(number, splat): (usize, &Splat)| u64::from(splat.depth.to_bits()) << 32 | number as u64;
    let mut keys: Vec<u64> = splats.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    keys.into_iter()
        .map(|key| &splats[(key & u64::from(u32::MAX)) as usize])
}

/// The tiles of an image, row by row.
struct Tiling {
    columns: usize,
    rows: usize,
    size: (usize, usize),
}

impl Tiling {
    fn new(width: usize, height: usize) -> Self {
        Self {
            columns: width.div_ceil(TILE),
            rows: height.div_ceil(TILE),
            size: (width, height),
        }
    }

    fn count(&self) -> usize {
        self.columns * self.rows
    }

    fn corner(&self, index: usize) -> (usize, usize) {
        (index % self.columns * TILE, index / self.columns * TILE)
    }

    /// The tiles that a footprint touches.
    fn touched(&self, splat: &Splat) -> impl Iterator<Item = usize> + use<> {
        let tiles = |at: f32, reach: f32, count: usize| {
            let span = Splat::span(at, reach, count);
            let end = if span.is_empty() { 0 } else { span.end.div_ceil(TILE) };
            span.start / TILE..end
        };
        let across = tiles(splat.x, splat.reach, self.size.0);
        let down = tiles(splat.y, splat.reach, self.size.1);
        let columns = self.columns;
        down.flat_map(move |row| across.clone().map(move |column| row * columns + column))
    }
}

/// A part of the footprints, sorted by tile; a footprint that touches several tiles is in each of them.
struct Piece {
    splats: Vec<Splat>,
    /// The index of the first footprint of each tile, and the number of all.
    starts: Vec<usize>,
}

impl Piece {
    fn of(splats: &[Splat], tiling: &Tiling) -> Self {
        let mut starts = vec![0; tiling.count() + 1];
        for splat in splats {
            tiling.touched(splat).for_each(|tile| starts[tile + 1] += 1);
        }
        for tile in 0..tiling.count() {
            starts[tile + 1] += starts[tile];
        }
        let mut next = starts.clone();
        let mut sorted = vec![Splat::default(); starts[tiling.count()]];
        for splat in splats {
            for tile in tiling.touched(splat) {
                sorted[next[tile]] = *splat;
                next[tile] += 1;
            }
        }
        Self { splats: sorted, starts }
    }

    fn of_tile(&self, index: usize) -> &[Splat] {
        &self.splats[self.starts[index]..self.starts[index + 1]]
    }
}

/// The light on a part of the image and a margin around it. Amounts and values are separate arrays for
/// each cloud, so that the rows of a footprint can be summed several pixels at a time.
struct Tile {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// The fraction of the light behind that is still visible.
    clear: Vec<f32>,
    amounts: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

/// Pixels along a side of a tile, including the margins.
const STRIDE: usize = TILE + 2 * MARGIN;

impl Tile {
    fn dark((left, top): (usize, usize), (width, height): (usize, usize), clouds: usize) -> Self {
        let dark = || vec![vec![0.0; STRIDE * STRIDE]; clouds];
        Self {
            left,
            top,
            width: TILE.min(width - left),
            height: TILE.min(height - top),
            clear: vec![1.0; STRIDE * STRIDE],
            amounts: dark(),
            values: dark(),
        }
    }

    fn add<'a>(&mut self, front_to_back: impl Iterator<Item = &'a Splat>, absorption: f32) {
        let (mut across, mut down) = (Profile::default(), Profile::default());
        let (left, top) = (self.left as i32 - MARGIN as i32, self.top as i32 - MARGIN as i32);
        for splat in front_to_back {
            across.set(splat.x, splat.reach);
            across.pad(LANES, MARGIN);
            down.set(splat.y, splat.reach);
            let (x0, across) = across.within(left, STRIDE);
            let (y0, down) = down.within(top, STRIDE);
            let mut rows = Rows {
                clear: &mut self.clear,
                amounts: &mut self.amounts[splat.cloud as usize],
                values: &mut self.values[splat.cloud as usize],
                absorption,
                value: splat.value,
            };
            for (y, &part) in (y0..).zip(down) {
                rows.add(y * STRIDE + x0, across, splat.flux * part);
            }
        }
    }

    fn write_to(&self, field: &mut LightField) {
        let clouds = field.clouds;
        for (cloud, (amounts, values)) in self.amounts.iter().zip(&self.values).enumerate() {
            for y in 0..self.height {
                let row = (y + MARGIN) * STRIDE + MARGIN..(y + MARGIN) * STRIDE + MARGIN + self.width;
                let start = ((self.top + y) * field.width + self.left) * clouds + cloud;
                let pixels = field.light[start..].iter_mut().step_by(clouds);
                for ((light, &amount), &value) in pixels.zip(&amounts[row.clone()]).zip(&values[row]) {
                    *light = Light { amount, value };
                }
            }
        }
    }
}

/// The arrays to which the rows of one footprint are added.
struct Rows<'a> {
    clear: &'a mut [f32],
    amounts: &'a mut [f32],
    values: &'a mut [f32],
    absorption: f32,
    value: f32,
}

impl Rows<'_> {
    /// Adds a row of a footprint, starting at the pixel `at`.
    fn add(&mut self, at: usize, parts: &[f32], flux: f32) {
        let row = at..at + parts.len();
        let (clear, clear_rest) = self.clear[row.clone()].as_chunks_mut::<LANES>();
        let (sums, sums_rest) = self.amounts[row.clone()].as_chunks_mut::<LANES>();
        let (values, values_rest) = self.values[row].as_chunks_mut::<LANES>();
        let (parts, parts_rest) = parts.as_chunks::<LANES>();
        let shine = Shine {
            flux,
            absorption: self.absorption,
            value: self.value,
        };
        for (((clear, sums), values), parts) in clear.iter_mut().zip(sums).zip(values).zip(parts) {
            shine.on(clear, sums, values, parts);
        }
        let (clear, sums, values) = (
            clear_rest.as_chunks_mut::<1>().0,
            sums_rest.as_chunks_mut::<1>().0,
            values_rest.as_chunks_mut::<1>().0,
        );
        for (((clear, sums), values), part) in clear.iter_mut().zip(sums).zip(values).zip(parts_rest) {
            shine.on(clear, sums, values, &[*part]);
        }
    }
}

/// The light of a row of a footprint.
struct Shine {
    flux: f32,
    absorption: f32,
    value: f32,
}

impl Shine {
    /// Adds the light to `N` neighbouring pixels.
    #[inline]
    fn on<const N: usize>(&self, clear: &mut [f32; N], sums: &mut [f32; N], values: &mut [f32; N], parts: &[f32; N]) {
        for i in 0..N {
            let amount = self.flux * parts[i];
            // 1 / (1 + d + d^2/2 + d^3/6) approximates exp(-d), and the light from within the
            // footprint is its integral, (1 - exp(-d)) / absorption.
            let d = self.absorption * amount;
            let less = 1.0 + d * (0.5 + d * (1.0 / 6.0));
            let through = 1.0 / (1.0 + d * less);
            let seen = clear[i] * amount * less * through;
            clear[i] *= through;
            sums[i] += seen;
            values[i] += seen * self.value;
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

    /// The reference: the same sums pixel by pixel, with all points sorted together and exact exponentials.
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
    fn tiles_give_the_same_light_as_pixel_by_pixel_sums() {
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
    fn without_absorption_all_light_arrives() {
        let mut splats = many(3000);
        splats.retain(|s| (10.0..140.0).contains(&s.x) && (10.0..90.0).contains(&s.y));
        let field = accumulate(&splats, 2, 0.0, SIZE);
        let seen: f32 = field.light.iter().map(|l| l.amount).sum();
        let sent: f32 = splats.iter().map(|s| s.flux).sum();
        assert!((seen / sent - 1.0).abs() < 1e-4, "{seen} of {sent}");
    }

    #[test]
    fn absorption_bounds_the_light_and_hides_points_behind() {
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
    fn the_result_does_not_depend_on_the_number_of_threads() {
        let splats = many(5000);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| accumulate(&splats, 2, 0.3, SIZE).light)
        };
        assert!(with(1) == with(4));
    }
}
