/// An opaque colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Color {
    /// Red, 0 to 255.
    pub r: u8,
    /// Green, 0 to 255.
    pub g: u8,
    /// Blue, 0 to 255.
    pub b: u8,
}

impl Color {
    /// White, the background of every chart.
    pub const WHITE: Self = Self::hex(0xFF_FFFF);
    /// A near black, good for reference curves.
    pub const INK: Self = Self::hex(0x22_2222);
    /// A middle grey, good for curves that only guide the eye.
    pub const GREY: Self = Self::hex(0x88_8888);

    /// The default colours of series and parts, in order. They come from the Okabe-Ito palette,
    /// which stays distinguishable with the common colour vision deficiencies, extended by three
    /// more colours for long lists.
    pub const PALETTE: [Self; 10] = [
        Self::hex(0x00_72B2), // blue
        Self::hex(0xD5_5E00), // vermilion
        Self::hex(0x00_9E73), // green
        Self::hex(0xCC_79A7), // pink
        Self::hex(0xE6_9F00), // orange
        Self::hex(0x56_B4E9), // sky
        Self::hex(0x6A_3D9A), // violet
        Self::hex(0xB8_A800), // olive
        Self::hex(0x7F_7F7F), // grey
        Self::hex(0x8C_2D2D), // wine
    ];

    /// The colour written as `0xRRGGBB`.
    #[must_use]
    pub const fn hex(rgb: u32) -> Self {
        let [_, r, g, b] = rgb.to_be_bytes();
        Self { r, g, b }
    }

    /// The palette colour of the item with this index; the palette repeats.
    pub(crate) fn of_index(index: usize) -> Self {
        Self::PALETTE[index % Self::PALETTE.len()]
    }

    /// A text colour that is readable on this background.
    pub(crate) fn readable_on(self) -> Self {
        let luma = 0.299 * f64::from(self.r) + 0.587 * f64::from(self.g) + 0.114 * f64::from(self.b);
        if luma > 140.0 { Self::INK } else { Self::WHITE }
    }
}

#[cfg(test)]
mod tests {
    use super::Color;

    #[test]
    fn hex_splits_the_channels() {
        assert_eq!(
            Color::hex(0x12_3456),
            Color {
                r: 0x12,
                g: 0x34,
                b: 0x56
            }
        );
    }

    #[test]
    fn palette_has_no_repeats() {
        for (i, a) in Color::PALETTE.iter().enumerate() {
            assert!(Color::PALETTE[..i].iter().all(|b| a != b));
        }
    }
}
