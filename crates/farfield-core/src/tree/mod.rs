//! The adaptive octree over sources and targets, and the interaction lists of its boxes.
//!
//! One tree holds both sets. [`sort`] sorts points along the Morton curve in O(N), [`octree`] cuts the sequence into
//! boxes level by level, and [`lists`] walks down the tree and assigns every interaction to an operator.

pub(crate) mod lists;
pub(crate) mod morton;
pub(crate) mod octree;
pub(crate) mod rows;
pub(crate) mod sort;

pub(crate) use lists::Lists;
pub(crate) use octree::{Octree, TreeShape};
pub(crate) use rows::Rows;
