//! Reads and writes arrays in `.npy`, `.npz`, `.csv` and VTK files.
//!
//! * [`read_points`], [`read_targets`] and [`read_strengths`] find positions and their charges
//!   (or masses, or vector strengths) in `.npy`, `.npz` and `.csv` files.
//! * [`read_points_part`], [`read_targets_part`] and [`read_strengths_part`] read only a [`Part`] of the
//!   rows, for processes that share the points.
//! * [`read_table`] reads all arrays of a file by name; [`read_particles`] also reads `.vtp` files.
//! * [`write_arrays`] writes named arrays in the format of the file's extension.
//! * [`write_in_pieces`] does the same for rows that arrive piece by piece.
//! * [`vtk`] writes points and grids with fields for viewers, and reads such files back.
//! * [`write_text_atomically`] and [`write_bytes_atomically`] write any other file, [`AtomicFile`]
//!   writes one piece by piece.
//!
//! All writing is atomic: a file is either the complete new one or the untouched old one.
//! NaN and infinite values are read and written unchanged; rejecting them is left to the solver.
//!
//! ```
//! use farfield_io::{Array, NamedArray, Precision, read_points, write_arrays};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("two-bodies.npz");
//! let points = Array::from_rows(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
//! let charges = Array::column(vec![1.0, -1.0]);
//! write_arrays(
//!     &path,
//!     &[NamedArray::new("points", points), NamedArray::new("charges", charges.clone())],
//!     Precision::Double,
//! )?;
//!
//! let file = read_points(&path)?;
//! assert_eq!(file.points, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
//! assert_eq!(file.strengths, Some(charges));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod atomic;
mod column_names;
pub mod columns;
mod csv;
mod error;
mod file_format;
mod npy;
mod npz;
mod part;
mod pieces;
mod points;
mod rows;
mod strengths;
mod table;
pub mod units;
pub mod vtk;
mod write;

pub use array::{Array, NamedArray, Precision};
pub use atomic::{AtomicFile, remove_leftovers, write_bytes_atomically, write_text_atomically};
pub use error::Error;
pub use npy::NpyProblem;
pub use part::Part;
pub use pieces::{takes_arrays_side_by_side, write_in_pieces};
pub use points::{
    PointsFile, read_points, read_points_dim, read_points_part, read_targets, read_targets_dim, read_targets_part,
};
pub use rows::{Make, Rows};
pub use strengths::{read_strengths, read_strengths_part};
pub use table::{Table, read_particles, read_table};
pub use write::{write_arrays, write_npz};
