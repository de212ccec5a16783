//! A flow as a [`Model`].

use super::control::Passing;
use super::kept::{Kept, Stored, push_field};
use super::measure::{COLUMNS, Forces, Sums};
use super::penalise::Pull;
use super::setup::Setup;
use crate::case::{Case, Time};
use crate::checkpoint::StateView;
use crate::error::{CaseError, Error};
use crate::model::{GridFields, Limit, Model, Show, Snapshot, State, StepChoice, Volume};
use crate::summation::Summation;
use crate::vec3::Vec3;
use farfield::memory::Memory;
use farfield::tuning::MachineProfile;
use farfield_grid::operators::Extremes;
use farfield_grid::poisson::Precision;
use farfield_grid::{BlockId, Boundary, Domain, Forest, Grid};

/// The vorticity: the state of the flow.
pub(super) const OMEGA: &str = "vorticity";
/// The velocity at the current time; during a step, at its midpoint.
pub(super) const VELOCITY: &str = "velocity";
/// The velocity of the previous step.
pub(super) const PREVIOUS: &str = "previous velocity";
/// The acceleration by which bodies act on the flow; only in cases with bodies.
pub(super) const FORCE: &str = "force";
/// Rates of change; also the velocity that moves the points.
pub(super) const RATES: &str = "rates";
/// The vorticity of a stage, or after advection.
pub(super) const CARRIED: &str = "carried";
/// The divergence of the vorticity, during its projection.
pub(super) const DIVERGENCE: &str = "divergence";
/// The potential of the projection.
pub(super) const POTENTIAL: &str = "potential";

/// The number of spacings that a point may cross in a step.
const MOST_CELLS: f64 = 2.0;
/// The largest ratio of a step to the previous one.
const GROWTH: f64 = 1.25;
/// The largest ratio with bodies, whose force falls as one over the square root of time after an impulsive start.
const GROWTH_WITH_BODIES: f64 = 1.1;
/// The first step with bodies, as a fraction of the allowed step.
const FIRST_STEP: f64 = 0.2;

/// The last steps, up to this many, are equally long.
const LAST_STEPS: f64 = 12.0;

/// Quantities of one time that follow from its vorticity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub extremes: Extremes,
    pub sums: Sums,
    pub forces: Forces,
    pub sources: usize,
}

/// Losses and timings of the last step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    pub lost_moving: f64,
    pub lost_spreading: f64,
    pub faded: f64,
    pub solve_seconds: f64,
    pub other_seconds: f64,
}

/// A flow in one precision.
pub(super) struct Solver<T> {
    pub setup: Setup,
    pub grid: Grid<T>,
    pub time: f64,
    /// The length of the last step; 0 before the first.
    pub last_step: f64,
    /// The impulse before the last step.
    pub impulse_before: Vec3,
    /// The impulse inside the control box and the flux through its faces before the last step.
    pub passing_before: Passing,
    /// The integral over the bodies of the acceleration during the last step.
    pub held: Pull,
    /// Whether the impulsive start has been done.
    pub started: bool,
    /// The quantities at the current time, if known.
    pub now: Option<Moment>,
    pub work: Work,
    pub summation: Summation,
    /// Bytes that were free at the start.
    pub free_memory: Option<u64>,
    kept: Option<Kept<T>>,
}

/// Flows on adapted grids.
#[derive(Debug, Clone, Copy)]
pub struct FlowModel;

impl FlowModel {
    /// Builds the initial state of a case with a section `[flow]`, in the precision of the case.
    ///
    /// # Errors
    /// [`Error::Case`] for an invalid case, [`Error::Grid`] if there is not enough memory.
    #[allow(clippy::new_ret_no_self, reason = "the precision decides on the type")]
    pub fn new(case: &Case, profile: MachineProfile) -> Result<Box<dyn Model>, Error> {
        let setup = Setup::new(case).map_err(|(key, why)| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: format!("{key}: {why}"),
        })?;
        let summation = Summation::new(case.sum.clone(), profile);
        Ok(if setup.is_single() {
            Box::new(Solver::<f32>::new(setup, summation)?)
        } else {
            Box::new(Solver::<f64>::new(setup, summation)?)
        })
    }
}

/// The grid of a flow with all its channels. Beyond the box the velocity is extrapolated, and the vorticity is zero.
fn grid_of<T: Precision>(setup: &Setup, forest: Option<Forest>) -> Result<Grid<T>, farfield_grid::Error> {
    let mut builder = Grid::<T>::builder(setup.domain).boundary(Boundary::Extrapolate);
    for channel in [OMEGA, VELOCITY, PREVIOUS, RATES, CARRIED] {
        builder = builder.vector(channel);
    }
    if !setup.bodies.is_empty() {
        builder = builder.vector(FORCE);
    }
    if let Some(forest) = forest {
        builder = builder.forest(forest);
    }
    let mut grid = builder.build()?;
    for channel in [OMEGA, CARRIED] {
        grid.set_boundary(channel, Boundary::Zero)?;
    }
    Ok(grid)
}

impl<T: Precision> Solver<T> {
    pub(super) fn new(setup: Setup, summation: Summation) -> Result<Self, Error> {
        let mut solver = Self {
            grid: grid_of(&setup, None)?,
            setup,
            time: 0.0,
            last_step: 0.0,
            impulse_before: [0.0; 3],
            passing_before: Passing::default(),
            held: Pull::default(),
            started: false,
            now: None,
            work: Work::default(),
            summation,
            free_memory: farfield::machine::available_memory(),
            kept: None,
        };
        solver.fill_initial()?;
        Ok(solver)
    }

    /// The origin of the box and its root cubes along each axis.
    pub(super) fn place(&self) -> [f64; 6] {
        let ([x, y, z], [i, j, k]) = (self.setup.domain.origin(), self.setup.domain.roots().map(f64::from));
        [x, y, z, i, j, k]
    }

    /// Sets the box to that of a stopped run, because a case with another end time may have another box.
    fn take_place(&mut self, numbers: &[f64]) -> Result<(), String> {
        let [x, y, z, i, j, k] = numbers[..].try_into().map_err(|_| "the array `box` needs 6 numbers")?;
        let roots = [i, j, k].map(|count: f64| count as u32);
        let domain = Domain::new([x, y, z], roots, self.setup.grid.side).map_err(|error| error.to_string())?;
        (self.setup.domain, self.setup.grid.origin, self.setup.grid.roots) = (domain, [x, y, z], roots);
        Ok(())
    }

    /// Turns errors about non-finite numbers and too large displacements into [`Error::BlowUp`].
    fn alarmed(&self, error: Error) -> Error {
        use farfield_grid::Error::{Displacement, NotFinite};
        match &error {
            Error::Grid(cause) if matches!(**cause, NotFinite { .. } | Displacement { .. }) => Error::BlowUp {
                step: 0,
                time: self.time,
                why: format!("{cause}: the time step is too long for this flow"),
            },
            _ => error,
        }
    }

    fn longest_step(&self, time: &Time) -> StepChoice {
        let extremes = self.now.map_or(Extremes::default(), |moment| moment.extremes);
        let mut choice = StepChoice {
            dt: time.limit / extremes.gradient.max(f64::MIN_POSITIVE),
            limit: Limit::Strain,
            why: format!(
                "the velocity gradient is {:.3} at ({:.3}, {:.3}, {:.3})",
                extremes.gradient, extremes.place[0], extremes.place[1], extremes.place[2]
            ),
        };
        let crossing = MOST_CELLS / extremes.crossing.max(f64::MIN_POSITIVE);
        if crossing < choice.dt {
            choice = StepChoice {
                dt: crossing,
                limit: Limit::Courant,
                why: format!("a point of speed {:.3} crosses {MOST_CELLS} spacings", extremes.speed),
            };
        }
        if self.last_step == 0.0 && !self.setup.bodies.is_empty() {
            choice = StepChoice {
                dt: FIRST_STEP * choice.dt,
                limit: Limit::Growth,
                why: "the first step is short because the force is largest at the start".to_owned(),
            };
        }
        let growth = if self.setup.bodies.is_empty() {
            GROWTH
        } else {
            GROWTH_WITH_BODIES
        };
        if self.last_step > 0.0 && growth * self.last_step < choice.dt {
            choice = StepChoice {
                dt: growth * self.last_step,
                limit: Limit::Growth,
                why: format!("the previous step was {:.3e}", self.last_step),
            };
        }
        choice
    }
}

impl<T: Stored> Model for Solver<T> {
    fn evaluate(&mut self) -> Result<(), Error> {
        if self.now.is_none() {
            let moment = self.look_at().map_err(|error| self.alarmed(error))?;
            self.now = Some(moment);
        }
        Ok(())
    }

    fn columns(&self) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn measure(&mut self, _with_energy: bool) -> Result<Vec<f64>, Error> {
        self.evaluate()?;
        match &self.now {
            Some(moment) => self.measure_all(moment),
            None => Ok(vec![0.0; COLUMNS.len()]),
        }
    }

    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error> {
        let mut choice = StepChoice::of(time, || Ok(self.longest_step(time)))?;
        if time.adaptive {
            // The last steps are equally long. If the last one were much shorter than the previous one, its force would
            // be wrong, because the remaining slip is divided by the step.
            let left = time.end - self.time;
            let count = (left / choice.dt - 1e-6).ceil();
            if (1.0..=LAST_STEPS).contains(&count) {
                choice.dt = left / count;
            }
        }
        Ok(choice)
    }

    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error> {
        self.evaluate()?;
        self.step(dt, step).map_err(|error| self.alarmed(error))
    }

    fn snapshot(&mut self, _show: Show) -> Result<Snapshot, Error> {
        self.view()
    }

    fn grid_fields(&self) -> Option<&dyn GridFields> {
        Some(self)
    }

    fn is_finite(&self) -> Result<bool, Error> {
        match self.grid.check_finite(OMEGA) {
            Ok(()) => Ok(true),
            Err(cause) => Err(self.alarmed(cause.into())),
        }
    }

    fn state(&mut self) -> Result<State, Error> {
        Ok(self.state_view()?.into_state())
    }

    fn state_view(&mut self) -> Result<StateView<'_>, Error> {
        let mut view = self.rest().view(self.grid.forest().leaves());
        for channel in self.state_channels() {
            push_field(&mut view, channel, vec![self.grid.channel(channel)?.values()]);
        }
        Ok(view)
    }

    fn keep(&mut self) -> Result<(), Error> {
        // The memory of the old copy is reused.
        let memory = self.kept.take();
        self.kept = Some(self.copy_of_state(memory)?);
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        Ok(self.kept_view()?.map(StateView::into_state))
    }

    fn kept_view(&mut self) -> Result<Option<StateView<'_>>, Error> {
        Ok(self.kept.as_ref().map(Kept::view))
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let leaves = state
            .arrays
            .iter()
            .find(|(name, columns, _)| name == "leaves" && *columns == 4)
            .ok_or("there is no array `leaves` of 4 columns")?;
        let leaves = leaves.2.as_chunks::<4>().0.iter().map(|[level, x, y, z]| BlockId {
            level: *level as u8,
            at: [*x as u32, *y as u32, *z as u32],
        });
        self.take_place(&state.numbers("box")?)?;
        let forest =
            Forest::from_leaves(self.setup.domain.roots(), leaves.collect()).map_err(|error| error.to_string())?;
        let mut grid = grid_of::<T>(&self.setup, Some(forest)).map_err(|error| error.to_string())?;
        for channel in self.state_channels() {
            let numbers = state.numbers(channel)?;
            let values = grid.values_mut(channel).map_err(|error| error.to_string())?;
            if numbers.len() != values.len() {
                return Err(format!(
                    "{channel} has {} numbers, {} are needed",
                    numbers.len(),
                    values.len()
                ));
            }
            for (value, number) in values.iter_mut().zip(numbers) {
                *value = T::from_f64(number);
            }
        }
        let clock = state.numbers("clock")?;
        let [time, last_step, started] = clock[..].try_into().map_err(|_| "the array `clock` needs 3 numbers")?;
        let work = state.numbers("work")?;
        let [lost_moving, lost_spreading, faded] =
            work[..].try_into().map_err(|_| "the array `work` needs 3 numbers")?;
        self.work = Work {
            lost_moving,
            lost_spreading,
            faded,
            ..Work::default()
        };
        let impulse = state.vectors("impulse")?;
        let [before, momentum, moment] = impulse[..]
            .try_into()
            .map_err(|_| "the array `impulse` needs 3 vectors")?;
        let passing = state.vectors("passing")?;
        let [impulse, flux] = passing[..]
            .try_into()
            .map_err(|_| "the array `passing` needs 2 vectors")?;
        self.passing_before = Passing { impulse, flux };
        (self.impulse_before, self.held) = (before, Pull { momentum, moment });
        (self.grid, self.time, self.last_step, self.started) = (grid, time, last_step, started != 0.0);
        self.now = None;
        Ok(())
    }

    fn stay_in(&mut self, _memory: &Memory<f64>) -> Result<(), Error> {
        // The grid stays on the host; only sums may run on a device.
        Ok(())
    }

    fn can_stay_on_a_gpu(&self) -> bool {
        false
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        let setup = &self.setup;
        let reynolds = setup.speed * setup.length / setup.viscosity;
        let blocks = self.grid.forest().leaves().len();
        let mebibytes = |blocks: usize| self.memory_of(blocks) as f64 / 1024.0 / 1024.0;
        let mut text = format!(
            "{} blocks, {} points, {:.0} MiB (at most {} blocks, {:.0} MiB), finest spacing {:.5} ({:.0} points per \
             length), viscosity {:.4e}, Reynolds number {:.0}, {}",
            blocks,
            self.grid.points(),
            mebibytes(blocks),
            self.most_blocks(),
            mebibytes(self.most_blocks()),
            setup.finest(),
            setup.length / setup.finest(),
            setup.viscosity,
            reynolds,
            T::NAME
        );
        if setup.added_roots != [0; 3] {
            let [x, y, z] = setup.domain.size();
            text.push_str(&format!(
                "\nthe box is enlarged to {x:.2} x {y:.2} x {z:.2}, so that vorticity stays inside until the end"
            ));
        }
        for warning in setup.warnings() {
            text.push_str(&format!("\nwarning: {warning}"));
        }
        text
    }

    fn volumes(&self) -> &'static [&'static str] {
        &super::volume::NAMES
    }

    fn volume(&self, what: &str, most: usize) -> Result<Option<Volume>, Error> {
        self.volume_of(what, most)
    }

    fn change(&mut self, case: &Case) -> Result<(), String> {
        let setup = Setup::new(case).map_err(|(key, why)| format!("{key}: {why}"))?;
        (self.setup.viscosity, self.setup.tolerance) = (setup.viscosity, setup.tolerance);
        self.setup.flow.viscosity = setup.flow.viscosity;
        self.summation.settings = case.sum.clone();
        self.now = None;
        Ok(())
    }
}
