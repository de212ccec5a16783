use crate::canvas::Canvas;
use crate::text::{Align, Fonts, LINE_HEIGHT, Style};
use crate::theme::{DEFAULT_SIZE, FAINT_TEXT, Theme};
use crate::{Color, Error, Figure, Image, LineChart};

/// Several charts in one image, with a common title.
///
/// ```
/// use farfield_plot::{Axis, ChartGrid, Figure, LineChart, Series};
///
/// # fn main() -> Result<(), farfield_plot::Error> {
/// let chart = |name: &str, power: i32| {
///     let points: Vec<_> = (0..50).map(|i| 0.1 * f64::from(i)).map(|t| (t, t.powi(power))).collect();
///     LineChart::new(name).x_axis(Axis::linear("t")).series(Series::new("").points(&points))
/// };
/// let image = ChartGrid::new("Powers")
///     .subtitle("of time")
///     .columns(2)
///     .chart(chart("position", 1))
///     .chart(chart("area", 2))
///     .size(1200, 500)
///     .to_image()?;
/// assert_eq!((image.width(), image.height()), (1200, 500));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ChartGrid {
    title: String,
    subtitle: String,
    charts: Vec<LineChart>,
    columns: usize,
    size: (u32, u32),
}

impl ChartGrid {
    /// A grid without charts.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            charts: Vec::new(),
            columns: 2,
            size: DEFAULT_SIZE,
        }
    }

    /// A smaller line below the title.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Adds a chart, from left to right and from top to bottom. Its own size is not used.
    #[must_use]
    pub fn chart(mut self, chart: LineChart) -> Self {
        self.charts.push(chart);
        self
    }

    /// Sets the number of charts side by side (default: 2).
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }
}

impl Figure for ChartGrid {
    fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    fn to_image(&self) -> Result<Image, Error> {
        let theme = Theme::new(self.size)?;
        let fonts = Fonts::load()?;
        let mut canvas = Canvas::new(theme.width, theme.height);
        let top = self.draw_heading(&mut canvas, &fonts, &theme);
        let mut whole = canvas.into_image();
        let columns = self.columns.clamp(1, self.charts.len().max(1));
        let rows = self.charts.len().div_ceil(columns).max(1);
        let (width, height) = (whole.width() / columns, (whole.height() - top) / rows);
        for (index, chart) in self.charts.iter().enumerate() {
            let image = chart.clone().size(width as u32, height as u32).to_image()?;
            whole.put(&image, (index % columns * width, top + index / columns * height));
        }
        Ok(whole)
    }
}

impl ChartGrid {
    /// Draws the title and the subtitle, and returns their height.
    fn draw_heading(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme) -> usize {
        let mut top = theme.px(16.0).max(8.0);
        let title = (&self.title, Style::new(theme.title_text(), Color::INK).bold());
        let subtitle = (&self.subtitle, Style::new(theme.small_text() * 0.9, FAINT_TEXT));
        let lines = [title, subtitle].into_iter().filter(|(text, _)| !text.is_empty());
        let mut drawn = false;
        for (text, style) in lines {
            let style = fonts.fitted(text, style, theme.width * 0.95);
            let at = (theme.width / 2.0, top + style.size * 0.95);
            fonts.draw(canvas, text, at, Align::Center, style);
            top += style.size * LINE_HEIGHT;
            drawn = true;
        }
        if drawn {
            (top as usize).min(theme.height as usize / 2)
        } else {
            0
        }
    }
}
