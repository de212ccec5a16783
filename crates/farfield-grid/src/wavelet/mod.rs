//! Transfer between levels: prediction, restriction, lifting and details.
//!
//! Both wavelets are built from one-dimensional rules, applied along x, y and z in turn. With $f$ the values of the
//! finer level and $c$ those of the coarser level:
//!
//! | | interpolating, 4th order | average-interpolating, 5th order |
//! |---|---|---|
//! | a grid value is | the value at the node $x=ih$ | the average over the cell, at $x=(i+\frac12)h$ |
//! | restriction | $c_i=f_{2i}$ | $c_i=\frac12(f_{2i}+f_{2i+1})$ |
//! | prediction | $\hat f_{2i}=c_i,\ \hat f_{2i+1}=\frac1{16}(-c_{i-1}+9c_i+9c_{i+1}-c_{i+2})$ | $\hat f_{2i},\hat f_{2i+1}=c_i\mp\frac1{128}\left(22(c_{i+1}-c_{i-1})-3(c_{i+2}-c_{i-2})\right)$ |
//! | exact for | values of cubics | averages of quartics |
//!
//! The *detail* of a point is its value minus the prediction from the restriction. For smooth functions it shrinks
//! like $h^4$ or $h^5$; where it is small, the coarser level suffices.
//!
//! # Lifting
//! Plain restriction does not preserve the moments $\sum h^3 x^a f$. Compression therefore adds a share of the
//! details $d$ to the restriction (Sweldens):
//! - interpolating: $c_i \mathrel{+}= \frac1{32}(-d_{i-2}+9d_{i-1}+9d_i-d_{i+1})$ with $d_i=f_{2i+1}-\hat f_{2i+1}$.
//!   The prediction is its own adjoint on polynomials, so this preserves all moments up to the third along each axis.
//! - average-interpolating: restriction preserves the integral over each cell. The detail $d_i$ of the difference
//!   $f_{2i+1}-f_{2i}$ moves $\frac1{16}d_i$ from $c_{i-1}$ to $c_{i+1}$, or, in the parent's outermost cells,
//!   $\frac18d_i$ between $c_i$ and the cell beside it. The integral over the parent stays exact, and the first moment
//!   is preserved too.
//!
//! Moments beyond the integral are preserved if the details vanish near the rim of the joined block; otherwise they are
//! preserved to within the compression threshold, because neighbouring blocks do not change.

mod lift;
mod patch;
mod predict;
mod restrict;

pub(crate) use lift::{LIFT_MARGIN, LIFT_SIDE};
pub(crate) use patch::Patch;
pub(crate) use predict::{ZONES, coarse_extent};

/// The relation between levels, which also determines where points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wavelet {
    /// Values at nodes, predicted by cubics.
    Interpolating4,
    /// Averages over cells, predicted by quartics.
    AverageInterpolating5,
}

impl Wavelet {
    /// All wavelets.
    pub const ALL: [Wavelet; 2] = [Wavelet::Interpolating4, Wavelet::AverageInterpolating5];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Wavelet::Interpolating4 => "interpolating-4",
            Wavelet::AverageInterpolating5 => "average-interpolating-5",
        }
    }

    /// The order: predictions are exact for polynomials of lower degree.
    pub fn order(self) -> usize {
        match self {
            Wavelet::Interpolating4 => 4,
            Wavelet::AverageInterpolating5 => 5,
        }
    }

    /// The number of moments that compression preserves along each axis.
    pub fn moments(self) -> usize {
        match self {
            Wavelet::Interpolating4 => 4,
            Wavelet::AverageInterpolating5 => 2,
        }
    }

    /// The distance of a block's first point from the block's lower corner along each axis, in spacings.
    pub fn offset(self) -> f64 {
        match self {
            Wavelet::Interpolating4 => 0.0,
            Wavelet::AverageInterpolating5 => 0.5,
        }
    }
}

/// How many coarse points to each side of the one below it a predicted point reads.
pub(crate) const PREDICTION_REACH: usize = 2;
