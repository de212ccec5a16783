//! Draws shapes on an image.

use crate::geometry::{Point, Rect};
use crate::raster::Mask;
use crate::{Color, Image};

/// An image to draw on.
#[derive(Debug)]
pub(crate) struct Canvas {
    image: Image,
}

impl Canvas {
    /// A white canvas.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self::over(Image::new(width as u32, height as u32, Color::WHITE))
    }

    /// A canvas that draws over `image`.
    pub(crate) fn over(image: Image) -> Self {
        Self { image }
    }

    pub(crate) fn into_image(self) -> Image {
        self.image
    }

    pub(crate) fn area(&self) -> Rect {
        Rect::new(0.0, 0.0, self.image.width() as f64, self.image.height() as f64)
    }

    /// Fills a rectangle with sharp borders: its corners are rounded to integer pixels.
    pub(crate) fn fill_rect(&mut self, area: &Rect, color: Color, opacity: f64) {
        let column = |x: f64| x.round().clamp(0.0, self.image.width() as f64) as usize;
        let row = |y: f64| y.round().clamp(0.0, self.image.height() as f64) as usize;
        let (columns, rows) = (column(area.x0)..column(area.x1), row(area.y0)..row(area.y1));
        for y in rows {
            for x in columns.clone() {
                self.blend(x, y, color, opacity as f32);
            }
        }
    }

    /// Draws a sharp horizontal line, `width` pixels thick, centred on `y`.
    pub(crate) fn horizontal(&mut self, (x0, x1): (f64, f64), y: f64, width: f64, color: Color) {
        let width = width.round().max(1.0);
        let top = (y - width / 2.0).round();
        self.fill_rect(&Rect::new(x0, top, x1, top + width), color, 1.0);
    }

    /// Draws a sharp vertical line, `width` pixels thick, centred on `x`.
    pub(crate) fn vertical(&mut self, x: f64, (y0, y1): (f64, f64), width: f64, color: Color) {
        let width = width.round().max(1.0);
        let left = (x - width / 2.0).round();
        self.fill_rect(&Rect::new(left, y0, left + width, y1), color, 1.0);
    }

    /// Draws the sharp outline of a rectangle.
    pub(crate) fn outline(&mut self, area: &Rect, width: f64, color: Color) {
        let half = width.round().max(1.0) / 2.0;
        for y in [area.y0, area.y1] {
            self.horizontal((area.x0 - half, area.x1 + half), y, width, color);
        }
        for x in [area.x0, area.x1] {
            self.vertical(x, (area.y0 - half, area.y1 + half), width, color);
        }
    }

    /// Draws round-ended strokes, limited to `clip`.
    pub(crate) fn stroke(&mut self, segments: &[(Point, Point)], width: f64, color: Color, clip: &Rect) {
        self.paint(&Mask::stroke(segments, width, clip), color, clip);
    }

    /// Fills the inside of closed outlines, limited to `clip`.
    pub(crate) fn fill(&mut self, outlines: &[Vec<Point>], color: Color, clip: &Rect) {
        self.paint(&Mask::fill(outlines), color, clip);
    }

    fn paint(&mut self, mask: &Mask, color: Color, clip: &Rect) {
        let (width, height) = (self.image.width(), self.image.height());
        let limit = |v: f64, max: usize| v.round().clamp(0.0, max as f64) as i64;
        let columns = limit(clip.x0, width)..limit(clip.x1, width);
        let rows = limit(clip.y0, height)..limit(clip.y1, height);
        for (y, row) in mask.rows().filter(|(y, _)| rows.contains(y)) {
            for (x, &cover) in (mask.left..).zip(row).filter(|(x, _)| columns.contains(x)) {
                self.blend(x as usize, y as usize, color, cover);
            }
        }
    }

    fn blend(&mut self, x: usize, y: usize, color: Color, opacity: f32) {
        if opacity <= 0.0 {
            return;
        }
        let at = (y * self.image.width() + x) * 3;
        for (old, new) in self.image.pixels_mut()[at..at + 3]
            .iter_mut()
            .zip([color.r, color.g, color.b])
        {
            let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * opacity.min(1.0);
            *old = (mixed + 0.5) as u8;
        }
    }
}
