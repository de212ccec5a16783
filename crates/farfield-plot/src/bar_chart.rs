use crate::axis::Scale;
use crate::canvas::Canvas;
use crate::frame::{AxisView, Frame, Heading};
use crate::geometry::{Obstacles, Rect};
use crate::legend::{Legend, Sample};
use crate::text::{Align, CAP_HEIGHT, Fonts, Style};
use crate::theme::{DEFAULT_SIZE, Theme};
use crate::ticks::short_number;
use crate::{Axis, Color, Error, Figure, Image, LegendPosition, ReferenceLine};

/// The number of significant digits on the bars.
const DIGITS: usize = 3;

/// One part of the bars, with a value for each category.
#[derive(Debug, Clone)]
pub struct Part {
    name: String,
    values: Vec<f64>,
    color: Option<Color>,
}

impl Part {
    /// A part with one value per category, in order. Missing, negative and non-finite values count
    /// as zero.
    #[must_use]
    pub fn new(name: impl Into<String>, values: &[f64]) -> Self {
        Self {
            name: name.into(),
            values: values.to_vec(),
            color: None,
        }
    }

    /// Sets the colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }

    fn value(&self, category: usize) -> f64 {
        let value = self.values.get(category).copied().unwrap_or(0.0);
        if value.is_finite() && value > 0.0 { value } else { 0.0 }
    }
}

/// A chart of stacked bars: one bar per category, each made of the same named parts.
#[derive(Debug, Clone)]
pub struct BarChart {
    title: String,
    subtitle: String,
    y_label: String,
    categories: Vec<String>,
    parts: Vec<Part>,
    references: Vec<ReferenceLine>,
    numbers: bool,
    legend: LegendPosition,
    size: (u32, u32),
}

impl BarChart {
    /// A chart without bars.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            y_label: String::new(),
            categories: Vec::new(),
            parts: Vec::new(),
            references: Vec::new(),
            numbers: true,
            legend: LegendPosition::Right,
            size: DEFAULT_SIZE,
        }
    }

    /// A smaller line below the title, for instance with the conditions of a measurement.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The label of the vertical axis, for instance `seconds`.
    #[must_use]
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.y_label = label.into();
        self
    }

    /// The names of the bars, from left to right.
    #[must_use]
    pub fn categories<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.categories = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a part on top of the earlier ones.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a horizontal reference line. Vertical lines are not drawn.
    #[must_use]
    pub fn reference(mut self, line: ReferenceLine) -> Self {
        self.references.push(line);
        self
    }

    /// Sets whether the totals of bars and the values of large parts are shown (default: yes).
    #[must_use]
    pub fn numbers(mut self, shown: bool) -> Self {
        self.numbers = shown;
        self
    }

    /// Sets the position of the legend (default: on the right).
    #[must_use]
    pub fn legend(mut self, position: LegendPosition) -> Self {
        self.legend = position;
        self
    }
}

impl Figure for BarChart {
    fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    fn to_image(&self) -> Result<Image, Error> {
        let theme = Theme::new(self.size)?;
        let fonts = Fonts::load()?;
        let legend = self.make_legend(&fonts, theme);
        let y = self.scale();
        let shown = self.legend != LegendPosition::Hidden && !legend.is_empty();

        let mut canvas = Canvas::new(theme.width, theme.height);
        let mut place = None;
        let mut frame = self.make_frame(&fonts, theme, &y, 0.0);
        if shown && self.legend == LegendPosition::Auto {
            let mut trial = Canvas::new(theme.width, theme.height);
            let taken = self.draw(&mut trial, &fonts, &theme, &frame, &y);
            place = legend.inside(&frame.plot, &taken);
        }
        if shown && place.is_none() {
            frame = self.make_frame(&fonts, theme, &y, legend.reserved());
            place = Some(legend.beside(&frame.plot));
        }
        self.draw(&mut canvas, &fonts, &theme, &frame, &y);
        if let Some(place) = place {
            legend.draw(&mut canvas, &place);
        }
        Ok(canvas.into_image())
    }
}

impl BarChart {
    /// The legend, which lists the parts in the order of the stack, the last one on top.
    fn make_legend<'a>(&self, fonts: &'a Fonts, theme: Theme) -> Legend<'a> {
        let entries = self.parts.iter().enumerate().rev();
        let entries = entries.map(|(i, p)| (Sample::Block(self.color(i)), p.name.clone()));
        Legend::new(fonts, theme, entries)
    }

    fn make_frame<'a>(&self, fonts: &'a Fonts, theme: Theme, y: &Scale, right: f64) -> Frame<'a> {
        let heading = Heading {
            title: &self.title,
            subtitle: &self.subtitle,
        };
        let names = self.categories.iter().enumerate();
        let x = AxisView {
            label: String::new(),
            major: names.map(|(i, name)| (self.center(i), name.clone())).collect(),
            minor: Vec::new(),
            ruled: false,
        };
        let y_axis = Axis::linear(self.y_label.clone());
        let y = AxisView::of(&y_axis, y, theme.height * 0.8, theme.small_text() * 3.2);
        Frame::new(fonts, theme, heading, (x, y), right)
    }

    fn color(&self, part: usize) -> Color {
        self.parts[part].color.unwrap_or(Color::of_index(part))
    }

    /// The centre of a bar as a fraction of the plot's width.
    fn center(&self, category: usize) -> f64 {
        (category as f64 + 0.5) / self.categories.len().max(1) as f64
    }

    fn total(&self, category: usize) -> f64 {
        self.parts.iter().map(|part| part.value(category)).sum()
    }

    /// A scale from zero to slightly above the highest bar.
    fn scale(&self) -> Scale {
        let totals = (0..self.categories.len()).map(|i| self.total(i));
        let lines = self.references.iter().filter_map(ReferenceLine::y);
        let values = totals.chain(lines).filter(|v| v.is_finite() && *v > 0.0);
        let highest = values.fold(0.0_f64, f64::max).min(1e299);
        let top = if highest > 0.0 { highest * 1.1 } else { 1.0 };
        Axis::linear("").range(0.0, top).scale(std::iter::empty())
    }

    /// Draws everything except the legend, and returns the areas that the legend should not cover.
    fn draw(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme, frame: &Frame<'_>, y: &Scale) -> Obstacles {
        let plot = frame.plot;
        let mut taken = Obstacles::default();
        frame.draw_grid(canvas);
        let bars = 0..self.categories.len();
        let bars: Vec<Bar> = bars.map(|category| self.bar(category, &plot, y, theme)).collect();
        for bar in &bars {
            self.draw_bar(canvas, bar);
            taken.add_box(Rect {
                y0: bar.area.y0 - theme.small_text() * 1.5,
                ..bar.area
            });
        }
        let lines = self.references.iter();
        let lines: Vec<_> = lines.filter_map(|r| Some((r, r.ends(None, y, &plot)?))).collect();
        for (line, ends) in &lines {
            line.draw(canvas, *ends, theme, &plot);
            taken.add_segment(ends.0, ends.1);
        }
        for bar in bars.iter().filter(|_| self.numbers) {
            self.draw_numbers(canvas, (fonts, theme), bar);
        }
        frame.draw_frame(canvas);
        for (line, ends) in lines {
            line.draw_label(canvas, fonts, ends, theme, &plot, &mut taken);
        }
        taken
    }

    /// The areas of a bar and its parts.
    fn bar(&self, category: usize, plot: &Rect, y: &Scale, theme: &Theme) -> Bar {
        let slot = plot.width() / self.categories.len().max(1) as f64;
        let half = (slot * 0.31).min(theme.px(110.0));
        let center = plot.x0 + self.center(category) * plot.width();
        let (left, right) = ((center - half).round(), (center + half).round());
        let height = |value: f64| plot.y1 - y.fraction(value).unwrap_or(0.0) * plot.height();
        let (mut total, mut parts) = (0.0, Vec::new());
        for (index, part) in self.parts.iter().enumerate() {
            let value = part.value(category);
            if value > 0.0 {
                let area = Rect::new(left, height(total + value), right, height(total));
                parts.push((index, value, area));
                total += value;
            }
        }
        Bar {
            parts,
            total,
            area: Rect::new(left, height(total), right, plot.y1),
        }
    }

    fn draw_bar(&self, canvas: &mut Canvas, bar: &Bar) {
        for (place, (index, _, area)) in bar.parts.iter().enumerate() {
            canvas.fill_rect(area, self.color(*index), 1.0);
            if place > 0 && area.height() >= 3.0 {
                canvas.horizontal((area.x0, area.x1), area.y1, 1.0, Color::WHITE);
            }
        }
    }

    /// Draws the total above the bar and, if the bar has several parts, the value in each part that is large enough.
    fn draw_numbers(&self, canvas: &mut Canvas, (fonts, theme): (&Fonts, &Theme), bar: &Bar) {
        let text = Style::new(theme.small_text() * 0.9, Color::INK);
        let center = (bar.area.x0 + bar.area.x1) / 2.0;
        let parts = if bar.parts.len() > 1 { &bar.parts[..] } else { &[] };
        for (index, value, area) in parts {
            let number = short_number(*value, DIGITS);
            let half = fonts.width(&number, text) / 2.0 + text.size * 0.2;
            if area.height() < text.size * 1.25 || 2.0 * half > area.width() {
                continue;
            }
            let middle = (area.y0 + area.y1) / 2.0;
            let color = self.color(*index);
            // Hides a reference line that would cross the number.
            let (top, bottom) = (middle - text.size * 0.55, middle + text.size * 0.55);
            canvas.fill_rect(&Rect::new(center - half, top, center + half, bottom), color, 1.0);
            let baseline = middle + CAP_HEIGHT * text.size / 2.0;
            let style = Style {
                color: color.readable_on(),
                ..text
            };
            fonts.draw(canvas, &number, (center, baseline), Align::Center, style);
        }
        if bar.total > 0.0 {
            let number = short_number(bar.total, DIGITS);
            let style = Style::new(theme.small_text(), Color::INK).bold();
            let style = fonts.fitted(&number, style, bar.area.width() * 1.5);
            let at = (center, bar.area.y0 - style.size * 0.35);
            fonts.draw(canvas, &number, at, Align::Center, style);
        }
    }
}

/// A bar on the canvas, with the index, value and area of each visible part.
struct Bar {
    parts: Vec<(usize, f64, Rect)>,
    total: f64,
    area: Rect,
}
