//! Vortex elements and tracers as a [`Model`].

use super::Elements;
use super::energy::energy;
use super::motion::{Evaluated, Flow, Motion, vorticity};
use super::remesh::remesh;
use super::tracers::{Tracers, place_tracers};
use super::tube::build;
use crate::case::{Case, Diffusion, Scheme, Time, Vortex};
use crate::diagnostics::{Invariants, Members, RingMeasure, measure_ring};
use crate::error::{CaseError, Error};
use crate::integrate::runge_kutta;
use crate::model::{Cloud, ENERGY, Limit, Model, Snapshot, State, StepChoice};
use crate::summation::Summation;
use crate::vec3::{Vec3, dot, norm, unit};
use farfield::kernel::Core;
use farfield::tuning::MachineProfile;

/// Vortex elements and the tracers they carry along.
#[derive(Debug)]
pub struct VortexModel {
    settings: Vortex,
    scheme: Scheme,
    motion: Motion,
    flow: Flow,
    sizes: Vec<f64>,
    volumes: Vec<f64>,
    groups: Vec<u32>,
    tracer_groups: Vec<u32>,
    /// Where along their line tracers started, from 0 to 1.
    tracer_places: Vec<f64>,
    /// Name, axis and number of each ring and knot.
    parts: Vec<(String, Vec3)>,
    /// Rates at the present state; empty while they are not known.
    evaluated: Evaluated,
    is_evaluated: bool,
    summation: Summation,
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
            summation: Summation::new(case.sum.clone(), profile),
            settings,
        })
    }

    /// The elements as they are now.
    pub fn elements(&self) -> Elements {
        Elements {
            positions: self.flow.positions.clone(),
            strengths: self.flow.strengths.clone(),
            sizes: self.sizes.clone(),
            volumes: self.volumes.clone(),
            groups: self.groups.clone(),
        }
    }

    /// The tracers as they are now.
    pub fn tracers(&self) -> &[Vec3] {
        &self.flow.tracers
    }

    /// Position, radius and speed of every ring and knot.
    ///
    /// # Errors
    /// [`Error::Sum`] if the velocities are not known yet and the engine refuses.
    pub fn rings(&mut self) -> Result<Vec<RingMeasure>, Error> {
        self.evaluate()?;
        let rates = &self.evaluated.rates;
        let members = Members {
            positions: &self.flow.positions,
            strengths: &self.flow.strengths,
            velocities: &rates.positions,
            strength_rates: &rates.strengths,
            groups: &self.groups,
        };
        let one = |(k, (_, axis)): (usize, &(String, Vec3))| measure_ring(&members, k as u32, *axis);
        Ok(self.parts.iter().enumerate().map(one).collect())
    }

    fn largest_gradient(&self) -> (f64, usize) {
        let norm2 = |g: &[f64; 9]| g.iter().map(|x| x * x).sum::<f64>();
        let gradients = &self.evaluated.gradients;
        let largest = gradients
            .iter()
            .enumerate()
            .max_by(|a, b| norm2(a.1).total_cmp(&norm2(b.1)));
        largest.map_or((0.0, 0), |(at, gradient)| (norm2(gradient).sqrt(), at))
    }

    fn enstrophy(&self) -> f64 {
        let parts = self
            .evaluated
            .gradients
            .iter()
            .zip(&self.flow.strengths)
            .zip(&self.sizes);
        parts
            .map(|((gradient, strength), size)| dot(*strength, vorticity(self.motion.core, gradient, *strength, *size)))
            .sum()
    }

    /// What is drawn in one colour: a ring or knot; or, of one knot alone, each of its equal arcs, so that its strands
    /// can be told apart.
    fn colour_groups(&self) -> Vec<u32> {
        match (&self.settings.rings[..], &self.settings.knots[..]) {
            ([], [knot]) => {
                let arc = |along: &f64| (along * f64::from(knot.turns_through)) as u32;
                self.tracer_places.iter().map(arc).collect()
            }
            _ => self.tracer_groups.clone(),
        }
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
        self.evaluate()?;
        let energy = if with_energy {
            energy(&self.elements(), self.motion.core, &mut self.summation)?
        } else {
            f64::NAN
        };
        let velocities = &self.evaluated.rates.positions;
        let invariants = Invariants::of(&self.flow.positions, &self.flow.strengths, velocities);
        let fastest = velocities.iter().map(|u| norm(*u)).fold(0.0, f64::max);
        let mut values = vec![self.flow.positions.len() as f64];
        for vector in [
            invariants.total_vorticity,
            invariants.impulse,
            invariants.angular_impulse,
        ] {
            values.extend(vector);
        }
        values.extend([
            energy,
            invariants.helicity,
            self.enstrophy(),
            fastest,
            self.largest_gradient().0,
        ]);
        for ring in self.rings()? {
            values.extend(ring.centre);
            values.extend([ring.radius, ring.speed]);
        }
        Ok(values)
    }

    fn choose_step(&self, time: &Time) -> StepChoice {
        StepChoice::of(time, || {
            let (gradient, at) = self.largest_gradient();
            StepChoice {
                dt: time.limit / gradient,
                limit: Limit::Strain,
                why: format!(
                    "the velocity gradient is {gradient:.4} at element {at}; step x gradient stays {}",
                    time.limit
                ),
            }
        })
    }

    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error> {
        self.evaluate()?;
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
        if self.motion.diffusion == Diffusion::CoreSpreading {
            self.sizes = self.motion.sizes_later(&self.sizes, dt);
        }
        let every = self.settings.remesh_every;
        if every > 0 && step.is_multiple_of(every) {
            return Ok(vec![self.remesh()]);
        }
        Ok(Vec::new())
    }

    fn snapshot(&self) -> Snapshot {
        let rates = &self.evaluated.rates;
        let or_zero = |values: &[Vec3], n: usize| {
            if values.len() == n {
                values.to_vec()
            } else {
                vec![[0.0; 3]; n]
            }
        };
        let elements = Cloud {
            name: "elements",
            points: self.flow.positions.clone(),
            scalars: vec![
                ("core_size", self.sizes.clone()),
                ("volume", self.volumes.clone()),
                ("part", self.groups.iter().map(|g| f64::from(*g)).collect()),
            ],
            vectors: vec![
                ("strength", self.flow.strengths.clone()),
                ("velocity", or_zero(&rates.positions, self.flow.positions.len())),
            ],
            groups: self.groups.clone(),
        };
        if self.flow.tracers.is_empty() {
            return Snapshot { clouds: vec![elements] };
        }
        let tracers = Cloud {
            name: "tracers",
            points: self.flow.tracers.clone(),
            scalars: vec![
                ("part", self.tracer_groups.iter().map(|g| f64::from(*g)).collect()),
                ("along", self.tracer_places.clone()),
            ],
            vectors: vec![("velocity", or_zero(&rates.tracers, self.flow.tracers.len()))],
            groups: self.colour_groups(),
        };
        Snapshot {
            clouds: vec![tracers, elements],
        }
    }

    fn state(&self) -> State {
        let mut state = State::default();
        state.push_vectors("positions", &self.flow.positions);
        state.push_vectors("strengths", &self.flow.strengths);
        state.push_numbers("sizes", &self.sizes);
        state.push_numbers("volumes", &self.volumes);
        state.push_numbers("groups", &self.groups.iter().map(|g| f64::from(*g)).collect::<Vec<_>>());
        state.push_vectors("tracers", &self.flow.tracers);
        state
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
        (self.evaluated, self.is_evaluated) = (Evaluated::default(), false);
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
