//! Plans and their results.
//!
//! [`crate::Sum::plan`] checks the input, chooses method and parameters and builds the tree; [`Plan::evaluate`] sums, as
//! often as wanted, for new strengths at the same points.

mod build;
pub(crate) mod check;
pub(crate) mod engine;
mod evaluate;
mod extremes;
mod far_field;
mod field;
pub(crate) mod input;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod permutation;
mod space;
pub(crate) mod units;

pub use evaluate::{Parameters, Plan};
pub use field::Field;
pub use input::{MOST_POINTS, check_strength_count, check_strengths};
pub use memory::MemoryForecast;
pub use space::first_sum;
