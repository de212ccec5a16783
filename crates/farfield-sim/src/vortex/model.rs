//! Vortex elements and tracers as a [`Model`].

use super::Elements;
use super::motion::{Evaluated, Flow, Motion};
use super::on_device::{Extents, FlowOnDevice, VortexOnDevice};
use super::remesh::remesh;
use super::tracers::{Tracers, place_tracers};
use super::tube::build;
use crate::case::{Case, Diffusion, Scheme, Time, Vortex};
use crate::device::Memory;
use crate::error::{CaseError, Error};
use crate::integrate::runge_kutta;
use crate::model::{ENERGY, Kept, Limit, Model, Show, Snapshot, State, StepChoice};
use crate::summation::Summation;
use crate::vec3::{Vec3, all_finite, unit};
use farfield::kernel::Core;
use farfield::tuning::MachineProfile;
use std::sync::Arc;

/// Vortex elements and the tracers they carry along.
#[derive(Debug)]
pub struct VortexModel {
    pub(super) settings: Vortex,
    scheme: Scheme,
    pub(super) motion: Motion,
    /// The flow; where it is in a device's memory, what was last brought from there.
    pub(super) flow: Flow,
    pub(super) sizes: Vec<f64>,
    pub(super) volumes: Vec<f64>,
    pub(super) groups: Vec<u32>,
    pub(super) tracer_groups: Vec<u32>,
    /// Where along their line tracers started, from 0 to 1.
    pub(super) tracer_places: Vec<f64>,
    /// Name, axis and number of each ring and knot.
    pub(super) parts: Vec<(String, Vec3)>,
    /// Rates at the present state; empty while they are not known.
    pub(super) evaluated: Evaluated,
    is_evaluated: bool,
    /// The flow in a device's memory, if it stays there.
    pub(super) there: Option<VortexOnDevice>,
    /// On a device: the flow, and of the elements all but the flow.
    kept: Kept<(FlowOnDevice, Elements)>,
    pub(super) summation: Summation,
}

impl VortexModel {
    /// Builds the initial state of a case with a `[vortex]` section.
    ///
    /// # Errors
    /// [`CaseError`] if the elements do not fit the cores, or the section is missing.
    pub fn new(case: &Case, profile: MachineProfile) -> Result<Self, CaseError> {
        let wrong = |(key, why): (String, String)| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: format!("{key}: {why}"),
        };
        let settings = case
            .vortex
            .clone()
            .ok_or_else(|| wrong(("vortex".to_owned(), "the section is missing".to_owned())))?;
        let (lines, elements) = build(&settings).map_err(wrong)?;
        let tracers = match &case.tracers {
            Some(tracers) => place_tracers(&lines, tracers.count, tracers.thickness, case.seed),
            None => Tracers::default(),
        };
        let motion = Motion {
            core: Core::from(settings.core),
            stretching: settings.stretching,
            viscosity: settings.viscosity,
            diffusion: settings.diffusion,
            relaxation: settings.relaxation,
            tracer_tolerance: case.tracers.as_ref().and_then(|tracers| tracers.tolerance),
        };
        let rings = settings.rings.iter().enumerate();
        let knots = settings.knots.iter().enumerate();
        let parts = rings
            .map(|(k, ring)| (format!("ring{}", k + 1), unit(ring.axis)))
            .chain(knots.map(|(k, _)| (format!("knot{}", k + 1), [0.0, 0.0, 1.0])))
            .collect();
        Ok(Self {
            scheme: case.time.scheme,
            motion,
            flow: Flow {
                positions: elements.positions,
                strengths: elements.strengths,
                tracers: tracers.positions,
            },
            sizes: elements.sizes,
            volumes: elements.volumes,
            groups: elements.groups,
            tracer_groups: tracers.groups,
            tracer_places: tracers.along,
            parts,
            evaluated: Evaluated::default(),
            is_evaluated: false,
            there: None,
            kept: Kept::Nothing,
            summation: Summation::new(case.sum.clone(), profile),
            settings,
        })
    }

    /// The elements as they are now, or were when last brought from a device.
    pub fn elements(&self) -> Elements {
        Elements {
            positions: self.flow.positions.clone(),
            strengths: self.flow.strengths.clone(),
            sizes: self.sizes.clone(),
            volumes: self.volumes.clone(),
            groups: self.groups.clone(),
        }
    }

    /// The tracers as they are now, or were when last brought from a device.
    pub fn tracers(&self) -> &[Vec3] {
        &self.flow.tracers
    }

    /// Brings the elements and their rates, where they are in a device's memory.
    pub(super) fn bring_elements(&mut self) -> Result<(), Error> {
        if let Some(there) = &mut self.there {
            there.bring_elements(&mut self.flow)?;
            there.bring_rates(&mut self.evaluated)?;
        }
        Ok(())
    }

    /// One step in the host's memory.
    fn advance_here(&mut self, dt: f64) -> Result<(), Error> {
        let Self {
            motion,
            flow,
            sizes,
            volumes,
            summation,
            evaluated,
            ..
        } = self;
        let first = std::mem::take(evaluated).rates;
        self.is_evaluated = false;
        *flow = runge_kutta(self.scheme, flow, &first, dt, |stage, later| {
            let sizes = motion.sizes_later(sizes, later);
            motion
                .rates(stage, &sizes, volumes, summation)
                .map(|evaluated| evaluated.rates)
        })?;
        Ok(())
    }

    fn remesh(&mut self) -> String {
        let before = self.flow.positions.len();
        let remeshed = remesh(&self.elements(), self.settings.overlap, self.settings.remesh_cutoff);
        let Elements {
            positions,
            strengths,
            sizes,
            volumes,
            groups,
        } = remeshed.elements;
        self.flow.positions = positions;
        self.flow.strengths = strengths;
        (self.sizes, self.volumes, self.groups) = (sizes, volumes, groups);
        format!(
            "remeshed {before} elements to {} on a grid of spacing {:.4}; {:.1e} of the strength was in elements too \
             weak to keep and went to the others",
            self.flow.positions.len(),
            remeshed.spacing,
            remeshed.dropped
        )
    }
}

impl Model for VortexModel {
    fn evaluate(&mut self) -> Result<(), Error> {
        if let Some(there) = &mut self.there {
            let extents = Extents {
                sizes: &self.sizes,
                volumes: &self.volumes,
            };
            return there.evaluate(&self.motion, extents, &mut self.summation);
        }
        if !self.is_evaluated {
            let rates = self
                .motion
                .rates(&self.flow, &self.sizes, &self.volumes, &mut self.summation)?;
            (self.evaluated, self.is_evaluated) = (rates, true);
        }
        Ok(())
    }

    fn columns(&self) -> Vec<String> {
        let mut names: Vec<String> = ["elements"].map(str::to_owned).to_vec();
        for vector in ["total_vorticity", "impulse", "angular_impulse"] {
            names.extend(["x", "y", "z"].map(|axis| format!("{vector}_{axis}")));
        }
        names.extend([ENERGY, "helicity", "enstrophy", "max_velocity", "max_gradient"].map(str::to_owned));
        for (name, _) in &self.parts {
            names.extend(["x", "y", "z", "radius", "speed"].map(|what| format!("{name}_{what}")));
        }
        names
    }

    fn measure(&mut self, with_energy: bool) -> Result<Vec<f64>, Error> {
        self.measured(with_energy)
    }

    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error> {
        StepChoice::of(time, || {
            let (gradient, at) = match &self.there {
                Some(there) => there.largest_gradient()?,
                None => self.largest_gradient(),
            };
            Ok(StepChoice {
                dt: time.limit / gradient,
                limit: Limit::Strain,
                why: format!(
                    "the velocity gradient is {gradient:.4} at element {at}; step x gradient stays {}",
                    time.limit
                ),
            })
        })
    }

    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error> {
        self.evaluate()?;
        match &mut self.there {
            Some(there) => {
                let extents = Extents {
                    sizes: &self.sizes,
                    volumes: &self.volumes,
                };
                there.advance((self.scheme, dt), &self.motion, extents, &mut self.summation)?;
            }
            None => self.advance_here(dt)?,
        }
        if self.motion.diffusion == Diffusion::CoreSpreading {
            self.sizes = self.motion.sizes_later(&self.sizes, dt);
            if let Some(there) = &mut self.there {
                there.replace_sizes(&self.sizes)?;
            }
        }
        let every = self.settings.remesh_every;
        if every == 0 || !step.is_multiple_of(every) {
            return Ok(Vec::new());
        }
        self.bring_elements()?;
        let remark = self.remesh();
        if let Some(there) = &mut self.there {
            there.replace_elements(&self.flow, &self.sizes)?;
        }
        Ok(vec![remark])
    }

    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error> {
        self.bring(show)?;
        Ok(match show {
            Show::Picture => self.drawn(),
            Show::Everything => self.clouds(),
        })
    }

    fn is_finite(&self) -> Result<bool, Error> {
        let numbers = self.sizes.iter().chain(&self.volumes).all(|value| value.is_finite());
        let flow = match &self.there {
            Some(there) => there.all_finite()?,
            None => [&self.flow.positions, &self.flow.strengths, &self.flow.tracers]
                .into_iter()
                .all(|vectors| all_finite(vectors)),
        };
        Ok(numbers && flow)
    }

    fn state(&mut self) -> Result<State, Error> {
        if let Some(there) = &mut self.there {
            there.bring_elements(&mut self.flow)?;
            there.bring_tracers(&mut self.flow)?;
        }
        Ok(state_of(&self.flow, &self.sizes, &self.volumes, &self.groups))
    }

    fn keep(&mut self) -> Result<(), Error> {
        self.kept = match &self.there {
            Some(there) => {
                let rest = Elements {
                    sizes: self.sizes.clone(),
                    volumes: self.volumes.clone(),
                    groups: self.groups.clone(),
                    ..Elements::default()
                };
                Kept::There((there.copy()?, rest))
            }
            None => Kept::Here(self.state()?),
        };
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        self.kept
            .take(|(flow, rest)| Ok(state_of(&flow.fetch()?, &rest.sizes, &rest.volumes, &rest.groups)))
    }

    fn stay_in(&mut self, memory: Arc<dyn Memory>) -> Result<(), Error> {
        self.there = Some(VortexOnDevice::new(memory, &self.flow, &self.sizes)?);
        Ok(())
    }

    fn stays_on_device(&self) -> bool {
        self.there.is_some()
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let flow = Flow {
            positions: state.vectors("positions")?,
            strengths: state.vectors("strengths")?,
            tracers: state.vectors("tracers")?,
        };
        let (sizes, volumes) = (state.numbers("sizes")?, state.numbers("volumes")?);
        let groups: Vec<u32> = state.numbers("groups")?.iter().map(|g| *g as u32).collect();
        let n = flow.positions.len();
        if [flow.strengths.len(), sizes.len(), volumes.len(), groups.len()] != [n; 4] {
            return Err(format!("the arrays of {n} elements have different lengths"));
        }
        if flow.tracers.len() != self.tracer_groups.len() {
            let (found, expected) = (flow.tracers.len(), self.tracer_groups.len());
            return Err(format!("it has {found} tracers where the case has {expected}"));
        }
        (self.flow, self.sizes, self.volumes, self.groups) = (flow, sizes, volumes, groups);
        (self.evaluated, self.is_evaluated, self.there) = (Evaluated::default(), false, None);
        Ok(())
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        format!(
            "{} vortex elements in {} ring(s) or knot(s), core size {:.4}, {} tracers",
            self.flow.positions.len(),
            self.parts.len(),
            self.sizes.first().copied().unwrap_or(0.0),
            self.flow.tracers.len()
        )
    }
}

/// The arrays of a checkpoint.
fn state_of(flow: &Flow, sizes: &[f64], volumes: &[f64], groups: &[u32]) -> State {
    let mut state = State::default();
    state.push_vectors("positions", &flow.positions);
    state.push_vectors("strengths", &flow.strengths);
    state.push_numbers("sizes", sizes);
    state.push_numbers("volumes", volumes);
    state.push_numbers("groups", &groups.iter().map(|g| f64::from(*g)).collect::<Vec<_>>());
    state.push_vectors("tracers", &flow.tracers);
    state
}
