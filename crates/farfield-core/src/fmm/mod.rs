//! The fast multipole method: near neighbours in pairs, everything else through expansions.
//!
//! [`evaluate`] is the algorithm on one screen; [`passes`] runs each of its steps over all boxes in parallel, [`m2l`] the one between boxes;
//! [`operators`] are the steps between points and one box; [`mutual`] meets pairs of points once, where that pays; [`setup`] makes tables and memory.

pub(crate) mod evaluate;
pub(crate) mod m2l;
pub(crate) mod mutual;
pub(crate) mod operators;
pub(crate) mod passes;
pub(crate) mod setup;

pub(crate) use setup::Fmm;
