//! Vortices in the plane that move with the flow they induce, and passive tracers.
//!
//! A vortex has a position $z_i$, a constant circulation $\Gamma_i$ and a core size $\sigma_i$:
//!
//! $$\overline{\dot z_i} = \frac1{2\pi i}\sum_j\Gamma_j\frac{f_{\sigma_j}(r_{ij})}{z_i-z_j},$$
//!
//! with $f=1$ for points, $1-e^{-r^2/\sigma^2}$ for Gaussian and $r^2/(r^2+\sigma^2)$ for algebraic blobs. Viscosity
//! makes $\sigma^2$ grow by $4\nu t$ (core spreading) or moves vortices by normally distributed steps of variance
//! $2\nu t$ (random walk).

mod initial;
mod measure;
mod model;
mod motion;

pub use initial::{Vortices, vortices};
pub use model::{PlaneModel, VortexArrays};

/// A point of the plane.
pub type Vec2 = [f64; 2];
