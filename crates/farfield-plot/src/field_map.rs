use crate::canvas::Canvas;
use crate::geometry::Rect;
use crate::scene::ColourMap;
use crate::text::{Align, Fonts, Style};
use crate::theme::Theme;
use crate::{Color, Error, Figure, Image};

/// The borders of the plot on the canvas, as fractions of its width and height.
const LEFT: f64 = 0.09;
const RIGHT: f64 = 0.84;
const TOP: f64 = 0.075;
const BOTTOM: f64 = 0.92;

/// A map of a plane: rectangles coloured by a value, with outlines over them, and a colour bar.
///
/// Rectangles may have different sizes, such as the cells of an adapted grid.
///
/// ```
/// use farfield_plot::{FieldMap, Figure};
///
/// let mut map = FieldMap::new("Blocks over a field").axes("x", "y").extent([0.0, 0.0], [1.0, 1.0]);
/// for k in 0..4 {
///     let low = [0.5 * f64::from(k % 2), 0.5 * f64::from(k / 2)];
///     let high = [low[0] + 0.5, low[1] + 0.5];
///     map = map.cell(low, high, f64::from(k)).outline(low, high);
/// }
/// assert!(map.to_png()?.starts_with(b"\x89PNG"));
/// # Ok::<(), farfield_plot::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FieldMap {
    title: String,
    axes: [String; 2],
    low: [f64; 2],
    high: [f64; 2],
    cells: Vec<Cell>,
    outlines: Vec<[[f64; 2]; 2]>,
    colours: ColourMap,
    size: (u32, u32),
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    low: [f64; 2],
    high: [f64; 2],
    value: f64,
}

impl FieldMap {
    /// An empty map of the unit square.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            axes: [String::new(), String::new()],
            low: [0.0; 2],
            high: [1.0; 2],
            cells: Vec::new(),
            outlines: Vec::new(),
            colours: ColourMap::Inferno,
            size: (1180, 1100),
        }
    }

    /// The names of the axes.
    #[must_use]
    pub fn axes(mut self, horizontal: impl Into<String>, vertical: impl Into<String>) -> Self {
        self.axes = [horizontal.into(), vertical.into()];
        self
    }

    /// The part of the plane to show, given by two corners.
    #[must_use]
    pub fn extent(mut self, low: [f64; 2], high: [f64; 2]) -> Self {
        (self.low, self.high) = (low, high);
        self
    }

    /// Sets the size of the image so that its longer side is `longest` and the extent leaves no empty canvas.
    #[must_use]
    pub fn fitted(mut self, longest: u32) -> Self {
        let [width, height] = self.shape();
        // The fractions of the canvas that the plot takes.
        let (across, up) = (RIGHT - LEFT, BOTTOM - TOP);
        let ratio = (height / up) / (width / across);
        let longest = f64::from(longest);
        // Texts need some room for any shape.
        let (width, height) = if ratio < 1.0 {
            (longest, (longest * ratio).max(0.3 * longest))
        } else {
            ((longest / ratio).max(0.4 * longest), longest)
        };
        self.size = (width.round() as u32, height.round() as u32);
        self
    }

    /// The colours from the lowest to the highest value (default: black to pale yellow).
    #[must_use]
    pub fn colours(mut self, colours: ColourMap) -> Self {
        self.colours = colours;
        self
    }

    /// Adds a rectangle with a value. Rectangles whose value is not finite are left out.
    #[must_use]
    pub fn cell(mut self, low: [f64; 2], high: [f64; 2], value: f64) -> Self {
        if value.is_finite() {
            self.cells.push(Cell { low, high, value });
        }
        self
    }

    /// Adds the outline of a rectangle.
    #[must_use]
    pub fn outline(mut self, low: [f64; 2], high: [f64; 2]) -> Self {
        self.outlines.push([low, high]);
        self
    }
}

impl Figure for FieldMap {
    fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    fn to_image(&self) -> Result<Image, Error> {
        let theme = Theme::new(self.size)?;
        let fonts = Fonts::load()?;
        let mut canvas = Canvas::new(theme.width, theme.height);
        let plot = self.plot_area(&theme);
        let (from, to) = self.range();
        for cell in &self.cells {
            let share = if to > from {
                (cell.value - from) / (to - from)
            } else {
                0.0
            };
            canvas.fill_rect(&self.place(&plot, cell.low, cell.high), self.colours.at(share), 1.0);
        }
        for [low, high] in &self.outlines {
            canvas.outline(&self.place(&plot, *low, *high), 1.0, Color::hex(0x9a_a4ae));
        }
        canvas.outline(&plot, theme.px(1.5), Color::INK);
        self.draw_text(&mut canvas, &fonts, &theme, &plot);
        self.draw_bar(&mut canvas, &fonts, &theme, &plot, (from, to));
        Ok(canvas.into_image())
    }
}

impl FieldMap {
    /// The width and height of the extent, up to a common factor.
    fn shape(&self) -> [f64; 2] {
        // An empty or extremely narrow extent is shown as a square.
        let sides = [0, 1].map(|axis| (self.high[axis] - self.low[axis]).abs());
        let ratio = sides[1] / sides[0];
        if (1e-3..1e3).contains(&ratio) {
            [1.0, ratio]
        } else {
            [1.0; 2]
        }
    }

    /// The largest area with the extent's aspect ratio that leaves room for texts and colour bar.
    fn plot_area(&self, theme: &Theme) -> Rect {
        let (left, right) = (theme.width * LEFT, theme.width * RIGHT);
        let (top, bottom) = (theme.height * TOP, theme.height * BOTTOM);
        let shape = self.shape();
        let scale = ((right - left) / shape[0]).min((bottom - top) / shape[1]);
        Rect::new(left, top, left + scale * shape[0], top + scale * shape[1])
    }

    /// The area of a rectangle of the plane on the canvas; the second axis points up.
    fn place(&self, plot: &Rect, low: [f64; 2], high: [f64; 2]) -> Rect {
        let x = |value: f64| plot.x0 + (value - self.low[0]) / (self.high[0] - self.low[0]) * plot.width();
        let y = |value: f64| plot.y1 - (value - self.low[1]) / (self.high[1] - self.low[1]) * plot.height();
        let clamp = |value: f64, from: f64, to: f64| if value.is_finite() { value.clamp(from, to) } else { from };
        Rect::new(
            clamp(x(low[0]), plot.x0, plot.x1),
            clamp(y(high[1]), plot.y0, plot.y1),
            clamp(x(high[0]), plot.x0, plot.x1),
            clamp(y(low[1]), plot.y0, plot.y1),
        )
    }

    /// The lowest and the highest value.
    fn range(&self) -> (f64, f64) {
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for cell in &self.cells {
            range = (range.0.min(cell.value), range.1.max(cell.value));
        }
        range
    }

    fn draw_text(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme, plot: &Rect) {
        let style = Style::new(theme.title_text(), Color::INK).bold();
        let style = fonts.fitted(&self.title, style, theme.width * 0.9);
        fonts.draw(
            canvas,
            &self.title,
            (plot.x0, plot.y0 - style.size * 0.6),
            Align::Left,
            style,
        );
        let style = Style::new(theme.small_text(), Color::INK);
        let below = plot.y1 + style.size * 1.4;
        for (value, x) in [(self.low[0], plot.x0), (self.high[0], plot.x1)] {
            fonts.draw(canvas, &number(value), (x, below), Align::Center, style);
        }
        fonts.draw(
            canvas,
            &self.axes[0],
            ((plot.x0 + plot.x1) / 2.0, below),
            Align::Center,
            style,
        );
        let beside = plot.x0 - style.size * 0.6;
        let texts = [
            (number(self.low[1]), plot.y1),
            (number(self.high[1]), plot.y0 + style.size),
            (self.axes[1].clone(), (plot.y0 + plot.y1) / 2.0),
        ];
        for (text, y) in &texts {
            fonts.draw(canvas, text, (beside, *y), Align::Right, style);
        }
    }

    fn draw_bar(&self, canvas: &mut Canvas, fonts: &Fonts, theme: &Theme, plot: &Rect, (from, to): (f64, f64)) {
        if to < from {
            return;
        }
        let (left, width) = (plot.x1 + theme.width * 0.025, theme.width * 0.02);
        let rows = plot.height() as usize;
        for row in 0..rows {
            let y = plot.y1 - row as f64;
            let color = self.colours.at(row as f64 / rows.max(2) as f64);
            canvas.fill_rect(&Rect::new(left, y - 1.0, left + width, y), color, 1.0);
        }
        let bar = Rect::new(left, plot.y0, left + width, plot.y1);
        canvas.outline(&bar, theme.px(1.0), Color::INK);
        let style = Style::new(theme.small_text(), Color::INK);
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let at = (
                bar.x1 + style.size * 0.4,
                bar.y1 - share * bar.height() + style.size * 0.35,
            );
            fonts.draw(canvas, &number(from + share * (to - from)), at, Align::Left, style);
        }
    }
}

/// A number in few characters.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = if size >= 100.0 { 0 } else { 3 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_colours_of_their_values() {
        let map = FieldMap::new("")
            .extent([0.0, 0.0], [2.0, 2.0])
            .cell([0.0, 0.0], [1.0, 2.0], 0.0)
            .cell([1.0, 0.0], [2.0, 2.0], 5.0)
            .cell([0.0, 0.0], [2.0, 2.0], f64::NAN);
        let image = map.to_image().unwrap();
        let theme = Theme::new(map.size).unwrap();
        let plot = map.plot_area(&theme);
        let pixel = |share: f64| {
            let (x, y) = (plot.x0 + share * plot.width(), (plot.y0 + plot.y1) / 2.0);
            image.pixel(x as usize, y as usize).unwrap()
        };
        assert_eq!(pixel(0.25), ColourMap::Inferno.at(0.0));
        assert_eq!(pixel(0.75), ColourMap::Inferno.at(1.0));
    }

    #[test]
    fn an_empty_map_and_degenerate_extents_are_drawn() {
        assert!(FieldMap::new("nothing").to_png().is_ok());
        let flat = FieldMap::new("flat")
            .extent([0.0, 0.0], [0.0, 0.0])
            .cell([0.0; 2], [1.0; 2], 1.0);
        assert!(flat.to_png().is_ok());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.25), "0.25");
        assert_eq!(number(1436.3), "1436");
        assert_eq!(number(1.5e-5), "1.50e-5");
    }
}
