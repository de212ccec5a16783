//! Maps of boxes in the plane, seen from above and as columns.

use crate::canvas::Canvas;
use crate::geometry::{Point, Rect};
use crate::text::{Align, CAP_HEIGHT, Fonts, LINE_HEIGHT, Style};
use crate::theme::{self, Theme};
use crate::{Color, Error, Figure, Image};

/// The default size of the image, wide enough for two squares.
const DEFAULT_SIZE: (u32, u32) = (1800, 1000);
/// The sine of the angle above the horizon from which the columns are seen.
const PITCH: f64 = 0.5;
/// The height of the highest column, in units of the side of the map.
const HIGHEST: f64 = 0.62;
/// The colours of the lowest and of the highest column's top.
const LOW: Color = Color::hex(0xF2_F5F8);
const HIGH: Color = Color::hex(0x2B_6CA3);

/// A rectangle of the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapBox {
    /// The lower corner.
    pub low: [f64; 2],
    /// The upper corner.
    pub high: [f64; 2],
    /// Its colour, seen from above.
    pub color: Color,
    /// Its height as a column.
    pub height: f64,
}

impl MapBox {
    fn is_drawable(&self) -> bool {
        let finite = self.low.iter().chain(&self.high).all(|c| c.is_finite());
        finite && (0..2).all(|axis| self.low[axis] <= self.high[axis])
    }

    /// Whether this box may hide a part of the other one, seen from the lower left.
    fn is_before(&self, other: &Self) -> bool {
        (self.high[0] <= other.low[0] && self.low[1] < other.high[1])
            || (self.high[1] <= other.low[1] && self.low[0] < other.high[0])
    }
}

/// A map of boxes that do not overlap, such as the boxes of a tree: on the left seen from above, each in its colour; on
/// the right as columns of their heights.
///
/// ```
/// use farfield_plot::{BoxMap, Color, Figure, MapBox};
///
/// # fn main() -> Result<(), farfield_plot::Error> {
/// let boxes = [(0.0, Color::GREY, 1.0), (1.0, Color::WHITE, 2.0)];
/// let png = BoxMap::new("Two boxes")
///     .boxes(boxes.map(|(x, color, height)| MapBox { low: [x, 0.0], high: [x + 1.0, 2.0], color, height }))
///     .captions("from above", "as columns")
///     .explain(Color::GREY, "the left one")
///     .to_png()?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BoxMap {
    title: String,
    subtitle: String,
    boxes: Vec<MapBox>,
    captions: [String; 2],
    colors: Vec<(Color, String)>,
    size: (u32, u32),
}

impl BoxMap {
    /// A map without boxes.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            boxes: Vec::new(),
            captions: Default::default(),
            colors: Vec::new(),
            size: DEFAULT_SIZE,
        }
    }

    /// A smaller line below the title.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Adds boxes. Boxes with corners that are not finite or in the wrong order are left out.
    #[must_use]
    pub fn boxes(mut self, boxes: impl IntoIterator<Item = MapBox>) -> Self {
        self.boxes.extend(boxes.into_iter().filter(MapBox::is_drawable));
        self
    }

    /// The captions below the two halves.
    #[must_use]
    pub fn captions(mut self, above: impl Into<String>, columns: impl Into<String>) -> Self {
        self.captions = [above.into(), columns.into()];
        self
    }

    /// Adds an explanation of a colour.
    #[must_use]
    pub fn explain(mut self, color: Color, meaning: impl Into<String>) -> Self {
        self.colors.push((color, meaning.into()));
        self
    }
}

impl Figure for BoxMap {
    fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    fn to_image(&self) -> Result<Image, Error> {
        let theme = Theme::new(self.size)?;
        let fonts = Fonts::load()?;
        let mut canvas = Canvas::new(theme.width, theme.height);
        let top = self.draw_heading(&mut canvas, &fonts, &theme);
        let halves = self.draw_captions(&mut canvas, &fonts, &theme, top);
        self.draw_from_above(&mut canvas, &theme, &halves[0]);
        self.draw_columns(&mut canvas, &theme, &halves[1]);
        Ok(canvas.into_image())
    }
}

impl BoxMap {
    /// Draws title and subtitle, and returns where they end.
    fn draw_heading(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme) -> f64 {
        let mut top = theme.px(18.0);
        let title = Style::new(theme.title_text(), Color::INK).bold();
        let subtitle = Style::new(theme.small_text(), theme::FAINT_TEXT);
        for (line, style) in [(&self.title, title), (&self.subtitle, subtitle)] {
            if !line.is_empty() {
                let style = fonts.fitted(line, style, theme.width * 0.95);
                let at = (theme.width / 2.0, top + style.size * 0.95);
                fonts.draw(canvas, line, at, Align::Center, style);
                top += style.size * LINE_HEIGHT;
            }
        }
        top + theme.px(14.0)
    }

    /// Draws captions and colours at the bottom, and returns the areas above them, left and right.
    fn draw_captions(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme, top: f64) -> [Rect; 2] {
        let margin = theme.px(24.0);
        let row = theme.small_text() * 1.5;
        let bottom = theme.height - 2.0 * row - margin;
        let halves = [0.0, 1.0].map(|side| {
            let left = side * theme.width / 2.0;
            Rect::new(left + margin, top, left + theme.width / 2.0 - margin, bottom)
        });
        for (half, caption) in halves.iter().zip(&self.captions) {
            let style = Style::new(theme.label_text(), Color::INK);
            let style = fonts.fitted(caption, style, half.width());
            let at = ((half.x0 + half.x1) / 2.0, bottom + row);
            fonts.draw(canvas, caption, at, Align::Center, style);
        }
        self.draw_colors(canvas, fonts, theme, (&halves[0], bottom + 2.0 * row));
        halves
    }

    /// Draws the explanations of the colours in one line.
    fn draw_colors(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme, (half, baseline): (&Rect, f64)) {
        let mut style = Style::new(theme.small_text(), Color::INK);
        let width = |style: Style| -> f64 {
            let of = |(_, text): &(Color, String)| fonts.width(text, style) + 2.6 * style.size;
            self.colors.iter().map(of).sum()
        };
        style.size *= (half.width() / width(style).max(1.0)).clamp(0.5, 1.0);
        let mut x = (half.x0 + half.x1 - width(style)) / 2.0;
        let block = CAP_HEIGHT * style.size;
        for (color, text) in &self.colors {
            let area = Rect::new(x, baseline - block, x + block * 1.3, baseline);
            canvas.fill_rect(&area, *color, 1.0);
            canvas.outline(&area, theme.stroke(1.0), theme::FRAME);
            let at = (x + 1.5 * style.size, baseline);
            fonts.draw(canvas, text, at, Align::Left, style);
            x += fonts.width(text, style) + 2.6 * style.size;
        }
    }

    /// The rectangle around all boxes: its lower corner and its longer side.
    fn extent(&self) -> ([f64; 2], f64) {
        let fold = |start: f64, pick: fn(f64, f64) -> f64, corner: fn(&MapBox) -> [f64; 2]| {
            [0, 1].map(|axis| self.boxes.iter().map(|b| corner(b)[axis]).fold(start, pick))
        };
        let low = fold(f64::INFINITY, f64::min, |b| b.low);
        let high = fold(f64::NEG_INFINITY, f64::max, |b| b.high);
        let side = (high[0] - low[0]).max(high[1] - low[1]);
        if side > 0.0 && side.is_finite() {
            (low, side)
        } else {
            ([0.0; 2], 1.0)
        }
    }

    fn draw_from_above(&self, canvas: &mut Canvas, theme: &Theme, half: &Rect) {
        let (low, side) = self.extent();
        let pixels = half.width().min(half.height());
        let (left, bottom) = ((half.x0 + half.x1 - pixels) / 2.0, half.y1 - theme.px(8.0));
        let place = |[x, y]: [f64; 2]| {
            let at = |c: f64, axis: usize| (c - low[axis]) / side * (pixels - theme.px(8.0));
            (left + at(x, 0), bottom - at(y, 1))
        };
        let area = |b: &MapBox| {
            let ((x0, y1), (x1, y0)) = (place(b.low), place(b.high));
            Rect::new(x0, y0, x1, y1)
        };
        for b in &self.boxes {
            canvas.fill_rect(&area(b), b.color, 1.0);
        }
        for b in &self.boxes {
            canvas.outline(&area(b), 1.0, theme::FRAME);
        }
    }

    fn draw_columns(&self, canvas: &mut Canvas, theme: &Theme, half: &Rect) {
        let (low, side) = self.extent();
        let highest = self.boxes.iter().map(|b| b.height).filter(|h| h.is_finite());
        let highest = highest.fold(0.0, f64::max);
        let share = |b: &MapBox| {
            if b.height.is_finite() && highest > 0.0 {
                (b.height / highest).max(0.0)
            } else {
                0.0
            }
        };
        // A square of side 1, seen along its diagonal, is sqrt(2) wide.
        let across = std::f64::consts::FRAC_1_SQRT_2;
        let room = half.height() / (2.0 * across * PITCH + HIGHEST);
        let unit = room.min(half.width() / (2.0 * across));
        let (centre, floor) = ((half.x0 + half.x1) / 2.0, half.y1 - theme.px(8.0));
        let place = |x: f64, y: f64, height: f64| -> Point {
            let (x, y) = ((x - low[0]) / side, (y - low[1]) / side);
            let up = (x + y) * across * PITCH + height * HIGHEST;
            (centre + (x - y) * across * unit, floor - up * unit)
        };
        let clip = canvas.area();
        for k in from_far_to_near(&self.boxes) {
            let b = &self.boxes[k];
            let ([x0, y0], [x1, y1], h) = (b.low, b.high, share(b));
            let color = mixed(LOW, HIGH, h);
            let faces = [
                ([(x0, y0, 0.0), (x0, y1, 0.0), (x0, y1, h), (x0, y0, h)], 0.78),
                ([(x0, y0, 0.0), (x1, y0, 0.0), (x1, y0, h), (x0, y0, h)], 0.9),
                ([(x0, y0, h), (x1, y0, h), (x1, y1, h), (x0, y1, h)], 1.0),
            ];
            for (corners, light) in faces {
                let outline: Vec<Point> = corners.iter().map(|(x, y, h)| place(*x, *y, *h)).collect();
                let edges: Vec<_> = (0..4).map(|k| (outline[k], outline[(k + 1) % 4])).collect();
                canvas.fill(&[outline], mixed(Color::hex(0), color, light), &clip);
                canvas.stroke(&edges, theme.stroke(0.7), mixed(theme::FRAME, color, 0.3), &clip);
            }
        }
    }
}

/// The order in which boxes are painted, so that nearer ones cover farther ones.
///
/// A box waits for those that it may hide. Boxes that do not overlap never wait for each other in a cycle; overlapping
/// ones that do are painted last.
fn from_far_to_near(boxes: &[MapBox]) -> Vec<usize> {
    let count = |b: &MapBox| boxes.iter().filter(|other| b.is_before(other)).count();
    let mut waits_for: Vec<usize> = boxes.iter().map(count).collect();
    let mut ready: Vec<usize> = (0..boxes.len()).filter(|k| waits_for[*k] == 0).collect();
    let mut order = Vec::with_capacity(boxes.len());
    while let Some(k) = ready.pop() {
        order.push(k);
        for (other, b) in boxes.iter().enumerate() {
            if b.is_before(&boxes[k]) {
                waits_for[other] = waits_for[other].saturating_sub(1);
                if waits_for[other] == 0 {
                    ready.push(other);
                }
            }
        }
    }
    order.extend((0..boxes.len()).filter(|k| waits_for[*k] > 0));
    order
}

/// The colour at the fraction `t` of the way from one colour to another.
fn mixed(from: Color, to: Color, t: f64) -> Color {
    let channel = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
    Color {
        r: channel(from.r, to.r),
        g: channel(from.g, to.g),
        b: channel(from.b, to.b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_box(x: f64, y: f64) -> MapBox {
        MapBox {
            low: [x, y],
            high: [x + 1.0, y + 1.0],
            color: Color::GREY,
            height: 1.0,
        }
    }

    #[test]
    fn far_boxes_are_painted_before_boxes_that_hide_them() {
        let boxes: Vec<MapBox> = (0..20)
            .map(|k| unit_box(f64::from(k * 7 % 5), f64::from(k / 5)))
            .collect();
        let order = from_far_to_near(&boxes);
        assert_eq!(order.len(), boxes.len());
        for (at, k) in order.iter().enumerate() {
            let later = &order[at + 1..];
            assert!(later.iter().all(|other| !boxes[*k].is_before(&boxes[*other])));
        }
    }

    #[test]
    fn any_boxes_can_be_drawn() {
        let odd = MapBox {
            low: [0.0, f64::NAN],
            ..unit_box(0.0, 0.0)
        };
        let flat = MapBox {
            height: f64::INFINITY,
            ..unit_box(0.0, 0.0)
        };
        let overlapping = [unit_box(0.0, 0.0), unit_box(0.5, 0.5), unit_box(0.25, 0.75)];
        for boxes in [
            vec![],
            vec![odd],
            vec![flat],
            vec![unit_box(2.0, 3.0); 3],
            overlapping.to_vec(),
        ] {
            let count = boxes.iter().filter(|b| b.is_drawable()).count();
            let map = BoxMap::new("").boxes(boxes);
            assert_eq!(from_far_to_near(&map.boxes).len(), count);
            assert!(map.size(300, 200).to_png().is_ok());
        }
    }
}
