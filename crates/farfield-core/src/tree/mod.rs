//! The adaptive octree over sources and targets, and the lists of who interacts with whom.
//!
//! One tree holds both sets. [`sort`] sorts points along the Morton curve in O(N), [`octree`] cuts the sequence into
//! boxes level by level, [`lists`] walks down once more and decides every interaction.

pub(crate) mod lists;
pub(crate) mod morton;
pub(crate) mod octree;
pub(crate) mod rows;
pub(crate) mod sort;

pub(crate) use lists::Lists;
pub(crate) use octree::{Octree, TreeShape};
pub(crate) use rows::Rows;
