use crate::Color;
use crate::canvas::Canvas;
use crate::geometry::{Obstacles, Rect};
use crate::series::{LineStyle, Look};
use crate::text::{Align, CAP_HEIGHT, Fonts, Style};
use crate::theme::{self, Theme};

/// The position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LegendPosition {
    /// Inside the frame if it fits there without covering data, otherwise to the right of the frame.
    #[default]
    Auto,
    /// To the right of the frame.
    Right,
    /// No legend.
    Hidden,
}

/// The sample in front of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sample {
    Line(Look),
    Block(Color),
}

/// The legend of a chart.
pub(crate) struct Legend<'a> {
    fonts: &'a Fonts,
    theme: Theme,
    entries: Vec<(Sample, String)>,
    style: Style,
    sample_width: f64,
}

impl<'a> Legend<'a> {
    /// A legend of the entries that have a name.
    pub(crate) fn new(fonts: &'a Fonts, theme: Theme, entries: impl Iterator<Item = (Sample, String)>) -> Self {
        let entries: Vec<_> = entries.filter(|(_, name)| !name.is_empty()).collect();
        let lines = entries.iter().any(|(sample, _)| matches!(sample, Sample::Line(_)));
        let style = Style::new(theme.small_text(), Color::INK);
        let longest = entries.iter().max_by_key(|(_, name)| name.chars().count());
        let style = longest.map_or(style, |(_, name)| fonts.fitted(name, style, theme.width * 0.3));
        let sample_width = style.size * if lines { 2.6 } else { 1.1 };
        Self {
            fonts,
            theme,
            entries,
            style,
            sample_width,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn padding(&self) -> f64 {
        self.style.size * 0.55
    }

    fn row_height(&self) -> f64 {
        self.style.size * 1.5
    }

    fn size(&self) -> (f64, f64) {
        let names = self.entries.iter().map(|(_, name)| self.fonts.width(name, self.style));
        let width = names.fold(0.0, f64::max) + self.sample_width + 3.2 * self.padding();
        let height = self.entries.len() as f64 * self.row_height() + 1.2 * self.padding();
        (width.ceil(), height.ceil())
    }

    /// The width to keep free to the right of the frame.
    pub(crate) fn reserved(&self) -> f64 {
        self.size().0 + self.theme.px(34.0)
    }

    /// The area of the legend to the right of the frame.
    pub(crate) fn beside(&self, plot: &Rect) -> Rect {
        let (width, height) = self.size();
        let (x, y) = ((plot.x1 + self.theme.px(16.0)).round(), plot.y0);
        Rect::new(x, y, x + width, y + height)
    }

    /// An area for the legend inside the frame that covers nothing; `None` if there is no room.
    pub(crate) fn inside(&self, plot: &Rect, taken: &Obstacles) -> Option<Rect> {
        let (width, height) = self.size();
        let inner = plot.grown(-self.theme.px(12.0));
        let across = |t: f64| (inner.x0 + t * (inner.width() - width)).round();
        let down = |t: f64| (inner.y0 + t * (inner.height() - height)).round();
        let corners = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)];
        let sides = [(0.5, 0.0), (1.0, 0.5), (0.0, 0.5), (0.5, 1.0)];
        let places = corners.into_iter().chain(sides).map(|(s, t)| {
            let (x, y) = (across(s), down(t));
            Rect::new(x, y, x + width, y + height)
        });
        let margin = self.theme.px(12.0);
        let mut good = places.filter(|area| area.within(plot) && taken.leave_free(&area.grown(margin)));
        good.next()
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, area: &Rect) {
        let px = self.theme.px(1.0);
        canvas.fill_rect(area, Color::WHITE, 0.92);
        canvas.outline(area, self.theme.stroke(1.0), theme::LEGEND_BORDER);
        let left = area.x0 + self.padding();
        for (row, (sample, name)) in self.entries.iter().enumerate() {
            let middle = area.y0 + 0.6 * self.padding() + (row as f64 + 0.5) * self.row_height();
            let middle = middle.floor() + 0.5;
            match sample {
                Sample::Line(look) => self.draw_line(canvas, look, (left, middle), px),
                Sample::Block(color) => {
                    let half = self.style.size * 0.42;
                    let block = Rect::new(left, middle - half, left + self.sample_width, middle + half);
                    canvas.fill_rect(&block, *color, 1.0);
                }
            }
            let baseline = middle + CAP_HEIGHT * self.style.size / 2.0;
            let x = left + self.sample_width + self.padding();
            self.fonts.draw(canvas, name, (x, baseline), Align::Left, self.style);
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, look: &Look, (x, y): (f64, f64), px: f64) {
        let area = canvas.area();
        let (start, end) = ((x + 2.0 * px, y), (x + self.sample_width - 2.0 * px, y));
        if look.line != LineStyle::None {
            look.draw_line(canvas, &[start, end], px, &area);
        }
        look.draw_marker(canvas, ((start.0 + end.0) / 2.0, y), px, &area);
    }
}
