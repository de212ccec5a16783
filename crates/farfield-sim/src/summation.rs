//! The sums of a simulation: the one place that knows method, tolerance, SIMD level and machine profile.

use crate::case::SumSettings;
use crate::error::Error;
use crate::ranks::{Alone, Ranks};
use farfield::memory::{self, Array, ArrayPoints};
use farfield::plan::Parameters;
use farfield::plane::Plane;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use farfield::{Device, Geometry, Method, Options, Request, Space};
use farfield_grid::poisson::PoissonDevice;
use std::sync::Arc;

/// The settings of the sums of a run. Equal settings and equal points give equal bits on any number of threads, so the
/// settings, including machine profile and SIMD level, are part of every checkpoint. The device is not: its results
/// repeat bit by bit on that device, and differ from the CPU's within the tolerance.
#[derive(Debug, Clone)]
pub struct Summation {
    /// Method, tolerance and the parameters fixed by experts.
    pub settings: SumSettings,
    /// The instruction set.
    pub simd: SimdLevel,
    /// The machine profile of the cost model.
    pub profile: MachineProfile,
    /// The device of Poisson problems and of sums of points on the host. Points in GPU memory are summed on that GPU.
    pub device: PoissonDevice,
    /// The bytes of memory that a sum may take: those free at the start.
    memory: u64,
    /// Statistics for each kind of sum.
    pub records: Vec<Record>,
    /// The ranks that own the sources and targets.
    pub ranks: Arc<dyn Ranks>,
    /// The largest work of a rank over the mean, in the latest sum whose targets are its sources, except the energy's.
    unevenness: f64,
}

/// Statistics of one kind of sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The kind of sum.
    pub what: &'static str,
    /// The parameters of the latest plan.
    pub parameters: Parameters,
    /// Total seconds, planning included.
    pub seconds: f64,
    /// The number of sums.
    pub evaluations: u64,
}

/// One sum between arrays that are in one memory.
#[derive(Debug, Clone)]
pub struct Task<'a, G: Geometry = Space> {
    /// The name of the sum in error messages and reports.
    pub what: &'static str,
    /// The sum. [`Summation`] replaces its options, except the tolerance, by those of the run.
    pub request: Request<G>,
    /// The sources and targets.
    pub points: ArrayPoints<'a, f64>,
    /// The strengths of the sources, vector by vector, source by source, component by component.
    pub strengths: &'a Array<f64>,
}

impl<G: Geometry> Task<'_, G> {
    /// Plans and evaluates the sum in the memory of the points, by this process alone.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects the sum, [`Error::Device`] if the device fails.
    pub fn sum(&self) -> Result<memory::Summed<f64>, Error> {
        let memory = self.points.sources.memory();
        let summed = memory.sum(&self.request, &self.points, self.strengths);
        summed.map_err(|error| Error::during(self.what, error))
    }
}

impl Summation {
    /// Sums with the settings of a case and this machine's best instruction set.
    pub fn new(settings: SumSettings, profile: MachineProfile) -> Self {
        Self {
            settings,
            simd: SimdLevel::best(),
            profile,
            device: Device::Cpu.into(),
            // Read once: for few points, reading it takes longer than the sum.
            memory: farfield::machine::available_memory().unwrap_or(u64::MAX),
            records: Vec::new(),
            ranks: Arc::new(Alone),
            unevenness: 1.0,
        }
    }

    /// Plans and evaluates a sum: returns the values of each of the `N` outputs, in the memory of the points. Points
    /// move every step, so the tree is rebuilt every time.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects the sum, [`Error::Device`] if the device fails, and [`Error::OnRank`] in
    /// both cases if there are several ranks.
    pub fn evaluate<const N: usize>(&mut self, task: &Task<'_>) -> Result<[Array<f64>; N], Error> {
        let task = self.with_options(task);
        let summed = self.ranks.sum(&task)?;
        self.remember(task.what, summed.parameters, summed.seconds);
        if task.points.targets.is_none() && task.what != ENERGY_SUM {
            self.unevenness = summed.unevenness;
        }
        let found = summed.outputs.len();
        summed.outputs.try_into().map_err(|_| {
            Error::during(
                task.what,
                farfield::Error::Length {
                    array: "outputs",
                    found,
                    expected: N,
                    why: "one array for each output".to_owned(),
                },
            )
        })
    }

    /// Plans and evaluates a sum in the plane: returns the values at the targets, in the memory of the points.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_plane(&mut self, task: &Task<'_, Plane>) -> Result<Array<f64>, Error> {
        let task = self.with_options(task);
        let summed = task.sum()?;
        self.remember(task.what, summed.parameters, summed.seconds);
        Ok(summed.outputs.into_iter().next().unwrap_or_default())
    }

    /// Moves rows of `columns` numbers, one row for each target of `task`, to the ranks that should own the targets.
    /// Returns the rows that arrived here.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn deal(&self, task: &Task<'_>, rows: &[f64], columns: usize) -> Result<Vec<f64>, Error> {
        self.ranks.deal(&self.with_options(task), rows, columns)
    }

    /// Whether the work of the ranks is so uneven that points should be redistributed.
    pub fn is_uneven(&self) -> bool {
        /// Below this ratio, redistributing costs more than it gains.
        const UNEVEN: f64 = 1.2;
        self.unevenness > UNEVEN
    }

    /// Divides the memory limit among `processes` processes on this machine.
    pub fn share_memory(&mut self, processes: usize) {
        self.memory /= processes.max(1) as u64;
    }

    /// The task with the options of the run.
    fn with_options<'a, G: Geometry>(&self, task: &Task<'a, G>) -> Task<'a, G> {
        let mut task = task.clone();
        let options = &mut task.request.options;
        *options = Options {
            tolerance: options.tolerance.or(Some(self.settings.tolerance)),
            method: self.settings.method.into(),
            device: self.device.of_sums(),
            order: self.settings.order,
            theta: self.settings.theta,
            leaf_capacity: self.settings.leaf_capacity,
            simd: Some(self.simd),
            profile: Some(self.profile.clone()),
            memory_limit: Some(self.memory),
            // The schema warns of cores with an unbounded gradient.
            allow_unbounded_gradient: true,
            ..Options::default()
        };
        task
    }

    /// Records a sum, also one done elsewhere, for instance a Poisson problem on a grid.
    pub fn remember(&mut self, what: &'static str, parameters: Parameters, seconds: f64) {
        match self.records.iter_mut().find(|record| record.what == what) {
            Some(record) => {
                record.parameters = parameters;
                record.seconds += seconds;
                record.evaluations += 1;
            }
            None => self.records.push(Record {
                what,
                parameters,
                seconds,
                evaluations: 1,
            }),
        }
    }

    /// Total seconds of the sums that move the system: all but the energy's.
    pub fn seconds_of_motion(&self) -> f64 {
        let moving = self.records.iter().filter(|record| record.what != ENERGY_SUM);
        moving.map(|record| record.seconds).sum()
    }

    /// The parameters of the latest plans, for the log.
    pub fn describe(&self) -> String {
        let one = |Record {
                       what, parameters: p, ..
                   }: &Record| match (p.method, p.order) {
            (Method::Direct, _) | (_, None) => format!("{what}: {}", p.method),
            (method, Some(order)) => format!(
                "{what}: {method}, order {order}, depth {}, up to {} points in a leaf",
                p.depth.unwrap_or(0),
                p.leaf_capacity.unwrap_or(0)
            ),
        };
        self.records.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

/// The name of the sum that computes the energy.
pub const ENERGY_SUM: &str = "energy";
