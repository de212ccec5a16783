//! Palettes: a few colours that approximate all colours of an image.

/// Bits per channel by which colours are counted and looked up.
const BITS: u32 = 6;
/// The visibility of differences in red, green and blue.
const SEEN: [f32; 3] = [2.0, 4.0, 3.0];
/// Rounds of moving each palette colour to the mean of the colours it represents.
const ROUNDS: usize = 3;

type Rgb = [f32; 3];

/// A colour of the image and its weight.
#[derive(Clone, Copy)]
struct Swatch {
    color: Rgb,
    weight: f32,
}

/// The colours of a frame.
#[derive(Debug)]
pub(super) struct Palette {
    pub(super) colors: Vec<[u8; 3]>,
}

impl Palette {
    /// At most `count` colours that approximate those of the pixels.
    pub(super) fn of(pixels: impl Iterator<Item = [u8; 3]>, count: usize) -> Self {
        let swatches = swatches(pixels);
        let mut colors = cut(swatches.clone(), count);
        for _ in 0..ROUNDS {
            colors = moved(&colors, &swatches);
        }
        let mut colors: Vec<[u8; 3]> = colors.into_iter().map(|c| c.map(|v| (v + 0.5) as u8)).collect();
        // A fixed order, which also compresses better.
        colors.sort_unstable();
        colors.dedup();
        if colors.is_empty() {
            colors.push([0; 3]);
        }
        Self { colors }
    }

    /// The bytes of a palette with 256 entries.
    pub(super) fn padded(&self) -> Vec<u8> {
        let mut bytes = self.colors.as_flattened().to_vec();
        bytes.resize(256 * 3, 0);
        bytes
    }

    pub(super) fn nearest(&self) -> Nearest {
        let floats: Vec<Rgb> = self.colors.iter().map(|c| c.map(f32::from)).collect();
        let gap = |(i, a): (usize, &Rgb)| {
            let others = floats.iter().enumerate().filter(|(j, _)| *j != i);
            others
                .map(|(_, b)| distance(*a, *b))
                .fold(f32::INFINITY, f32::min)
                .sqrt()
                / 3.0
        };
        let gaps: Vec<f32> = floats
            .iter()
            .enumerate()
            .map(gap)
            .filter(|gap| gap.is_finite())
            .collect();
        let spread = gaps.iter().sum::<f32>() / gaps.len().max(1) as f32;
        Nearest {
            floats,
            spread,
            known: vec![u16::MAX; 1 << (3 * BITS)],
        }
    }
}

/// Finds the palette colour of a pixel.
pub(super) struct Nearest {
    floats: Vec<Rgb>,
    /// The mean distance between neighbouring colours, per channel.
    spread: f32,
    /// Cached results; `u16::MAX` if not yet known.
    known: Vec<u16>,
}

impl Nearest {
    /// The palette index of a colour. A pattern fixed to the image shifts the colour slightly, so that
    /// areas between two palette colours show a mixture of both, in the same way in every frame.
    pub(super) fn dithered(&mut self, pixel: [u8; 3], (x, y): (usize, usize)) -> u8 {
        let shift = (threshold(x, y) - 0.5) * self.spread;
        let moved = pixel.map(|v| (f32::from(v) + shift).clamp(0.0, 255.0));
        let cell = cell_of(moved.map(|v| v as u8));
        if self.known[cell] == u16::MAX {
            self.known[cell] = nearest(&self.floats, moved) as u16;
        }
        self.known[cell] as u8
    }
}

/// The Bayer matrix: numbers from 0 to 1, spread evenly over each block of 8 x 8 pixels.
fn threshold(x: usize, y: usize) -> f32 {
    let (mut value, x, y) = (0, x, x ^ y);
    for bit in 0..3 {
        value = value << 2 | (x >> bit & 1) << 1 | (y >> bit & 1);
    }
    // The bits of x and y alternate, lowest first.
    (value as f32 + 0.5) / 64.0
}

fn cell_of(color: [u8; 3]) -> usize {
    color
        .iter()
        .fold(0, |cell, &v| cell << BITS | usize::from(v >> (8 - BITS)))
}

fn distance(a: Rgb, b: Rgb) -> f32 {
    (0..3).map(|i| SEEN[i] * (a[i] - b[i]).powi(2)).sum()
}

fn nearest(colors: &[Rgb], to: Rgb) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (index, &color) in colors.iter().enumerate() {
        let distance = distance(color, to);
        if distance < best.0 {
            best = (distance, index);
        }
    }
    best.1
}

/// The colours of the image, with similar ones merged.
fn swatches(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<Swatch> {
    let mut sums = vec![[0_u32; 4]; 1 << (3 * BITS)];
    for pixel in pixels {
        let sum = &mut sums[cell_of(pixel)];
        for (sum, value) in sum
            .iter_mut()
            .zip([pixel[0].into(), pixel[1].into(), pixel[2].into(), 1])
        {
            *sum += value;
        }
    }
    let used = sums.into_iter().filter(|sum| sum[3] > 0);
    used.map(|[r, g, b, count]| Swatch {
        color: [r, g, b].map(|sum| sum as f32 / count as f32),
        // Grows less than in proportion to the count, so that small bright parts get colours too.
        weight: (count as f32).powf(0.6),
    })
    .collect()
}

/// Splits the colours into groups, always halving the one with the largest spread, and returns their means.
fn cut(swatches: Vec<Swatch>, count: usize) -> Vec<Rgb> {
    if swatches.is_empty() {
        return Vec::new();
    }
    let mut groups = vec![Group::new(swatches)];
    while groups.len() < count {
        let widest = (0..groups.len()).max_by(|&a, &b| groups[a].spread.total_cmp(&groups[b].spread));
        let Some(index) = widest.filter(|&index| groups[index].spread > 0.0) else {
            break;
        };
        let (low, high) = groups.swap_remove(index).halves();
        groups.extend([low, high]);
    }
    groups.iter().map(|group| group.mean).collect()
}

struct Group {
    swatches: Vec<Swatch>,
    mean: Rgb,
    axis: usize,
    /// Weight times variance along `axis`, where it is largest.
    spread: f32,
}

impl Group {
    fn new(swatches: Vec<Swatch>) -> Self {
        let mean = mean(&swatches);
        let spread = |axis: usize| -> f32 {
            let terms = swatches.iter().map(|s| s.weight * (s.color[axis] - mean[axis]).powi(2));
            SEEN[axis] * terms.sum::<f32>()
        };
        let spreads = [spread(0), spread(1), spread(2)];
        let axis = if spreads[1] >= spreads[0] && spreads[1] >= spreads[2] {
            1
        } else if spreads[0] >= spreads[2] {
            0
        } else {
            2
        };
        let spread = if swatches.len() > 1 { spreads[axis] } else { 0.0 };
        Self {
            swatches,
            mean,
            axis,
            spread,
        }
    }

    fn halves(self) -> (Self, Self) {
        let (axis, middle) = (self.axis, self.mean[self.axis]);
        let (low, high): (Vec<_>, Vec<_>) = self.swatches.into_iter().partition(|s| s.color[axis] <= middle);
        (Self::new(low), Self::new(high))
    }
}

fn mean(swatches: &[Swatch]) -> Rgb {
    let weight: f32 = swatches.iter().map(|s| s.weight).sum();
    if weight <= 0.0 {
        return [0.0; 3];
    }
    std::array::from_fn(|axis| swatches.iter().map(|s| s.weight * s.color[axis]).sum::<f32>() / weight)
}

/// Moves each colour to the mean of the image's colours that are nearest to it.
fn moved(colors: &[Rgb], swatches: &[Swatch]) -> Vec<Rgb> {
    let mut groups: Vec<Vec<Swatch>> = vec![Vec::new(); colors.len()];
    for swatch in swatches {
        groups[nearest(colors, swatch.color)].push(*swatch);
    }
    let new = groups.iter().zip(colors);
    new.map(|(group, old)| if group.is_empty() { *old } else { mean(group) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_colours_are_kept_exactly() {
        let colors = [[5, 7, 13], [255, 0, 0], [250, 250, 250], [0, 90, 200]];
        let palette = Palette::of(colors.into_iter().cycle().take(4000), 255);
        for color in colors {
            assert!(palette.colors.contains(&color), "{palette:?}");
        }
        let mut nearest = palette.nearest();
        for (i, color) in colors.into_iter().enumerate() {
            let index = nearest.dithered(color, (i, 0));
            assert!(usize::from(index) < palette.colors.len());
        }
    }

    #[test]
    fn dithering_reproduces_a_gradient_on_average() {
        // Four palette colours for 256 greys: the mean of the dithered pixels follows the grey.
        let palette = Palette {
            colors: vec![[0; 3], [85; 3], [170; 3], [255; 3]],
        };
        let mut nearest = palette.nearest();
        for grey in [20_u8, 60, 128, 200] {
            let cells = (0..8).flat_map(|x| (0..8).map(move |y| (x, y)));
            let sum: f32 = cells
                .map(|at| f32::from(palette.colors[usize::from(nearest.dithered([grey; 3], at))][0]))
                .sum();
            assert!((sum / 64.0 - f32::from(grey)).abs() < 12.0, "{grey}: {}", sum / 64.0);
        }
    }

    #[test]
    fn the_pattern_has_every_threshold_once() {
        let mut all: Vec<u32> = (0..8)
            .flat_map(|x| (0..8).map(move |y| (threshold(x, y) * 64.0) as u32))
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..64).collect::<Vec<_>>());
    }
}
