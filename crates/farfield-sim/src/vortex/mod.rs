//! Vortex elements that move with the flow they induce, and passive tracers.
//!
//! An element has a position $x_i$, a strength $\gamma_i$ (vorticity times volume) and a core size $\sigma_i$:
//!
//! $$\frac{dx_i}{dt} = u(x_i),\qquad \frac{d\gamma_i}{dt} = S(\nabla u(x_i))\\,\gamma_i
//!   + \text{diffusion} + \text{relaxation}.$$
//!
//! One sum ([`Motion`]) gives $u$ and $\nabla u$ at the elements, another $u$ at the tracers, so that tracers do not
//! affect the elements, not even by round-off. [`lines_of`] and [`fill`] make rings and knots. [`remesh()`] puts
//! elements back on a grid.

mod borrowed;
mod diffusion;
mod energy;
mod files;
mod measure;
mod model;
mod motion;
mod neighbours;
mod profile;
mod remesh;
mod snapshot;
mod tracers;
mod tube;

pub use borrowed::Borrowed;
pub use diffusion::strength_exchange;
pub use energy::energy;
pub use model::VortexModel;
pub use motion::{Cores, Flow, Motion};
pub use neighbours::Neighbours;
pub use remesh::{Remeshed, remesh};
pub use tracers::{Tracers, place_tracers};
pub use tube::{Line, count, fill, lines_of};

use crate::vec3::Vec3;

/// Vortex elements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Elements {
    /// Their positions.
    pub positions: Vec<Vec3>,
    /// Vorticity times volume.
    pub strengths: Vec<Vec3>,
    /// Core sizes.
    pub sizes: Vec<f64>,
    /// The volume of each.
    pub volumes: Vec<f64>,
    /// The ring or knot of each, in the order of the case.
    pub groups: Vec<u32>,
}

impl Elements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
