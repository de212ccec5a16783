//! A run: the loop, its folder, and the thread that writes while the next step is computed.
//!
//! Schedules ([`Schedule`]) are separate from actions (`writer`). `Run::run_loop` is the whole loop.

mod blocks;
mod change;
mod cut;
mod fields;
mod flow_charts;
mod folder;
mod forecast;
mod isosurface;
mod moment;
mod observe;
mod outcome;
mod pictures;
mod references;
mod schedule;
mod slices;
mod start;
mod subset;
mod summary;
mod trails;
mod views;
mod writer;

pub use folder::{Folder, case_text};
pub use moment::{CHANGEABLE, Moment};
pub use observe::{Observer, Progress, Silent};
pub use outcome::{DeviceUse, Outcome};
pub use references::{Reference, references};
pub use schedule::Schedule;
pub use start::{MomentOfRun, model_of};
pub use summary::{Chart, draw_diagnostics};

use crate::case::Case;
use crate::checkpoint::{Checkpoint, Header, PlanRecord, StateView};
use crate::diagnostics::{Table, Watch};
use crate::error::Error;
use crate::model::{ENERGY, Limit, Model, Show, Snapshot};
use crate::ranks::{Ranks, agree, any, speaks};
use crate::sample::{Sampled, sample};
use blocks::GridFiles;
use farfield::Device;
use farfield::memory::{Memory, Traffic};
use farfield::tuning::MachineProfile;
pub use farfield_grid::poisson::PoissonDevice;
use farfield_plot::Film;
use outcome::Report;
use pictures::Pictures;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use writer::{Job, Writer};

/// Ways to stop a run early.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// If set from outside, for instance by Ctrl-C, the run finishes the step, writes a checkpoint and ends.
    pub stop: Arc<AtomicBool>,
    /// The run stops in the same way after this many steps.
    pub most_steps: Option<u64>,
}

/// The largest number of steps between redistributions of points over ranks, which bring neighbouring points back to
/// one rank.
const DEAL_EVERY: u64 = 20;

/// A run that is ready to start.
pub struct Run {
    case: Case,
    /// The ranks that share it.
    ranks: Arc<dyn Ranks>,
    model: Box<dyn Model>,
    folder: Folder,
    table: Table,
    columns: Vec<String>,
    watch: Watch,
    profile: MachineProfile,
    step: u64,
    time: f64,
    /// The length of the last step.
    dt: f64,
    /// The limit that set it.
    limit: Limit,
    /// Rows of diagnostics before that of the current step.
    rows_before: u64,
    /// The initial state, for the scale of pictures.
    initial: Snapshot,
    /// The header of the last valid state; the model keeps the state itself.
    sound: Option<Header>,
    /// For a resumed run, the name of the device before it stopped; `Some(None)` for the CPU.
    started_on: Option<Option<String>>,
    /// Writes the files of a flow.
    grid_files: GridFiles,
    /// The memory of the state.
    memory: Memory<f64>,
    /// The traffic to and from the device before this run.
    traffic_before: Traffic,
}

/// Whether any rank was asked to stop. Called by all ranks together.
fn asked_to_stop(ranks: &dyn Ranks, control: &Control) -> bool {
    any(ranks, control.stop.load(Ordering::Relaxed))
}

/// Writes a checkpoint on this thread. Called by all ranks together.
fn write_checkpoint(ranks: &dyn Ranks, folder: &Folder, header: &Header, state: &StateView<'_>) -> Result<(), Error> {
    match ranks.size() {
        1 => folder.store().write(header, state).map(drop),
        _ => folder.store().write_together(header, state, ranks),
    }
}

impl Run {
    /// The resolved case.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// One line about the size of the system. Called by all ranks together.
    pub fn describe(&self) -> String {
        self.model.describe()
    }

    /// Limits the memory of sums to this process's share of the free memory, with `processes` processes on the machine.
    pub fn share_memory(&mut self, processes: usize) {
        self.model.summation().share_memory(processes);
    }

    /// The step and time at which it starts.
    pub fn start(&self) -> (u64, f64) {
        (self.step, self.time)
    }

    /// Runs to the end of the case, a stop or an alarm.
    ///
    /// # Errors
    /// [`Error::BlowUp`] if the alarm is raised; the last valid state is then written as a checkpoint. Otherwise the
    /// errors of sums, devices and files.
    pub fn go(self, control: &Control, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        if self.ranks.size() > 1 {
            // Ranks may only communicate on this thread.
            return self.run_loop(control, observer);
        }
        // On a thread of rayon's pool, small sums need no handover to another thread.
        rayon::scope(|_| self.run_loop(control, observer))
    }

    /// The loop.
    fn run_loop(mut self, control: &Control, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let (begin, ranks) = (Instant::now(), self.ranks.clone());
        let pictures = Pictures::new(&self.case, self.folder.path(), &self.initial);
        let pictures = agree(&*ranks, pictures)?;
        // While a device computes, all CPU cores are free to draw.
        let threads = match self.model.summation().device {
            PoissonDevice::One(Device::Cuda(_)) => rayon::current_num_threads(),
            _ => 1,
        };
        let rank = (ranks.rank(), ranks.size());
        let mut writer = Writer::start(&self.case, &self.folder, pictures, threads, rank);
        let mut report = Report::default();
        if self.case.output.film.is_some() && !Film::is_possible() {
            let remark = "no film will be made: the program ffmpeg is not installed";
            self.folder.log(remark);
            observer.remark(remark);
        }
        let finished = loop {
            let working = Instant::now();
            let measured = agree(&*ranks, self.look(begin)).map_err(|error| self.keep_sound(error))?;
            let is_measured = measured.is_some();
            report.rows(measured);
            report.stepping_seconds += working.elapsed().as_secs_f64();
            let at_end = self.at_end();
            agree(&*ranks, self.write_due(&mut writer, at_end)).map_err(|error| self.writing_failed(error))?;
            let mut moment = Moment {
                run: &mut self,
                report: &report,
                is_measured,
                is_last: at_end,
                begin,
                stop: &control.stop,
            };
            observer.moment(&mut moment).map_err(|error| self.keep_sound(error))?;
            let session_steps = report.session_steps;
            let stopped =
                asked_to_stop(&*ranks, control) || control.most_steps.is_some_and(|most| session_steps >= most);
            if at_end || stopped {
                break at_end;
            }
            let working = Instant::now();
            let remarks = agree(&*ranks, self.advance()).map_err(|error| self.keep_sound(error))?;
            report.stepping_seconds += working.elapsed().as_secs_f64();
            report.session_steps += 1;
            remarks.iter().for_each(|remark| observer.remark(remark));
            observer.progress(&self.progress(&report, begin));
        };
        let frames = self.finish(writer, finished);
        let frames = agree(&*ranks, frames).map_err(|error| self.writing_failed(error))?;
        if speaks(&*ranks) {
            let folder = self.folder.path();
            draw_diagnostics(&self.case, folder, &folder.join("diagnostics.png"))?;
        }
        Ok(self.outcome(finished, report, frames, begin))
    }

    /// Computes the rates of change at the current state, writes a row of diagnostics if it is due, and checks the
    /// alarm.
    fn look(&mut self, begin: Instant) -> Result<Option<Vec<f64>>, Error> {
        self.model.evaluate()?;
        let every = self.case.output.diagnostics_every;
        let due = Schedule::every(every).is_due(self.step) || self.at_end();
        self.rows_before = self.table.rows();
        let mut row = None;
        if due {
            let with_energy = Schedule::every(every * self.case.output.energy_every).is_due(self.step) || self.at_end();
            let values = self.model.measure(with_energy)?;
            let energy = self.columns.iter().position(|name| name == ENERGY);
            let energy = energy.map(|at| values[at]).filter(|_| with_energy);
            self.alarm(&values, energy)?;
            let wall = begin.elapsed().as_secs_f64();
            self.table
                .write(self.step, self.time, self.dt, self.limit.name(), wall, &values)
                .map_err(|error| self.writing_failed(error))?;
            row = Some(values);
        } else {
            self.alarm(&[], None)?;
        }
        self.model.keep()?;
        self.sound = Some(self.header());
        Ok(row)
    }

    fn alarm(&mut self, values: &[f64], energy: Option<f64>) -> Result<(), Error> {
        let (step, time, is_finite) = (self.step, self.time, self.model.is_finite()?);
        self.watch
            .check(is_finite, &self.columns, values, energy)
            .map_err(|why| Error::BlowUp { step, time, why })
    }

    /// Submits the jobs that are due at this step to the writer.
    fn write_due(&mut self, writer: &mut Writer, at_end: bool) -> Result<(), Error> {
        let output = &self.case.output;
        let due = |every| Schedule::every(every).is_due(self.step) || at_end;
        let frame = !(output.views.is_empty() && output.view.is_empty()) && due(output.frames_every);
        let fields = (output.vtk || output.npz) && due(output.fields_every);
        let sampled = !output.sample.is_empty() && due(output.fields_every);
        let checkpoint = output.checkpoint_every > 0 && self.step > 0 && due(output.checkpoint_every) && !at_end;
        if fields && let Some(grid) = self.model.grid_fields() {
            self.grid_files.write(self.step, self.time, grid)?;
        }
        let mut jobs = Vec::new();
        if frame || fields {
            let show = if fields { Show::Everything } else { Show::Picture };
            let snapshot = Arc::new(self.model.snapshot(show)?);
            if frame && self.ranks.size() == 1 {
                jobs.push(Job::Frame(self.step, self.time, snapshot.clone()));
            } else if frame {
                let drawn = subset::of_all(&*self.ranks, &snapshot);
                jobs.extend(speaks(&*self.ranks).then(|| Job::Frame(self.step, self.time, Arc::new(drawn))));
            }
            if fields && !snapshot.clouds.is_empty() {
                jobs.push(Job::Fields(self.step, self.time, snapshot));
            }
        }
        if sampled {
            let samples = self.samples()?;
            jobs.extend(speaks(&*self.ranks).then_some(Job::Samples(self.step, self.time, samples)));
        }
        // From here on a single rank may fail.
        let submitted = jobs.into_iter().try_for_each(|job| writer.submit(job));
        agree(&*self.ranks, submitted)?;
        if checkpoint {
            self.hand_over_checkpoint(writer)?;
        }
        Ok(())
    }

    /// Writes a checkpoint. One process writes it while the next step is computed, unless the state is borrowed; ranks
    /// write theirs together, before the next step.
    fn hand_over_checkpoint(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let (header, ranks) = (self.header(), self.ranks.clone());
        let state = self.model.state_view()?;
        if ranks.size() > 1 {
            return write_checkpoint(&*ranks, &self.folder, &header, &state);
        }
        if state.borrows() {
            write_checkpoint(&*ranks, &self.folder, &header, &state)?;
            return writer.submit(Job::Chart);
        }
        let state = state.into_state();
        writer.submit(Job::Checkpoint(Box::new(Checkpoint { header, state })))
    }

    /// Writes a checkpoint of the current state and returns its size in bytes on this rank. Called by all ranks
    /// together.
    fn write_first_checkpoint(&mut self) -> Result<u64, Error> {
        let (header, ranks) = (self.header(), self.ranks.clone());
        let state = self.model.state_view()?;
        write_checkpoint(&*ranks, &self.folder, &header, &state)?;
        self.folder.store().size_of(&header, &state)
    }

    /// The flow on the grids and slices of the case, by name.
    fn samples(&mut self) -> Result<Vec<(String, Sampled)>, Error> {
        let mut samples = Vec::new();
        for wanted in &self.case.output.sample {
            let region = wanted.region().map_err(|why| Error::Folder {
                folder: self.folder.path().to_owned(),
                why,
            })?;
            let sampled = sample(&mut *self.model, region, &wanted.quantities)?;
            samples.push((wanted.name.clone(), sampled));
        }
        Ok(samples)
    }

    /// Writes the last checkpoint and the animation, and waits for all queued jobs. Returns the number of pictures.
    fn finish(&mut self, mut writer: Writer, finished: bool) -> Result<u64, Error> {
        self.hand_over_checkpoint(&mut writer)?;
        if finished && speaks(&*self.ranks) {
            writer.submit(Job::Animation)?;
        }
        writer.finish()
    }

    /// The error if a file could not be written. Its message says whether a checkpoint is left.
    fn writing_failed(&self, cause: Error) -> Error {
        let error = Error::Writing {
            cause: Box::new(cause),
            step: self.step,
            folder: self.folder.path().to_owned(),
            kept: self.folder.holds_a_checkpoint(),
        };
        self.folder.log(&error.to_string());
        error
    }

    /// One step, shortened to end exactly at the end of the case.
    fn advance(&mut self) -> Result<Vec<String>, Error> {
        let mut choice = self.model.choose_step(&self.case.time)?;
        let left = self.case.time.end - self.time;
        // A remainder below a millionth of a step is round-off and is added to the last step.
        let last = left <= choice.dt * (1.0 + 1e-6);
        if last {
            if choice.dt != left && (choice.dt - left).abs() > 1e-6 * choice.dt {
                choice.limit = Limit::End;
                choice.why = format!("only {left:.3e} is left until the end of the case");
            }
            choice.dt = left;
        }
        let mut remarks = Vec::new();
        if choice.limit != self.limit {
            remarks.push(format!(
                "step {}: dt = {:.4e}: {}",
                self.step + 1,
                choice.dt,
                choice.why
            ));
        }
        remarks.extend(self.model.advance(choice.dt, self.step + 1)?);
        self.step += 1;
        let due = Schedule::every(DEAL_EVERY).is_due(self.step) || self.model.summation().is_uneven();
        if due && self.ranks.size() > 1 {
            self.model.deal()?;
        }
        self.time = if last {
            self.case.time.end
        } else {
            self.time + choice.dt
        };
        (self.dt, self.limit) = (choice.dt, choice.limit);
        for remark in &remarks {
            self.folder.log(remark);
        }
        Ok(remarks)
    }

    fn at_end(&self) -> bool {
        self.time >= self.case.time.end
    }

    fn header(&mut self) -> Header {
        let summation = self.model.summation();
        let plans = summation
            .records
            .iter()
            .filter(|r| r.what != crate::summation::ENERGY_SUM)
            .map(|record| PlanRecord {
                sum: record.what.to_owned(),
                method: record.parameters.method.name().to_owned(),
                order: record.parameters.order,
                theta: record.parameters.theta,
                leaf_capacity: record.parameters.leaf_capacity,
            });
        Header {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            step: self.step,
            time: self.time,
            dt: self.dt,
            limit: self.limit,
            rows: self.rows_before,
            last_energy: self.watch.last_energy,
            simd: summation.simd.name().to_owned(),
            device: start::device_name(summation.device),
            plans: plans.collect(),
            case: self.case.clone(),
            profile: self.profile.clone(),
        }
    }

    /// After a failure, writes the last valid state as a checkpoint and says so in the message.
    fn keep_sound(&mut self, error: Error) -> Error {
        use farfield::Error::{NotFinite, Overflow};
        let (step, time) = (self.step, self.time);
        let why = match &error {
            Error::BlowUp { why, .. } => why.clone(),
            Error::Sum { cause, .. } if matches!(**cause, NotFinite { .. } | Overflow { .. }) => {
                format!("{error}: the time step is too long for this flow")
            }
            Error::OnRank { blew_up: true, .. } => format!("{error}: the time step is too long for this flow"),
            Error::Device { .. } => error.to_string(),
            _ => return error,
        };
        let kept = match self.sound.take() {
            Some(header) => {
                let (good_step, good_time) = (header.step, header.time);
                match self.write_kept(header) {
                    Ok(()) => format!(
                        ". The state of step {good_step}, time {good_time:.6}, is saved: `farfield resume {} --set \
                         time.step={}` continues from it with half the step",
                        self.folder.path().display(),
                        0.5 * self.case.time.step
                    ),
                    Err(failed) => format!(". The last valid state could not be saved: {failed}"),
                }
            }
            None => ". This is the initial state: check the case".to_owned(),
        };
        let error = match error {
            Error::Device { what, cause } => Error::Device {
                what,
                cause: format!("{cause}{kept}").into(),
            },
            _ => Error::BlowUp {
                step,
                time,
                why: format!("{why}{kept}"),
            },
        };
        self.folder.log(&error.to_string());
        error
    }

    /// Writes the last valid state as a checkpoint.
    fn write_kept(&mut self, header: Header) -> Result<(), Error> {
        match self.model.kept_view()? {
            Some(state) => write_checkpoint(&*self.ranks, &self.folder, &header, &state),
            None => Ok(()),
        }
    }

    fn progress(&self, report: &Report, begin: Instant) -> Progress {
        let elapsed = begin.elapsed().as_secs_f64();
        let per_step = elapsed / report.session_steps.max(1) as f64;
        let left = (self.case.time.end - self.time) / self.dt;
        Progress {
            step: self.step,
            time: self.time,
            end: self.case.time.end,
            dt: self.dt,
            limit: self.limit.name(),
            seconds_per_step: per_step,
            seconds_left: left.max(0.0) * per_step,
        }
    }

    fn outcome(&mut self, finished: bool, report: Report, frames: u64, begin: Instant) -> Outcome {
        let (state_stays, traffic) = (self.memory.is_on_gpu(), self.memory.traffic());
        let traffic = traffic.since(&self.traffic_before);
        let summation = self.model.summation();
        let device = start::device_name(summation.device).map(|name| DeviceUse {
            name,
            state_stays,
            traffic,
        });
        let outcome = Outcome {
            finished,
            steps: self.step,
            session_steps: report.session_steps,
            time: self.time,
            seconds: begin.elapsed().as_secs_f64(),
            stepping_seconds: report.stepping_seconds,
            sum_seconds: summation.seconds_of_motion(),
            frames,
            sums: summation.describe(),
            device,
            columns: self.columns.clone(),
            first: report.first,
            last: report.last,
        };
        self.folder.log(&format!(
            "{} at step {}, time {}, after {:.2} s; {}",
            if finished { "finished" } else { "stopped" },
            outcome.steps,
            outcome.time,
            outcome.seconds,
            outcome.sums
        ));
        outcome
    }
}
