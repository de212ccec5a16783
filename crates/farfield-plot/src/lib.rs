//! Charts, images of point clouds, and animations, without any system dependency.
//!
//! The fonts are embedded, the rasteriser is part of this crate, and the same chart always gives
//! the same bytes. [`LineChart`] draws curves on linear or logarithmic axes, [`BarChart`] stacked
//! bars, [`FieldMap`] and [`BoxMap`] maps of the plane; all of them implement [`Figure`].
//!
//! ```
//! use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};
//!
//! # fn main() -> Result<(), farfield_plot::Error> {
//! let png = LineChart::new("Time to evaluate the field")
//!     .x_axis(Axis::log("N"))
//!     .y_axis(Axis::log("seconds"))
//!     .series(Series::new("FMM").points(&[(1e3, 0.01), (1e4, 0.09), (1e5, 0.95)]))
//!     .series(
//!         Series::new("direct")
//!             .points(&[(1e3, 0.002), (1e4, 0.2), (1e5, 20.0)])
//!             .style(LineStyle::Dashed, Marker::Square),
//!     )
//!     .reference(ReferenceLine::vertical(4e3).label("crossover"))
//!     .to_png()?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok(())
//! # }
//! ```
//!
//! # Text
//!
//! Every text may hold superscripts and subscripts: `10^{-3}` and `l_{max}`. A `^` or `_` without
//! a following brace is an ordinary character.
//!
//! # Invalid values
//!
//! Values that cannot be shown on an axis (NaN, infinities, and on logarithmic axes zero and
//! negative values) are left out and interrupt the line they are part of. A chart without data is
//! an empty frame, not an error.

mod animation;
mod axis;
mod bar_chart;
mod box_map;
mod canvas;
mod chart_grid;
mod color;
mod error;
mod field_map;
mod figure;
mod film;
mod frame;
mod geometry;
mod image;
mod legend;
mod line_chart;
mod raster;
mod reference;
pub mod scene;
mod series;
mod srgb;
mod text;
mod theme;
mod ticks;
mod volume;

pub use animation::Animation;
pub use axis::Axis;
pub use bar_chart::{BarChart, Part};
pub use box_map::{BoxMap, MapBox};
pub use chart_grid::ChartGrid;
pub use color::Color;
pub use error::Error;
pub use field_map::FieldMap;
pub use figure::Figure;
pub use film::{Film, FilmKind};
pub use image::Image;
pub use legend::LegendPosition;
pub use line_chart::LineChart;
pub use reference::ReferenceLine;
pub use series::{LineStyle, Marker, Series};
pub use volume::Volume;
