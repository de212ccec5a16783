//! Vortices of the plane as a [`Model`].

use super::motion::{Blobs, Motion, PlaneFlow};
use super::{Vec2, vortices};
use crate::case::{Case, Plane, PlaneCoreName, PlaneDiffusion, Scheme, Time};
use crate::error::{CaseError, Error};
use crate::integrate::{System, runge_kutta};
use crate::model::{Cloud, Limit, Model, Show, Snapshot, State, StepChoice};
use crate::particles::Particles;
use crate::sample::FlowAt;
use crate::summation::Summation;
use crate::vec3::Vec3;
use farfield::memory::{Array, Memory};
use farfield::points::Random;
use farfield::tuning::MachineProfile;

/// Positions, circulations and core sizes of vortices.
pub type VortexArrays<'a> = (&'a [Vec2], &'a [f64], &'a [f64]);

/// Vortices and passive tracers.
#[derive(Debug)]
pub struct PlaneModel {
    pub(super) settings: Plane,
    scheme: Scheme,
    seed: u64,
    pub(super) flow: PlaneFlow,
    pub(super) blobs: Blobs,
    pub(super) groups: Vec<u32>,
    pub(super) parts: Vec<String>,
    tracer_tolerance: Option<f64>,
    /// Velocities at the current state, if known.
    pub(super) evaluated: Option<PlaneFlow>,
    /// Positions and core sizes of the last valid state.
    kept: Option<(PlaneFlow, Vec<f64>)>,
    pub(super) summation: Summation,
}

impl PlaneModel {
    /// Builds the initial state of a case with a `[plane]` section.
    ///
    /// # Errors
    /// [`CaseError`] if the section is missing or a file cannot be read.
    pub fn new(case: &Case, profile: MachineProfile) -> Result<Self, CaseError> {
        let settings = case.plane.clone().ok_or_else(|| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: "the section [plane] is missing".to_owned(),
        })?;
        let vortices = vortices(&settings, case.seed)?;
        let tracers = tracers(case, &vortices.positions)?;
        Ok(Self {
            scheme: case.time.scheme,
            seed: case.seed,
            flow: PlaneFlow::new(vortices.positions, tracers),
            blobs: Blobs::new(vortices.circulations, vortices.sizes),
            groups: vortices.groups,
            parts: vortices.parts,
            tracer_tolerance: case.tracers.as_ref().and_then(|tracers| tracers.tolerance),
            evaluated: None,
            kept: None,
            summation: Summation::new(case.sum.clone(), profile),
            settings,
        })
    }

    /// The current positions, circulations and core sizes of the vortices.
    ///
    /// # Errors
    /// [`Error::Device`] if they are on a device that fails.
    pub fn vortices(&self) -> Result<VortexArrays<'_>, Error> {
        Ok((
            self.flow.positions.vectors()?,
            &self.blobs.circulations,
            &self.blobs.sizes,
        ))
    }

    /// The random walk of one step. It depends only on the seed and the step number.
    fn walk(&mut self, dt: f64, step: u64) -> Result<(), Error> {
        let length = (2.0 * self.settings.viscosity * dt).sqrt();
        let mut random = Random::new(self.seed ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let steps: Vec<f64> = (0..self.flow.positions.len()).map(|_| random.normal()).collect();
        let steps = self.flow.positions.memory().store(steps)?;
        Ok(self.flow.positions.add_scaled(length, &steps)?)
    }

    pub(super) fn motion(&self) -> Motion {
        Motion {
            core: self.settings.core,
            tracer_tolerance: self.tracer_tolerance,
        }
    }
}

/// Randomly placed tracers in the bounding box of the vortices, enlarged by `thickness`, and tracers from files.
fn tracers(case: &Case, vortices: &[Vec2]) -> Result<Vec<Vec2>, CaseError> {
    let Some(settings) = &case.tracers else {
        return Ok(Vec::new());
    };
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for position in vortices {
        for axis in 0..2 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
    }
    let middle = [0, 1].map(|axis| 0.5 * (low[axis] + high[axis]));
    let longest = (high[0] - low[0]).max(high[1] - low[1]).max(f64::MIN_POSITIVE);
    // The box of a flat sheet has no height.
    let half = [0, 1].map(|axis| 0.5 * settings.thickness * (high[axis] - low[axis]).max(0.5 * longest));
    let mut random = Random::new(case.seed.wrapping_add(1));
    let mut points: Vec<Vec2> = (0..settings.count)
        .map(|_| [0, 1].map(|axis: usize| middle[axis] + half[axis] * (2.0 * random.uniform() - 1.0)))
        .collect();
    for (k, file) in settings.particles.iter().enumerate() {
        let particles = Particles::read(file, &format!("tracers.particles.{k}"))?;
        points.extend(particles.points()?.iter().map(|p| [p[0], p[1]]));
    }
    Ok(points)
}

impl Model for PlaneModel {
    fn evaluate(&mut self) -> Result<(), Error> {
        if self.evaluated.is_none() {
            let motion = self.motion();
            self.evaluated = Some(motion.rates(&self.flow, &self.blobs, &mut self.summation)?);
        }
        Ok(())
    }

    fn change(&mut self, case: &Case) -> Result<(), String> {
        let plane = case.plane.as_ref().ok_or("the section [plane] is missing")?;
        self.settings.viscosity = plane.viscosity;
        self.summation.settings = case.sum.clone();
        self.evaluated = None;
        Ok(())
    }

    fn columns(&self) -> Vec<String> {
        self.column_names()
    }

    fn measure(&mut self, with_energy: bool) -> Result<Vec<f64>, Error> {
        self.measured(with_energy)
    }

    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error> {
        StepChoice::of(time, || {
            let fastest = match &self.evaluated {
                Some(rates) => rates.positions.longest(2)?.0,
                None => 0.0,
            };
            let core = self.blobs.sizes.iter().copied().fold(f64::INFINITY, f64::min);
            Ok(StepChoice {
                dt: time.limit * core / fastest,
                limit: Limit::Courant,
                why: format!("the largest speed is {fastest:.4} and the smallest core size {core:.4}"),
            })
        })
    }

    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error> {
        self.evaluate()?;
        let Some(first) = self.evaluated.take() else {
            return Ok(Vec::new());
        };
        let spreads = self.settings.diffusion == PlaneDiffusion::CoreSpreading;
        let viscosity = self.settings.viscosity;
        let (motion, blobs, summation) = (self.motion(), &self.blobs, &mut self.summation);
        self.flow = runge_kutta(self.scheme, &self.flow, &first, dt, |stage, time| {
            if spreads {
                motion.rates(stage, &blobs.spread(viscosity * time)?, summation)
            } else {
                motion.rates(stage, blobs, summation)
            }
        })?;
        if spreads {
            self.blobs = self.blobs.spread(viscosity * dt)?;
        }
        if self.settings.diffusion == PlaneDiffusion::RandomWalk {
            self.walk(dt, step)?;
        }
        Ok(Vec::new())
    }

    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error> {
        let in_space = |points: &[Vec2]| -> Vec<Vec3> { points.iter().map(|p| [p[0], p[1], 0.0]).collect() };
        let everything = show == Show::Everything;
        let velocity = |of: fn(&PlaneFlow) -> &Array<f64>| -> Result<Vec<(&'static str, Vec<Vec3>)>, Error> {
            if !everything {
                return Ok(Vec::new());
            }
            let known = match &self.evaluated {
                Some(rates) => in_space(of(rates).vectors()?),
                None => vec![[0.0; 3]; of(&self.flow).len() / 2],
            };
            Ok(vec![("velocity", known)])
        };
        let vortices = Cloud {
            name: "vortices",
            points: in_space(self.flow.positions.vectors()?),
            scalars: vec![
                ("circulation", self.blobs.circulations.clone()),
                ("core_size", self.blobs.sizes.clone()),
                ("part", self.groups.iter().map(|g| f64::from(*g)).collect()),
            ],
            vectors: velocity(|rates| &rates.positions)?,
            groups: self.colour_groups(),
        };
        let mut clouds = vec![vortices];
        if !self.flow.tracers.is_empty() && everything {
            clouds.push(Cloud {
                name: "tracers",
                points: in_space(self.flow.tracers.vectors()?),
                scalars: Vec::new(),
                vectors: velocity(|rates| &rates.tracers)?,
                groups: vec![0; self.flow.tracers.len() / 2],
            });
        }
        Ok(Snapshot {
            clouds,
            ..Snapshot::default()
        })
    }

    fn flow_at(&mut self, points: &[Vec3]) -> Result<Option<FlowAt>, Error> {
        let targets = points.iter().flat_map(|p| [p[0], p[1]]).collect();
        let targets = self.flow.positions.memory().store(targets)?;
        let motion = self.motion();
        let found = motion.velocities_at("samples", &self.flow, &self.blobs, &targets, &mut self.summation)?;
        Ok(Some(FlowAt {
            velocities: found.vectors()?.iter().map(|[u, v]| [*u, *v, 0.0]).collect(),
            gradients: None,
        }))
    }

    fn is_finite(&self) -> Result<bool, Error> {
        let sizes = self.blobs.sizes.iter().all(|size| size.is_finite());
        Ok(sizes && self.flow.is_finite()?)
    }

    fn state(&mut self) -> Result<State, Error> {
        state_of(&self.flow, &self.blobs.sizes)
    }

    fn keep(&mut self) -> Result<(), Error> {
        self.kept = Some((self.flow.copy()?, self.blobs.sizes.clone()));
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        let kept = self.kept.take();
        kept.map(|(flow, sizes)| state_of(&flow, &sizes)).transpose()
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let (positions, tracers) = (state.pairs("positions")?, state.pairs("tracers")?);
        let sizes = state.numbers("sizes")?;
        let (found, expected) = (positions.len(), self.blobs.circulations.len());
        if found != expected || sizes.len() != expected {
            return Err(format!("it has {found} vortices, but the case has {expected}"));
        }
        if 2 * tracers.len() != self.flow.tracers.len() {
            let (found, expected) = (tracers.len(), self.flow.tracers.len() / 2);
            return Err(format!("it has {found} tracers, but the case has {expected}"));
        }
        let memory = self.flow.positions.memory();
        let moved = PlaneFlow::new(positions, tracers).moved_to(&memory);
        self.flow = moved.map_err(|error| error.to_string())?;
        self.blobs = self.blobs.with_sizes(sizes).map_err(|error| error.to_string())?;
        self.evaluated = None;
        Ok(())
    }

    fn stay_in(&mut self, memory: &Memory<f64>) -> Result<(), Error> {
        self.flow = self.flow.moved_to(memory)?;
        self.blobs = self.blobs.moved_to(memory)?;
        (self.evaluated, self.kept) = (None, None);
        Ok(())
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        let core = match self.settings.core {
            PlaneCoreName::Singular => "point vortices",
            PlaneCoreName::Gaussian => "Gaussian vortices",
            PlaneCoreName::Algebraic => "algebraic vortices",
        };
        format!(
            "{} {core} in {} part(s) of the plane, {} tracers",
            self.blobs.circulations.len(),
            self.parts.len(),
            self.flow.tracers.len() / 2
        )
    }
}

impl PlaneModel {
    /// The vortices drawn in one colour: those of a part, or those of one sign if there is only one part.
    fn colour_groups(&self) -> Vec<u32> {
        if self.parts.len() > 1 {
            return self.groups.clone();
        }
        let circulations = self.blobs.circulations.iter();
        circulations.map(|gamma| u32::from(*gamma < 0.0)).collect()
    }
}

/// The arrays of a checkpoint.
fn state_of(flow: &PlaneFlow, sizes: &[f64]) -> Result<State, Error> {
    let mut state = State::default();
    state.push_pairs("positions", flow.positions.vectors()?);
    state.push_numbers("sizes", sizes);
    state.push_pairs("tracers", flow.tracers.vectors()?);
    Ok(state)
}
