//! What a sum in the plane asks for: the public view of a [`Sum`] for executors other than this crate's.

use super::kernel::{Core, Kernel, Output};
use super::sum::Sum;
use super::{Field, tuning};
use crate::error::Error;
use crate::kernel::Sizes;
use crate::plan::Method;
use crate::simd::Real;

/// Everything a [`Sum`] says, as [`Sum::checked`] returns it.
#[derive(Debug, Clone, Copy)]
pub struct CheckedSum<'a, T> {
    /// The kernel.
    pub kernel: Kernel,
    /// The core; singular where no source has a size.
    pub core: Core,
    /// The sources.
    pub sources: &'a [[T; 2]],
    /// The targets; `None` if they are the sources.
    pub targets: Option<&'a [[T; 2]]>,
    /// Core sizes.
    pub sizes: &'a Sizes<T>,
    /// The largest of them; zero if there is none.
    pub largest_size: f64,
    /// Whether evaluations measure their error.
    pub check: bool,
    /// What to compute.
    pub outputs: &'a [Output],
    /// Whether strengths are complex.
    pub complex: bool,
    /// The relative error allowed in each output.
    pub tolerance: f64,
    /// The method.
    pub method: Method,
    /// How many vectors of strengths are summed at once.
    pub vectors: usize,
    /// The order of all expansions instead of the tolerance.
    pub order: Option<usize>,
    /// The theta of the coupling criterion.
    pub theta: Option<f64>,
    /// The desired number of points in a leaf.
    pub leaf_capacity: Option<usize>,
}

impl<T: Real> Sum<'_, T> {
    /// What was asked for; [`Sum::check`] says whether it makes sense.
    pub fn checked(&self) -> CheckedSum<'_, T> {
        CheckedSum {
            kernel: self.kernel,
            core: self.pairs().core,
            sources: self.sources,
            targets: self.targets,
            sizes: &self.sizes,
            largest_size: self.largest_size(),
            check: self.check,
            outputs: &self.outputs,
            complex: self.complex,
            tolerance: self.tolerance,
            method: self.method,
            vectors: self.vectors,
            order: self.order,
            theta: self.theta,
            leaf_capacity: self.leaf_capacity,
        }
    }
}

impl<T: Real> CheckedSum<'_, T> {
    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.targets.map_or(self.sources.len(), <[_]>::len)
    }

    /// How many points there are, sources and targets together.
    pub fn point_count(&self) -> usize {
        self.sources.len() + self.targets.map_or(0, <[_]>::len)
    }

    /// The theta asked for, or the usual one.
    pub fn resolved_theta(&self) -> f64 {
        self.theta.unwrap_or(tuning::THETA)
    }

    /// The order asked for, or the one that keeps the tolerance.
    pub fn resolved_order(&self) -> usize {
        self.order.unwrap_or_else(|| {
            let theta = self.resolved_theta();
            tuning::order_for(self.kernel, self.outputs, theta, self.tolerance, self.targets.is_some())
        })
    }

    /// The number of levels an expert's leaf capacity stands for (Goude and Engblom, eq. 5.2).
    pub fn depth_of_capacity(&self, capacity: usize) -> usize {
        tuning::depth_for(self.point_count(), capacity)
    }

    /// Boxes closer than this, edge to edge, feel each other's cores.
    pub fn core_reach(&self) -> f64 {
        let tolerance = if self.order.is_some() { 1e-12 } else { self.tolerance };
        self.core.reach(self.largest_size, 0.5 * tolerance)
    }
}

impl<T: Real> Field<T> {
    /// A field of values that were summed elsewhere, one array per output of `checked`, laid out as [`Field::get`]
    /// returns them; `strengths` is the largest magnitude they came from.
    ///
    /// # Errors
    /// [`Error::Length`] if an array does not have `vectors * targets * components` values, [`Error::Overflow`] if some
    /// value is no number.
    pub fn of_values(
        (kernel, complex): (Kernel, bool),
        outputs: &[Output],
        size: (usize, usize),
        values: Vec<Vec<T>>,
        strengths: f64,
    ) -> Result<Self, Error> {
        let components = outputs
            .iter()
            .map(|output| output.components(kernel, complex))
            .collect();
        Self::with_values(outputs, components, size, values, Output::name, strengths)
    }
}
