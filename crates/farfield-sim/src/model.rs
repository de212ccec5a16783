//! What every simulated system can do, so that one loop runs them all.

use crate::case::{Case, Time};
use crate::checkpoint::StateView;
use crate::error::Error;
use crate::ranks::Ranks;
use crate::sample::FlowAt;
use crate::summation::Summation;
use crate::vec3::Vec3;
use farfield::memory::{Array, Memory};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A simulated system: its state, its rates of change, and what can be measured of it.
///
/// The loop calls [`evaluate`](Self::evaluate) once at every state, then any of the others, then
/// [`advance`](Self::advance). The state lies in the memory of the host or of a graphics processor; what the host needs of
/// it is fetched when a method asks for it.
pub trait Model: Send {
    /// Computes the rates of change at the present state, if they are not known.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine refuses, for instance because a position is not finite.
    fn evaluate(&mut self) -> Result<(), Error>;

    /// The names of what [`measure`](Self::measure) returns.
    fn columns(&self) -> Vec<String>;

    /// Measures the present state; NaN where something was not asked for.
    ///
    /// # Errors
    /// [`Error::Sum`] from the sum for the energy.
    fn measure(&mut self, with_energy: bool) -> Result<Vec<f64>, Error>;

    /// The next time step, and why it is what it is.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error>;

    /// Goes ahead by `dt`. `step` counts from 1. Returns remarks for the log.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine refuses.
    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error>;

    /// What pictures or field files show.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error>;

    /// The fields of a flow on a grid, for files; `None` where there is no grid.
    fn grid_fields(&self) -> Option<&dyn GridFields> {
        None
    }

    /// The velocity of the flow at points, and its gradient where it is known; `None` for a model without such.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine refuses.
    fn flow_at(&mut self, _points: &[Vec3]) -> Result<Option<FlowAt>, Error> {
        Ok(None)
    }

    /// Whether every number of the state is finite.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn is_finite(&self) -> Result<bool, Error>;

    /// Everything that is needed to go on from here, bit for bit.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn state(&mut self) -> Result<State, Error>;

    /// The same where it lies, without a copy where there is a way; to be written before the next step.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    fn state_view(&mut self) -> Result<StateView<'_>, Error> {
        self.state().map(StateView::from)
    }

    /// Remembers the present state as the last sound one, where it is.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn keep(&mut self) -> Result<(), Error>;

    /// Hands over the state last remembered, if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] if it is on a device that fails.
    fn kept(&mut self) -> Result<Option<State>, Error>;

    /// The same where it lies, without a copy where there is a way.
    ///
    /// # Errors
    /// As [`kept`](Self::kept).
    fn kept_view(&mut self) -> Result<Option<StateView<'_>>, Error> {
        Ok(self.kept()?.map(StateView::from))
    }

    /// Goes back to a state, in the memory it is in.
    ///
    /// # Errors
    /// A sentence about what does not fit.
    fn restore(&mut self, state: &State) -> Result<(), String>;

    /// Moves the state to another memory, where it stays between steps.
    ///
    /// # Errors
    /// [`Error::Device`] if it does not fit or the device fails.
    fn stay_in(&mut self, memory: &Memory<f64>) -> Result<(), Error>;

    /// Whether the state can lie in a graphics processor's memory; else its sums alone are done there.
    fn can_stay_on_a_gpu(&self) -> bool {
        true
    }

    /// From a state that every rank has in full to one that they share: this rank keeps its part. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OneProcess`] for a model that cannot be shared.
    fn share(&mut self, ranks: &Arc<dyn Ranks>) -> Result<(), Error> {
        if ranks.size() == 1 {
            Ok(())
        } else {
            Err(Error::OneProcess)
        }
    }

    /// Moves points to the ranks that should own them, so that all have as much to do. Rates are then unknown. Called by all ranks
    /// together.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    fn deal(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// How sums are done, and what they cost so far.
    fn summation(&mut self) -> &mut Summation;

    /// One line about the size of the system.
    fn describe(&self) -> String;

    /// The points there are, where they lie; the first are drawn.
    fn shown(&self) -> Vec<Shown<'_>> {
        Vec::new()
    }

    /// What [`volume`](Self::volume) can be asked for.
    fn volumes(&self) -> &'static [&'static str] {
        &[]
    }

    /// One number at the points of a regular grid, of which there are at most `most`; `None` if there is no such number.
    ///
    /// # Errors
    /// [`Error::Grid`] if memory is short.
    fn volume(&self, _what: &str, _most: usize) -> Result<Option<Volume>, Error> {
        Ok(None)
    }

    /// Takes over what may change while it runs: how sums are done, the viscosity. Rates are then unknown.
    ///
    /// # Errors
    /// A sentence about what cannot be taken over; then nothing is.
    fn change(&mut self, case: &Case) -> Result<(), String>;

    /// More points to carry along, if the system has such: then how many there are.
    ///
    /// # Errors
    /// [`Error::Device`] if they do not fit into a device's memory.
    fn add_tracers(&mut self, _points: &[Vec3]) -> Result<Option<usize>, Error> {
        Ok(None)
    }
}

/// Points of the present state where they lie, without a copy.
#[derive(Debug)]
pub struct Shown<'a> {
    /// `elements`, `tracers` or `bodies`.
    pub name: &'static str,
    /// Where they are.
    pub points: &'a Array<f64>,
    /// Which ring, knot or galaxy each belongs to.
    pub groups: Cow<'a, [u32]>,
    /// Vectors by name, those that are known.
    pub vectors: Vec<(&'static str, &'a Array<f64>)>,
    /// Numbers by name.
    pub numbers: Vec<(&'static str, &'a Array<f64>)>,
}

/// One number at the points of a regular grid, x fastest, then y, then z.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Volume {
    /// The first point.
    pub origin: Vec3,
    /// The distance between points.
    pub spacing: f64,
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// At each point.
    pub values: Vec<f32>,
    /// How much of each point is inside a body, from 0 to 1; empty without bodies.
    pub inside: Vec<f32>,
    /// The blocks of the grid: lower corner, side and level.
    pub blocks: Vec<(Vec3, f64, u8)>,
}

/// A time step and what limited it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepChoice {
    /// The step.
    pub dt: f64,
    /// What limited it.
    pub limit: Limit,
    /// A sentence for the log.
    pub why: String,
}

impl StepChoice {
    /// The step of the case; or, in a case with adaptive steps, what the system allows if that is shorter.
    ///
    /// # Errors
    /// What `allowed` fails with.
    pub fn of(time: &Time, allowed: impl FnOnce() -> Result<Self, Error>) -> Result<Self, Error> {
        let (limit, why) = if time.adaptive {
            let allowed = allowed()?;
            if allowed.dt < time.step {
                return Ok(allowed);
            }
            let why = format!(
                "the longest step of the case; {:.4} would do: {}",
                allowed.dt, allowed.why
            );
            (Limit::Longest, why)
        } else {
            (Limit::Fixed, "the step of the case".to_owned())
        };
        Ok(Self {
            dt: time.step,
            limit,
            why,
        })
    }
}

/// What limits a time step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Nothing yet: there was no step.
    #[default]
    Start,
    /// The case wants this step always.
    Fixed,
    /// The longest step of the case.
    Longest,
    /// The velocity gradient.
    Strain,
    /// The time in which a body falls through its softening length.
    Fall,
    /// Points cross too many spacings of the grid.
    Courant,
    /// The step before: steps grow slowly.
    Growth,
    /// The end of the case.
    End,
}

impl Limit {
    /// One word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Start => "start",
            Limit::Fixed => "fixed",
            Limit::Longest => "longest",
            Limit::Strain => "strain",
            Limit::Fall => "fall",
            Limit::Courant => "courant",
            Limit::Growth => "growth",
            Limit::End => "end",
        }
    }
}

/// The name of the column that the alarm and the summary look for.
pub const ENERGY: &str = "energy";

/// The name of the column of vortices in the plane that stands for the energy. It may have any sign, so no alarm looks for
/// jumps of it.
pub const HAMILTONIAN: &str = "hamiltonian";

/// Arrays by name: the state of a system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Name, numbers per row, and the numbers row by row.
    pub arrays: Vec<(String, usize, Vec<f64>)>,
}

impl State {
    /// Adds vectors.
    pub fn push_vectors(&mut self, name: &str, vectors: &[Vec3]) {
        self.arrays.push((name.to_owned(), 3, vectors.as_flattened().to_vec()));
    }

    /// Adds numbers.
    pub fn push_numbers(&mut self, name: &str, numbers: &[f64]) {
        self.arrays.push((name.to_owned(), 1, numbers.to_vec()));
    }

    /// Adds points of the plane.
    pub fn push_pairs(&mut self, name: &str, pairs: &[[f64; 2]]) {
        self.arrays.push((name.to_owned(), 2, pairs.as_flattened().to_vec()));
    }

    /// The points of the plane of that name.
    ///
    /// # Errors
    /// A sentence if there are none.
    pub fn pairs(&self, name: &str) -> Result<Vec<[f64; 2]>, String> {
        self.find(name, 2).map(|values| values.as_chunks().0.to_vec())
    }

    /// The vectors of that name.
    ///
    /// # Errors
    /// A sentence if there are none.
    pub fn vectors(&self, name: &str) -> Result<Vec<Vec3>, String> {
        self.find(name, 3).map(|values| values.as_chunks().0.to_vec())
    }

    /// The numbers of that name.
    ///
    /// # Errors
    /// A sentence if there are none.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        self.find(name, 1).map(<[f64]>::to_vec)
    }

    fn find(&self, name: &str, components: usize) -> Result<&[f64], String> {
        self.arrays
            .iter()
            .find(|(found, width, _)| found == name && *width == components)
            .map(|(_, _, values)| &values[..])
            .ok_or_else(|| format!("there is no array `{name}` of {components} columns"))
    }
}

/// Points with what is known about them, for pictures and files.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// `elements`, `tracers` or `bodies`.
    pub name: &'static str,
    /// Where they are.
    pub points: Vec<Vec3>,
    /// Numbers by name.
    pub scalars: Vec<(&'static str, Vec<f64>)>,
    /// Vectors by name.
    pub vectors: Vec<(&'static str, Vec<Vec3>)>,
    /// Which ring, knot or galaxy each belongs to.
    pub groups: Vec<u32>,
}

/// How much of a moment is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Where the points are that a picture draws, and to which part they belong.
    Picture,
    /// All that is known about all points.
    Everything,
}

/// A field across a plane, cell by cell, with the outlines of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// The coordinate that is fixed.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// The coordinates to the right and up.
    pub axes: [&'static str; 2],
    /// The lower corner of the whole plane.
    pub low: [f64; 2],
    /// Its upper corner.
    pub high: [f64; 2],
    /// The lower corner of each cell, its side and its value.
    pub cells: Vec<([f64; 2], f64, f32)>,
    /// The corners of blocks.
    pub outlines: Vec<([f64; 2], [f64; 2])>,
}

/// The fields of a flow where they lie, for files that are written piece by piece.
pub trait GridFields {
    /// Cells along a side of a block.
    fn side(&self) -> usize;

    /// The lower corner of each block and the side of its cells.
    fn blocks(&self) -> Vec<(Vec3, f64)>;

    /// Appends a field at a range of the cells of all blocks: block by block, x fastest, then y, then z.
    fn at_cells(&self, field: FlowField, cells: Range<usize>, out: &mut Vec<f64>);

    /// The finest level that has few enough points for a file.
    fn cut(&self) -> Cut;

    /// A field at [`Cut::SLAB`] layers of points of that level, from layer `slab` times as many on: x fastest, then y, then z.
    ///
    /// # Errors
    /// [`Error::Grid`] for a slab that is not there.
    fn slab(&self, field: FlowField, slab: usize) -> Result<Vec<Vec3>, Error>;
}

/// A field of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowField {
    /// The vorticity.
    Vorticity,
    /// The velocity.
    Velocity,
}

/// All points of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The first point.
    pub origin: Vec3,
    /// The distance between points.
    pub spacing: f64,
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// The value of the Q criterion, $-\frac12\partial_iu_j\partial_ju_i$, that shows vortices.
    pub q_level: f64,
}

impl Cut {
    /// Layers of points in a slab.
    pub const SLAB: usize = 16;
}

/// The size of a flow's vorticity on all points of one level, and where bodies are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Glow {
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// Of each point, x fastest, then y, then z.
    pub magnitude: Vec<f32>,
    /// The distance to the nearest body in spacings, negative inside; empty without bodies.
    pub distance: Vec<f32>,
    /// What is shown as the brightest.
    pub bright: f32,
}

/// What is shown of a moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// In the order of importance for a picture: the first is drawn.
    pub clouds: Vec<Cloud>,
    /// Planes through a flow.
    pub slices: Vec<Slice>,
    /// For a picture of all of a flow.
    pub glow: Option<Glow>,
}
