//! The fast multipole method: near neighbours in pairs, everything else through expansions.
//!
//! [`evaluate`] is the algorithm on one screen, over three parts: [`layout`] (points, tree, lists), [`far`] (expansions
//! and their seven operators behind one trait, implemented by [`harmonics`], the solid harmonics) and [`near`] (pairs;
//! [`mutual`] computes each pair of leaves once for both, if that is faster). [`passes`] runs each operator over all
//! boxes in parallel, except M2L, which is in [`m2l`]. [`operators`] has the operators between points and one box.

pub(crate) mod evaluate;
pub(crate) mod far;
pub(crate) mod harmonics;
pub(crate) mod layout;
pub(crate) mod m2l;
pub(crate) mod mutual;
pub(crate) mod near;
pub(crate) mod operators;
pub(crate) mod passes;

pub(crate) use evaluate::Fmm;
