//! VTK files for ParaView, PyVista and other viewers.
//!
//! * [`write_vtp`]: points with scalars and vectors, one vertex per point.
//! * [`write_surface`]: triangles with scalars and vectors.
//! * [`write_vti`]: fields on a regular grid.
//! * [`write_vtu`]: fields on hexahedra or axis-parallel voxels.
//! * [`write_blocks`]: fields on cubic blocks of voxels, computed while they are written.
//! * [`write_pvd`] and [`PvdSeries`]: the list of a time series' files, which a viewer opens as
//!   one data set.
//! * [`read_vtp`], [`read_vtu`] and [`read_pvd`]: read these files, also those that other programs write.
//!
//! Files are written in the XML formats with the values appended as raw little-endian bytes, each array after
//! a 64-bit length. Coordinates and fields are 32- or 64-bit floats and may hold NaN. An
//! [`Encoding`] chooses the width and, optionally, zlib compression.
//!
//! ```
//! use farfield_io::Precision;
//! use farfield_io::vtk::{PointSet, PvdSeries, write_vtp};
//!
//! let folder = tempfile::tempdir()?;
//! let mut series = PvdSeries::create(folder.path().join("tracers.pvd"))?;
//! for step in 0..3 {
//!     let time = 0.1 * f64::from(step);
//!     let tracers = PointSet {
//!         points: &[[time, 0.0, 0.0], [0.0, 1.0, 0.0]],
//!         scalars: vec![("speed", &[1.0, 0.0])],
//!         vectors: vec![("velocity", &[[1.0, 0.0, 0.0], [0.0; 3]])],
//!     };
//!     let name = format!("tracers-{step:04}.vtp");
//!     write_vtp(folder.path().join(&name), &tracers, Precision::Single)?;
//!     series.push(time, name)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attributes;
mod document;
mod encoding;
mod hexahedra;
mod point_set;
mod read;
mod regular_grid;
mod series;
mod triangles;
mod xml;

pub use attributes::Attributes;
pub use encoding::{Compression, Encoding};
pub use hexahedra::{CellBlocks, CellShape, Hexahedra, write_blocks, write_vtu};
pub use point_set::{PointSet, write_vtp};
pub use read::{Mesh, read_vtp, read_vtu};
pub use regular_grid::{RegularGrid, write_vti};
pub use series::{PvdSeries, read_pvd, write_pvd};
pub use triangles::{Triangles, write_surface};
