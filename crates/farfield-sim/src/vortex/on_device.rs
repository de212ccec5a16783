//! A flow in a device's memory: the laws and steps of the host, between arrays that stay there.
//!
//! Two things are done on the host and sent back: strength exchange, which looks for neighbours, at every stage, and
//! remeshing when it is due. Tracers stay even then.

use super::diffusion::strength_exchange;
use super::motion::{Evaluated, Flow, Motion, shared};
use super::profile::own_vorticity;
use crate::case::{Diffusion, Scheme, Stretching};
use crate::device::{Array, Memory, Points, StrengthLaw, fetch};
use crate::error::Error;
use crate::integrate::{Phase, runge_kutta};
use crate::summation::Summation;
use farfield::kernel::Sizes;
use std::sync::Arc;

/// What changes in time, or its rate of change: [`Flow`] in a device's memory.
#[derive(Debug)]
pub(super) struct FlowOnDevice {
    memory: Arc<dyn Memory>,
    positions: Array,
    strengths: Array,
    tracers: Array,
}

/// Rates of change, and the velocity gradient at each element.
#[derive(Debug)]
struct EvaluatedOnDevice {
    rates: FlowOnDevice,
    gradients: Array,
}

/// Core sizes: one for all, or the largest and one for each.
#[derive(Debug)]
struct SizesOnDevice {
    largest: f64,
    each: Option<Array>,
}

/// Sizes and volumes of the elements, which the host knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extents<'a> {
    pub sizes: &'a [f64],
    pub volumes: &'a [f64],
}

/// A vortex system in a device's memory.
#[derive(Debug)]
pub(super) struct VortexOnDevice {
    flow: FlowOnDevice,
    sizes: SizesOnDevice,
    evaluated: Option<EvaluatedOnDevice>,
    here: Here,
}

/// What the host has a copy of.
#[derive(Debug, Default)]
struct Here {
    elements: bool,
    tracers: bool,
    rates: bool,
    tracer_velocities: bool,
}

impl FlowOnDevice {
    fn new(memory: Arc<dyn Memory>, flow: &Flow) -> Result<Self, Error> {
        Ok(Self {
            positions: memory.upload(flow.positions.as_flattened())?,
            strengths: memory.upload(flow.strengths.as_flattened())?,
            tracers: memory.upload(flow.tracers.as_flattened())?,
            memory,
        })
    }

    /// All of it, on the host.
    pub fn fetch(&self) -> Result<Flow, Error> {
        let mut flow = Flow::default();
        self.fetch_elements(&mut flow)?;
        fetch(&*self.memory, &self.tracers, &mut flow.tracers)?;
        Ok(flow)
    }

    fn fetch_elements(&self, flow: &mut Flow) -> Result<(), Error> {
        fetch(&*self.memory, &self.positions, &mut flow.positions)?;
        fetch(&*self.memory, &self.strengths, &mut flow.strengths)
    }
}

impl Phase for FlowOnDevice {
    type Error = Error;

    fn copy(&self) -> Result<Self, Error> {
        Ok(Self {
            memory: self.memory.clone(),
            positions: self.memory.copy(&self.positions)?,
            strengths: self.memory.copy(&self.strengths)?,
            tracers: self.memory.copy(&self.tracers)?,
        })
    }

    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        self.memory.add_scaled(&mut self.positions, h, &rates.positions)?;
        self.memory.add_scaled(&mut self.strengths, h, &rates.strengths)?;
        self.memory.add_scaled(&mut self.tracers, h, &rates.tracers)?;
        Ok(())
    }
}

impl SizesOnDevice {
    fn new(memory: &dyn Memory, sizes: &[f64]) -> Result<Self, Error> {
        let each = match shared(sizes) {
            Sizes::PerSource(sizes) => Some(memory.upload(&sizes)?),
            _ => None,
        };
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        Ok(Self { largest, each })
    }
}

impl Motion {
    /// [`Motion::rates`] of a flow in a device's memory.
    fn rates_on_device(
        &self,
        flow: &FlowOnDevice,
        sizes: &SizesOnDevice,
        extents: Extents<'_>,
        summation: &mut Summation,
    ) -> Result<EvaluatedOnDevice, Error> {
        let memory = &*flow.memory;
        let global = Sizes::Global(sizes.largest);
        let points = Points {
            sources: &flow.positions,
            targets: None,
            sizes: sizes.each.as_ref(),
        };
        let request = self.elements_sum(global.clone());
        let [positions, gradients] = summation.evaluate_in(memory, &request, &points, &flow.strengths)?;
        let strengths = self.strength_rates_on_device(flow, sizes, extents, &gradients)?;
        let tracers = if flow.tracers.is_empty() {
            memory.upload(&[])?
        } else {
            let points = Points {
                targets: Some(&flow.tracers),
                ..points
            };
            let [velocities] = summation.evaluate_in(memory, &self.tracers_sum(global), &points, &flow.strengths)?;
            velocities
        };
        let rates = FlowOnDevice {
            memory: flow.memory.clone(),
            positions,
            strengths,
            tracers,
        };
        Ok(EvaluatedOnDevice { rates, gradients })
    }

    fn strength_rates_on_device(
        &self,
        flow: &FlowOnDevice,
        sizes: &SizesOnDevice,
        extents: Extents<'_>,
        gradients: &Array,
    ) -> Result<Array, Error> {
        let memory = &*flow.memory;
        let law = self.strength_law(sizes.largest);
        let mut rates = memory.strength_rates(&law, &flow.strengths, gradients, sizes.each.as_ref())?;
        if self.diffusion == Diffusion::Pse {
            let mut here = Flow::default();
            flow.fetch_elements(&mut here)?;
            let exchanged = strength_exchange(
                &here.positions,
                &here.strengths,
                extents.sizes,
                extents.volumes,
                self.viscosity,
            );
            let exchanged = memory.upload(exchanged.as_flattened())?;
            memory.add_scaled(&mut rates, 1.0, &exchanged)?;
        }
        Ok(rates)
    }

    fn strength_law(&self, size: f64) -> StrengthLaw {
        let (classical, transpose) = match self.stretching {
            Stretching::Classical => (1.0, 0.0),
            Stretching::Transpose => (0.0, 1.0),
            Stretching::Mixed => (0.5, 0.5),
        };
        StrengthLaw {
            classical,
            transpose,
            relaxation: self.relaxation,
            own_vorticity: own_vorticity(self.core, 1.0),
            size,
        }
    }
}

impl VortexOnDevice {
    /// Sends a flow.
    pub fn new(memory: Arc<dyn Memory>, flow: &Flow, sizes: &[f64]) -> Result<Self, Error> {
        Ok(Self {
            sizes: SizesOnDevice::new(&*memory, sizes)?,
            flow: FlowOnDevice::new(memory, flow)?,
            evaluated: None,
            here: Here {
                elements: true,
                tracers: true,
                ..Here::default()
            },
        })
    }

    /// Computes the rates of change, if they are not known.
    pub fn evaluate(&mut self, motion: &Motion, extents: Extents<'_>, summation: &mut Summation) -> Result<(), Error> {
        if self.evaluated.is_none() {
            let evaluated = motion.rates_on_device(&self.flow, &self.sizes, extents, summation)?;
            self.evaluated = Some(evaluated);
        }
        Ok(())
    }

    /// One step; the rates are then unknown.
    pub fn advance(
        &mut self,
        (scheme, dt): (Scheme, f64),
        motion: &Motion,
        extents: Extents<'_>,
        summation: &mut Summation,
    ) -> Result<(), Error> {
        self.evaluate(motion, extents, summation)?;
        let Some(EvaluatedOnDevice { rates: first, .. }) = self.evaluated.take() else {
            return Ok(());
        };
        (self.here.rates, self.here.tracer_velocities) = (false, false);
        let (memory, present) = (&*self.flow.memory, &self.sizes);
        self.flow = runge_kutta(scheme, &self.flow, &first, dt, |stage, later| {
            let rates = if motion.diffusion == Diffusion::CoreSpreading {
                let sizes = motion.sizes_later(extents.sizes, later);
                let there = SizesOnDevice::new(memory, &sizes)?;
                motion.rates_on_device(stage, &there, extents, summation)
            } else {
                motion.rates_on_device(stage, present, extents, summation)
            };
            rates.map(|evaluated| evaluated.rates)
        })?;
        self.here = Here::default();
        Ok(())
    }

    /// Takes over elements that were changed on the host; the rates are then unknown.
    pub fn replace_elements(&mut self, flow: &Flow, sizes: &[f64]) -> Result<(), Error> {
        let memory = &*self.flow.memory;
        self.flow.positions = memory.upload(flow.positions.as_flattened())?;
        self.flow.strengths = memory.upload(flow.strengths.as_flattened())?;
        self.here.elements = true;
        self.evaluated = None;
        self.replace_sizes(sizes)
    }

    /// Takes over sizes that were changed on the host.
    pub fn replace_sizes(&mut self, sizes: &[f64]) -> Result<(), Error> {
        self.sizes = SizesOnDevice::new(&*self.flow.memory, sizes)?;
        Ok(())
    }

    /// Brings positions and strengths of the elements, if the host does not have them.
    pub fn bring_elements(&mut self, flow: &mut Flow) -> Result<(), Error> {
        if !self.here.elements {
            self.flow.fetch_elements(flow)?;
            self.here.elements = true;
        }
        Ok(())
    }

    /// Brings the tracers, if the host does not have them.
    pub fn bring_tracers(&mut self, flow: &mut Flow) -> Result<(), Error> {
        if !self.here.tracers {
            fetch(&*self.flow.memory, &self.flow.tracers, &mut flow.tracers)?;
            self.here.tracers = true;
        }
        Ok(())
    }

    /// Brings the rates of the elements and the velocity gradients, if they are known and the host does not have them.
    pub fn bring_rates(&mut self, to: &mut Evaluated) -> Result<(), Error> {
        if let (Some(evaluated), false) = (&self.evaluated, self.here.rates) {
            evaluated.rates.fetch_elements(&mut to.rates)?;
            fetch(&*self.flow.memory, &evaluated.gradients, &mut to.gradients)?;
            self.here.rates = true;
        }
        Ok(())
    }

    /// Brings the velocities of the tracers, if they are known and the host does not have them.
    pub fn bring_tracer_velocities(&mut self, to: &mut Evaluated) -> Result<(), Error> {
        if let (Some(evaluated), false) = (&self.evaluated, self.here.tracer_velocities) {
            fetch(&*self.flow.memory, &evaluated.rates.tracers, &mut to.rates.tracers)?;
            self.here.tracer_velocities = true;
        }
        Ok(())
    }

    /// The largest velocity gradient and its element.
    pub fn largest_gradient(&self) -> Result<(f64, usize), Error> {
        match &self.evaluated {
            Some(evaluated) => Ok(self.flow.memory.longest(&evaluated.gradients, 9)?),
            None => Ok((0.0, 0)),
        }
    }

    /// Whether the state has finite numbers alone.
    pub fn all_finite(&self) -> Result<bool, Error> {
        let flow = &self.flow;
        Ok(flow
            .memory
            .all_finite(&[&flow.positions, &flow.strengths, &flow.tracers])?)
    }

    /// A copy of the flow, which stays on the device.
    pub fn copy(&self) -> Result<FlowOnDevice, Error> {
        self.flow.copy()
    }
}
