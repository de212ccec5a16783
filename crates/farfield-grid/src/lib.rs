//! Multiresolution block grids in three dimensions and, on them, the free-space Poisson problem
//! $\nabla^2\psi=-\omega$ (van Rees, Rossinelli, Hadjidoukas and Koumoutsakos).
//!
//! # The grid
//! A box is cut into root cubes; each is the root of an octree, and every leaf of the forest is a block of
//! $16^3$ points. A block of level $l$ has the spacing $h_l=h_0/2^l$; blocks that touch, even at a corner, differ by
//! one level at most. [`Forest`] holds this structure; [`Grid`] adds named scalar or vector channels in one precision.
//!
//! The [`Wavelet`] decides what a grid value means: with the interpolating wavelet it is the value at the node
//! $x=x_0+i h$; with the average-interpolating one, the average over the cell centred at $x=x_0+(i+1/2)h$.
//!
//! ```
//! use farfield_grid::{Adaptation, Domain, Grid, Sampling, Wavelet};
//!
//! let mut grid = Grid::<f64>::builder(Domain::unit_cube())
//!     .wavelet(Wavelet::AverageInterpolating5)
//!     .scalar("blob")
//!     .start_level(1)
//!     .build()?;
//! let blob = |x: [f64; 3]| (-100.0 * x.iter().map(|c| (c - 0.5).powi(2)).sum::<f64>()).exp();
//! let report = grid.adapt_to(&["blob"], &Adaptation::new(1e-2, 1e-4, 3), |grid| {
//!     grid.fill_scalar("blob", Sampling::Point, blob)
//! })?;
//! assert_eq!(report.unresolved, 0);
//! assert!(grid.forest().is_balanced());
//! # Ok::<(), farfield_grid::Error>(())
//! ```
//!
//! Data flow: values -> ghosts ([`Ghosted`]: a block and the points around it, across levels) -> [`BlockOperator`]s.
//! Adaptation: values -> ghosts -> wavelet details -> marks -> a new forest -> values transferred to it.

pub mod flows;
pub mod forest;
pub mod grid;
pub mod operators;
pub mod poisson;
pub mod remesh;
pub mod wavelet;

mod adapt;
mod error;

pub use adapt::{AdaptReport, Adaptation, Rules, Threshold};
pub use error::Error;
pub use forest::{BLOCK_POINTS, BLOCK_SIDE, BlockId, Domain, Forest, MAX_LEVEL};
pub use grid::{Boundary, Channel, Ghosted, Grid, GridBuilder, MAX_GHOSTS, Sampling};
pub use operators::{BlockOperator, Read};
pub use remesh::{Balance, RemeshKernel};
pub use wavelet::Wavelet;
