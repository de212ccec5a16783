//! From a tolerance to order, box size and method, by a cost model.
//!
//! The model knows how large the truncation error of each translation is (`truncation`), how long each operator
//! takes on a machine ([`crate::cost`]), and how boxes share the error at the least cost (`orders`); `shape` chooses
//! the size of the boxes, and `tail` how small they may be where cores reach far. Nothing here measures time while planning: equal input gives an equal plan.

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
