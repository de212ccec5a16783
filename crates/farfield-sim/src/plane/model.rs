//! Vortices of the plane as a [`Model`].

use super::{Vec2, vortices};
use crate::case::{Case, Plane, PlaneCoreName, PlaneDiffusion, Scheme, Time};
use crate::error::{CaseError, Error};
use crate::integrate::{System, runge_kutta};
use crate::model::{Cloud, Limit, Model, Show, Snapshot, State, StepChoice};
use crate::particles::Particles;
use crate::sample::FlowAt;
use crate::summation::{PlaneRequest, Summation};
use crate::vec3::Vec3;
use farfield::kernel::Sizes;
use farfield::memory::Memory;
use farfield::plane::{Core, Kernel, Output};
use farfield::points::Random;
use farfield::tuning::MachineProfile;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Vortices and the tracers they carry along.
#[derive(Debug)]
pub struct PlaneModel {
    pub(super) settings: Plane,
    scheme: Scheme,
    seed: u64,
    pub(super) flow: PlaneFlow,
    pub(super) circulations: Vec<f64>,
    pub(super) sizes: Vec<f64>,
    pub(super) groups: Vec<u32>,
    pub(super) parts: Vec<String>,
    tracer_tolerance: Option<f64>,
    /// Velocities at the present state, if they are known.
    pub(super) evaluated: Option<PlaneFlow>,
    /// Positions and core sizes of the last state that was found sound.
    kept: Option<(PlaneFlow, Vec<f64>)>,
    summation: Summation,
}

/// What changes in time; also its rate of change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlaneFlow {
    /// Positions of the vortices; as a rate, their velocities.
    pub positions: Vec<Vec2>,
    /// Positions of the tracers; as a rate, their velocities.
    pub tracers: Vec<Vec2>,
}

impl System for PlaneFlow {
    type Error = Error;

    fn copy(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }

    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        for (values, rates) in [
            (&mut self.positions, &rates.positions),
            (&mut self.tracers, &rates.tracers),
        ] {
            let pairs = values.par_iter_mut().zip(rates).with_min_len(1 << 14);
            pairs.for_each(|(value, rate)| {
                value[0] += h * rate[0];
                value[1] += h * rate[1];
            });
        }
        Ok(())
    }
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
        Ok(Self {
            scheme: case.time.scheme,
            seed: case.seed,
            flow: PlaneFlow {
                tracers: tracers(case, &vortices.positions)?,
                positions: vortices.positions,
            },
            circulations: vortices.circulations,
            sizes: vortices.sizes,
            groups: vortices.groups,
            parts: vortices.parts,
            tracer_tolerance: case.tracers.as_ref().and_then(|tracers| tracers.tolerance),
            evaluated: None,
            kept: None,
            summation: Summation::new(case.sum.clone(), profile),
            settings,
        })
    }

    /// The vortices as they are now: positions, circulations and core sizes.
    pub fn vortices(&self) -> (&[Vec2], &[f64], &[f64]) {
        (&self.flow.positions, &self.circulations, &self.sizes)
    }

    /// A sum over all vortices: at themselves or at targets.
    pub(super) fn sum(
        &mut self,
        what: &'static str,
        targets: Option<&[Vec2]>,
        output: Output,
    ) -> Result<Vec<f64>, Error> {
        // Of a core without a size, the sum would complain.
        let sizes = match self.settings.core {
            PlaneCoreName::Singular => Sizes::None,
            _ => of_sum(&self.sizes),
        };
        let request = PlaneRequest {
            what,
            kernel: Kernel::Log,
            core: core_of(self.settings.core, &sizes),
            sources: &self.flow.positions,
            sizes: &sizes,
            strengths: &self.circulations,
            targets,
            output,
            tolerance: None,
        };
        self.summation.evaluate_plane(&request)
    }

    /// The walk of a step: the same for the same seed and step, whatever happened before.
    fn walk(&mut self, dt: f64, step: u64) {
        let length = (2.0 * self.settings.viscosity * dt).sqrt();
        let mut random = Random::new(self.seed ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for position in &mut self.flow.positions {
            position[0] += length * random.normal();
            position[1] += length * random.normal();
        }
    }
}

/// The velocities of a flow whose vortices have these circulations and core sizes.
fn rates(
    flow: &PlaneFlow,
    (circulations, sizes): (&[f64], &[f64]),
    core: PlaneCoreName,
    tracer_tolerance: Option<f64>,
    summation: &mut Summation,
) -> Result<PlaneFlow, Error> {
    let sizes = match core {
        PlaneCoreName::Singular => Sizes::None,
        _ => of_sum(sizes),
    };
    let request = PlaneRequest {
        what: "vortices",
        kernel: Kernel::Log,
        core: core_of(core, &sizes),
        sources: &flow.positions,
        sizes: &sizes,
        strengths: circulations,
        targets: None,
        output: Output::Derivative,
        tolerance: None,
    };
    let positions = velocities(summation.evaluate_plane(&request)?);
    let tracers = if flow.tracers.is_empty() {
        Vec::new()
    } else {
        velocities(summation.evaluate_plane(&PlaneRequest {
            what: "tracers",
            targets: Some(&flow.tracers),
            tolerance: tracer_tolerance,
            ..request
        })?)
    };
    Ok(PlaneFlow { positions, tracers })
}

/// From the derivative of the potential: $u-iv=\phi'/2\pi i$.
fn velocities(derivatives: Vec<f64>) -> Vec<Vec2> {
    let pairs = derivatives.as_chunks::<2>().0.par_iter().with_min_len(1 << 14);
    pairs
        .map(|[real, imaginary]| [imaginary / (2.0 * PI), real / (2.0 * PI)])
        .collect()
}

/// The engine is faster with one size for all.
fn of_sum(sizes: &[f64]) -> Sizes<f64> {
    match sizes.first() {
        Some(first) if *first > 0.0 && sizes.iter().all(|size| size == first) => Sizes::Global(*first),
        Some(_) if sizes.iter().any(|size| *size > 0.0) => Sizes::PerSource(sizes.to_vec()),
        _ => Sizes::None,
    }
}

/// Blobs of no size are points.
fn core_of(name: PlaneCoreName, sizes: &Sizes<f64>) -> Core {
    match sizes {
        Sizes::None => Core::Singular,
        _ => name.into(),
    }
}

/// Tracers at random in the box around the vortices, `thickness` times as large, and those from files.
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
    // A flat sheet has a box without height.
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
            let core = self.settings.core;
            let vortices = (&self.circulations[..], &self.sizes[..]);
            self.evaluated = Some(rates(
                &self.flow,
                vortices,
                core,
                self.tracer_tolerance,
                &mut self.summation,
            )?);
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
            let velocities = self.evaluated.as_ref().map_or(&[][..], |rates| &rates.positions);
            let fastest = velocities.iter().map(|u| u[0].hypot(u[1])).fold(0.0, f64::max);
            let core = self.sizes.iter().copied().fold(f64::INFINITY, f64::min);
            Ok(StepChoice {
                dt: time.limit * core / fastest,
                limit: Limit::Courant,
                why: format!("a vortex of speed {fastest:.4} crosses the smallest core, {core:.4}"),
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
        let later = |sizes: &[f64], time: f64| -> Vec<f64> {
            sizes
                .iter()
                .map(|size| (size * size + 4.0 * viscosity * time).sqrt())
                .collect()
        };
        let (core, tolerance) = (self.settings.core, self.tracer_tolerance);
        let (circulations, sizes, summation) = (&self.circulations, &self.sizes, &mut self.summation);
        self.flow = runge_kutta(self.scheme, &self.flow, &first, dt, |stage, time| {
            let grown = if spreads { later(sizes, time) } else { Vec::new() };
            let sizes = if spreads { &grown[..] } else { &sizes[..] };
            rates(stage, (&circulations[..], sizes), core, tolerance, summation)
        })?;
        if spreads {
            self.sizes = later(&self.sizes, dt);
        }
        if self.settings.diffusion == PlaneDiffusion::RandomWalk {
            self.walk(dt, step);
        }
        Ok(Vec::new())
    }

    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error> {
        let in_space = |points: &[Vec2]| -> Vec<Vec3> { points.iter().map(|p| [p[0], p[1], 0.0]).collect() };
        let everything = show == Show::Everything;
        let velocity = |of: fn(&PlaneFlow) -> &Vec<Vec2>, count: usize| -> Vec<(&'static str, Vec<Vec3>)> {
            if !everything {
                return Vec::new();
            }
            let known = self.evaluated.as_ref().map(|rates| in_space(of(rates)));
            vec![("velocity", known.unwrap_or_else(|| vec![[0.0; 3]; count]))]
        };
        let vortices = Cloud {
            name: "vortices",
            points: in_space(&self.flow.positions),
            scalars: vec![
                ("circulation", self.circulations.clone()),
                ("core_size", self.sizes.clone()),
                ("part", self.groups.iter().map(|g| f64::from(*g)).collect()),
            ],
            vectors: velocity(|rates| &rates.positions, self.flow.positions.len()),
            groups: self.colour_groups(),
        };
        let mut clouds = vec![vortices];
        if !self.flow.tracers.is_empty() && everything {
            clouds.push(Cloud {
                name: "tracers",
                points: in_space(&self.flow.tracers),
                scalars: Vec::new(),
                vectors: velocity(|rates| &rates.tracers, self.flow.tracers.len()),
                groups: vec![0; self.flow.tracers.len()],
            });
        }
        Ok(Snapshot {
            clouds,
            ..Snapshot::default()
        })
    }

    fn flow_at(&mut self, points: &[Vec3]) -> Result<Option<FlowAt>, Error> {
        let targets: Vec<Vec2> = points.iter().map(|p| [p[0], p[1]]).collect();
        let found = velocities(self.sum("samples", Some(&targets), Output::Derivative)?);
        Ok(Some(FlowAt {
            velocities: found.iter().map(|u| [u[0], u[1], 0.0]).collect(),
            gradients: None,
        }))
    }

    fn is_finite(&self) -> Result<bool, Error> {
        let positions = self.flow.positions.iter().chain(&self.flow.tracers).flatten();
        Ok(positions.chain(&self.sizes).all(|value| value.is_finite()))
    }

    fn state(&mut self) -> Result<State, Error> {
        Ok(self.state_of(&self.flow, &self.sizes))
    }

    fn keep(&mut self) -> Result<(), Error> {
        self.kept = Some((self.flow.clone(), self.sizes.clone()));
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        let kept = self.kept.take();
        Ok(kept.map(|(flow, sizes)| self.state_of(&flow, &sizes)))
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let (positions, tracers) = (state.pairs("positions")?, state.pairs("tracers")?);
        let sizes = state.numbers("sizes")?;
        let (found, expected) = (positions.len(), self.circulations.len());
        if found != expected || sizes.len() != expected {
            return Err(format!("it has {found} vortices where the case has {expected}"));
        }
        if tracers.len() != self.flow.tracers.len() {
            let (found, expected) = (tracers.len(), self.flow.tracers.len());
            return Err(format!("it has {found} tracers where the case has {expected}"));
        }
        self.flow = PlaneFlow { positions, tracers };
        (self.sizes, self.evaluated) = (sizes, None);
        Ok(())
    }

    fn stay_in(&mut self, _memory: &Memory<f64>) -> Result<(), Error> {
        Ok(())
    }

    fn can_stay_on_a_gpu(&self) -> bool {
        false
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
            self.circulations.len(),
            self.parts.len(),
            self.flow.tracers.len()
        )
    }
}

impl PlaneModel {
    /// What is drawn in one colour: a part; or, of one part alone, those that turn the same way.
    fn colour_groups(&self) -> Vec<u32> {
        if self.parts.len() > 1 {
            return self.groups.clone();
        }
        self.circulations.iter().map(|gamma| u32::from(*gamma < 0.0)).collect()
    }

    /// The arrays of a checkpoint.
    fn state_of(&self, flow: &PlaneFlow, sizes: &[f64]) -> State {
        let mut state = State::default();
        state.push_pairs("positions", &flow.positions);
        state.push_numbers("sizes", sizes);
        state.push_pairs("tracers", &flow.tracers);
        state
    }
}
