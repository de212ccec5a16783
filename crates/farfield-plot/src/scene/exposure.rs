use super::splat::Splat;

/// Side of the cells that are measured, in pixels.
const CELL: usize = 4;

/// How much light is shown how bright.
///
/// The light of a pixel is the sum of the weights of the points in front of it, dimmed by fog and
/// by points before them. Its brightness is asinh(light / knee) / asinh(white / knee): linear for
/// what is faint, logarithmic for what is bright, so that dense parts keep their shape.
///
/// A scene measures its own exposure. For a series of frames, measure one and use it for all
/// ([`Scene::measure`](super::Scene::measure)): otherwise brightness jumps between frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exposure {
    /// Light that is shown at full brightness.
    pub white: f64,
    /// Light where brightness turns from linear to logarithmic.
    pub knee: f64,
}

impl Exposure {
    /// An exposure that shows the same light brighter by the given number of stops (factors of two).
    #[must_use]
    pub fn brighter(self, stops: f64) -> Self {
        let factor = if stops.is_finite() { (-stops).exp2() } else { 1.0 };
        Self {
            white: self.white * factor,
            knee: self.knee * factor,
        }
    }

    /// The exposure that suits the footprints: the densest parts are nearly white, the typical ones
    /// around half as bright.
    pub(super) fn measure(splats: &[Splat], (width, height): (usize, usize)) -> Self {
        let columns = width.div_ceil(CELL);
        let per_pixel = 1.0 / (CELL * CELL) as f64;
        let mut cells = vec![0.0_f64; columns * height.div_ceil(CELL)];
        for splat in splats {
            let (x, y) = (splat.x as i64, splat.y as i64);
            if (0..width as i64).contains(&x) && (0..height as i64).contains(&y) {
                // A footprint wider than the cell leaves most of its light outside.
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
        // Room for what is denser still; and one point alone must not be white.
        let white = 2.0 * dense.max(single);
        let knee = typical.clamp(white / 400.0, white / 6.0);
        Self { white, knee }
    }

    /// What is left to see of this when points hide those behind them: of a column of light `white`,
    /// (1 - exp(-opacity)) / opacity.
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

    /// Brightness, 0 to 1, of an amount of light.
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
