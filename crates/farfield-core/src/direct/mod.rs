//! The direct sum: every pair, O(N^2), exact to the accuracy of the reciprocal square root.

pub(crate) mod evaluate;

pub(crate) use evaluate::Direct;
