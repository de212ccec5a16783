//! Clouds of points in space, drawn so that dense parts glow and near parts hide far ones.
//!
//! ```
//! use farfield_plot::scene::{Bounds, Camera, Cloud, ColourMap, Scene};
//!
//! # fn main() -> Result<(), farfield_plot::Error> {
//! let ring: Vec<[f64; 3]> = (0..5000)
//!     .map(|i| f64::from(i) * 0.4)
//!     .map(|t| [t.cos() * (2.0 + 0.3 * (7.1 * t).sin()), t.sin() * 2.0, 0.3 * (5.3 * t).cos()])
//!     .collect();
//! let height: Vec<f64> = ring.iter().map(|p| p[2]).collect();
//! let scene = Scene::new(320, 240)
//!     .cloud(Cloud::new(&ring).coloured_by(&height, None).colours(ColourMap::Plasma))
//!     .title("A ring")
//!     .caption("t = 0.5")
//!     .colour_bar("height")
//!     .axes(true);
//! let bounds = Bounds::of(&ring);
//! let side = scene.render(&Camera::framing(bounds, 30.0, 20.0))?;
//! let top = scene.render(&Camera::framing(bounds, 30.0, 89.0))?;
//! let both = side.beside(&top, 4);
//! assert_eq!((both.width(), both.height()), (644, 240));
//! # Ok(())
//! # }
//! ```

mod accumulate;
mod bounds;
mod camera;
mod colour_map;
mod develop;
mod exposure;
mod light;
mod overlay;
mod splat;

pub use bounds::Bounds;
pub use camera::Camera;
pub use colour_map::ColourMap;
pub use exposure::Exposure;

use crate::text::Fonts;
use crate::theme::{MAX_SIDE, MIN_SIDE};
use crate::{Color, Error, Image};
use camera::View;
use develop::Paint;
use overlay::Overlay;
use splat::Splat;

/// Points to draw, optionally coloured by a value each.
///
/// Points that are not finite, or whose value is not finite, are not drawn.
#[derive(Debug, Clone)]
pub struct Cloud<'a> {
    /// The positions of the points.
    pub points: &'a [[f64; 3]],
    /// A value for each point, which determines its colour. Without values the colour follows the
    /// brightness: dense parts have the upper colours.
    pub values: Option<&'a [f64]>,
    /// The values of the lowest and highest colour; the smallest and largest value if `None`.
    pub range: Option<(f64, f64)>,
    /// The colours.
    pub colours: ColourMap,
    /// The brightness of a point, relative to points of other clouds.
    pub weight: f64,
    /// The diameter of a point in pixels at the distance of the scene's centre. Nearer points are larger.
    pub point_size: f64,
}

impl<'a> Cloud<'a> {
    /// Points of weight 1 and diameter 2 pixels, coloured by their density.
    #[must_use]
    pub fn new(points: &'a [[f64; 3]]) -> Self {
        Self {
            points,
            values: None,
            range: None,
            colours: ColourMap::default(),
            weight: 1.0,
            point_size: 2.0,
        }
    }

    /// Colours each point by a value. For a series of frames, set the range.
    #[must_use]
    pub fn coloured_by(mut self, values: &'a [f64], range: Option<(f64, f64)>) -> Self {
        self.values = Some(values);
        self.range = range;
        self
    }

    /// Sets the colours.
    #[must_use]
    pub fn colours(mut self, colours: ColourMap) -> Self {
        self.colours = colours;
        self
    }

    /// Sets the brightness of a point, relative to points of other clouds.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Sets the diameter of a point in pixels.
    #[must_use]
    pub fn point_size(mut self, pixels: f64) -> Self {
        self.point_size = pixels;
        self
    }

    /// The values of the lowest and highest colour, which always differ.
    fn shown_range(&self) -> (f64, f64) {
        let usable = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
        self.range.filter(usable).unwrap_or_else(|| {
            let values = self
                .values
                .unwrap_or_default()
                .iter()
                .copied()
                .filter(|v| v.is_finite());
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
            match (low < high, low.is_finite()) {
                (true, _) => (low, high),
                (false, true) => (low - 0.5 * low.abs().max(1.0), low + 0.5 * low.abs().max(1.0)),
                (false, false) => (0.0, 1.0),
            }
        })
    }
}

/// The decay of brightness with distance.
#[derive(Debug, Clone, Copy)]
struct Depth {
    fog: f64,
    distance: f64,
    reach: f64,
}

impl Depth {
    /// The brightness at a depth: 1 at the centre of the scene; with a fog of 1, about e at its
    /// near end and 1/e at its far end.
    fn brightness(&self, depth: f64) -> f64 {
        (-self.fog * ((depth - self.distance) / self.reach).clamp(-1.5, 4.0)).exp()
    }
}

/// Clouds of points and the way they are drawn; a [`Camera`] adds the point of view.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    size: (u32, u32),
    background: Color,
    clouds: Vec<Cloud<'a>>,
    title: String,
    caption: String,
    colour_bar: Option<String>,
    frame: Option<Bounds>,
    axes: bool,
    scale_bar: bool,
    exposure: Option<Exposure>,
    opacity: f64,
    fog: f64,
    glow: f64,
}

/// The radius of the glow, as a fraction of the image's shorter side.
const GLOW_RADIUS: f64 = 0.012;

impl<'a> Scene<'a> {
    /// A dark blue background.
    pub const DARK: Color = Color::hex(0x05_070D);

    /// An empty scene on a dark background, for images of `width` x `height` pixels.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            size: (width, height),
            background: Self::DARK,
            clouds: Vec::new(),
            title: String::new(),
            caption: String::new(),
            colour_bar: None,
            frame: None,
            axes: false,
            scale_bar: false,
            exposure: None,
            opacity: 2.5,
            fog: 0.6,
            glow: 0.25,
        }
    }

    /// Sets the background.
    #[must_use]
    pub fn background(mut self, color: Color) -> Self {
        self.background = color;
        self
    }

    /// Adds points.
    #[must_use]
    pub fn cloud(mut self, cloud: Cloud<'a>) -> Self {
        self.clouds.push(cloud);
        self
    }

    /// A text in the upper left corner.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// A smaller text in the upper right corner, for instance the time.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a bar with the colours of the first cloud that has values, and a label for these values.
    #[must_use]
    pub fn colour_bar(mut self, label: impl Into<String>) -> Self {
        self.colour_bar = Some(label.into());
        self
    }

    /// Draws the edges of a box behind the points.
    #[must_use]
    pub fn frame(mut self, bounds: Bounds) -> Self {
        self.frame = Some(bounds);
        self
    }

    /// Sets whether the directions of the axes are shown in a corner (default: no).
    #[must_use]
    pub fn axes(mut self, shown: bool) -> Self {
        self.axes = shown;
        self
    }

    /// Sets whether a bar shows the scale at the centre of the scene (default: no).
    #[must_use]
    pub fn scale_bar(mut self, shown: bool) -> Self {
        self.scale_bar = shown;
        self
    }

    /// Sets the exposure, which is otherwise measured for each image.
    #[must_use]
    pub fn exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = Some(exposure);
        self
    }

    /// Sets how strongly points hide those behind them, from 0 (not at all: light only adds up) to
    /// 1 and more (default: 2.5).
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    /// Sets how much dimmer far points are than near ones; 0 for no difference (default: 0.6).
    #[must_use]
    pub fn fog(mut self, fog: f64) -> Self {
        self.fog = fog;
        self
    }

    /// Sets the fraction of the light that is scattered as by a lens, from 0 to 1 (default: 0.25).
    /// Dense parts get a soft halo and lose their grain.
    #[must_use]
    pub fn glow(mut self, fraction: f64) -> Self {
        self.glow = fraction;
        self
    }

    /// The exposure that suits the scene as seen by `camera`, for use with a whole series.
    ///
    /// # Errors
    ///
    /// As [`Scene::render`].
    pub fn measure(&self, camera: &Camera) -> Result<Exposure, Error> {
        let size = self.check()?;
        let splats = self.splats(&camera.view((size.0 as f64, size.1 as f64)));
        Ok(Exposure::measure(&splats, size))
    }

    /// Draws the scene as seen by `camera`.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the size of the image is not supported, [`Error::Values`] if the numbers
    /// of values and points of a cloud differ, [`Error::Scene`] for a weight, point size, opacity,
    /// fog, glow or exposure that is out of range.
    pub fn render(&self, camera: &Camera) -> Result<Image, Error> {
        let size = self.check()?;
        let fonts = Fonts::load()?;
        let view = camera.view((size.0 as f64, size.1 as f64));
        let splats = self.splats(&view);
        let exposure = self.exposure.unwrap_or_else(|| Exposure::measure(&splats, size));
        let paints: Vec<Paint> = self.clouds.iter().map(Paint::of).collect();
        let absorption = (self.opacity / exposure.white) as f32;
        let mut light = accumulate::accumulate(&splats, paints.len(), absorption, size);
        light.glow(self.glow as f32, GLOW_RADIUS * size.0.min(size.1) as f64);
        let image = develop::develop(
            &light,
            &paints,
            &exposure.hidden(self.opacity),
            self.backdrop(&fonts, &view),
        );
        Ok(self.with_captions(image, &fonts, &view))
    }

    /// Checks every parameter, and returns the width and height of the image.
    fn check(&self) -> Result<(usize, usize), Error> {
        let (width, height) = self.size;
        let allowed = MIN_SIDE.min(32)..=MAX_SIDE;
        if !allowed.contains(&width) || !allowed.contains(&height) {
            return Err(Error::Size { width, height });
        }
        let number = |what: String, value: f64, positive: bool| {
            let good = value.is_finite() && (value > 0.0 || (value == 0.0 && !positive));
            let expected = if positive {
                "a positive number"
            } else {
                "zero or a positive number"
            };
            if good {
                Ok(())
            } else {
                Err(Error::Scene { what, value, expected })
            }
        };
        number("opacity".to_owned(), self.opacity, false)?;
        number("fog".to_owned(), self.fog, false)?;
        number("glow".to_owned(), self.glow, false)?;
        if self.glow > 1.0 {
            return Err(Error::Scene {
                what: "glow".to_owned(),
                value: self.glow,
                expected: "a fraction from 0 to 1",
            });
        }
        if let Some(exposure) = self.exposure {
            number("exposure.white".to_owned(), exposure.white, true)?;
            number("exposure.knee".to_owned(), exposure.knee, true)?;
        }
        for (index, cloud) in self.clouds.iter().enumerate() {
            let cloud_number = index + 1;
            number(format!("weight of cloud {cloud_number}"), cloud.weight, true)?;
            number(format!("point size of cloud {cloud_number}"), cloud.point_size, true)?;
            if let Some(values) = cloud.values
                && values.len() != cloud.points.len()
            {
                return Err(Error::Values {
                    cloud: cloud_number,
                    points: cloud.points.len(),
                    values: values.len(),
                });
            }
        }
        Ok((width as usize, height as usize))
    }

    fn splats(&self, view: &View) -> Vec<Splat> {
        let depth = Depth {
            fog: self.fog,
            distance: view.distance,
            reach: view.reach,
        };
        splat::splats(&self.clouds, view, &depth, (self.size.0 as usize, self.size.1 as usize))
    }

    /// The image behind the points.
    fn backdrop(&self, fonts: &Fonts, view: &View) -> Image {
        let image = Image::new(self.size.0, self.size.1, self.background);
        let Some(bounds) = self.frame.filter(|bounds| !bounds.is_empty()) else {
            return image;
        };
        let mut overlay = Overlay::new(image, self.background, fonts);
        overlay.draw_box(&bounds, view, self.background);
        overlay.into_image()
    }

    /// Draws axes, colour or scale bar, and texts over the points.
    fn with_captions(&self, image: Image, fonts: &Fonts, view: &View) -> Image {
        let mut overlay = Overlay::new(image, self.background, fonts);
        if self.axes {
            overlay.draw_axes(view);
        }
        let coloured = self.clouds.iter().find(|cloud| cloud.values.is_some());
        if let (Some(label), Some(cloud)) = (&self.colour_bar, coloured) {
            overlay.draw_colour_bar(label, cloud);
        } else if self.scale_bar {
            overlay.draw_scale_bar(view);
        }
        overlay.draw_heading(&self.title, &self.caption);
        overlay.into_image()
    }
}
