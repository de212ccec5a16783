//! Time integration.
//!
//! Vortices use [`runge_kutta`]: Euler, Heun and the classical fourth-order scheme, in which each stage needs only the
//! stage before it. Gravity uses [`composition`]: symplectic schemes as sequences of kick-drift-kick steps.

mod composition;
mod runge_kutta;

pub use composition::composition;
pub use runge_kutta::{System, runge_kutta};
