//! Plans and their results.
//!
//! [`crate::Sum::plan`] checks the input, chooses method and parameters and builds the tree; [`Plan::evaluate`] sums, as
//! often as wanted, for new strengths at the same points.

mod build;
mod check;
mod evaluate;
mod extremes;
mod far_field;
mod field;
pub(crate) mod input;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod permutation;
pub(crate) mod units;

pub use check::output_kind;
pub use evaluate::{Parameters, Plan, first_sum};
pub use field::Field;
pub use input::{MOST_POINTS, check_strength_count, check_strengths};
pub use memory::MemoryForecast;
