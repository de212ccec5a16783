//! From a tolerance to order, box size and method, by a cost model.
//!
//! The model consists of the truncation error of each translation (`truncation`), the time of each operator on a
//! machine ([`crate::cost`]) and the distribution of the error over levels and shifts at the least cost (`orders`).
//! `shape` chooses the size of the boxes, and `tail` the smallest size that cores with long tails allow. Planning
//! measures no times: equal input gives an equal plan.

mod cube;
pub(crate) mod orders;
pub(crate) mod shape;
pub(crate) mod tail;
pub(crate) mod truncation;

pub use crate::cost::{MachineProfile, OperatorCosts, PlaneCosts};
pub use crate::treecode::tuning::choose as treecode_parameters;
pub use cube::{CubeOrders, cube_orders};
pub(crate) use truncation::shift_of_class;
pub use truncation::{CLASSES, class_of};
