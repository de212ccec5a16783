use super::splat::Splat;

/// The side of the measured cells in pixels.
const CELL: usize = 4;

/// The relation between light and brightness.
///
/// The light of a pixel is the sum of the weights of the points seen there, dimmed by fog and by
/// points in front of them. Its brightness is asinh(light / knee) / asinh(white / knee): linear for
/// faint light, logarithmic for bright light, so that dense parts keep their shape.
///
/// A scene measures its own exposure by default. For a series of frames, measure it once with
/// [`Scene::measure`](super::Scene::measure) and use it for all: otherwise brightness jumps between
/// frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exposure {
    /// The light shown at full brightness.
    pub white: f64,
    /// The light at which brightness changes from linear to logarithmic.
    pub knee: f64,
}

impl Exposure {
    /// An exposure that shows the same light brighter by `stops` stops (factors of two).
    #[must_use]
    pub fn brighter(self, stops: f64) -> Self {
        let factor = if stops.is_finite() { (-stops).exp2() } else { 1.0 };
        Self {
            white: self.white * factor,
            knee: self.knee * factor,
        }
    }

    /// An exposure that suits the footprints: the densest parts are nearly white, typical parts
    /// about half as bright.
    pub(super) fn measure(splats: &[Splat], (width, height): (usize, usize)) -> Self {
        let columns = width.div_ceil(CELL);
        let per_pixel = 1.0 / (CELL * CELL) as f64;
        let mut cells = vec![0.0_f64; columns * height.div_ceil(CELL)];
        for splat in splats {
            let (x, y) = (splat.x as i64, splat.y as i64);
            if (0..width as i64).contains(&x) && (0..height as i64).contains(&y) {
                // Most of the light of a footprint wider than the cell falls outside.
                let light = (f64::from(splat.flux) * per_pixel).min(f64::from(splat.peak()));
                cells[y as usize / CELL * columns + x as usize / CELL] += light;
            }
        }
        let mut lit: Vec<f64> = cells.into_iter().filter(|light| *light > 0.0).collect();
        let mut peaks: Vec<f64> = splats
            .iter()
            .step_by(splats.len() / 1000 + 1)
            .map(|s| f64::from(s.peak()))
            .collect();
        let (Some(dense), Some(typical), Some(single)) = (
            quantile(&mut lit, 0.995),
            quantile(&mut lit, 0.5),
            quantile(&mut peaks, 0.9),
        ) else {
            return Self { white: 1.0, knee: 0.25 };
        };
        // Leaves room for denser parts; a single point must not be white.
        let white = 2.0 * dense.max(single);
        let knee = typical.clamp(white / 400.0, white / 6.0);
        Self { white, knee }
    }

    /// The exposure for light of which a part is hidden: points hide those behind them, so that only
    /// the fraction (1 - exp(-opacity)) / opacity of a column of light `white` remains.
    pub(super) fn hidden(self, opacity: f64) -> Self {
        let seen = |light: f64| {
            let depth = opacity * light / self.white;
            if depth > 0.0 {
                light * -(-depth).exp_m1() / depth
            } else {
                light
            }
        };
        Self {
            white: seen(self.white),
            knee: seen(self.knee),
        }
    }

    /// The brightness, 0 to 1, as a function of light.
    pub(super) fn brightness(&self) -> impl Fn(f32) -> f32 + Copy + use<> {
        let inverse = (1.0 / self.knee) as f32;
        let scale = (1.0 / (self.white / self.knee).asinh()) as f32;
        move |light| ((light * inverse).asinh() * scale).min(1.0)
    }
}

fn quantile(values: &mut [f64], fraction: f64) -> Option<f64> {
    let index = (fraction * values.len().checked_sub(1)? as f64) as usize;
    Some(*values.select_nth_unstable_by(index, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brightness_grows_with_light_up_to_white() {
        let brightness = Exposure { white: 50.0, knee: 0.5 }.brightness();
        assert_eq!(brightness(0.0), 0.0);
        assert!((brightness(50.0) - 1.0).abs() < 1e-5);
        assert_eq!(brightness(1e9), 1.0);
        let steps: Vec<f32> = (0..=100).map(|i| brightness(0.5 * i as f32)).collect();
        assert!(steps.windows(2).all(|pair| pair[1] > pair[0]));
        // A hundredth of white is still well above black.
        assert!(brightness(0.5) > 0.15);
    }

    #[test]
    fn one_stop_is_a_factor_of_two() {
        let exposure = Exposure { white: 8.0, knee: 2.0 };
        assert_eq!(exposure.brighter(1.0), Exposure { white: 4.0, knee: 1.0 });
    }
}
