//! The frame around the data: title, axes, ticks and grid.

use crate::Color;
use crate::axis::{Axis, Scale};
use crate::canvas::Canvas;
use crate::geometry::Rect;
use crate::text::{Align, CAP_HEIGHT, Fonts, LINE_HEIGHT, Style};
use crate::theme::{self, Theme};

/// An axis ready to be drawn. Positions are fractions of its length.
#[derive(Debug)]
pub(crate) struct AxisView {
    pub(crate) label: String,
    pub(crate) major: Vec<(f64, String)>,
    pub(crate) minor: Vec<f64>,
    /// Whether ticks and grid lines are drawn in addition to the labels.
    pub(crate) ruled: bool,
}

impl AxisView {
    /// An axis with about one tick per `spacing` pixels of its `length`.
    pub(crate) fn of(axis: &Axis, scale: &Scale, length: f64, spacing: f64) -> Self {
        let room = (length / spacing).clamp(2.0, 12.0) as usize;
        let ticks = axis.ticks_on(scale, room);
        let at = |place: f64| scale.fraction_of_place(place);
        Self {
            label: axis.label.clone(),
            major: ticks.major.into_iter().map(|tick| (at(tick.at), tick.label)).collect(),
            minor: ticks.minor.into_iter().map(at).collect(),
            ruled: true,
        }
    }
}

/// The layout of a chart: the area of the data and everything around it.
pub(crate) struct Frame<'a> {
    fonts: &'a Fonts,
    theme: Theme,
    title: Vec<String>,
    subtitle: Vec<String>,
    x: AxisView,
    y: AxisView,
    pub(crate) plot: Rect,
}

/// The title lines of a chart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
}

impl<'a> Frame<'a> {
    /// Lays out a chart, with `right` pixels kept free to the right of the data.
    pub(crate) fn new(
        fonts: &'a Fonts,
        theme: Theme,
        heading: Heading<'_>,
        (x, y): (AxisView, AxisView),
        right: f64,
    ) -> Self {
        let room = (theme.width - right) * 0.92;
        let mut frame = Self {
            title: fonts.wrapped(heading.title, title_style(&theme), room),
            subtitle: fonts.wrapped(heading.subtitle, subtitle_style(&theme), room),
            plot: Rect::new(0.0, 0.0, theme.width, theme.height),
            fonts,
            theme,
            x,
            y,
        };
        frame.plot = frame.plot_area(right);
        frame
    }

    fn plot_area(&self, right: f64) -> Rect {
        let theme = &self.theme;
        let edge = theme.px(18.0).max(8.0);
        let small = small_style(theme);
        let widest = self.y.major.iter().map(|(_, label)| self.fonts.width(label, small));
        let left = edge
            + label_height(&self.y.label, theme)
            + widest.fold(0.0, f64::max)
            + self.tick_length(&self.y)
            + theme.px(9.0);
        let heading = self.title.len() as f64 * theme.title_text() * LINE_HEIGHT
            + self.subtitle.len() as f64 * theme.small_text() * LINE_HEIGHT;
        let top = edge + if heading > 0.0 { heading + theme.px(10.0) } else { 0.0 };
        let x_ticks = if self.x.major.is_empty() {
            0.0
        } else {
            small.size * LINE_HEIGHT
        };
        let bottom = edge + label_height(&self.x.label, theme) + x_ticks + self.tick_length(&self.x) + theme.px(6.0);
        // The last tick label extends half of its width beyond the plot.
        let last = self
            .x
            .major
            .last()
            .map_or(0.0, |(_, label)| self.fonts.width(label, small));
        let right = if right > 0.0 {
            right
        } else {
            edge.max(last / 2.0) + theme.px(6.0)
        };
        let (x0, y0) = (left.min(theme.width * 0.6).round(), top.min(theme.height * 0.6).round());
        Rect::new(
            x0,
            y0,
            (theme.width - right).max(x0 + theme.width * 0.15).round(),
            (theme.height - bottom).max(y0 + theme.height * 0.15).round(),
        )
    }

    fn tick_length(&self, axis: &AxisView) -> f64 {
        if axis.ruled { self.theme.px(7.0).max(3.0) } else { 0.0 }
    }

    fn x_at(&self, fraction: f64) -> f64 {
        self.plot.x0 + fraction * self.plot.width()
    }

    fn y_at(&self, fraction: f64) -> f64 {
        self.plot.y1 - fraction * self.plot.height()
    }

    /// Draws the grid; call this before the data are drawn.
    pub(crate) fn draw_grid(&self, canvas: &mut Canvas) {
        let (across, up) = ((self.plot.x0, self.plot.x1), (self.plot.y0, self.plot.y1));
        let width = self.theme.stroke(1.0);
        for (minor, color) in [(true, theme::GRID_MINOR), (false, theme::GRID)] {
            for at in grid_lines(&self.x, minor) {
                canvas.vertical(self.x_at(at), up, width, color);
            }
            for at in grid_lines(&self.y, minor) {
                canvas.horizontal(across, self.y_at(at), width, color);
            }
        }
    }

    /// Draws the frame, the ticks and all texts.
    pub(crate) fn draw_frame(&self, canvas: &mut Canvas) {
        let width = self.theme.stroke(1.5);
        canvas.outline(&self.plot, width, theme::FRAME);
        self.draw_x_axis(canvas, width);
        self.draw_y_axis(canvas, width);
        self.draw_heading(canvas);
    }

    fn draw_x_axis(&self, canvas: &mut Canvas, width: f64) {
        let (plot, length) = (&self.plot, self.tick_length(&self.x));
        for (at, size) in tick_marks(&self.x, length) {
            canvas.vertical(self.x_at(at), (plot.y1, plot.y1 + size), width, theme::FRAME);
        }
        let style = small_style(&self.theme);
        let top = plot.y1 + length + self.theme.px(6.0);
        let baseline = top + style.size * 0.95;
        let slot = if self.x.ruled {
            f64::INFINITY
        } else {
            plot.width() / self.x.major.len().max(1) as f64
        };
        let mut taken = f64::NEG_INFINITY;
        for (at, label) in &self.x.major {
            let style = self.fonts.fitted(label, style, slot * 0.95);
            let (center, width) = (self.x_at(*at), self.fonts.width(label, style));
            // A label that would touch the previous one is left out.
            if !self.x.ruled || center - width / 2.0 > taken + style.size * 0.3 {
                self.fonts.draw(canvas, label, (center, baseline), Align::Center, style);
                taken = center + width / 2.0;
            }
        }
        let style = label_style(&self.theme);
        let style = self.fonts.fitted(&self.x.label, style, self.theme.width * 0.95);
        let baseline = self.theme.height - self.theme.px(18.0).max(8.0) - style.size * 0.15;
        let center = (plot.x0 + plot.x1) / 2.0;
        self.fonts
            .draw(canvas, &self.x.label, (center, baseline), Align::Center, style);
    }

    fn draw_y_axis(&self, canvas: &mut Canvas, width: f64) {
        let (plot, length) = (&self.plot, self.tick_length(&self.y));
        for (at, size) in tick_marks(&self.y, length) {
            canvas.horizontal((plot.x0 - size, plot.x0), self.y_at(at), width, theme::FRAME);
        }
        let style = small_style(&self.theme);
        let right = plot.x0 - length - self.theme.px(6.0);
        for (at, label) in &self.y.major {
            let baseline = self.y_at(*at) + CAP_HEIGHT * style.size / 2.0;
            self.fonts.draw(canvas, label, (right, baseline), Align::Right, style);
        }
        let style = label_style(&self.theme);
        let style = self.fonts.fitted(&self.y.label, style, self.theme.height * 0.95);
        let baseline = self.theme.px(14.0).max(6.0) + style.size * 0.9;
        // A long label is moved so that it stays on the image.
        let half = self.fonts.width(&self.y.label, style) / 2.0 + 2.0;
        let center = ((plot.y0 + plot.y1) / 2.0).min(self.theme.height - half).max(half);
        self.fonts
            .draw_upwards(canvas, &self.y.label, (baseline, center), style);
    }

    fn draw_heading(&self, canvas: &mut Canvas) {
        let mut top = self.theme.px(18.0).max(8.0);
        let lines = self.title.iter().map(|line| (line, title_style(&self.theme)));
        let more = self.subtitle.iter().map(|line| (line, subtitle_style(&self.theme)));
        for (line, style) in lines.chain(more) {
            let style = self.fonts.fitted(line, style, self.theme.width * 0.95);
            // Centred above the data, but moved if it would leave the image.
            let half = self.fonts.width(line, style) / 2.0 + 2.0;
            let center = (self.plot.x0 + self.plot.x1) / 2.0;
            let center = center.min(self.theme.width - half).max(half);
            let baseline = top + style.size * 0.95;
            self.fonts.draw(canvas, line, (center, baseline), Align::Center, style);
            top += style.size * LINE_HEIGHT;
        }
    }
}

fn grid_lines(axis: &AxisView, minor: bool) -> Vec<f64> {
    match (axis.ruled, minor) {
        (false, _) => Vec::new(),
        (true, true) => axis.minor.clone(),
        (true, false) => axis.major.iter().map(|(at, _)| *at).collect(),
    }
}

fn tick_marks(axis: &AxisView, length: f64) -> impl Iterator<Item = (f64, f64)> {
    let long = axis
        .major
        .iter()
        .filter(|_| axis.ruled)
        .map(move |(at, _)| (*at, length));
    long.chain(axis.minor.iter().map(move |at| (*at, length * 0.55)))
}

fn label_height(label: &str, theme: &Theme) -> f64 {
    if label.is_empty() {
        0.0
    } else {
        theme.label_text() * LINE_HEIGHT
    }
}

fn title_style(theme: &Theme) -> Style {
    Style::new(theme.title_text(), Color::INK).bold()
}

fn subtitle_style(theme: &Theme) -> Style {
    Style::new(theme.small_text(), theme::FAINT_TEXT)
}

fn label_style(theme: &Theme) -> Style {
    Style::new(theme.label_text(), Color::INK)
}

fn small_style(theme: &Theme) -> Style {
    Style::new(theme.small_text(), Color::INK)
}
