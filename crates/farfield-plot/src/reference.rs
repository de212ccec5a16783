use crate::Color;
use crate::axis::Scale;
use crate::canvas::Canvas;
use crate::geometry::{Obstacles, Point, Rect};
use crate::series::{LineStyle, Look, Marker};
use crate::text::{Align, CAP_HEIGHT, Fonts, Style};
use crate::theme::Theme;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Horizontal,
    Vertical,
}

/// A horizontal or vertical line at one value, with an optional label, for instance a published
/// number, a crossover or a tolerance. The range of the axes includes its value.
#[derive(Debug, Clone)]
pub struct ReferenceLine {
    direction: Direction,
    value: f64,
    label: String,
    color: Color,
    style: LineStyle,
}

impl ReferenceLine {
    fn new(direction: Direction, value: f64) -> Self {
        let (label, color) = (String::new(), Color::hex(0x55_5555));
        Self {
            direction,
            value,
            label,
            color,
            style: LineStyle::Dashed,
        }
    }

    /// A line from left to right at `y`.
    #[must_use]
    pub fn horizontal(y: f64) -> Self {
        Self::new(Direction::Horizontal, y)
    }

    /// A line from bottom to top at `x`.
    #[must_use]
    pub fn vertical(x: f64) -> Self {
        Self::new(Direction::Vertical, x)
    }

    /// The text beside the line.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The colour of line and label (default: dark grey).
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }

    /// The line style (default: dashed).
    #[must_use]
    pub fn style(mut self, style: LineStyle) -> Self {
        self.style = style;
        self
    }

    /// The value, if the line is horizontal.
    pub(crate) fn y(&self) -> Option<f64> {
        (self.direction == Direction::Horizontal).then_some(self.value)
    }

    /// The value, if the line is vertical.
    pub(crate) fn x(&self) -> Option<f64> {
        (self.direction == Direction::Vertical).then_some(self.value)
    }

    /// The ends of the line on the canvas, if its value is in range.
    pub(crate) fn ends(&self, x: Option<&Scale>, y: &Scale, plot: &Rect) -> Option<(Point, Point)> {
        let shown = |f: &f64| (0.0..=1.0).contains(f);
        match self.direction {
            Direction::Horizontal => {
                let at = y.fraction(self.value).filter(shown)?;
                let at = (plot.y1 - at * plot.height()).floor() + 0.5;
                Some(((plot.x0, at), (plot.x1, at)))
            }
            Direction::Vertical => {
                let at = x?.fraction(self.value).filter(shown)?;
                let at = (plot.x0 + at * plot.width()).floor() + 0.5;
                Some(((at, plot.y1), (at, plot.y0)))
            }
        }
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, ends: (Point, Point), theme: &Theme, plot: &Rect) {
        let look = Look {
            line: self.style,
            marker: Marker::None,
            color: self.color,
            width: 2.0,
        };
        look.draw_line(canvas, &[ends.0, ends.1], theme.px(1.0), plot);
    }

    /// Draws the label where it hides least, and adds its area to `taken`. A label without a place inside the plot is
    /// not drawn.
    pub(crate) fn draw_label(
        &self,
        canvas: &mut Canvas,
        fonts: &Fonts,
        ends: (Point, Point),
        theme: &Theme,
        plot: &Rect,
        taken: &mut Obstacles,
    ) {
        if self.label.is_empty() {
            return;
        }
        let style = Style::new(theme.small_text() * 0.95, self.color);
        let style = fonts.fitted(&self.label, style, plot.width() * 0.9);
        let (width, height) = (fonts.width(&self.label, style), style.size * 1.35);
        let places = self.places(ends, (width, height), plot, theme.px(5.0));
        let inside = places.iter().filter(|area| area.within(plot));
        let Some(&area) = inside.min_by(|a, b| taken.hidden_by(a).total_cmp(&taken.hidden_by(b))) else {
            return;
        };
        canvas.fill_rect(&area.grown(theme.px(2.0)), Color::WHITE, 0.8);
        let baseline = (area.y0 + area.y1 + CAP_HEIGHT * style.size) / 2.0;
        fonts.draw(canvas, &self.label, (area.x0, baseline), Align::Left, style);
        taken.add_box(area);
    }

    /// Places for the label beside the line, in order of preference.
    fn places(&self, ends: (Point, Point), size: (f64, f64), plot: &Rect, gap: f64) -> Vec<Rect> {
        let (width, height) = size;
        let ends_first = [1.0, 0.0, 0.85, 0.15, 0.7, 0.3, 0.5];
        let between = (1..20).rev().map(|k| f64::from(k) / 20.0);
        let inner = plot.grown(-2.0 * gap);
        let mut places = Vec::new();
        for t in ends_first.into_iter().chain(between) {
            for side in [-1.0, 1.0] {
                let (x, y) = match self.direction {
                    Direction::Horizontal => {
                        let x = inner.x0 + t * (inner.width() - width);
                        (x, ends.0.1 + if side < 0.0 { -gap - height } else { gap })
                    }
                    Direction::Vertical => {
                        let y = inner.y1 - height - t * (inner.height() - height);
                        (ends.0.0 + if side < 0.0 { gap } else { -gap - width }, y)
                    }
                };
                places.push(Rect::new(x, y, x + width, y + height));
            }
        }
        places
    }
}
