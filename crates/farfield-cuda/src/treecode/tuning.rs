//! Opening angle, order and leaf size of the treecode.

use super::setup::shared_bytes;
use crate::device::Precision;
use crate::error::Error;
use crate::kernel::PairKind;
use farfield_core::Method;
use farfield_core::expansion::coefficient_count;
use farfield_core::tuning::treecode_parameters;
use farfield_core::{Space, Sum};

/// The treecode's criterion and order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Opening {
    /// A box of radius a acts through its multipole at distances beyond a / theta.
    pub theta: f64,
    /// The order of the multipoles.
    pub order: usize,
    /// The number of sources up to which the pairs of a box cost less than its multipole.
    pub few_sources: usize,
    /// No source acts through a multipole within this distance, because cores matter there.
    pub reach: f64,
    /// The boxes that act through their multipoles.
    pub boxes: ActingBoxes,
}

/// The boxes that act through their multipoles on a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActingBoxes {
    /// Boxes seen at less than the opening angle.
    ByAngle,
    /// Boxes that an FMM would translate into the leaf or one of its ancestors.
    OnNeighbours,
}

/// The number of operations of a pair of points, if one coefficient of one sum takes two.
const PAIR_OPERATIONS: usize = 20;

/// Static shared memory of a block.
const MOST_SHARED: usize = 48 * 1024;

impl Opening {
    /// The criterion of a sum, chosen as by the CPU's treecode; a fixed criterion is followed exactly.
    pub fn of<T: Precision>(asked: &Sum<T, Space>, kind: &PairKind, reach: f64) -> Result<Self, Error> {
        let derivatives = asked.error_derivatives().last().copied().unwrap_or(0);
        let boxes = match asked.options().method {
            Method::TreecodeOnNeighbours => ActingBoxes::OnNeighbours,
            _ => ActingBoxes::ByAngle,
        };
        let theta = match boxes {
            ActingBoxes::ByAngle => asked.options().theta,
            // For a box that does not touch, radius over distance is at most (sqrt(3)/2) / (3/2) = 0.58.
            ActingBoxes::OnNeighbours => Some(0.58),
        };
        let (theta, order) = treecode_parameters(asked.options().order, theta, asked.tolerance(), derivatives);
        if shared_bytes::<T>(kind, order) > MOST_SHARED {
            return Err(Error::Unsupported {
                what: format!(
                    "a treecode of order {order} with {} sums a target in {}",
                    kind.sums(),
                    T::NAME
                ),
                remedy: "use a lower order or a larger tolerance, another method, or the CPU",
            });
        }
        let expert = asked.options().theta.is_some() || asked.options().order.is_some();
        let few_sources = if expert || boxes == ActingBoxes::OnNeighbours {
            0
        } else {
            m2p_operations(kind, order) / PAIR_OPERATIONS
        };
        Ok(Self {
            theta,
            order,
            few_sources,
            reach,
            boxes,
        })
    }

    /// The average number of points in leaves at which pairs cost about as much as the smallest boxes' multipoles.
    pub fn leaf_mean(&self, kind: &PairKind) -> f64 {
        (2 * m2p_operations(kind, self.order) / PAIR_OPERATIONS).clamp(32, 128) as f64
    }
}

/// The number of operations of one multipole at one target: the basis and each sum's coefficients.
fn m2p_operations(kind: &PairKind, order: usize) -> usize {
    coefficient_count(order + kind.derivatives) * (3 + 2 * kind.sums())
}
