//! Requests from Python: names and arrays become a sum.

use crate::failure::{Failure, Names};
use crate::numbers::{AnyNumbers, Scalar};
use crate::pools::check_device;
use farfield::kernel::{Form, Sizes};
use farfield::names::{self, FromWords, Words};
use farfield::{Device, Options, Request, Space, SumOf};
use pyo3::prelude::*;

/// A sum as the package describes it: a dictionary with these keys. All arrays are aligned, in C order and of the same
/// precision.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Description {
    kernel: String,
    /// 3 in space, 2 in the plane.
    pub dimension: usize,
    pub sources: AnyNumbers,
    targets: Option<AnyNumbers>,
    outputs: Vec<String>,
    pub vectors: usize,
    complex: bool,
    /// The core of vortices and of kernels in the plane, or the softening of masses.
    core: Option<String>,
    size: Option<f64>,
    sizes: Option<AnyNumbers>,
    constant: f64,
    allow_unbounded_gradient: bool,
    tolerance: Option<f64>,
    method: String,
    device: String,
    order: Option<usize>,
    theta: Option<f64>,
    leaf_capacity: Option<usize>,
    memory_limit: Option<u64>,
    pub threads: Option<usize>,
    strengths_name: String,
    sizes_name: String,
}

impl Description {
    /// The caller's names for the arrays.
    pub fn names(&self) -> Names {
        Names {
            strengths: self.strengths_name.clone(),
            dipoles: self.carries_dipoles(),
            sizes: self.sizes_name.clone(),
            sources: self.source_count(),
            vectors: self.vectors,
        }
    }

    fn carries_dipoles(&self) -> bool {
        let request = Space::request(&self.words());
        request.is_ok_and(|request| request.kernel.form() == Form::Dipole)
    }

    fn words(&self) -> Words<'_> {
        Words {
            kernel: &self.kernel,
            core: self.core.as_deref(),
            constant: self.constant,
            complex: self.complex,
            outputs: &self.outputs,
        }
    }

    pub fn source_count(&self) -> usize {
        self.sources.len() / self.dimension.max(1)
    }

    pub fn has_targets(&self) -> bool {
        self.targets.is_some()
    }

    pub fn target_count(&self) -> usize {
        let targets = self.targets.as_ref();
        targets.map_or(self.source_count(), |targets| targets.len() / self.dimension.max(1))
    }

    /// Whether the sum may take long enough that the user wants to interrupt it. Up to 2e7 pairs, a direct sum takes
    /// a few hundredths of a second.
    pub fn is_long(&self) -> bool {
        let pairs = self.source_count() as f64 * self.target_count() as f64 * self.vectors as f64;
        pairs > 2e7
    }

    pub fn options(&self) -> Result<Options, Failure> {
        let device: Device = self
            .device
            .parse()
            .map_err(|text| Failure::Argument(format!("device: {text}")))?;
        Ok(Options {
            tolerance: self.tolerance,
            method: names::method(&self.method)?,
            device: check_device(device)?,
            order: self.order,
            theta: self.theta,
            leaf_capacity: self.leaf_capacity,
            memory_limit: self.memory_limit,
            allow_unbounded_gradient: self.allow_unbounded_gradient,
            ..Options::default()
        })
    }

    /// The core size, if all sources share one.
    pub fn size(&self) -> Option<f64> {
        self.size
    }

    /// Sets the largest core size, for sizes per source that are on a GPU.
    pub fn set_largest_size(&mut self, size: f64) {
        self.size = Some(size);
    }

    fn sizes<T: Scalar>(&self) -> Result<Sizes<T>, Failure> {
        Ok(match (&self.sizes, self.size) {
            (Some(sizes), _) => Sizes::PerSource(sizes.slice::<T>(&self.sizes_name)?.to_vec()),
            (None, Some(size)) => Sizes::Global(T::from_f64(size)),
            (None, None) => Sizes::None,
        })
    }

    /// The sum without its points.
    pub fn request<G: FromWords>(&self) -> Result<Request<G>, Failure> {
        let request = G::request(&self.words())?;
        Ok(Request {
            vectors: self.vectors,
            options: self.options()?,
            ..request
        })
    }

    /// The sum over the points of the description.
    pub fn sum<T: Scalar, G: FromWords>(&self) -> Result<SumOf<'_, T, G>, Failure> {
        let targets = self.targets.as_ref().map(|targets| targets.slice("targets"));
        self.sum_of(self.sources.slice("sources")?, targets.transpose()?, self.sizes()?)
    }

    /// The sum over other points, with other sizes.
    pub fn sum_of<'a, T: Scalar, G: FromWords>(
        &self,
        sources: &'a [T],
        targets: Option<&'a [T]>,
        sizes: Sizes<T>,
    ) -> Result<SumOf<'a, T, G>, Failure> {
        let sum = SumOf::of(self.request()?, G::points(sources)).sizes(sizes);
        Ok(match targets {
            Some(targets) => sum.targets(G::points(targets)),
            None => sum,
        })
    }
}
