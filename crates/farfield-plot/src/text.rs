//! Draws text with the embedded fonts, including superscripts and subscripts.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::canvas::Canvas;
use crate::geometry::Point;
use crate::{Color, Error};

/// The height of capitals and digits, relative to the text size.
pub(crate) const CAP_HEIGHT: f64 = 0.729;
/// The distance between the baselines of two lines, relative to the text size.
pub(crate) const LINE_HEIGHT: f64 = 1.3;

/// The size of superscripts and subscripts, relative to the text size.
const SCRIPT_SIZE: f64 = 0.72;
const SUPERSCRIPT_RISE: f64 = 0.40;
const SUBSCRIPT_DROP: f64 = 0.16;
/// Line segments per curve of a glyph: enough for letters of more than 100 pixels.
const CURVE_PIECES: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// The position of the given point relative to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// The style of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) size: f64,
    pub(crate) color: Color,
    pub(crate) weight: Weight,
}

impl Style {
    pub(crate) fn new(size: f64, color: Color) -> Self {
        Self {
            size,
            color,
            weight: Weight::Regular,
        }
    }

    pub(crate) fn bold(self) -> Self {
        Self {
            weight: Weight::Bold,
            ..self
        }
    }
}

pub(crate) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

/// One glyph of a text and its position relative to the start of the text.
struct Placed {
    glyph: GlyphId,
    x: f64,
    rise: f64,
    scale: f64,
}

impl Fonts {
    pub(crate) fn load() -> Result<Self, Error> {
        Ok(Self {
            regular: Face::parse(include_bytes!("../fonts/DejaVuSans-subset.ttf"), 0)?,
            bold: Face::parse(include_bytes!("../fonts/DejaVuSans-Bold-subset.ttf"), 0)?,
        })
    }

    fn face(&self, weight: Weight) -> &Face<'static> {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    fn lay_out(&self, text: &str, style: Style) -> (Vec<Placed>, f64) {
        let face = self.face(style.weight);
        let unit = style.size / f64::from(face.units_per_em());
        let (mut placed, mut x) = (Vec::new(), 0.0);
        for (run, script) in runs(text) {
            let (scale, rise) = match script {
                Script::Normal => (unit, 0.0),
                Script::Super => (unit * SCRIPT_SIZE, SUPERSCRIPT_RISE * style.size),
                Script::Sub => (unit * SCRIPT_SIZE, -SUBSCRIPT_DROP * style.size),
            };
            for c in run.chars() {
                let c = if c.is_control() { ' ' } else { c };
                let glyph = face.glyph_index(c).unwrap_or_default();
                placed.push(Placed { glyph, x, rise, scale });
                x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
            }
        }
        (placed, x)
    }

    pub(crate) fn width(&self, text: &str, style: Style) -> f64 {
        self.lay_out(text, style).1
    }

    /// The style with its size reduced so that the text fits into `room`, but at most by half.
    pub(crate) fn fitted(&self, text: &str, style: Style, room: f64) -> Style {
        let width = self.width(text, style);
        let factor = if width > room { (room / width).max(0.5) } else { 1.0 };
        Style {
            size: style.size * factor,
            ..style
        }
    }

    /// The text broken between words into lines that fit into `room`; a longer word gets its own line.
    pub(crate) fn wrapped(&self, text: &str, style: Style, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}"), style) <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// Draws horizontal text with `at` on the baseline.
    pub(crate) fn draw(&self, canvas: &mut Canvas, text: &str, at: Point, align: Align, style: Style) {
        let width = self.width(text, style);
        let x = match align {
            Align::Left => at.0,
            Align::Center => at.0 - width / 2.0,
            Align::Right => at.0 - width,
        };
        let (x, y) = (x.round(), at.1.round());
        self.paint(canvas, text, style, |along, up| (x + along, y - up));
    }

    /// Draws text that runs upwards, centred on `at`, which is on the baseline.
    pub(crate) fn draw_upwards(&self, canvas: &mut Canvas, text: &str, at: Point, style: Style) {
        let (x, y) = (at.0.round(), (at.1 + self.width(text, style) / 2.0).round());
        self.paint(canvas, text, style, |along, up| (x - up, y - along));
    }

    fn paint(&self, canvas: &mut Canvas, text: &str, style: Style, place: impl Fn(f64, f64) -> Point) {
        let area = canvas.area();
        let face = self.face(style.weight);
        for Placed { glyph, x, rise, scale } in self.lay_out(text, style).0 {
            let mut outline = Outline {
                contours: Vec::new(),
                last: (0.0, 0.0),
                place: |gx: f64, gy: f64| place(x + gx * scale, rise + gy * scale),
            };
            face.outline_glyph(glyph, &mut outline);
            canvas.fill(&outline.contours, style.color, &area);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Normal,
    Super,
    Sub,
}

/// Splits `a^{b}_{c}` into normal, superscript and subscript runs.
fn runs(text: &str) -> Vec<(&str, Script)> {
    let mut runs = Vec::new();
    let mut rest = text;
    let opening = |s: &str| [s.find("^{"), s.find("_{")].into_iter().flatten().min();
    while let Some(start) = opening(rest) {
        let Some(length) = rest[start + 2..].find('}') else {
            break;
        };
        let script = if rest[start..].starts_with('^') {
            Script::Super
        } else {
            Script::Sub
        };
        runs.push((&rest[..start], Script::Normal));
        runs.push((&rest[start + 2..start + 2 + length], script));
        rest = &rest[start + 3 + length..];
    }
    runs.push((rest, Script::Normal));
    runs.retain(|(run, _)| !run.is_empty());
    runs
}

/// Collects the outline of a glyph as polygons on the canvas.
struct Outline<F> {
    contours: Vec<Vec<Point>>,
    last: Point,
    place: F,
}

impl<F: Fn(f64, f64) -> Point> Outline<F> {
    fn push(&mut self, x: f64, y: f64) {
        self.last = (x, y);
        let at = (self.place)(x, y);
        if let Some(contour) = self.contours.last_mut() {
            contour.push(at);
        }
    }

    fn push_curve(&mut self, at: impl Fn(f64) -> Point) {
        for piece in 1..=CURVE_PIECES {
            let (x, y) = at(f64::from(piece) / f64::from(CURVE_PIECES));
            self.push(x, y);
        }
    }
}

impl<F: Fn(f64, f64) -> Point> OutlineBuilder for Outline<F> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.contours.push(Vec::new());
        self.push(x.into(), y.into());
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push(x.into(), y.into());
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let start = self.last;
        let mix = |t: f64, a: f64, b: f32, c: f32| {
            let s = 1.0 - t;
            s * s * a + 2.0 * s * t * f64::from(b) + t * t * f64::from(c)
        };
        self.push_curve(|t| (mix(t, start.0, x1, x), mix(t, start.1, y1, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let start = self.last;
        let mix = |t: f64, a: f64, b: f32, c: f32, d: f32| {
            let s = 1.0 - t;
            let inner = s * f64::from(b) + t * f64::from(c);
            s * s * s * a + 3.0 * s * t * inner + t * t * t * f64::from(d)
        };
        self.push_curve(|t| (mix(t, start.0, x1, x2, x), mix(t, start.1, y1, y2, y)));
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style {
        size: 20.0,
        color: Color::INK,
        weight: Weight::Regular,
    };

    #[test]
    fn superscripts_and_subscripts_are_recognised() {
        let expected = [("2×10", Script::Normal), ("-3", Script::Super), (" l", Script::Normal)];
        assert_eq!(runs("2×10^{-3} l_{max}")[..3], expected);
        assert_eq!(runs("a^b_c^{open"), [("a^b_c^{open", Script::Normal)]);
        assert_eq!(runs(""), []);
    }

    #[test]
    fn the_fonts_have_the_characters_that_labels_need() {
        let fonts = Fonts::load().unwrap();
        for c in "AZaz09−×·±≤≥≈∞²³αβθσωΦ√→–°µ".chars() {
            assert!(fonts.regular.glyph_index(c).is_some(), "{c} is missing");
            assert!(fonts.bold.glyph_index(c).is_some(), "{c} is missing in bold");
        }
    }

    #[test]
    fn widths_match_the_text() {
        let fonts = Fonts::load().unwrap();
        assert_eq!(fonts.width("", STYLE), 0.0);
        assert!(fonts.width("10^{6}", STYLE) < fonts.width("106", STYLE));
        let fitted = fonts.fitted("a rather long label", STYLE, 120.0);
        assert!(fonts.width("a rather long label", fitted) <= 120.5);
        let lines = fonts.wrapped("one two three four five", STYLE, 90.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| fonts.width(line, STYLE) <= 90.0));
    }
}
