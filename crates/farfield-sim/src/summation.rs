//! The sums a simulation asks of the engine: one place that knows method, tolerance, SIMD level and machine profile.

use crate::case::SumSettings;
use crate::device::{Array, Device, Memory, Points};
use crate::error::Error;
use crate::vec3::Vec3;
use farfield::kernel::{Kernel, Output, Sizes};
use farfield::plan::Parameters;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use farfield::{Field, Method, Sum};
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
    /// What sums, if not the CPU.
    pub device: Option<Arc<dyn Device>>,
    /// Bytes of memory a sum may take: what the system had free at the start.
    memory: u64,
    /// What was done so far, by kind of sum.
    pub records: Vec<Record>,
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

/// One sum to do.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// What it is for, in error messages and reports.
    pub what: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The sources.
    pub sources: &'a [Vec3],
    /// Their core sizes.
    pub sizes: Sizes<f64>,
    /// Vector by vector, source by source, component by component.
    pub strengths: &'a [f64],
    /// How many vectors of strengths there are.
    pub vectors: usize,
    /// The targets; `None` for the sources.
    pub targets: Option<&'a [Vec3]>,
    /// What to compute.
    pub outputs: &'a [Output],
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
            device: None,
            // Asked once: for few points, asking takes longer than the sum.
            memory: farfield::machine::available_memory().unwrap_or(u64::MAX),
            records: Vec::new(),
        }
    }

    /// Plans and evaluates. Points move every step, so the tree is new every time.
    ///
    /// # Errors
    /// [`Error::Sum`] with what the engine says.
    pub fn evaluate(&mut self, request: Request<'_>) -> Result<Field<f64>, Error> {
        let (what, sum) = (request.what, self.sum(&request));
        if let Some(device) = &self.device {
            let done = device.evaluate(&sum, request.strengths);
            let done = done.map_err(|error| error.during(what))?;
            self.remember(what, done.parameters, done.seconds);
            return Ok(done.field);
        }
        let failed = |cause| Error::Sum {
            what,
            cause: Box::new(cause),
        };
        let mut plan = sum.plan().map_err(failed)?;
        let field = plan.evaluate(request.strengths).map_err(failed)?;
        self.remember(what, *plan.parameters(), plan.seconds().total);
        Ok(field)
    }

    /// [`evaluate`](Self::evaluate) between arrays in a device's memory: the values of each output, which stay there. The
    /// request has no points of its own.
    ///
    /// # Errors
    /// [`Error::Sum`] or [`Error::Device`].
    pub fn evaluate_in<const N: usize>(
        &mut self,
        memory: &dyn Memory,
        request: &Request<'_>,
        points: &Points<'_>,
        strengths: &Array,
    ) -> Result<[Array; N], Error> {
        let summed = memory.sum(&self.sum(request), points, strengths);
        let summed = summed.map_err(|error| error.during(request.what))?;
        self.remember(request.what, summed.parameters, summed.seconds);
        let count = summed.outputs.len();
        summed.outputs.try_into().map_err(|_| Error::Device {
            what: request.what,
            cause: format!("it returned {count} arrays where {N} were asked for").into(),
        })
    }

    fn sum<'a>(&self, request: &Request<'a>) -> Sum<'a, f64> {
        let mut sum = Sum::new(request.kernel, request.sources)
            .sizes(request.sizes.clone())
            .outputs(request.outputs)
            .vectors(request.vectors)
            .method(self.settings.method.into())
            .tolerance(request.tolerance.unwrap_or(self.settings.tolerance))
            .simd(self.simd)
            .profile(self.profile.clone())
            .memory_limit(self.memory)
            // Whoever names that core in a case has been told by the schema.
            .allow_unbounded_gradient();
        if let Some(targets) = request.targets {
            sum = sum.targets(targets);
        }
        if let Some(order) = self.settings.order {
            sum = sum.order(order);
        }
        if let Some(theta) = self.settings.theta {
            sum = sum.theta(theta);
        }
        if let Some(capacity) = self.settings.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        sum
    }

    fn remember(&mut self, what: &'static str, parameters: Parameters, seconds: f64) {
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
