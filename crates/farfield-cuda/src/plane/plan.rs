//! From a [`Sum`] in the plane to a plan on a device, and its evaluation.

use super::Plan;
use super::direct::Direct;
use super::ends::Ends;
use super::fmm::Fmm;
use super::input::SumInput;
use super::tuning::{self, Choice};
use crate::device::{Buffers, Device, Precision, Timeline, Values, vectors_at_once};
use crate::error::Error;
use crate::plan::{PlannedOnDevice, PointsOnDevice, check_point_count};
use cudarc::driver::CudaSlice;
use farfield_core::check::Check;
use farfield_core::plan::Parameters;
use farfield_core::plane::Core;
use farfield_core::report::{Interactions, Seconds};
use farfield_core::{Method, Plane, Sum};
use std::sync::Arc;
use std::time::Instant;

/// The largest number of vectors summed at once, which fills the device at any size worth an FMM.
const MOST_AT_ONCE: usize = 16;

/// The method of a plan.
#[derive(Debug)]
pub(crate) enum Engine<T: Precision> {
    Direct(Box<Direct<T>>),
    Fmm(Box<Fmm<T>>),
}

impl<T: Precision> Engine<T> {
    /// Its packed sources and outputs.
    pub fn ends(&self) -> &Ends<T> {
        match self {
            Engine::Direct(direct) => &direct.ends,
            Engine::Fmm(fmm) => &fmm.ends,
        }
    }
}

impl<T: Precision> Plan<T> {
    /// Chooses method and parameters for a valid sum, whose points may already be on the device.
    pub(super) fn build(buffers: Buffers, input: &SumInput<T>, start: Instant) -> Result<Self, Error> {
        let (asked, counts) = (&input.asked, input.counts());
        check_point_count(counts.points())?;
        let rates = tuning::rates::<T>(buffers.device().properties(), &input.kind);
        let parameters = Parameters {
            method: Method::Direct,
            ..Parameters::default()
        };
        let size = ((counts.sources, counts.targets()), asked.request.vectors);
        let mut plan = Self::with_engine(buffers, asked, size, (None, parameters), ());
        if counts.pairs() == 0 {
            return Ok(plan);
        }
        let choice = tuning::choose(asked, counts, &rates);
        let pairs = counts.pairs() as f64 * asked.request.vectors as f64;
        let direct = match asked.options().method {
            Method::Direct => true,
            Method::Auto => 1e-9 * rates.direct(pairs) < choice.seconds,
            _ => false,
        };
        if direct {
            plan.use_direct(input)?;
        } else {
            plan.use_fmm(input, &choice)?;
        }
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    fn use_direct(&mut self, input: &SumInput<T>) -> Result<(), Error> {
        let device = self.buffers.device();
        let multiprocessors = device.properties().multiprocessors;
        let batch = vectors_at_once(device, self.request.vectors.min(MOST_AT_ONCE), None, |batch| {
            Direct::forecast(input, batch, multiprocessors)
        })?;
        let direct = Direct::new(self.buffers.clone(), input, batch)?;
        self.parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: input.counts().pairs(),
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        self.engine = Some(Engine::Direct(Box::new(direct)));
        Ok(())
    }

    fn use_fmm(&mut self, input: &SumInput<T>, choice: &Choice) -> Result<(), Error> {
        let asked = &input.asked;
        let device = self.buffers.device();
        let free = device.free_memory()?;
        let batch = vectors_at_once(device, asked.request.vectors.min(MOST_AT_ONCE), Some(free), |batch| {
            Fmm::forecast(input, batch, choice)
        })?;
        let fmm = Fmm::new(self.buffers.clone(), input, batch, choice, free / 4)?;
        let Some(fmm) = fmm
            .filter(|fmm| !(asked.options().method == Method::Auto && meets_nearly_all(fmm, input.counts().pairs())))
        else {
            let note = match asked.core() {
                Core::Singular => "direct: cheaper than the FMM for these points".to_owned(),
                _ => format!(
                    "direct: cores of size {:e} reach too far for a far field at this tolerance",
                    asked.largest_size()
                ),
            };
            self.notes.push(note);
            return self.use_direct(input);
        };
        let totals = fmm.connections.totals;
        self.parameters = Parameters {
            method: Method::Fmm,
            order: Some(choice.order),
            lowest_m2l_order: None,
            theta: Some(choice.theta),
            leaf_capacity: Some(input.counts().points().div_ceil(fmm.pyramid.leaves())),
            depth: Some(choice.depth),
            boxes: fmm.pyramid.box_count(),
            interactions: Interactions {
                p2p: totals.p2p,
                m2l: totals.weak,
                m2p: totals.m2p,
                p2l: totals.p2l,
            },
        };
        self.engine = Some(Engine::Fmm(Box::new(fmm)));
        Ok(())
    }
}

impl PlannedOnDevice for Plane {
    /// `None` without sources or targets.
    type Engine<T: Precision> = Option<Engine<T>>;
    type Wishes<T: Precision> = ();

    fn plan_on<T: Precision>(device: &Arc<Device>, sum: &Sum<T, Self>) -> Result<Plan<T>, Error> {
        let start = Instant::now();
        check_extent::<T>(sum.validate()?)?;
        Plan::<T>::build(Buffers::new(device)?, &SumInput::of(sum), start)
    }

    fn plan_resident<T: Precision>(
        buffers: Buffers,
        sum: &Sum<T, Self>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Plan<T>, Error> {
        Plan::<T>::of_points_on_device(buffers, sum, points, extent)
    }

    fn launch<T: Precision>(plan: &mut Plan<T>, strengths: Values<T>) -> Result<Timeline, Error> {
        let mut timeline = Timeline::start(plan.buffers.stream())?;
        match &mut plan.engine {
            None => {}
            Some(Engine::Direct(direct)) => direct.evaluate(strengths, &mut timeline)?,
            Some(Engine::Fmm(fmm)) => fmm.evaluate(strengths, &mut timeline)?,
        }
        Ok(timeline)
    }

    fn results<T: Precision>(plan: &Plan<T>) -> Option<Vec<&CudaSlice<T>>> {
        Some(plan.engine.as_ref()?.ends().outputs().collect())
    }

    fn add_building<T: Precision>(plan: &mut Plan<T>, seconds: &mut Seconds) -> Result<(), Error> {
        match &plan.engine {
            Some(Engine::Fmm(fmm)) if !plan.evaluated => fmm.building.add_to(seconds),
            _ => Ok(()),
        }
    }

    fn measure<T: Precision>(plan: &mut Plan<T>, strengths: Values<T>, check: &mut Check) -> Result<(), Error> {
        plan.measure(strengths, check)
    }

    fn become_more_exact<T: Precision>(plan: &mut Plan<T>, factor: f64, in_vain: bool) -> Result<bool, Error> {
        plan.become_more_exact(factor, in_vain)
    }
}

/// Whether expansions would cover less than a tenth of the pairs.
fn meets_nearly_all<T: Precision>(fmm: &Fmm<T>, pairs: u64) -> bool {
    10 * u128::from(fmm.connections.totals.p2p) > 9 * u128::from(pairs)
}

/// Refuses extents for which squares of distances overflow or underflow.
pub(super) fn check_extent<T: Precision>(extent: f64) -> Result<(), Error> {
    let range = if T::DOUBLE {
        0.0..=f64::INFINITY
    } else {
        2f64.powi(-30)..=2f64.powi(50)
    };
    if extent == 0.0 || range.contains(&extent) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: format!("{} points in the plane with an extent of {extent:e}", T::NAME),
        remedy: "scale them to about one, use f64, or sum on the CPU",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::Request;
    use farfield_core::plane::{Kernel, PlaneSet};

    #[test]
    fn extents_that_single_precision_cannot_square_are_refused() {
        for extent in [0.0, 1e-8, 1.0, 1e14] {
            assert!(check_extent::<f32>(extent).is_ok(), "{extent}");
        }
        for extent in [1e-12, 1e20] {
            let error = check_extent::<f32>(extent).unwrap_err().to_string();
            assert!(error.contains("f32") && error.contains("the CPU"), "{error}");
            assert!(check_extent::<f64>(extent).is_ok());
        }
    }

    #[test]
    fn forecasts_grow_with_vectors_and_orders() {
        let points = PlaneSet::Square.generate::<f64>(10_000, 1);
        let sum = Request::<Plane> {
            vectors: 8,
            ..Request::new(Kernel::Harmonic)
        };
        let choice = Choice {
            theta: 0.5,
            order: 14,
            depth: 5,
            shortcut: 18,
            seconds: 0.0,
        };
        let sum = sum.between(&points);
        let bytes = |batch: usize, order: usize| Fmm::forecast(&SumInput::of(&sum), batch, &Choice { order, ..choice });
        assert!(bytes(1, 14) < bytes(8, 14) && bytes(1, 14) < bytes(1, 30));
        // Each further vector takes packed sources, sums, and two expansions of 1365 boxes.
        let per_vector = 10_000 * 8 * (1 + 4 + 2) + 4 * 1365 * 15 * 8;
        assert_eq!(bytes(8, 14) - bytes(1, 14), 7 * per_vector);
    }
}
