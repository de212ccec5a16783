//! A run between two steps, as an observer sees it: the state, and the settings that may change.

use super::outcome::Report;
use super::{Run, case_text, start};
use crate::case::{self, Case, Override};
use crate::error::{CaseError, Error};
use crate::model::{Shown, Volume};
use crate::vec3::Vec3;
use farfield::points::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The keys of a case that may change during a run. A run that is stopped and resumed with `--set` of the same key and
/// value at the same step ends with the same bits.
pub const CHANGEABLE: [&str; 8] = [
    "time.step",
    "time.end",
    "time.limit",
    "sum.tolerance",
    "vortex.viscosity",
    "flow.viscosity",
    "output.frames_every",
    "output.fields_every",
];

/// A state of a run between two steps. Reading it does not affect the run.
pub struct Moment<'a> {
    pub(super) run: &'a mut Run,
    pub(super) report: &'a Report,
    pub(super) is_measured: bool,
    pub(super) is_last: bool,
    pub(super) begin: Instant,
    pub(super) stop: &'a AtomicBool,
}

impl Moment<'_> {
    /// Steps done.
    pub fn step(&self) -> u64 {
        self.run.step
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.run.time
    }

    /// The length of the last step, and the limit that set it.
    pub fn last_step(&self) -> (f64, &'static str) {
        (self.run.dt, self.run.limit.name())
    }

    /// The current case, changes included.
    pub fn case(&self) -> &Case {
        &self.run.case
    }

    /// Whether the run ends here.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Whether a stop was requested.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The names of the diagnostics.
    pub fn columns(&self) -> &[String] {
        &self.run.columns
    }

    /// The diagnostics, if they were measured at this step. Values that were not computed are NaN.
    pub fn row(&self) -> Option<&[f64]> {
        self.is_measured.then_some(&self.report.last[..])
    }

    /// Seconds since the session started; the part for steps and measurements; the part in sums.
    pub fn seconds(&mut self) -> [f64; 3] {
        let sums = self.run.model.summation().seconds_of_motion();
        [self.begin.elapsed().as_secs_f64(), self.report.stepping_seconds, sums]
    }

    /// Steps done in this session.
    pub fn session_steps(&self) -> u64 {
        self.report.session_steps
    }

    /// The name of the device of the sums.
    pub fn device(&mut self) -> String {
        let summation = self.run.model.summation();
        start::device_name(summation.device).unwrap_or_else(|| format!("CPU, {}", summation.simd.name()))
    }

    /// The point sets of the current state, borrowed in place.
    pub fn shown(&self) -> Vec<Shown<'_>> {
        self.run.model.shown()
    }

    /// The quantity `what` on a regular grid of at most `most` points; `None` if there is no such quantity.
    ///
    /// # Errors
    /// [`Error::Grid`] if there is not enough memory.
    pub fn volume(&self, what: &str, most: usize) -> Result<Option<Volume>, Error> {
        self.run.model.volume(what, most)
    }

    /// The quantities that [`volume`](Self::volume) can compute.
    pub fn volumes(&self) -> &'static [&'static str] {
        self.run.model.volumes()
    }

    /// Changes `key`, one of [`CHANGEABLE`], to `value` from here on. The change is written to the run's log and to its
    /// case file.
    ///
    /// # Errors
    /// [`Error::Case`] if the key cannot change or the value is invalid; the run is then unchanged. Otherwise the
    /// errors of sums and files.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let refused = |message: String| CaseError {
            origin: format!("{key}={value}"),
            line: None,
            column: None,
            message,
        };
        if !CHANGEABLE.contains(&key) {
            let keys = CHANGEABLE.join(", ");
            return Err(refused(format!("this key cannot change during a run; these can: {keys}")).into());
        }
        let run = &mut *self.run;
        let text = case_text(&run.case, run.folder.path())?;
        let change = Override::parse(&format!("{key}={value}"))?;
        let case = case::read(&text, "case.toml", &[change])?;
        run.model.change(&case).map_err(refused)?;
        run.case = case;
        run.folder.keep_case(&run.case)?;
        run.model.evaluate()?;
        run.folder.log(&format!(
            "step {}, time {}: changed {key}={value}; use `--set {key}={value}` when resuming from this step",
            run.step, run.time
        ));
        Ok(())
    }

    /// Drops `count` tracers, uniformly distributed in a sphere. Returns the new number of tracers, or `None` if the
    /// model has no tracers.
    ///
    /// # Errors
    /// [`Error::Device`] if they do not fit into a device's memory.
    pub fn drop_tracers(&mut self, centre: Vec3, radius: f64, count: usize) -> Result<Option<usize>, Error> {
        let run = &mut *self.run;
        let points = ball(centre, radius, count, run.step);
        let total = run.model.add_tracers(&points)?;
        if total.is_some() {
            run.model.evaluate()?;
            run.folder.log(&format!(
                "step {}, time {}: dropped {count} tracers within {radius} of {centre:?}",
                run.step, run.time
            ));
        }
        Ok(total)
    }
}

/// Random points, uniformly distributed in a sphere.
fn ball(centre: Vec3, radius: f64, count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let mut points = Vec::with_capacity(count);
    while points.len() < count {
        let at: Vec3 = std::array::from_fn(|_| 2.0 * random.uniform() - 1.0);
        if at.iter().map(|x| x * x).sum::<f64>() <= 1.0 {
            points.push(std::array::from_fn(|axis| centre[axis] + radius * at[axis]));
        }
    }
    points
}
