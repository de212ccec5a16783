//! Draws the frame of a box, axes, captions, colour bar and scale bar around the points.

use super::camera::View;
use super::{Bounds, Cloud, ColourMap};
use crate::canvas::Canvas;
use crate::geometry::Rect;
use crate::text::{Align, CAP_HEIGHT, Fonts, LINE_HEIGHT, Style};
use crate::ticks::short_number;
use crate::{Color, Image};

const AXIS_COLORS: [Color; 3] = [Color::hex(0xF0_7A6A), Color::hex(0x8C_D17D), Color::hex(0x6F_B1F2)];

/// Draws on an image of a scene, with lengths that suit its size.
pub(super) struct Overlay<'a> {
    fonts: &'a Fonts,
    canvas: Canvas,
    ink: Color,
    faint: Color,
    text: f64,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(image: Image, background: Color, fonts: &'a Fonts) -> Self {
        let text = (image.height().min(image.width()) as f64 / 32.0).clamp(11.0, 64.0);
        let ink = match background.readable_on() {
            Color::WHITE => Color::hex(0xE8_ECF4),
            ink => ink,
        };
        Self {
            fonts,
            canvas: Canvas::over(image),
            ink,
            faint: mix(background, ink, 0.62),
            text,
        }
    }

    pub(super) fn into_image(self) -> Image {
        self.canvas.into_image()
    }

    fn edge(&self) -> f64 {
        self.text * 0.9
    }

    /// Draws the edges of a box, far ones fainter.
    pub(super) fn draw_box(&mut self, bounds: &Bounds, view: &View, background: Color) {
        let corners = bounds.corners().map(|corner| view.project(corner));
        let area = self.canvas.area();
        let width = (self.text / 14.0).max(1.0);
        for (a, b) in Bounds::edges() {
            let (Some(a), Some(b)) = (corners[a], corners[b]) else {
                continue;
            };
            let far = ((a.depth + b.depth) / 2.0 - view.distance) / view.reach;
            let strength = (0.26 - 0.12 * far).clamp(0.08, 0.4);
            let color = mix(background, self.ink, strength);
            self.canvas.stroke(&[((a.x, a.y), (b.x, b.y))], width, color, &area);
        }
    }

    /// Draws the directions of the axes in the lower left corner.
    pub(super) fn draw_axes(&mut self, view: &View) {
        let area = self.canvas.area();
        let size = self.text * 1.9;
        let middle = (area.x0 + self.edge() + size * 1.1, area.y1 - self.edge() - size * 1.1);
        let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut order = [0, 1, 2].map(|axis| (axis, view.turn(units[axis])));
        // Axes that point away from the viewer are drawn first.
        order.sort_by(|(_, a), (_, b)| b[2].total_cmp(&a[2]));
        for (axis, [right, down, _]) in order {
            let tip = (middle.0 + size * right, middle.1 + size * down);
            let color = AXIS_COLORS[axis];
            self.canvas
                .stroke(&[(middle, tip)], (self.text / 8.0).max(1.5), color, &area);
            let style = Style::new(self.text * 0.85, color).bold();
            let beyond = 1.0 + 0.55 * self.text / size;
            let at = (
                middle.0 + beyond * size * right,
                middle.1 + beyond * size * down + CAP_HEIGHT * style.size * 0.4,
            );
            self.fonts
                .draw(&mut self.canvas, ["x", "y", "z"][axis], at, Align::Center, style);
        }
    }

    /// Draws the title in the upper left corner and the caption in the upper right one.
    pub(super) fn draw_heading(&mut self, title: &str, caption: &str) {
        let area = self.canvas.area();
        let baseline = area.y0 + self.edge() + self.text * 0.95;
        let room = area.width() - 2.0 * self.edge();
        let caption_style = Style::new(self.text, self.faint);
        let caption_style = self
            .fonts
            .fitted(caption, caption_style, room * if title.is_empty() { 1.0 } else { 0.45 });
        let taken = self.fonts.width(caption, caption_style);
        let right = (area.x1 - self.edge(), baseline);
        self.fonts
            .draw(&mut self.canvas, caption, right, Align::Right, caption_style);
        let style = Style::new(self.text * 1.12, self.ink).bold();
        let style = self
            .fonts
            .fitted(title, style, (room - taken - self.text).max(room * 0.4));
        let left = (area.x0 + self.edge(), baseline);
        self.fonts.draw(&mut self.canvas, title, left, Align::Left, style);
    }

    /// Draws a bar with the colours of a cloud's values and the ends of their range in the lower
    /// right corner.
    pub(super) fn draw_colour_bar(&mut self, label: &str, cloud: &Cloud<'_>) {
        let area = self.canvas.area();
        let style = Style::new(self.text * 0.85, self.faint);
        let (length, thickness) = ((area.width() * 0.26).min(self.text * 14.0), self.text * 0.55);
        let right = area.x1 - self.edge();
        let bottom = area.y1 - self.edge() - style.size * LINE_HEIGHT;
        let bar = Rect::new(
            (right - length).round(),
            (bottom - thickness).round(),
            right.round(),
            bottom.round(),
        );
        self.draw_ramp(&bar, cloud.colours);
        let below = bottom + style.size * 1.15;
        let (low, high) = cloud.shown_range();
        let (low, high) = (short_number(low, 3), short_number(high, 3));
        self.fonts
            .draw(&mut self.canvas, &low, (bar.x0, below), Align::Left, style);
        self.fonts
            .draw(&mut self.canvas, &high, (bar.x1, below), Align::Right, style);
        let ends = self.fonts.width(&low, style) + self.fonts.width(&high, style);
        let style = self
            .fonts
            .fitted(label, style, (length - ends - style.size).max(length * 0.3));
        let middle = ((bar.x0 + bar.x1) / 2.0, below);
        self.fonts.draw(&mut self.canvas, label, middle, Align::Center, style);
    }

    /// Draws a bar of a round length at the centre of the scene in the lower right corner.
    pub(super) fn draw_scale_bar(&mut self, view: &View) {
        let area = self.canvas.area();
        let per_length = view.pixels_per_length();
        let length = round_below(area.width() * 0.22 / per_length);
        let pixels = length * per_length;
        if !(pixels.is_finite() && pixels >= 8.0) {
            return;
        }
        let style = Style::new(self.text * 0.85, self.faint);
        let (right, bottom) = (area.x1 - self.edge(), area.y1 - self.edge() - style.size * 1.3);
        let (left, tick) = (right - pixels, self.text * 0.35);
        let lines = [
            ((left, bottom), (right, bottom)),
            ((left, bottom - tick), (left, bottom + tick)),
            ((right, bottom - tick), (right, bottom + tick)),
        ];
        self.canvas
            .stroke(&lines, (self.text / 9.0).max(1.5), self.faint, &area);
        let middle = ((left + right) / 2.0, bottom + style.size * 1.25);
        self.fonts
            .draw(&mut self.canvas, &short_number(length, 3), middle, Align::Center, style);
    }

    fn draw_ramp(&mut self, bar: &Rect, colours: ColourMap) {
        let mut x = bar.x0;
        while x < bar.x1 {
            let color = colours.at((x - bar.x0) / (bar.x1 - bar.x0 - 1.0).max(1.0));
            self.canvas
                .fill_rect(&Rect::new(x, bar.y0, x + 1.0, bar.y1), color, 1.0);
            x += 1.0;
        }
        self.canvas.outline(bar, 1.0, self.faint);
    }
}

/// The largest number of the form 1, 2 or 5 times a power of ten that is at most `length`.
fn round_below(length: f64) -> f64 {
    let power = 10f64.powf(length.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * power <= length);
    step.unwrap_or(1.0) * power
}

fn mix(a: Color, b: Color, t: f64) -> Color {
    let channel = |a: u8, b: u8| (f64::from(a) + t * (f64::from(b) - f64::from(a)) + 0.5) as u8;
    Color {
        r: channel(a.r, b.r),
        g: channel(a.g, b.g),
        b: channel(a.b, b.b),
    }
}

#[cfg(test)]
mod tests {
    use super::round_below;

    #[test]
    fn scale_bars_have_round_lengths() {
        for (length, bar) in [(0.73, 0.5), (1.0, 1.0), (4.9, 2.0), (5.1e-4, 5e-4), (9.9e6, 5e6)] {
            let got = round_below(length);
            assert!((got / bar - 1.0).abs() < 1e-9, "{length}: {got}");
        }
    }
}
