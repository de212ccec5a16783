//! Steps in time.
//!
//! [`runge_kutta`] for vortices: Euler, Heun and the classical scheme of fourth order, each of whose stages needs only
//! the one before. [`composition`] for gravity: the symplectic schemes as sequences of kick-drift-kick steps.

mod composition;
mod runge_kutta;

pub use composition::composition;
pub use runge_kutta::{System, runge_kutta};
