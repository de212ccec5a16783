//! From a tolerance to the treecode's parameters.

use super::{Accuracy, Kernel, Poisson};

/// The treecode's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parameters {
    pub theta: f64,
    pub order: usize,
    pub leaf_capacity: usize,
    /// The relative error reciprocal square roots may have.
    pub rsqrt_error: f64,
    /// How many smoothing lengths the far field begins from a source.
    pub clearance: f64,
}

/// Sources per leaf when a tolerance is given: small enough that few pairs are summed in vain, large enough that
/// expansions are worth their while.
const LEAF_CAPACITY: usize = 256;

/// Opening parameters tried.
const THETAS: [f64; 7] = [0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7];

impl Poisson {
    /// The parameters that were fixed, or the cheapest that keep the tolerance.
    pub(super) fn parameters(&self) -> Parameters {
        match self.accuracy {
            Accuracy::Fixed { theta, order } => Parameters {
                theta,
                order,
                leaf_capacity: self.leaf_capacity.unwrap_or(Self::PAPER_LEAF_CAPACITY),
                rsqrt_error: 1e-3 * truncation(theta, order),
                clearance: 0.0,
            },
            Accuracy::Tolerance(tolerance) => {
                let leaf_capacity = self.leaf_capacity.unwrap_or(LEAF_CAPACITY);
                let candidates = THETAS
                    .into_iter()
                    .flat_map(|theta| Self::ORDERS.map(|order| (theta, order)));
                let (theta, order) = candidates
                    .filter(|&(theta, order)| truncation(theta, order) < tolerance)
                    .min_by(|a, b| cost(*a, leaf_capacity).total_cmp(&cost(*b, leaf_capacity)))
                    // Below what any pair of the table keeps, all pairs of points.
                    .unwrap_or((0.0, 4));
                Parameters {
                    theta,
                    order,
                    leaf_capacity,
                    rsqrt_error: if theta > 0.0 { 0.01 * tolerance } else { 0.0 },
                    clearance: match self.kernel {
                        Kernel::Singular => 0.0,
                        // (r^2 + 3/2 e^2) / (r^2 + e^2)^(3/2) = 1/r (1 - 3/8 (e/r)^4 + ...)
                        Kernel::Regularised(_) => (0.375 / tolerance).powf(0.25),
                    },
                }
            }
        }
    }
}

/// The relative error of a sum with these parameters. The bound of eq. 6 adds up the sizes of all contributions; the
/// errors of many nodes have different signs, and most nodes are further away than they must be. A twentieth of
/// $\theta^{p+1}$ keeps the tolerances that `tests/poisson.rs` asks for, on vortex rings and Gaussian blobs.
fn truncation(theta: f64, order: usize) -> f64 {
    0.05 * theta.powi(order as i32 + 1)
}

/// The time a point takes, in pairs of points: as many leaves as fit between the brick and the distance a / theta are
/// summed directly; beyond, each shell of nodes costs an expansion of this order each.
fn cost((theta, order): (f64, usize), leaf_capacity: usize) -> f64 {
    let shell = (1.0 + 1.0 / theta).powi(3);
    let expansion = 6.0 + ((order + 1) * (order + 2)) as f64 * 0.35;
    shell * (leaf_capacity as f64 + 3.0 * expansion)
}
