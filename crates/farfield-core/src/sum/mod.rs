//! What to sum: a [`Request`] (kernel, outputs, accuracy, device) and [`Points`], together a [`Sum`].

mod device;
mod method;
mod points;
mod request;

pub use device::Device;
pub use method::Method;
pub use points::{Counts, Points};
pub(crate) use request::parameter;
pub use request::{Options, Request, tolerance_range};

use crate::geometry::Geometry;
use crate::simd::Real;

/// A request and the points it is for: what an engine plans.
#[derive(Debug, Clone, Copy)]
pub struct Sum<'a, T: Real, G: Geometry> {
    /// What to sum, and how.
    pub request: &'a Request<G>,
    /// Between which points.
    pub points: Points<'a, T, G>,
}

impl<T: Real, G: Geometry> Sum<'_, T, G> {
    /// How to sum.
    pub fn options(&self) -> &Options {
        &self.request.options
    }

    /// The relative error asked for, or the usual one of the precision.
    pub fn tolerance(&self) -> f64 {
        self.request.options.tolerance::<T>()
    }
}
