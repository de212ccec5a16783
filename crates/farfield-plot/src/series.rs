use crate::Color;
use crate::canvas::Canvas;
use crate::geometry::{Point, Rect};

/// Series with more points than this have no markers by default.
const MANY_POINTS: usize = 40;

/// The line that joins the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineStyle {
    /// A continuous line.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Alternating dashes and dots.
    DashDot,
    /// No line, only markers.
    None,
}

/// The marker drawn at each point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// No marker.
    None,
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle that points upwards.
    Triangle,
    /// A square standing on a corner.
    Diamond,
    /// A triangle that points downwards.
    TriangleDown,
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Cross,
}

/// A named list of points. By default, every series of a chart has its own colour and marker.
#[derive(Debug, Clone)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    line: LineStyle,
    marker: Option<Marker>,
    color: Option<Color>,
    width: f64,
}

impl Series {
    /// A series without points. The name appears in the legend; a series with an empty name does not.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            points: Vec::new(),
            line: LineStyle::Solid,
            marker: None,
            color: None,
            width: 2.6,
        }
    }

    /// A series for comparison, for instance a theoretical curve: a dashed line in dark grey
    /// without markers.
    #[must_use]
    pub fn expected(name: impl Into<String>) -> Self {
        Self::new(name)
            .style(LineStyle::Dashed, Marker::None)
            .color(Color::INK)
            .width(2.0)
    }

    /// Adds points, which are joined in this order.
    #[must_use]
    pub fn points(mut self, points: &[(f64, f64)]) -> Self {
        self.points.extend_from_slice(points);
        self
    }

    /// Sets the line and the marker.
    #[must_use]
    pub fn style(mut self, line: LineStyle, marker: Marker) -> Self {
        self.line = line;
        self.marker = Some(marker);
        self
    }

    /// Sets the colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }

    /// Sets the line width, in pixels of an image of the default size (default: 2.6).
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = if width.is_finite() {
            width.clamp(0.5, 40.0)
        } else {
            self.width
        };
        self
    }

    /// The style of the series with this index in its chart.
    pub(crate) fn look(&self, index: usize) -> Look {
        const TURN: [Marker; 7] = [
            Marker::Circle,
            Marker::Square,
            Marker::Triangle,
            Marker::Diamond,
            Marker::TriangleDown,
            Marker::Cross,
            Marker::Plus,
        ];
        let many = self.points.len() > MANY_POINTS;
        let own = if many { Marker::None } else { TURN[index % TURN.len()] };
        Look {
            line: self.line,
            marker: self.marker.unwrap_or(own),
            color: self.color.unwrap_or(Color::of_index(index)),
            width: self.width,
        }
    }
}

/// The style of a series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) line: LineStyle,
    pub(crate) marker: Marker,
    pub(crate) color: Color,
    pub(crate) width: f64,
}

impl Look {
    /// Lengths of dashes and gaps, in line widths; round ends make each dash one width longer.
    fn pattern(&self) -> &'static [f64] {
        match self.line {
            LineStyle::Solid | LineStyle::None => &[],
            LineStyle::Dashed => &[3.2, 2.8],
            LineStyle::Dotted => &[0.0, 2.2],
            LineStyle::DashDot => &[3.6, 2.4, 0.0, 2.4],
        }
    }

    /// Draws a line through points; `px` is the size of a pixel of an image of the default size.
    pub(crate) fn draw_line(&self, canvas: &mut Canvas, points: &[Point], px: f64, clip: &Rect) {
        if self.line == LineStyle::None {
            return;
        }
        let width = (self.width * px).max(1.0);
        let joined: Vec<_> = points.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let strokes = dashes(&joined, self.pattern(), width, clip);
        canvas.stroke(&strokes, width, self.color, clip);
    }

    /// Draws the marker with a thin white rim that separates it from the lines below.
    pub(crate) fn draw_marker(&self, canvas: &mut Canvas, at: Point, px: f64, clip: &Rect) {
        let radius = ((3.2 + self.width) * px).max(2.5);
        let rim = (1.3 * px).max(0.7);
        let arm = radius * 0.95;
        let diagonal = arm * std::f64::consts::FRAC_1_SQRT_2 * 1.1;
        let crossing = |x: f64, y: f64| {
            [
                ((at.0 - x, at.1 - y), (at.0 + x, at.1 + y)),
                ((at.0 - y, at.1 + x), (at.0 + y, at.1 - x)),
            ]
        };
        let strokes = match self.marker {
            Marker::None => return,
            Marker::Circle => {
                canvas.stroke(&[(at, at)], 2.0 * (radius + rim), Color::WHITE, clip);
                canvas.stroke(&[(at, at)], 2.0 * radius, self.color, clip);
                return;
            }
            Marker::Plus => crossing(arm, 0.0),
            Marker::Cross => crossing(diagonal, diagonal),
            Marker::Square => {
                return self.draw_polygon(canvas, at, (4, 0.5), (radius * 1.27, rim), clip);
            }
            Marker::Diamond => {
                return self.draw_polygon(canvas, at, (4, 0.0), (radius * 1.35, rim), clip);
            }
            Marker::Triangle => {
                return self.draw_polygon(canvas, at, (3, 0.0), (radius * 1.4, rim), clip);
            }
            Marker::TriangleDown => {
                return self.draw_polygon(canvas, at, (3, 0.5), (radius * 1.4, rim), clip);
            }
        };
        let width = (radius * 0.55).max(1.5);
        canvas.stroke(&strokes, width + 2.0 * rim, Color::WHITE, clip);
        canvas.stroke(&strokes, width, self.color, clip);
    }

    /// Draws a regular polygon. Without `turn` it has a corner at the top; `turn` is a fraction of the angle between
    /// corners.
    fn draw_polygon(
        &self,
        canvas: &mut Canvas,
        at: Point,
        (corners, turn): (u32, f64),
        (radius, rim): (f64, f64),
        clip: &Rect,
    ) {
        let step = std::f64::consts::TAU / f64::from(corners);
        let polygon = |radius: f64| {
            let corner = |i| {
                let (sin, cos) = (step * (f64::from(i) + turn)).sin_cos();
                (at.0 + radius * sin, at.1 - radius * cos)
            };
            vec![(0..corners).map(corner).collect::<Vec<_>>()]
        };
        // For a rim of constant width the corners move out farther than the sides.
        let outer = radius + rim / (step / 2.0).cos();
        canvas.fill(&polygon(outer), Color::WHITE, clip);
        canvas.fill(&polygon(radius), self.color, clip);
    }
}

/// Cuts joined segments into dashes. Parts of the segments far from `clip` are dropped.
fn dashes(segments: &[(Point, Point)], pattern: &[f64], width: f64, clip: &Rect) -> Vec<(Point, Point)> {
    let around = clip.grown(4.0 * width);
    let seen = segments.iter().filter_map(|&(a, b)| around.clip(a, b));
    if pattern.is_empty() {
        return seen.collect();
    }
    let mut strokes = Vec::new();
    let (mut index, mut left) = (0, pattern[0] * width);
    for (a, b) in seen {
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let at = |d: f64| {
            let t = if length > 0.0 { d / length } else { 0.0 };
            (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
        };
        let mut done = 0.0;
        loop {
            let end = (done + left).min(length);
            if index % 2 == 0 {
                strokes.push((at(done), at(end)));
            }
            if done + left > length {
                left -= length - done;
                break;
            }
            done = end;
            index = (index + 1) % pattern.len();
            left = pattern[index] * width;
        }
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIP: Rect = Rect {
        x0: 0.0,
        y0: 0.0,
        x1: 1000.0,
        y1: 1000.0,
    };

    #[test]
    fn dashes_alternate_and_continue_around_corners() {
        let path = [((0.0, 0.0), (10.0, 0.0)), ((10.0, 0.0), (10.0, 10.0))];
        let cut = dashes(&path, &[4.0, 2.0], 1.0, &CLIP);
        let length: f64 = cut.iter().map(|(a, b)| (b.0 - a.0).hypot(b.1 - a.1)).sum();
        assert!((length - 14.0).abs() < 1e-9, "{cut:?}");
        assert_eq!(dashes(&path, &[], 1.0, &CLIP), path);
    }

    #[test]
    fn very_long_lines_have_a_limited_number_of_dashes() {
        let path = [((-1e15, 500.0), (1e15, 500.0)), ((5.0, 5.0), (5.0, 5.0))];
        assert!(dashes(&path, &[0.0, 2.2], 1.0, &CLIP).len() < 1000);
    }

    #[test]
    fn series_differ_by_default() {
        let looks: Vec<_> = (0..7).map(|i| Series::new("").look(i)).collect();
        for (i, a) in looks.iter().enumerate() {
            assert!(looks[..i].iter().all(|b| a.color != b.color && a.marker != b.marker));
        }
        let many = Series::new("").points(&[(0.0, 0.0); 1000]);
        assert_eq!(many.look(0).marker, Marker::None);
    }
}
