use crate::axis::Scale;
use crate::canvas::Canvas;
use crate::frame::{AxisView, Frame, Heading};
use crate::geometry::{Obstacles, Point, Rect};
use crate::legend::{Legend, Sample};
use crate::text::Fonts;
use crate::theme::{DEFAULT_SIZE, Theme};
use crate::{Axis, Error, Figure, Image, LegendPosition, ReferenceLine, Series};

/// The limit of coordinates in pixels: far outside the image, but safe to compute with.
const FAR: f64 = 1e7;

/// A chart of curves on linear or logarithmic axes.
#[derive(Debug, Clone)]
pub struct LineChart {
    title: String,
    subtitle: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    references: Vec<ReferenceLine>,
    legend: LegendPosition,
    size: (u32, u32),
}

impl LineChart {
    /// A chart without data, with linear axes without labels.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: Vec::new(),
            references: Vec::new(),
            legend: LegendPosition::Auto,
            size: DEFAULT_SIZE,
        }
    }

    /// A smaller line below the title, for instance with the conditions of a measurement.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Sets the horizontal axis.
    #[must_use]
    pub fn x_axis(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// Sets the vertical axis.
    #[must_use]
    pub fn y_axis(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a series. Later series are drawn over earlier ones.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a horizontal or vertical reference line.
    #[must_use]
    pub fn reference(mut self, line: ReferenceLine) -> Self {
        self.references.push(line);
        self
    }

    /// Sets the position of the legend.
    #[must_use]
    pub fn legend(mut self, position: LegendPosition) -> Self {
        self.legend = position;
        self
    }
}

impl Figure for LineChart {
    fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    fn to_image(&self) -> Result<Image, Error> {
        let theme = Theme::new(self.size)?;
        let fonts = Fonts::load()?;
        let legend = self.make_legend(&fonts, theme);
        let (x, y) = self.scales();
        let frame = |right: f64| {
            let heading = Heading {
                title: &self.title,
                subtitle: &self.subtitle,
            };
            let (across, up) = (self.x.label_length() * theme.small_text(), 3.2 * theme.small_text());
            let x = AxisView::of(&self.x, &x, theme.width * 0.85 - right, across);
            let y = AxisView::of(&self.y, &y, theme.height * 0.8, up);
            Frame::new(&fonts, theme, heading, (x, y), right)
        };
        let beside = |legend: &Legend<'_>| {
            let drawing = Drawing::new(self, (x, y), frame(legend.reserved()));
            let place = legend.beside(&drawing.frame.plot);
            (drawing, Some(place))
        };

        let mut canvas = Canvas::new(theme.width, theme.height);
        let (drawing, place) = match self.legend {
            LegendPosition::Right if !legend.is_empty() => beside(&legend),
            LegendPosition::Auto if !legend.is_empty() => {
                let drawing = Drawing::new(self, (x, y), frame(0.0));
                let mut trial = Canvas::new(theme.width, theme.height);
                let taken = drawing.draw(&mut trial, &fonts, &theme);
                match legend.inside(&drawing.frame.plot, &taken) {
                    Some(place) => (drawing, Some(place)),
                    None => beside(&legend),
                }
            }
            _ => (Drawing::new(self, (x, y), frame(0.0)), None),
        };
        drawing.draw(&mut canvas, &fonts, &theme);
        if let Some(place) = place {
            legend.draw(&mut canvas, &place);
        }
        Ok(canvas.into_image())
    }
}

impl LineChart {
    fn make_legend<'a>(&self, fonts: &'a Fonts, theme: Theme) -> Legend<'a> {
        let entries = self.series.iter().enumerate();
        let entries = entries.map(|(i, s)| (Sample::Line(s.look(i)), s.name.clone()));
        Legend::new(fonts, theme, entries)
    }

    /// Scales that include every point that can be shown on both axes, and all reference lines.
    fn scales(&self) -> (Scale, Scale) {
        let empty = (self.x.scale(std::iter::empty()), self.y.scale(std::iter::empty()));
        let points = self.series.iter().flat_map(|s| &s.points);
        let usable: Vec<_> = points
            .filter(|(x, y)| empty.0.fraction(*x).is_some() && empty.1.fraction(*y).is_some())
            .collect();
        let x = usable
            .iter()
            .map(|p| p.0)
            .chain(self.references.iter().filter_map(|r| r.x()));
        let y = usable
            .iter()
            .map(|p| p.1)
            .chain(self.references.iter().filter_map(|r| r.y()));
        (self.x.scale(x), self.y.scale(y))
    }
}

/// A chart with a known layout.
struct Drawing<'a> {
    chart: &'a LineChart,
    x: Scale,
    y: Scale,
    frame: Frame<'a>,
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a LineChart, (x, y): (Scale, Scale), frame: Frame<'a>) -> Self {
        Self { chart, x, y, frame }
    }

    fn position(&self, (x, y): (f64, f64)) -> Option<Point> {
        let plot = &self.frame.plot;
        let (x, y) = (self.x.fraction(x)?, self.y.fraction(y)?);
        let (x, y) = (plot.x0 + x * plot.width(), plot.y1 - y * plot.height());
        Some((x.clamp(-FAR, FAR), y.clamp(-FAR, FAR)))
    }

    /// The uninterrupted pieces of a series on the canvas.
    fn pieces(&self, series: &Series) -> Vec<Vec<Point>> {
        let positions: Vec<_> = series.points.iter().map(|&p| self.position(p)).collect();
        let pieces = positions.split(Option::is_none);
        pieces
            .filter(|p| !p.is_empty())
            .map(|p| p.iter().flatten().copied().collect())
            .collect()
    }

    /// Draws everything except the legend, and returns the areas that the legend should not cover.
    fn draw(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme) -> Obstacles {
        let (plot, px) = (self.frame.plot, theme.px(1.0));
        let mut taken = Obstacles::default();
        self.frame.draw_grid(canvas);

        let lines = self.chart.references.iter();
        let lines = lines.filter_map(|r| Some((r, r.ends(Some(&self.x), &self.y, &plot)?)));
        let lines: Vec<_> = lines.collect();
        for (line, ends) in &lines {
            line.draw(canvas, *ends, theme, &plot);
            taken.add_segment(ends.0, ends.1);
        }
        // The frame is drawn before the series, so that it does not cover markers on the border.
        self.frame.draw_frame(canvas);
        let everywhere = canvas.area();
        for (index, series) in self.chart.series.iter().enumerate() {
            let look = series.look(index);
            let pieces = self.pieces(series);
            for piece in &pieces {
                look.draw_line(canvas, piece, px, &plot);
                piece.windows(2).for_each(|pair| taken.add_segment(pair[0], pair[1]));
            }
            for &at in pieces.iter().flatten().filter(|at| plot.contains(**at)) {
                look.draw_marker(canvas, at, px, &everywhere);
                taken.add_box(Rect::new(at.0, at.1, at.0, at.1).grown(6.0 * px));
            }
        }
        for (line, ends) in lines {
            line.draw_label(canvas, fonts, ends, theme, &plot, &mut taken);
        }
        taken
    }
}
