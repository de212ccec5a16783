use crate::{Color, srgb};

/// The number of colours in a table.
pub(crate) const STEPS: usize = 256;

/// Colours for values from low to high. In all maps except [`Rainbow`](Self::Rainbow) and
/// [`Diverging`](Self::Diverging) the lightness increases evenly, so that the order is visible
/// without a legend and in greyscale print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ColourMap {
    /// Violet, blue, green, yellow.
    Viridis,
    /// Black, violet, pink, cream.
    Magma,
    /// Black, purple, red, orange, pale yellow: the glow of something hot.
    #[default]
    Inferno,
    /// Blue, violet, red, yellow; no dark end.
    Plasma,
    /// Black, deep blue, cyan, white.
    Ice,
    /// All hues from blue to red, lightest in the middle. It distinguishes many values, but does
    /// not show which is larger.
    Rainbow,
    /// Blue, light grey, orange: for values on both sides of a neutral one.
    Diverging,
    /// Shades of one colour, from black through the colour itself to nearly white.
    Shades(Color),
}

/// Anchor colours at even steps, taken from the maps of the same names by Nathaniel Smith, Stefan
/// van der Walt and Eric Firing (public domain).
const VIRIDIS: [u32; 10] = [
    0x44_0154, 0x48_2878, 0x3E_4989, 0x31_688E, 0x26_828E, 0x1F_9E89, 0x35_B779, 0x6E_CE58, 0xB5_DE2B, 0xFD_E725,
];
const MAGMA: [u32; 10] = [
    0x00_0004, 0x18_0F3D, 0x44_0F76, 0x72_1F81, 0x9E_2F7F, 0xCD_4071, 0xF1_605D, 0xFD_9668, 0xFE_CA8D, 0xFC_FDBF,
];
const INFERNO: [u32; 10] = [
    0x00_0004, 0x1B_0C41, 0x4A_0C6B, 0x78_1C6D, 0xA5_2C60, 0xCF_4446, 0xED_6925, 0xFB_9B06, 0xF7_D13D, 0xFC_FFA4,
];
const PLASMA: [u32; 10] = [
    0x0D_0887, 0x47_039F, 0x73_01A8, 0x9C_179E, 0xBD_3786, 0xD8_576B, 0xED_7953, 0xFA_9E3B, 0xFD_C926, 0xF0_F921,
];

impl ColourMap {
    /// The colour at a position between 0 and 1; other positions are clamped.
    #[must_use]
    pub fn at(self, position: f64) -> Color {
        let [r, g, b] = self.light_at(position).map(|v| (srgb::encode(v) * 255.0 + 0.5) as u8);
        Color { r, g, b }
    }

    /// The linear light of the colours at even positions from 0 to 1.
    pub(crate) fn table(self) -> Vec<[f32; 3]> {
        let step = |i: usize| self.light_at(i as f64 / (STEPS - 1) as f64).map(|v| v as f32);
        (0..STEPS).map(step).collect()
    }

    fn light_at(self, position: f64) -> [f64; 3] {
        let t = if position.is_nan() {
            0.0
        } else {
            position.clamp(0.0, 1.0)
        };
        let anchored =
            |colors: &[u32]| Lab::along(&colors.iter().map(|&c| Lab::of(Color::hex(c))).collect::<Vec<_>>(), t);
        let lab = match self {
            Self::Viridis => anchored(&VIRIDIS),
            Self::Magma => anchored(&MAGMA),
            Self::Inferno => anchored(&INFERNO),
            Self::Plasma => anchored(&PLASMA),
            Self::Ice => Lab::polar(0.04 + 0.94 * t, 0.30 * t * (1.0 - t).powf(0.8) + 0.02, 285.0 - 95.0 * t),
            Self::Rainbow => Lab::polar(0.58 + 0.28 * (1.0 - (2.0 * t - 1.05).powi(2)), 0.17, 270.0 - 245.0 * t),
            Self::Diverging => {
                let s = 2.0 * t - 1.0;
                let hue = if s < 0.0 { 250.0 } else { 52.0 };
                Lab::polar(0.93 - 0.36 * s.abs().powf(1.3), 0.17 * s.abs().powf(0.9), hue)
            }
            Self::Shades(color) => {
                let (dark, light) = (Lab::of(Color::hex(0)), Lab::of(Color::WHITE));
                let own = Lab::of(color);
                // The colour itself is at the position where an even ramp has its lightness.
                let turn = own.l.clamp(0.25, 0.85);
                if t < turn {
                    dark.towards(own, t / turn)
                } else {
                    own.towards(light, 0.92 * (t - turn) / (1.0 - turn))
                }
            }
        };
        lab.to_light()
    }
}

/// A colour in the OKLab space, in which equal distances look equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lab {
    pub(crate) l: f64,
    a: f64,
    b: f64,
}

impl Lab {
    pub(crate) fn of(color: Color) -> Self {
        let [r, g, b] = [color.r, color.g, color.b].map(|v| srgb::decode(f64::from(v) / 255.0));
        let long = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let medium = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let short = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        Self {
            l: 0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short,
            a: 1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short,
            b: 0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short,
        }
    }

    /// A colour from lightness, chroma and hue in degrees.
    fn polar(l: f64, chroma: f64, hue: f64) -> Self {
        let (sin, cos) = hue.to_radians().sin_cos();
        Self {
            l,
            a: chroma * cos,
            b: chroma * sin,
        }
    }

    fn towards(self, other: Self, t: f64) -> Self {
        let mix = |a: f64, b: f64| a + t * (b - a);
        Self {
            l: mix(self.l, other.l),
            a: mix(self.a, other.a),
            b: mix(self.b, other.b),
        }
    }

    /// The colour at position `t` between anchors at even steps.
    fn along(anchors: &[Self], t: f64) -> Self {
        let place = t * (anchors.len() - 1) as f64;
        let index = (place as usize).min(anchors.len() - 2);
        anchors[index].towards(anchors[index + 1], place - index as f64)
    }

    /// The linear light; the chroma of a colour outside the sRGB gamut is reduced until it fits.
    fn to_light(self) -> [f64; 3] {
        let mut lab = self;
        for _ in 0..40 {
            let light = lab.raw_light();
            if light.iter().all(|v| (-1e-4..=1.0001).contains(v)) {
                break;
            }
            (lab.a, lab.b) = (lab.a * 0.95, lab.b * 0.95);
        }
        lab.raw_light().map(|v| v.clamp(0.0, 1.0))
    }

    fn raw_light(self) -> [f64; 3] {
        let Self { l, a, b } = self;
        let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let medium = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let short = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(map: ColourMap) -> Vec<f64> {
        (0..=100).map(|i| Lab::of(map.at(f64::from(i) / 100.0)).l).collect()
    }

    #[test]
    fn sequential_maps_grow_evenly_lighter() {
        let teal = ColourMap::Shades(Color::hex(0x20_B0A0));
        for map in [
            ColourMap::Viridis,
            ColourMap::Magma,
            ColourMap::Inferno,
            ColourMap::Plasma,
            ColourMap::Ice,
            teal,
        ] {
            let l = lightness(map);
            assert!(l.windows(2).all(|pair| pair[1] > pair[0] - 2e-3), "{map:?} {l:?}");
            assert!(l[100] - l[0] > 0.4, "{map:?}");
            let middle = (l[50] - l[0]) / (l[100] - l[0]);
            assert!((0.3..0.7).contains(&middle), "{map:?}: {middle}");
        }
    }

    #[test]
    fn the_diverging_map_is_lightest_in_the_middle_and_symmetric() {
        let l = lightness(ColourMap::Diverging);
        for i in 0..50 {
            assert!(l[i] < l[i + 1] + 2e-3 && (l[i] - l[100 - i]).abs() < 0.02, "{i}");
        }
        let (low, high) = (ColourMap::Diverging.at(0.0), ColourMap::Diverging.at(1.0));
        assert!(low.b > low.r && high.r > high.b);
    }

    #[test]
    fn maps_pass_through_their_anchors() {
        assert_eq!(ColourMap::Viridis.at(0.0), Color::hex(0x44_0154));
        assert_eq!(ColourMap::Inferno.at(1.0), Color::hex(0xFC_FFA4));
        assert_eq!(ColourMap::Magma.at(f64::NAN), ColourMap::Magma.at(-3.0));
        let red = Color::hex(0xC0_3020);
        let turn = Lab::of(red).l;
        assert_eq!(ColourMap::Shades(red).at(turn), red);
    }
}
