//! Incompressible flow in free space past bodies: the remeshed vortex method on an adapted grid.
//!
//! $$\partial_t\omega+(u\cdot\nabla)\omega=(\omega\cdot\nabla)u+\nu\nabla^2\omega+\lambda\nabla\times\chi(u_s-u),\qquad
//! u=U+\nabla\times\psi,\quad\nabla^2\psi=-\omega$$
//!
//! A step (`step.rs`): velocity from vorticity -> penalisation inside bodies (`penalise.rs`) -> stretching and
//! diffusion on the grid, points move as particles and are remeshed (`transport.rs`) -> the grid adapts (`adapt.rs`).
//! `measure.rs` computes forces and invariants. The operators are in `farfield-grid`.

mod adapt;
mod body;
mod clean;
mod control;
mod initial;
mod kept;
mod measure;
mod mesh;
mod model;
mod penalise;
mod room;
mod setup;
mod step;
mod transport;
mod view;
mod volume;
mod wake;

pub use body::{BAND, Body, INSET};
pub use model::FlowModel;
pub use setup::{Setup, check};
