//! A sum shared by the cores and a device.

use super::near::{DeviceNear, Sent};
use super::timeline::{Busy, Halves, Span, Who};
use super::tuning::pairs_elsewhere;
use crate::device::{Device, Precision};
use crate::error::Error;
use farfield_core::plan::Parameters;
use farfield_core::report::{Phase, Seconds};
use farfield_core::simd::SimdLevel;
use farfield_core::tuning::MachineProfile;
use farfield_core::{Field, Sum};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A plan of the CPU engine whose pairs of points a device sums.
#[derive(Debug)]
pub struct Plan<T: Precision> {
    plan: farfield_core::Plan<T>,
    /// `None` where all pairs are left to the cores, or there are none.
    near: Option<DeviceNear<T>>,
    /// What the cores did to make the plan; emptied by the first evaluation.
    planning: Vec<Span>,
    began: Instant,
    seconds: Seconds,
    timeline: Vec<Busy>,
    halves: Halves,
}

impl<T: Precision> Plan<T> {
    /// Sends the points while the cores check the sum and build tree and lists, then the lists.
    ///
    /// # Errors
    /// Any of [`Error`].
    pub fn new(device: &Arc<Device>, sum: &Sum<T>, profile: &MachineProfile) -> Result<Self, Error> {
        let began = Instant::now();
        let elsewhere = pairs_elsewhere(device.properties(), profile, &sum.checked());
        let (sent, plan, planned) = thread::scope(|scope| {
            let sending = scope.spawn(|| Sent::new(device, &sum.checked()));
            let plan = sum.clone().profile(profile.clone()).pairs_elsewhere(elsewhere).plan();
            let planned = Instant::now();
            let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (sent, plan, planned)
        });
        // What is wrong with the sum is said first.
        let plan = plan?;
        let sent = sent?;
        let lists = plan.near_lists();
        let blocks = lists.blocks_elsewhere(elsewhere.pair * lists.vectors as f64);
        let near = if blocks > 0 && lists.pairs > 0 {
            Some(DeviceNear::new(sent, &lists, blocks)?)
        } else {
            None
        };
        let on_cpu = |phase, from, to| Span {
            who: Who::Cpu,
            phase,
            from,
            to,
        };
        Ok(Self {
            plan,
            near,
            planning: vec![on_cpu("tree", began, planned), on_cpu("lists", planned, Instant::now())],
            began,
            seconds: Seconds::default(),
            timeline: Vec::new(),
            halves: Halves::default(),
        })
    }

    /// Sums for the given strengths, as [`farfield_core::Plan::evaluate`] does.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Driver`] if the device failed.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let mut field = self.plan.field();
        self.evaluate_into(strengths, &mut field)?;
        Ok(field)
    }

    /// A field of zeros of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T> {
        self.plan.field()
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`].
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        let began = Instant::now();
        match &mut self.near {
            None => self.plan.evaluate_into(strengths, field)?,
            Some(near) => {
                let summed = self.plan.evaluate_beside(strengths, field, near);
                summed.map_err(|error| near.failure.take().unwrap_or(error))?;
            }
        }
        self.report(began, Instant::now())
    }

    /// Who was busy when, in the evaluation between two moments.
    fn report(&mut self, began: Instant, ended: Instant) -> Result<(), Error> {
        // The first evaluation is reported with its planning.
        let origin = if self.planning.is_empty() { began } else { self.began };
        let planning = (began - origin).as_secs_f64();
        let mut seconds = *self.plan.seconds();
        let mut spans = std::mem::take(&mut self.planning);
        spans.extend(self.spans_of_cores(began, ended));
        if let Some(near) = &mut self.near {
            let on_device = near.take_spans()?;
            let pairs = on_device.iter().filter(|span| span.phase == Phase::P2p.name());
            let pairs: f64 = pairs.map(|span| (span.to - span.from).as_secs_f64()).sum();
            // Both sum pairs at the same time.
            seconds.add(Phase::P2p, (pairs - seconds.of(Phase::P2p)).max(0.0));
            spans.extend(on_device);
        }
        spans.sort_by_key(|span| (span.from, span.to));
        let tree = planning - seconds.of(Phase::Tree);
        seconds.add(Phase::Tree, tree);
        seconds.total = (ended - origin).as_secs_f64();
        self.seconds = seconds;
        self.halves = Halves::of(&spans, began, ended);
        self.timeline = spans.iter().map(|span| span.since(origin)).collect();
        Ok(())
    }

    /// The phases of the CPU engine, and what comes before, between and after them.
    fn spans_of_cores(&self, began: Instant, ended: Instant) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut add = |phase, from: Instant, to: Instant| {
            let who = Who::Cpu;
            spans.push(Span { who, phase, from, to });
        };
        let seconds = self.plan.seconds();
        let mut last = began;
        if let Some((called, returned)) = self.near.as_ref().and_then(|near| near.calls.start) {
            add("order", began, called);
            add("send", called, returned);
            last = returned;
        }
        for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Tree) {
            if let Some(from) = seconds.began(phase) {
                let to = from + Duration::from_secs_f64(seconds.of(phase));
                add(phase.name(), from, to);
                last = last.max(to);
            }
        }
        match self.near.as_ref().and_then(|near| near.calls.finish) {
            Some((called, returned)) => {
                add("order", last, called);
                add("add", returned, ended);
            }
            None => add("order", last, ended),
        }
        spans
    }

    /// Who was busy when in the last evaluation; the first includes the planning.
    pub fn timeline(&self) -> &[Busy] {
        &self.timeline
    }

    /// How long each of the two was busy in the last evaluation, tree and lists apart.
    pub fn halves(&self) -> Halves {
        self.halves
    }

    /// The device's share of the pairs of points.
    pub fn device_share(&self) -> f64 {
        self.device_pairs() as f64 / (self.plan.near_lists().pairs as f64).max(1.0)
    }

    /// Pairs of points that the device sums.
    pub fn device_pairs(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.pairs)
    }

    /// Numbers that come back from it.
    pub(super) fn sums_received(&self) -> usize {
        self.near.as_ref().map_or(0, |near| near.sum_count)
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        self.plan.parameters()
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.plan.tolerance()
    }

    /// The instruction set of the cores.
    pub fn simd(&self) -> SimdLevel {
        self.plan.simd()
    }

    /// Remarks on choices the caller may want to know of.
    pub fn notes(&self) -> &[String] {
        self.plan.notes()
    }

    /// Where the time of the last evaluation went; the first includes the planning. Phases run side by side.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }
}
