//! The sums a simulation asks of the engine: one place that knows method, tolerance, SIMD level and machine profile.

use crate::case::SumSettings;
use crate::error::Error;
use crate::ranks::{Alone, Ranks};
use farfield::kernel::{Kernel, Output};
use farfield::memory::{Array, ArraySizes, PlaneArraySum};
use farfield::plan::Parameters;
use farfield::plane;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use farfield::{Device, Method, Options};
use farfield_grid::poisson::PoissonDevice;
use std::sync::Arc;

/// How sums are done in a run. Equal settings and equal points give equal bits, on any number of threads; so the
/// settings are part of every checkpoint, machine profile and SIMD level included. A device is not: its results repeat
/// bit by bit on that device, and differ from the CPU's within the tolerance.
#[derive(Debug, Clone)]
pub struct Summation {
    /// Method, tolerance and what experts fix.
    pub settings: SumSettings,
    /// The instruction set.
    pub simd: SimdLevel,
    /// What the cost model believes about the machine.
    pub profile: MachineProfile,
    /// Where sums are done whose points lie on the host, and Poisson problems; other sums are done where their points lie.
    pub device: PoissonDevice,
    /// Bytes of memory a sum may take: what the system had free at the start.
    memory: u64,
    /// What was done so far, by kind of sum.
    pub records: Vec<Record>,
    /// Who has the sources and targets.
    pub ranks: Arc<dyn Ranks>,
    /// The largest work of a rank over the mean in the latest sum of sources at themselves, but for that for the energy.
    unevenness: f64,
}

/// What was done of one kind of sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Which kind.
    pub what: &'static str,
    /// What the latest plan settled on.
    pub parameters: Parameters,
    /// Seconds so far, planning included.
    pub seconds: f64,
    /// Sums so far.
    pub evaluations: u64,
}

/// One sum to do, between arrays that lie in one memory.
#[derive(Debug, Clone)]
pub struct SumRequest<'a> {
    /// What it is for, in error messages and reports.
    pub what: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The sources.
    pub sources: &'a Array<f64>,
    /// Their core sizes.
    pub sizes: ArraySizes<'a, f64>,
    /// Vector by vector, source by source, component by component.
    pub strengths: &'a Array<f64>,
    /// How many vectors of strengths there are.
    pub vectors: usize,
    /// The targets; `None` for the sources.
    pub targets: Option<&'a Array<f64>>,
    /// What to compute.
    pub outputs: &'a [Output],
    /// The tolerance, where it is not the run's.
    pub tolerance: Option<f64>,
}

/// One sum to do in the plane, of the potential, between arrays that lie in one memory.
#[derive(Debug, Clone)]
pub struct PlaneRequest<'a> {
    /// What it is for, in error messages and reports.
    pub what: &'static str,
    /// The kernel.
    pub kernel: plane::Kernel,
    /// The core of the sources.
    pub core: plane::Core,
    /// The sources.
    pub sources: &'a Array<f64>,
    /// Their core sizes.
    pub sizes: ArraySizes<'a, f64>,
    /// Their strengths.
    pub strengths: &'a Array<f64>,
    /// The targets; `None` for the sources.
    pub targets: Option<&'a Array<f64>>,
    /// The tolerance, where it is not the run's.
    pub tolerance: Option<f64>,
}

impl Summation {
    /// Sums as the case asks, with this machine's best instruction set.
    pub fn new(settings: SumSettings, profile: MachineProfile) -> Self {
        Self {
            settings,
            simd: SimdLevel::best(),
            profile,
            device: Device::Cpu.into(),
            // Asked once: for few points, asking takes longer than the sum.
            memory: farfield::machine::available_memory().unwrap_or(u64::MAX),
            records: Vec::new(),
            ranks: Arc::new(Alone),
            unevenness: 1.0,
        }
    }

    /// Plans and evaluates: the values of each of the `N` outputs, in the memory of the points. Points move every step, so
    /// the tree is new every time.
    ///
    /// # Errors
    /// [`Error::Sum`] with what the engine says, [`Error::Device`] if it is the device's fault, [`Error::OnRank`] of several ranks.
    pub fn evaluate<const N: usize>(&mut self, request: &SumRequest<'_>) -> Result<[Array<f64>; N], Error> {
        let options = self.options(request.tolerance);
        let summed = self.ranks.sum(request, &options)?;
        self.remember(request.what, summed.parameters, summed.seconds);
        if request.targets.is_none() && request.what != ENERGY_SUM {
            self.unevenness = summed.unevenness;
        }
        let found = summed.outputs.len();
        summed.outputs.try_into().map_err(|_| {
            Error::during(
                request.what,
                farfield::Error::Length {
                    array: "outputs",
                    found,
                    expected: N,
                    why: "one array for each output".to_owned(),
                },
            )
        })
    }

    /// Plans and evaluates a sum in the plane: the values at the targets, in the memory of the points.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_plane(&mut self, request: &PlaneRequest<'_>) -> Result<Array<f64>, Error> {
        let options = self.options(request.tolerance);
        let summed = request.sources.memory().sum_in_plane(&PlaneArraySum {
            kernel: request.kernel,
            core: request.core,
            outputs: &[plane::Output::Potential],
            sources: request.sources,
            targets: request.targets,
            sizes: request.sizes,
            strengths: request.strengths,
            options: &options,
        });
        let summed = summed.map_err(|error| Error::during(request.what, error))?;
        self.remember(request.what, summed.parameters, summed.seconds);
        Ok(summed.outputs.into_iter().next().unwrap_or_default())
    }

    /// Moves rows of numbers, one for each target (each source, where these are the targets), to the ranks that should own these.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn deal(&self, request: &SumRequest<'_>, rows: &[f64], columns: usize) -> Result<Vec<f64>, Error> {
        let options = self.options(request.tolerance);
        self.ranks.deal(request, &options, rows, columns)
    }

    /// Whether a rank has so much more to do than the mean that points should be dealt anew.
    pub fn is_uneven(&self) -> bool {
        /// Below this, dealing costs more than it gains.
        const UNEVEN: f64 = 1.2;
        self.unevenness > UNEVEN
    }

    /// Shares the memory of one machine with so many others.
    pub fn share_memory(&mut self, processes: usize) {
        self.memory /= processes.max(1) as u64;
    }

    fn options(&self, tolerance: Option<f64>) -> Options {
        Options {
            tolerance: Some(tolerance.unwrap_or(self.settings.tolerance)),
            method: self.settings.method.into(),
            device: self.device.of_sums(),
            order: self.settings.order,
            theta: self.settings.theta,
            leaf_capacity: self.settings.leaf_capacity,
            simd: Some(self.simd),
            profile: Some(self.profile.clone()),
            memory_limit: Some(self.memory),
            ..Options::default()
        }
    }

    /// Adds a sum that someone else asked for, for instance a Poisson problem on a grid.
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

    /// Seconds spent so far in the sums that move the system: all but that for the energy.
    pub fn seconds_of_motion(&self) -> f64 {
        let moving = self.records.iter().filter(|record| record.what != ENERGY_SUM);
        moving.map(|record| record.seconds).sum()
    }

    /// What the latest plans settled on, in words.
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

/// The name of the sum for the energy.
pub const ENERGY_SUM: &str = "energy";
