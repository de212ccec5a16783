//! The description of a sum: a [`Request`] (kernel, outputs, accuracy, device) and [`Points`], together a [`Sum`].

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

/// A request and its points: the input of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Sum<'a, T: Real, G: Geometry> {
    /// The kernel, outputs and options.
    pub request: &'a Request<G>,
    /// The points.
    pub points: Points<'a, T, G>,
}

impl<T: Real, G: Geometry> Sum<'_, T, G> {
    /// The options of the request.
    pub fn options(&self) -> &Options {
        &self.request.options
    }

    /// The requested relative error, or the default of the precision.
    pub fn tolerance(&self) -> f64 {
        self.request.options.tolerance::<T>()
    }
}
