//! The evidence for farfield, apart from the product.
//!
//! - [`reproduce`]: tables and figures of the papers, measured again and put side by side with what was printed;
//! - [`selftest`]: a GPU against the truth, as rows that pass or fail;
//! - [`validate`]: simulations against theory, as tables, figures and claims.
//!
//! The program's commands `reproduce`, `selftest` and `validate` print what these return.

mod error;
pub mod reproduce;
pub mod selftest;
mod sphere;
pub mod validate;

pub use error::Error;
