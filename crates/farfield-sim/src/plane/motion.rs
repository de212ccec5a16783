//! The equations of motion of vortices and tracers in the plane, in host or GPU memory.

use super::Vec2;
use crate::case::PlaneCoreName;
use crate::error::Error;
use crate::integrate::System;
use crate::summation::{Summation, Task};
use farfield::Request;
use farfield::memory::{Array, ArrayPoints, ArraySizes, Memory};
use farfield::plane::{Core, Interaction, Kernel, Plane};
use std::f64::consts::PI;

/// The positions; also used for their rates of change. Both arrays are in one memory, with two numbers for each point.
#[derive(Debug, Default)]
pub(super) struct PlaneFlow {
    /// Positions of the vortices; as a rate, their velocities.
    pub positions: Array<f64>,
    /// Positions of the tracers; as a rate, their velocities.
    pub tracers: Array<f64>,
}

impl PlaneFlow {
    /// A flow on the host.
    pub fn new(positions: Vec<Vec2>, tracers: Vec<Vec2>) -> Self {
        Self {
            positions: Array::of(positions.into_flattened()),
            tracers: Array::of(tracers.into_flattened()),
        }
    }

    /// The same flow in another memory.
    pub fn moved_to(&self, memory: &Memory<f64>) -> Result<Self, Error> {
        Ok(Self {
            positions: self.positions.moved_to(memory)?,
            tracers: self.tracers.moved_to(memory)?,
        })
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> Result<bool, Error> {
        Ok(self.positions.memory().all_finite(&[&self.positions, &self.tracers])?)
    }
}

impl System for PlaneFlow {
    type Error = Error;

    fn copy(&self) -> Result<Self, Error> {
        Ok(Self {
            positions: self.positions.copy()?,
            tracers: self.tracers.copy()?,
        })
    }

    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        self.positions.add_scaled(h, &rates.positions)?;
        Ok(self.tracers.add_scaled(h, &rates.tracers)?)
    }
}

/// The constant circulations and the core sizes of vortices.
#[derive(Debug)]
pub(super) struct Blobs {
    /// The circulation of each.
    pub circulations: Vec<f64>,
    /// The core size of each.
    pub sizes: Vec<f64>,
    /// The circulations in the memory of the flow.
    strengths: Array<f64>,
    /// The sizes in the memory of the flow; `None` if they are equal, because the engine is faster with one size for
    /// all.
    each: Option<Array<f64>>,
    largest: f64,
}

impl Blobs {
    /// Blobs on the host.
    pub fn new(circulations: Vec<f64>, sizes: Vec<f64>) -> Self {
        let differ = sizes.windows(2).any(|pair| pair[0] != pair[1]);
        Self {
            strengths: Array::of(circulations.clone()),
            each: differ.then(|| Array::of(sizes.clone())),
            largest: sizes.iter().copied().fold(0.0, f64::max),
            circulations,
            sizes,
        }
    }

    /// The same blobs in another memory.
    pub fn moved_to(&self, memory: &Memory<f64>) -> Result<Self, Error> {
        Ok(Self {
            circulations: self.circulations.clone(),
            sizes: self.sizes.clone(),
            strengths: self.strengths.moved_to(memory)?,
            each: self.each.as_ref().map(|each| each.moved_to(memory)).transpose()?,
            largest: self.largest,
        })
    }

    /// The same vortices with other sizes.
    pub fn with_sizes(&self, sizes: Vec<f64>) -> Result<Self, Error> {
        let other = Self::new(self.circulations.clone(), sizes);
        let memory = self.strengths.memory();
        if memory.is_on_gpu() {
            other.moved_to(&memory)
        } else {
            Ok(other)
        }
    }

    /// The blobs after core spreading, where `spreading` is viscosity times time: $\sigma^2$ grows by four times that.
    pub fn spread(&self, spreading: f64) -> Result<Self, Error> {
        let later = |size: &f64| (size * size + 4.0 * spreading).sqrt();
        self.with_sizes(self.sizes.iter().map(later).collect())
    }

    fn of_sum(&self) -> ArraySizes<'_, f64> {
        match &self.each {
            _ if self.largest == 0.0 => ArraySizes::None,
            Some(each) => ArraySizes::PerSource {
                each,
                largest: self.largest,
            },
            None => ArraySizes::Global(self.largest),
        }
    }
}

/// The equations of motion of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Motion {
    /// The core of the vortices.
    pub core: PlaneCoreName,
    /// The tolerance of the tracers' velocities; `None` for that of the run.
    pub tracer_tolerance: Option<f64>,
}

impl Motion {
    /// The velocities of vortices and tracers, in their memory.
    pub fn rates(&self, flow: &PlaneFlow, blobs: &Blobs, summation: &mut Summation) -> Result<PlaneFlow, Error> {
        let task = |what| self.task(what, Kernel::Harmonic, flow, blobs);
        let positions = velocities(&summation.evaluate_plane(&task("vortices"))?)?;
        let tracers = if flow.tracers.is_empty() {
            flow.tracers.copy()?
        } else {
            let mut task = task("tracers");
            task.points.targets = Some(&flow.tracers);
            task.request.options.tolerance = self.tracer_tolerance;
            velocities(&summation.evaluate_plane(&task)?)?
        };
        Ok(PlaneFlow { positions, tracers })
    }

    /// The velocities at targets that are in the memory of the flow.
    pub fn velocities_at(
        &self,
        what: &'static str,
        flow: &PlaneFlow,
        blobs: &Blobs,
        targets: &Array<f64>,
        summation: &mut Summation,
    ) -> Result<Array<f64>, Error> {
        let mut task = self.task(what, Kernel::Harmonic, flow, blobs);
        task.points.targets = Some(targets);
        velocities(&summation.evaluate_plane(&task)?)
    }

    /// $\sum_j\Gamma_jg_{\sigma_j}(r_{ij})$ at every vortex.
    pub fn potentials(
        &self,
        what: &'static str,
        flow: &PlaneFlow,
        blobs: &Blobs,
        summation: &mut Summation,
    ) -> Result<Array<f64>, Error> {
        summation.evaluate_plane(&self.task(what, Kernel::Log, flow, blobs))
    }

    fn task<'a>(&self, what: &'static str, kernel: Kernel, flow: &'a PlaneFlow, blobs: &'a Blobs) -> Task<'a, Plane> {
        // Blobs of size 0 are points, and the engine rejects a singular core with a size.
        let (core, sizes) = match (self.core, blobs.of_sum()) {
            (PlaneCoreName::Singular, _) | (_, ArraySizes::None) => (Core::Singular, ArraySizes::None),
            (core, sizes) => (core.into(), sizes),
        };
        Task {
            what,
            request: Request::new(Interaction { core, ..kernel.into() }),
            points: ArrayPoints {
                sizes,
                ..ArrayPoints::of(&flow.positions)
            },
            strengths: &blobs.strengths,
        }
    }
}

/// The velocity $u-iv=-h/2\pi i$ from the harmonic field $h=\sum_j\Gamma_jf/(z_j-z_i)$. The derivative of the
/// logarithmic kernel is the same field, but its sum includes the potential, which for Gaussian blobs needs an
/// exponential integral.
fn velocities(field: &Array<f64>) -> Result<Array<f64>, Error> {
    Ok(field.turned(-0.5 / PI)?)
}
