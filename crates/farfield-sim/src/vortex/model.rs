//! Vortex elements and tracers as a [`Model`].

use super::Elements;
use super::motion::{Cores, Evaluated, Flow, Motion};
use super::remesh::remesh;
use super::tracers::{Tracers, place_tracers};
use super::{files, tube};
use crate::case::{Case, Scheme, Time, Vortex};
use crate::error::{CaseError, Error};
use crate::integrate::{System, runge_kutta};
use crate::model::{ENERGY, Limit, Model, Show, Shown, Snapshot, State, StepChoice};
use crate::ranks::{Alone, Kept, Ranks, any, count_all, largest, part, to_first};
use crate::sample::FlowAt;
use crate::summation::Summation;
use crate::vec3::{Vec3, unit};
use farfield::kernel::Core;
use farfield::memory::Memory;
use farfield::tuning::MachineProfile;
use std::sync::Arc;

/// Vortex elements and passive tracers.
#[derive(Debug)]
pub struct VortexModel {
    pub(super) settings: Vortex,
    scheme: Scheme,
    pub(super) motion: Motion,
    /// The memory of the flow.
    memory: Memory<f64>,
    pub(super) flow: Flow,
    pub(super) cores: Cores,
    pub(super) groups: Vec<u32>,
    pub(super) tracer_groups: Vec<u32>,
    /// The initial position of each tracer along its line, from 0 to 1.
    pub(super) tracer_places: Vec<f64>,
    /// Name and axis of each ring, knot and part of a file.
    pub(super) parts: Vec<(String, Vec3)>,
    /// Rates of change at the current state, if known.
    pub(super) evaluated: Option<Evaluated>,
    /// The last valid state: the flow, in its memory, and the attributes of the elements that are not part of it.
    kept: Option<(Flow, Elements)>,
    /// The last valid state if ranks share it, because ownership may change before it is needed.
    kept_part: Option<State>,
    /// Whether points are distributed over ranks, so that they are not in the order of the case.
    is_dealt: bool,
    /// Whether this model was built as one rank's part.
    is_part: bool,
    pub(super) summation: Summation,
}

impl VortexModel {
    /// Builds the initial state of a case with a `[vortex]` section.
    ///
    /// # Errors
    /// [`CaseError`] if the elements do not fit the cores, or the section is missing.
    pub fn new(case: &Case, profile: MachineProfile) -> Result<Self, CaseError> {
        Self::of_rank(case, profile, &Alone)
    }

    /// As [`new`](Self::new), but only this rank's part of the elements and tracers. Does not communicate.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_rank(case: &Case, profile: MachineProfile, ranks: &dyn Ranks) -> Result<Self, CaseError> {
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
        let lines = tube::lines_of(&settings);
        let in_tubes = tube::count(&settings, &lines).map_err(wrong)?;
        let mut kept = Kept::of(ranks, in_tubes + files::count(&settings.particles, "vortex")?);
        let mut elements = tube::fill(&settings, &lines, &mut kept).map_err(wrong)?;
        let from_files = files::add_elements(&settings, lines.len(), &mut kept, &mut elements)?;
        let mut tracers = Tracers::default();
        if let Some(settings) = &case.tracers {
            let in_tubes = if lines.is_empty() { 0 } else { settings.count };
            let mut kept = Kept::of(ranks, in_tubes + files::count(&settings.particles, "tracers")?);
            tracers = place_tracers(&lines, (settings.count, settings.thickness), case.seed, &mut kept);
            files::add_tracers(settings, lines.len(), &mut kept, &mut tracers)?;
        }
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
            .chain((1..=from_files).map(|k| (format!("particles{k}"), [0.0, 0.0, 1.0])))
            .collect();
        let memory = Memory::host();
        let stored = Flow::new(&memory, &elements.positions, &elements.strengths, &tracers.positions);
        let stored = stored.and_then(|flow| Ok((flow, Cores::new(&Alone, &memory, elements.sizes, elements.volumes)?)));
        let (flow, cores) = stored.map_err(|error| wrong(("vortex".to_owned(), error.to_string())))?;
        Ok(Self {
            scheme: case.time.scheme,
            motion,
            memory,
            flow,
            cores,
            groups: elements.groups,
            tracer_groups: tracers.groups,
            tracer_places: tracers.along,
            parts,
            evaluated: None,
            kept: None,
            kept_part: None,
            is_dealt: false,
            is_part: ranks.size() > 1,
            summation: Summation::new(case.sum.clone(), profile),
            settings,
        })
    }

    /// The current elements.
    ///
    /// # Errors
    /// [`Error::Device`] if they are on a device that fails.
    pub fn elements(&self) -> Result<Elements, Error> {
        Ok(Elements {
            positions: self.flow.positions.vectors()?.to_vec(),
            strengths: self.flow.strengths.vectors()?.to_vec(),
            ..self.rest_of_elements()
        })
    }

    /// The attributes of the elements that are not part of the flow.
    fn rest_of_elements(&self) -> Elements {
        Elements {
            sizes: self.cores.sizes.clone(),
            volumes: self.cores.volumes.clone(),
            groups: self.groups.clone(),
            ..Elements::default()
        }
    }

    /// The current positions of the tracers.
    ///
    /// # Errors
    /// [`Error::Device`] if they are on a device that fails.
    pub fn tracers(&self) -> Result<&[Vec3], Error> {
        Ok(self.flow.tracers.vectors()?)
    }

    /// The number of elements.
    fn element_count(&self) -> usize {
        self.flow.positions.len() / 3
    }

    /// Replaces the core sizes.
    fn set_sizes(&mut self, sizes: Vec<f64>) -> Result<(), Error> {
        let volumes = std::mem::take(&mut self.cores.volumes);
        self.cores = Cores::new(&*self.summation.ranks, &self.memory, sizes, volumes)?;
        Ok(())
    }

    /// Puts tracers added during the run into a group of their own, after all others.
    fn group_added_tracers(&mut self, count: usize) {
        let added = self.parts.len() as u32;
        self.tracer_groups.extend(std::iter::repeat_n(added, count));
        self.tracer_places.extend(std::iter::repeat_n(0.0, count));
    }

    fn remesh(&mut self) -> Result<String, Error> {
        let ranks = self.summation.ranks.clone();
        let before = count_all(&*ranks, self.element_count());
        let (overlap, cutoff) = (self.settings.overlap, self.settings.remesh_cutoff);
        let remeshed = remesh(&self.elements()?, overlap, cutoff, &*ranks);
        let Elements {
            positions,
            strengths,
            sizes,
            volumes,
            groups,
        } = remeshed.elements;
        self.flow.positions = self.memory.store(positions.as_flattened().to_vec())?;
        self.flow.strengths = self.memory.store(strengths.as_flattened().to_vec())?;
        self.cores = Cores::new(&*ranks, &self.memory, sizes, volumes)?;
        self.groups = groups;
        Ok(format!(
            "remeshed {before} elements to {} on a grid of spacing {:.4}; a fraction {:.1e} of the strength was in \
             dropped weak elements and was spread over the others",
            count_all(&*ranks, self.element_count()),
            remeshed.spacing,
            remeshed.dropped
        ))
    }
}

impl Model for VortexModel {
    fn evaluate(&mut self) -> Result<(), Error> {
        if self.evaluated.is_none() {
            self.evaluated = Some(self.motion.rates(&self.flow, &self.cores, &mut self.summation)?);
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
            let (gradient, at) = self.largest_gradient()?;
            Ok(StepChoice {
                dt: time.limit / gradient,
                limit: Limit::Strain,
                why: format!(
                    "the velocity gradient is {gradient:.4} at {at}; the limit of step x gradient is {}",
                    time.limit
                ),
            })
        })
    }

    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error> {
        self.evaluate()?;
        let Some(Evaluated { rates: first, .. }) = self.evaluated.take() else {
            return Ok(Vec::new());
        };
        let (motion, cores, memory, summation) = (&self.motion, &self.cores, &self.memory, &mut self.summation);
        self.flow = runge_kutta(self.scheme, &self.flow, &first, dt, |stage, later| {
            let evaluated = if motion.spreads_cores() {
                let sizes = motion.sizes_later(&cores.sizes, later);
                let later = Cores::new(&*summation.ranks, memory, sizes, cores.volumes.clone())?;
                motion.rates(stage, &later, summation)
            } else {
                motion.rates(stage, cores, summation)
            };
            evaluated.map(|evaluated| evaluated.rates)
        })?;
        if self.motion.spreads_cores() {
            self.set_sizes(self.motion.sizes_later(&self.cores.sizes, dt))?;
        }
        let every = self.settings.remesh_every;
        if every == 0 || !step.is_multiple_of(every) {
            return Ok(Vec::new());
        }
        Ok(vec![self.remesh()?])
    }

    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error> {
        match show {
            Show::Picture => self.drawn(),
            Show::Everything => self.clouds(),
        }
    }

    fn flow_at(&mut self, points: &[Vec3]) -> Result<Option<FlowAt>, Error> {
        // Each rank evaluates a part of the points; the first rank gets all results.
        let ranks = self.summation.ranks.clone();
        let own = &points[part(&*ranks, points.len())];
        let targets = self.memory.store(own.as_flattened().to_vec())?;
        let [velocities, gradients] = self
            .motion
            .flow_at(&self.flow, &self.cores, &targets, &mut self.summation)?;
        let [velocities, gradients] = [velocities.values()?, gradients.values()?].map(|own| to_first(&*ranks, own));
        Ok(Some(FlowAt {
            velocities: velocities.as_chunks().0.to_vec(),
            gradients: Some(gradients.as_chunks().0.to_vec()),
        }))
    }

    fn is_finite(&self) -> Result<bool, Error> {
        let mut numbers = self.cores.sizes.iter().chain(&self.cores.volumes);
        let is_finite = numbers.all(|value| value.is_finite()) && self.flow.is_finite()?;
        Ok(!any(&*self.summation.ranks, !is_finite))
    }

    fn state(&mut self) -> Result<State, Error> {
        let mut state = state_of(&self.flow, &self.rest_of_elements())?;
        if self.is_dealt {
            // Otherwise tracers are in the order of the case, which determines their groups and places.
            let groups: Vec<f64> = self.tracer_groups.iter().map(|g| f64::from(*g)).collect();
            state.push_numbers("tracer_groups", &groups);
            state.push_numbers("tracer_places", &self.tracer_places);
        }
        Ok(state)
    }

    fn keep(&mut self) -> Result<(), Error> {
        if self.is_dealt {
            self.kept_part = Some(self.state()?);
        } else {
            self.kept = Some((self.flow.copy()?, self.rest_of_elements()));
        }
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        if let Some(state) = self.kept_part.take() {
            return Ok(Some(state));
        }
        self.kept.take().map(|(flow, rest)| state_of(&flow, &rest)).transpose()
    }

    fn stay_in(&mut self, memory: &Memory<f64>) -> Result<(), Error> {
        self.flow = self.flow.moved_to(memory)?;
        self.memory = memory.clone();
        self.evaluated = None;
        self.set_sizes(self.cores.sizes.clone())
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let (positions, strengths) = (state.vectors("positions")?, state.vectors("strengths")?);
        let (sizes, volumes) = (state.numbers("sizes")?, state.numbers("volumes")?);
        let tracers = state.vectors("tracers")?;
        let groups: Vec<u32> = state.numbers("groups")?.iter().map(|g| *g as u32).collect();
        let n = positions.len();
        if [strengths.len(), sizes.len(), volumes.len(), groups.len()] != [n; 4] {
            return Err(format!("the arrays of {n} elements have different lengths"));
        }
        let (found, expected) = (tracers.len(), self.tracer_groups.len());
        if let (Ok(groups), Ok(places)) = (state.numbers("tracer_groups"), state.numbers("tracer_places")) {
            // The case does not determine the groups and places of distributed tracers.
            if [groups.len(), places.len()] != [found; 2] {
                return Err(format!("the arrays of {found} tracers have different lengths"));
            }
            self.tracer_groups = groups.iter().map(|g| *g as u32).collect();
            self.tracer_places = places;
            self.is_dealt = true;
        } else if found < expected {
            return Err(format!("it has {found} tracers, but the case has {expected}"));
        } else {
            self.group_added_tracers(found - expected);
        }
        let as_text = |error: Error| error.to_string();
        self.flow = Flow::new(&self.memory, &positions, &strengths, &tracers).map_err(as_text)?;
        self.cores = Cores::new(&*self.summation.ranks, &self.memory, sizes, volumes).map_err(as_text)?;
        (self.groups, self.evaluated) = (groups, None);
        Ok(())
    }

    fn share(&mut self, ranks: &Arc<dyn Ranks>) -> Result<(), Error> {
        self.summation.ranks = ranks.clone();
        if ranks.size() == 1 {
            return Ok(());
        }
        self.is_dealt = true;
        let (elements, tracers) = (self.element_rows()?, self.tracer_rows()?);
        let is_part = self.is_part;
        let own = |rows: &[f64], columns: usize| {
            let all = rows.len() / columns;
            let part = if is_part { 0..all } else { part(&**ranks, all) };
            rows[part.start * columns..part.end * columns].to_vec()
        };
        self.take_elements(&own(&elements, ELEMENT))?;
        self.take_tracers(&own(&tracers, TRACER))
    }

    fn deal(&mut self) -> Result<(), Error> {
        let rows = self.element_rows()?;
        let request = self.motion.sum_of_elements(&self.flow, &self.cores);
        let elements = self.summation.deal(&request, &rows, ELEMENT)?;
        self.take_elements(&elements)?;
        if self.has_tracers() {
            let rows = self.tracer_rows()?;
            let of_elements = self.motion.sum_of_elements(&self.flow, &self.cores);
            let request = self.motion.sum_at_tracers(&of_elements, &self.flow);
            let tracers = self.summation.deal(&request, &rows, TRACER)?;
            self.take_tracers(&tracers)?;
        }
        Ok(())
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        let ranks = &*self.summation.ranks;
        let core = largest(ranks, self.cores.sizes.first().copied().unwrap_or(0.0));
        format!(
            "{} vortex elements in {} part(s), core size {:.4}, {} tracers",
            count_all(ranks, self.element_count()),
            self.parts.len(),
            core,
            count_all(ranks, self.flow.tracers.len() / 3)
        )
    }

    fn shown(&self) -> Vec<Shown<'_>> {
        self.points()
    }

    fn change(&mut self, case: &Case) -> Result<(), String> {
        let vortex = case.vortex.as_ref().ok_or("the section [vortex] is missing")?;
        self.motion.viscosity = vortex.viscosity;
        self.settings.viscosity = vortex.viscosity;
        self.summation.settings = case.sum.clone();
        self.evaluated = None;
        Ok(())
    }

    fn add_tracers(&mut self, points: &[Vec3]) -> Result<Option<usize>, Error> {
        let mut all = self.flow.tracers.values()?.to_vec();
        all.extend_from_slice(points.as_flattened());
        self.flow.tracers = self.memory.store(all)?;
        self.group_added_tracers(points.len());
        self.evaluated = None;
        Ok(Some(self.tracer_groups.len()))
    }
}

/// The numbers of an element in a message: position, strength, size, volume, group.
const ELEMENT: usize = 9;
/// The numbers of a tracer in a message: position, group, place along its line.
const TRACER: usize = 5;

/// Conversion of elements and tracers to and from rows of messages between ranks.
impl VortexModel {
    fn element_rows(&self) -> Result<Vec<f64>, Error> {
        let (positions, strengths) = (self.flow.positions.vectors()?, self.flow.strengths.vectors()?);
        let (sizes, volumes) = (&self.cores.sizes, &self.cores.volumes);
        let row = |k: usize| {
            let ([x, y, z], [a, b, c]): (Vec3, Vec3) = (positions[k], strengths[k]);
            [x, y, z, a, b, c, sizes[k], volumes[k], f64::from(self.groups[k])]
        };
        Ok((0..positions.len()).flat_map(row).collect())
    }

    fn take_elements(&mut self, rows: &[f64]) -> Result<(), Error> {
        let rows = rows.as_chunks::<ELEMENT>().0;
        let column = |at: usize| rows.iter().map(move |row| row[at]);
        let columns = |at: usize| rows.iter().flat_map(move |row| row[at..at + 3].iter().copied());
        self.flow.positions = self.memory.store(columns(0).collect())?;
        self.flow.strengths = self.memory.store(columns(3).collect())?;
        let ranks = &*self.summation.ranks;
        self.cores = Cores::new(ranks, &self.memory, column(6).collect(), column(7).collect())?;
        self.groups = column(8).map(|group| group as u32).collect();
        self.evaluated = None;
        Ok(())
    }

    fn tracer_rows(&self) -> Result<Vec<f64>, Error> {
        let points = self.tracers()?.iter().zip(&self.tracer_groups).zip(&self.tracer_places);
        Ok(points
            .flat_map(|(([x, y, z], group), along)| [*x, *y, *z, f64::from(*group), *along])
            .collect())
    }

    fn take_tracers(&mut self, rows: &[f64]) -> Result<(), Error> {
        let rows = rows.as_chunks::<TRACER>().0;
        let points = rows.iter().flat_map(|row| row[..3].iter().copied());
        self.flow.tracers = self.memory.store(points.collect())?;
        self.tracer_groups = rows.iter().map(|row| row[3] as u32).collect();
        self.tracer_places = rows.iter().map(|row| row[4]).collect();
        self.evaluated = None;
        Ok(())
    }
}

/// The arrays of a checkpoint: a flow, and the attributes `rest` of its elements that are not part of it.
fn state_of(flow: &Flow, rest: &Elements) -> Result<State, Error> {
    let mut state = State::default();
    state.push_vectors("positions", flow.positions.vectors()?);
    state.push_vectors("strengths", flow.strengths.vectors()?);
    state.push_numbers("sizes", &rest.sizes);
    state.push_numbers("volumes", &rest.volumes);
    let groups: Vec<f64> = rest.groups.iter().map(|g| f64::from(*g)).collect();
    state.push_numbers("groups", &groups);
    state.push_vectors("tracers", flow.tracers.vectors()?);
    Ok(state)
}
