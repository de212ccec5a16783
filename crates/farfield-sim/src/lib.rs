//! Simulations on top of farfield's sums: vortex rings with passive tracers, vortices in the plane,
//! gravity, and flow past bodies.
//!
//! How a run walks through this crate:
//!
//! 1. [`case`]: a TOML text and overrides become a checked [`case::Case`].
//! 2. [`vortex`], [`plane`], [`gravity`] or [`flow`] builds the initial state and becomes a [`model::Model`].
//! 3. [`run`](mod@run) repeats observe -> record -> write -> step until the end, a stop or an alarm, with
//!    [`integrate`] doing the step, [`diagnostics`] the measuring and [`checkpoint`] the keeping.
//! 4. A second thread writes files and pictures while the next step computes.
//!
//! Everything a step does is a function of the state, the case, the SIMD level and the machine profile alone, never
//! of the number of threads or of the clock; so a run that is stopped and resumed ends with the same bits.

pub mod case;
pub mod checkpoint;
pub mod diagnostics;
mod error;
pub mod flow;
pub mod gravity;
pub mod integrate;
pub mod model;
pub mod particles;
pub mod plane;
pub mod ranks;
pub mod reference;
pub mod run;
pub mod sample;
pub mod summation;
pub mod vec3;
pub mod vortex;

pub use error::{CaseError, Error};
