//! Sums in the plane: the harmonic and the logarithmic kernel, direct and by the adaptive fast multipole method of
//! Goude and Engblom on a balanced pyramid.
//!
//! ```
//! use farfield_core::plane::{Kernel, Output, PlaneSet};
//! use farfield_core::{Plane, Request};
//!
//! let sources = PlaneSet::Normal.generate::<f64>(5_000, 1);
//! let circulations = vec![1.0; 5_000];
//! let mut plan = Request::<Plane>::new(Kernel::Harmonic).between(&sources).plan()?;
//! let field = plan.evaluate(&circulations)?;
//! let [re, im] = field.get(Output::Potential).unwrap()[..2] else { unreachable!() };
//! println!("{re} + {im}i");
//! # Ok::<(), farfield_core::Error>(())
//! ```
//!
//! The steps of a sum: points -> pyramid (sort) -> couplings (connect) -> P2M, M2M -> M2L, P2L -> L2L, L2P, M2P, P2P
//! -> results in the caller's order; `fmm.rs` shows them on one screen.

mod build;
mod calibrate;
mod complex;
mod connect;
mod expansion;
mod fmm;
mod kernel;
mod memory;
mod mesh;
mod operators;
mod pairs;
mod plan;
mod points;
mod pyramid;
mod special;
mod truth;
mod tuning;
mod verify;

pub(crate) use calibrate::calibrate;
pub use expansion::MAX_ORDER;
pub(crate) use kernel::validate;
pub use kernel::{Core, Interaction, Kernel, Output};
pub use mesh::{Couplings, Mesh};
pub(crate) use pairs::PlanePairs;
pub use points::PlaneSet;
pub(crate) use verify::compare;

/// A planned sum in the plane.
pub type Plan<T> = crate::plan::Plan<T, crate::Plane>;

/// Results in the plane.
pub type Field<T> = crate::plan::Field<T, crate::Plane>;
