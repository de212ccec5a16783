//! Forecasts the memory of a sum in the plane without its points.

use super::expansion::row_len;
use super::pairs::PlanePairs;
use super::pyramid::first_of_level;
use super::tuning::{Choice, THETA};
use crate::error::Error;
use crate::geometry::Plane;
use crate::p2p::PairSums;
use crate::plan::MemoryForecast;
use crate::simd::Real;
use crate::sum::{Counts, Sum};
use std::mem::size_of;

/// The number of entries in the lists of a box.
const COUPLINGS: f64 = 60.0;

impl<T: Real> Sum<'_, T, Plane> {
    /// Forecasts the memory of this sum over `sources` sources and, unless these are the targets, `targets` targets.
    /// The points it holds do not count; outputs, tolerance, method and vectors do.
    ///
    /// ```
    /// use farfield_core::{Plane, Request, plane::Kernel};
    /// let forecast = Request::<Plane>::new(Kernel::Log).between::<f64>(&[]).memory_forecast(1_000_000, None);
    /// assert!(forecast.total() < 400_000_000);
    /// ```
    pub fn memory_forecast(&self, sources: usize, targets: Option<usize>) -> MemoryForecast {
        let counts = Counts { sources, targets };
        let pairs = self.pairs();
        self.memory_of(counts, &pairs, self.choose(&pairs, counts).as_ref())
    }

    /// Refuses a sum that does not fit, before anything is allocated.
    pub(super) fn check_memory(&self, pairs: &PlanePairs, choice: Option<&Choice>) -> Result<(), Error> {
        self.memory_of(self.points.counts(), pairs, choice)
            .check(self.options().memory_limit)
    }

    fn memory_of(&self, counts: Counts, pairs: &PlanePairs, choice: Option<&Choice>) -> MemoryForecast {
        let number = size_of::<T>() as f64;
        let (sources, targets) = (counts.sources as f64, counts.targets() as f64);
        let points = counts.points() as f64;
        let vectors = self.request.vectors as f64;
        // Strengths and sums of one run.
        let mut plan = number * (sources * pairs.strengths() as f64 + targets * pairs.sums() as f64);
        plan += match choice {
            None => number * 2.0 * points,
            Some(choice) => {
                let depth = self.depth_with_cores(choice.depth);
                let boxes = first_of_level(depth + 1) as f64;
                let expansions = 2.0 * number * row_len::<T>(choice.order) as f64;
                // Positions and indices, during and after sorting.
                let ordered = points * (4.0 * number + 12.0) + 4.0 * targets;
                // Boxes are coupled to those in a circle of radius r/theta or of the cores' reach, and at most to all
                // boxes.
                let wide = (THETA / choice.theta).max(1.0).powi(2);
                let couplings = (COUPLINGS * wide).min(2.0 * 4f64.powi(depth as i32));
                ordered + boxes * (expansions + 8.0 * number + 4.0 * couplings)
            }
        };
        let parts = self.request.kernel.strength_components() as f64;
        MemoryForecast {
            input: (number * (2.0 * points + sources * parts * vectors)) as u64,
            plan: plan as u64,
            results: (number * targets * vectors * 2.0 * self.request.outputs.len() as f64) as u64,
        }
    }
}
