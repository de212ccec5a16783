//! A sum as it was asked for, for executors other than the CPU.

use super::{Method, Sum};
use crate::kernel::{Kernel, Output, Sizes};
use crate::simd::Real;

/// Everything a [`Sum`] says, as [`Sum::checked`] returns it.
#[derive(Debug, Clone, Copy)]
pub struct CheckedSum<'a, T> {
    /// The kernel.
    pub kernel: Kernel,
    /// The sources.
    pub sources: &'a [[T; 3]],
    /// The targets; `None` if they are the sources.
    pub targets: Option<&'a [[T; 3]]>,
    /// Core sizes or softening lengths.
    pub sizes: &'a Sizes<T>,
    /// What to compute.
    pub outputs: &'a [Output],
    /// The relative error allowed in each output.
    pub tolerance: f64,
    /// The method.
    pub method: Method,
    /// How many vectors of strengths are summed at once.
    pub vectors: usize,
    /// One order for all expansions instead of the tolerance.
    pub order: Option<usize>,
    /// The treecode's opening criterion.
    pub theta: Option<f64>,
    /// How many points a box may hold before it is cut.
    pub leaf_capacity: Option<usize>,
    /// The largest core size; zero if there is none or the kernel ignores it.
    pub largest_size: f64,
    /// Whether evaluations measure their error.
    pub check: bool,
}

impl<T: Real> Sum<'_, T> {
    /// What was asked for; [`Sum::check`] says whether it makes sense.
    pub fn checked(&self) -> CheckedSum<'_, T> {
        CheckedSum {
            kernel: self.kernel,
            sources: self.sources,
            targets: self.targets,
            sizes: &self.sizes,
            outputs: &self.outputs,
            tolerance: self.tolerance,
            method: self.method,
            vectors: self.vectors,
            order: self.order,
            theta: self.theta,
            leaf_capacity: self.leaf_capacity,
            largest_size: self.largest_size(),
            check: self.check,
        }
    }
}

impl<T> CheckedSum<'_, T> {
    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.targets.map_or(self.sources.len(), <[_]>::len)
    }

    /// The most derivatives an output takes.
    pub fn most_derivatives(&self) -> usize {
        let derivatives = self.outputs.iter().map(|output| output.derivatives());
        derivatives.max().unwrap_or(0)
    }

    /// Distinct orders of derivatives of 1/r among outputs and strengths: each has its own error to keep.
    pub fn error_derivatives(&self) -> Vec<usize> {
        let form = self.kernel.form();
        form.error_derivatives(self.outputs.iter().map(|output| output.derivatives()))
    }
}
