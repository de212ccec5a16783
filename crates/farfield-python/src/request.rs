//! Requests from Python: names and arrays become a sum.

use crate::failure::{Failure, Names};
use crate::numbers::{AnyNumbers, Scalar};
use crate::pools::check_device;
use farfield::kernel::{Kernel, Output, Sizes};
use farfield::plane::Plane;
use farfield::{Device, Geometry, Options, Space, SumOf, names, plane};
use pyo3::prelude::*;

/// A sum as the package describes it: a dictionary with these keys. All arrays are aligned, in C order and of the same
/// precision.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
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

impl Request {
    /// The caller's names for the arrays.
    pub fn names(&self) -> Names {
        Names {
            strengths: self.strengths_name.clone(),
            dipoles: self.kernel == "coulomb-dipoles",
            sizes: self.sizes_name.clone(),
            sources: self.source_count(),
            vectors: self.vectors,
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
            ..Options::default()
        })
    }

    /// The core size, if all sources share one.
    pub fn size(&self) -> Option<f64> {
        self.size
    }

    /// The outputs of a sum in space.
    pub fn outputs_in_space(&self) -> Result<Vec<Output>, Failure> {
        Ok(names::outputs(&self.outputs)?)
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

    pub fn kernel_in_space(&self) -> Result<Kernel, Failure> {
        Ok(names::kernel(&self.kernel, self.core.as_deref(), self.constant)?)
    }

    /// Adds options, outputs, vectors and targets to a sum.
    fn finish<'a, T: Scalar, G: Geometry>(
        &self,
        sum: SumOf<'a, T, G>,
        targets: Option<&'a [G::Point<T>]>,
        outputs: &[G::Output],
    ) -> Result<SumOf<'a, T, G>, Failure> {
        let sum = sum.options(self.options()?).outputs(outputs).vectors(self.vectors);
        Ok(match targets {
            Some(targets) => sum.targets(targets),
            None => sum,
        })
    }
}

/// Turns a request into a sum in this geometry.
pub trait Requested: Geometry {
    /// The sum over the points of the request.
    fn sum<T: Scalar>(request: &Request) -> Result<SumOf<'_, T, Self>, Failure> {
        let targets = request.targets.as_ref().map(|targets| targets.slice("targets"));
        let (sources, targets) = (request.sources.slice("sources")?, targets.transpose()?);
        Self::sum_of(request, sources, targets, request.sizes()?)
    }

    /// The sum of the request, over other points and with other sizes.
    fn sum_of<'a, T: Scalar>(
        request: &Request,
        sources: &'a [T],
        targets: Option<&'a [T]>,
        sizes: Sizes<T>,
    ) -> Result<SumOf<'a, T, Self>, Failure>;
}

impl Requested for Space {
    fn sum_of<'a, T: Scalar>(
        request: &Request,
        sources: &'a [T],
        targets: Option<&'a [T]>,
        sizes: Sizes<T>,
    ) -> Result<SumOf<'a, T, Self>, Failure> {
        let outputs = request.outputs_in_space()?;
        let points = |numbers: &'a [T]| numbers.as_chunks::<3>().0;
        let mut sum = farfield::Sum::new(request.kernel_in_space()?, points(sources)).sizes(sizes);
        if request.allow_unbounded_gradient {
            sum = sum.allow_unbounded_gradient();
        }
        request.finish(sum, targets.map(points), &outputs)
    }
}

impl Requested for Plane {
    fn sum_of<'a, T: Scalar>(
        request: &Request,
        sources: &'a [T],
        targets: Option<&'a [T]>,
        sizes: Sizes<T>,
    ) -> Result<SumOf<'a, T, Self>, Failure> {
        let kernel = names::kernel_in_plane(&request.kernel)?;
        let core = names::core_in_plane(request.core.as_deref())?;
        let outputs = names::outputs_in_plane(&request.outputs)?;
        let points = |numbers: &'a [T]| numbers.as_chunks::<2>().0;
        let mut sum = plane::Sum::new(kernel, points(sources)).core(core, sizes);
        if request.complex {
            sum = sum.complex();
        }
        request.finish(sum, targets.map(points), &outputs)
    }
}
