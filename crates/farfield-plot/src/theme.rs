//! Sizes and colours shared by all charts.

use crate::{Color, Error};

pub(crate) const MIN_SIDE: u32 = 200;
pub(crate) const MAX_SIDE: u32 = 8192;
pub(crate) const DEFAULT_SIZE: (u32, u32) = (1200, 800);

pub(crate) const GRID: Color = Color::hex(0xDC_DCDC);
pub(crate) const GRID_MINOR: Color = Color::hex(0xF1_F1F1);
pub(crate) const FRAME: Color = Color::hex(0x44_4444);
pub(crate) const FAINT_TEXT: Color = Color::hex(0x55_5555);
pub(crate) const LEGEND_BORDER: Color = Color::hex(0xC4_C4C4);

/// The smallest text size in pixels, for images of any size.
const MIN_TEXT: f64 = 14.0;

/// Lengths in pixels for an image of a given size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Theme {
    pub(crate) width: f64,
    pub(crate) height: f64,
    scale: f64,
}

impl Theme {
    pub(crate) fn new((width, height): (u32, u32)) -> Result<Self, Error> {
        let allowed = MIN_SIDE..=MAX_SIDE;
        if !allowed.contains(&width) || !allowed.contains(&height) {
            return Err(Error::Size { width, height });
        }
        let (width, height) = (f64::from(width), f64::from(height));
        let (w0, h0) = (f64::from(DEFAULT_SIZE.0), f64::from(DEFAULT_SIZE.1));
        let scale = (width / w0).min(height / h0);
        Ok(Self { width, height, scale })
    }

    /// A length that is `base` pixels at the default image size.
    pub(crate) fn px(&self, base: f64) -> f64 {
        base * self.scale
    }

    /// A line width: scaled, but at least one pixel.
    pub(crate) fn stroke(&self, base: f64) -> f64 {
        self.px(base).max(1.0)
    }

    fn text(&self, base: f64) -> f64 {
        self.px(base).max(MIN_TEXT)
    }

    pub(crate) fn title_text(&self) -> f64 {
        self.text(26.0)
    }

    pub(crate) fn label_text(&self) -> f64 {
        self.text(22.0)
    }

    pub(crate) fn small_text(&self) -> f64 {
        self.text(19.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_images_keep_readable_text() {
        let theme = Theme::new((300, 200)).unwrap();
        assert!(theme.small_text() >= MIN_TEXT);
        assert!(theme.stroke(1.0) >= 1.0);
    }

    #[test]
    fn sizes_out_of_range_are_rejected() {
        assert!(matches!(
            Theme::new((0, 800)),
            Err(Error::Size { width: 0, height: 800 })
        ));
        assert!(Theme::new((1200, MAX_SIDE + 1)).is_err());
    }
}
