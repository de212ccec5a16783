//! The direct sum over all pairs, O(N^2), accurate to the accuracy of the reciprocal square root.

pub(crate) mod evaluate;

pub(crate) use evaluate::Direct;
