//! Converts between the sRGB values in an image and linear light, which can be added.

use std::sync::LazyLock;

/// The light of each of the 256 sRGB values.
static LIGHT: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|v| decode(v as f64 / 255.0) as f32));

const STEPS: usize = 1 << 14;

/// sRGB values by the square root of light, which gives enough resolution for dark colours.
static NUMBER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let number = |i: usize| {
        let root = i as f64 / STEPS as f64;
        (encode(root * root) * 255.0 + 0.5) as u8
    };
    (0..=STEPS).map(number).collect()
});

/// The sRGB transfer function: from an sRGB value between 0 and 1 to light between 0 and 1.
pub(crate) fn decode(number: f64) -> f64 {
    if number <= 0.040_45 {
        number / 12.92
    } else {
        ((number + 0.055) / 1.055).powf(2.4)
    }
}

/// The inverse of [`decode`].
pub(crate) fn encode(light: f64) -> f64 {
    if light <= 0.003_130_8 {
        light * 12.92
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

pub(crate) fn to_light(rgb: [u8; 3]) -> [f32; 3] {
    rgb.map(|v| LIGHT[usize::from(v)])
}

/// The sRGB values of light; light out of range is clamped.
pub(crate) fn from_light(light: [f32; 3]) -> [u8; 3] {
    light.map(|v| NUMBER[(v.clamp(0.0, 1.0).sqrt() * STEPS as f32 + 0.5) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_values_survive_conversion_to_light_and_back() {
        for v in 0..=255 {
            assert_eq!(from_light(to_light([v; 3])), [v; 3]);
        }
        assert_eq!(from_light([-1.0, f32::NAN, 9.0])[2], 255);
    }
}
