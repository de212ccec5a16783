//! Simulations built on farfield's sums: vortex rings with passive tracers, vortices in the plane,
//! gravity, and flow past bodies.
//!
//! A run passes through this crate as follows:
//!
//! 1. [`case`] reads a TOML text and overrides into a checked [`case::Case`].
//! 2. [`vortex`], [`plane`], [`gravity`] or [`flow`] builds the initial state, a [`model::Model`].
//! 3. [`run`](mod@run) repeats observe -> record -> write -> step until the end, a stop or an alarm. [`integrate`]
//!    takes the steps, [`diagnostics`] measures, and [`checkpoint`] saves the state.
//! 4. A second thread writes files and pictures while the next step is computed.
//!
//! A step depends only on the state, the case, the SIMD level and the machine profile, never on the number of threads
//! or on the clock. A run that is stopped and resumed therefore ends with the same bits.

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
