//! The interface of every simulated system, so that one loop runs them all.

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

/// A simulated system: its state, its rates of change, and its measurements.
///
/// The loop calls [`evaluate`](Self::evaluate) once at every state, then any of the other methods, then
/// [`advance`](Self::advance). The state is in the memory of the host or of a GPU; methods that need it on the host
/// fetch it.
pub trait Model: Send {
    /// Computes the rates of change at the current state, unless they are known.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects the sum, for instance because a position is not finite.
    fn evaluate(&mut self) -> Result<(), Error>;

    /// The names of the values that [`measure`](Self::measure) returns.
    fn columns(&self) -> Vec<String>;

    /// Measures the current state. An energy that needs a separate sum is NaN unless `with_energy` is set.
    ///
    /// # Errors
    /// [`Error::Sum`] from the sum for the energy.
    fn measure(&mut self, with_energy: bool) -> Result<Vec<f64>, Error>;

    /// The next time step and its limit.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error>;

    /// Advances by `dt`. `step` counts from 1. Returns remarks for the log.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects the sum.
    fn advance(&mut self, dt: f64, step: u64) -> Result<Vec<String>, Error>;

    /// The points and fields that pictures or field files show.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn snapshot(&mut self, show: Show) -> Result<Snapshot, Error>;

    /// The fields of a flow on a grid, for files; `None` for a model without a grid.
    fn grid_fields(&self) -> Option<&dyn GridFields> {
        None
    }

    /// The velocity of the flow at points, and its gradient if the model computes it; `None` for a model without a
    /// velocity field.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects the sum.
    fn flow_at(&mut self, _points: &[Vec3]) -> Result<Option<FlowAt>, Error> {
        Ok(None)
    }

    /// Whether every number of the state is finite.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn is_finite(&self) -> Result<bool, Error>;

    /// Everything needed to continue from here with the same bits.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn state(&mut self) -> Result<State, Error>;

    /// As [`state`](Self::state), but borrowed in place if the model can; must be written before the next step.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    fn state_view(&mut self) -> Result<StateView<'_>, Error> {
        self.state().map(StateView::from)
    }

    /// Keeps a copy of the current state as the last valid one, in the memory where the state is.
    ///
    /// # Errors
    /// [`Error::Device`] if the state is on a device that fails.
    fn keep(&mut self) -> Result<(), Error>;

    /// Hands over the state last [kept](Self::keep), if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] if it is on a device that fails.
    fn kept(&mut self) -> Result<Option<State>, Error>;

    /// As [`kept`](Self::kept), but borrowed in place if the model can.
    ///
    /// # Errors
    /// As [`kept`](Self::kept).
    fn kept_view(&mut self) -> Result<Option<StateView<'_>>, Error> {
        Ok(self.kept()?.map(StateView::from))
    }

    /// Replaces the current state by `state`, in the memory where the model keeps it.
    ///
    /// # Errors
    /// A sentence naming the mismatch.
    fn restore(&mut self, state: &State) -> Result<(), String>;

    /// Moves the state to another memory, where it stays between steps.
    ///
    /// # Errors
    /// [`Error::Device`] if it does not fit or the device fails.
    fn stay_in(&mut self, memory: &Memory<f64>) -> Result<(), Error>;

    /// Whether the state can be kept in GPU memory. Otherwise only the sums run on the GPU.
    fn can_stay_on_a_gpu(&self) -> bool {
        true
    }

    /// Distributes a state that every rank has in full: this rank keeps its part. Called by all ranks together.
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

    /// Redistributes points over the ranks to balance their work. Rates of change become unknown. Called by all ranks
    /// together.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    fn deal(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The settings of the sums, and the time spent on them.
    fn summation(&mut self) -> &mut Summation;

    /// One line about the size of the system.
    fn describe(&self) -> String;

    /// The point sets of the current state, borrowed in place. Pictures draw the first.
    fn shown(&self) -> Vec<Shown<'_>> {
        Vec::new()
    }

    /// The quantities that [`volume`](Self::volume) can compute.
    fn volumes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The quantity `what` on a regular grid of at most `most` points; `None` if there is no such quantity.
    ///
    /// # Errors
    /// [`Error::Grid`] if there is not enough memory.
    fn volume(&self, _what: &str, _most: usize) -> Result<Option<Volume>, Error> {
        Ok(None)
    }

    /// Applies the settings that may change during a run: those of the sums, and the viscosity. Rates of change become
    /// unknown.
    ///
    /// # Errors
    /// A sentence naming the setting that cannot change; then nothing is changed.
    fn change(&mut self, case: &Case) -> Result<(), String>;

    /// Adds tracers and returns their new number; `None` for a system without tracers.
    ///
    /// # Errors
    /// [`Error::Device`] if they do not fit into a device's memory.
    fn add_tracers(&mut self, _points: &[Vec3]) -> Result<Option<usize>, Error> {
        Ok(None)
    }
}

/// Points of the current state, borrowed in place.
#[derive(Debug)]
pub struct Shown<'a> {
    /// `elements`, `tracers` or `bodies`.
    pub name: &'static str,
    /// Their positions.
    pub points: &'a Array<f64>,
    /// The ring, knot or galaxy of each point.
    pub groups: Cow<'a, [u32]>,
    /// The known vectors, by name.
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
    /// The value at each point.
    pub values: Vec<f32>,
    /// The fraction of each point that is inside a body, from 0 to 1; empty without bodies.
    pub inside: Vec<f32>,
    /// The blocks of the grid: lower corner, side and level.
    pub blocks: Vec<(Vec3, f64, u8)>,
}

/// A time step and its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct StepChoice {
    /// The step.
    pub dt: f64,
    /// The limit that set it.
    pub limit: Limit,
    /// An explanation for the log.
    pub why: String,
}

impl StepChoice {
    /// The step of the case. With adaptive steps, the step that the system allows if that is shorter.
    ///
    /// # Errors
    /// The errors of `allowed`.
    pub fn of(time: &Time, allowed: impl FnOnce() -> Result<Self, Error>) -> Result<Self, Error> {
        let (limit, why) = if time.adaptive {
            let allowed = allowed()?;
            if allowed.dt < time.step {
                return Ok(allowed);
            }
            let why = format!(
                "the longest step of the case; {:.4} would be allowed: {}",
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

/// The limit that sets a time step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// No step has been taken yet.
    #[default]
    Start,
    /// The fixed step of the case.
    Fixed,
    /// The longest step that the case allows.
    Longest,
    /// The velocity gradient.
    Strain,
    /// The time a body takes to fall through its softening length.
    Fall,
    /// The number of grid spacings (in the plane, core sizes) that a point may cross.
    Courant,
    /// The previous step: steps grow slowly.
    Growth,
    /// The end of the case.
    End,
}

impl Limit {
    /// The name in tables.
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

/// The column of the energy, which the alarm and the summary use.
pub const ENERGY: &str = "energy";

/// The column of the Hamiltonian, which stands for the energy of vortices in the plane. It may have either sign, so the
/// alarm does not check its jumps.
pub const HAMILTONIAN: &str = "hamiltonian";

/// The state of a system: arrays by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// The name, the number of columns, and the values row by row.
    pub arrays: Vec<(String, usize, Vec<f64>)>,
}

impl State {
    /// Adds an array of vectors.
    pub fn push_vectors(&mut self, name: &str, vectors: &[Vec3]) {
        self.arrays.push((name.to_owned(), 3, vectors.as_flattened().to_vec()));
    }

    /// Adds an array of numbers.
    pub fn push_numbers(&mut self, name: &str, numbers: &[f64]) {
        self.arrays.push((name.to_owned(), 1, numbers.to_vec()));
    }

    /// Adds an array of points of the plane.
    pub fn push_pairs(&mut self, name: &str, pairs: &[[f64; 2]]) {
        self.arrays.push((name.to_owned(), 2, pairs.as_flattened().to_vec()));
    }

    /// The array `name` of points of the plane.
    ///
    /// # Errors
    /// A sentence if there is no such array.
    pub fn pairs(&self, name: &str) -> Result<Vec<[f64; 2]>, String> {
        self.find(name, 2).map(|values| values.as_chunks().0.to_vec())
    }

    /// The array `name` of vectors.
    ///
    /// # Errors
    /// A sentence if there is no such array.
    pub fn vectors(&self, name: &str) -> Result<Vec<Vec3>, String> {
        self.find(name, 3).map(|values| values.as_chunks().0.to_vec())
    }

    /// The array `name` of numbers.
    ///
    /// # Errors
    /// A sentence if there is no such array.
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

/// Points and their known attributes, for pictures and files.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// `elements`, `tracers`, `vortices` or `bodies`.
    pub name: &'static str,
    /// Their positions.
    pub points: Vec<Vec3>,
    /// Numbers by name.
    pub scalars: Vec<(&'static str, Vec<f64>)>,
    /// Vectors by name.
    pub vectors: Vec<(&'static str, Vec<Vec3>)>,
    /// The ring, knot or galaxy of each point.
    pub groups: Vec<u32>,
}

/// The extent of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// The positions and groups of the points that a picture draws.
    Picture,
    /// All attributes of all points.
    Everything,
}

/// A field on a plane, cell by cell, with the outlines of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// The fixed coordinate.
    pub name: &'static str,
    /// The title: the field shown.
    pub title: String,
    /// The names of the horizontal and vertical coordinates.
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

/// The fields of a flow, borrowed in place, for files that are written piece by piece.
pub trait GridFields {
    /// Cells along a side of a block.
    fn side(&self) -> usize;

    /// The lower corner of each block and the side of its cells.
    fn blocks(&self) -> Vec<(Vec3, f64)>;

    /// Appends a field at a range of the cells of all blocks, ordered block by block, x fastest, then y, then z.
    fn at_cells(&self, field: FlowField, cells: Range<usize>, out: &mut Vec<f64>);

    /// The points of the finest level that has few enough of them for a file.
    fn cut(&self) -> Cut;

    /// A field on the [`Cut::SLAB`] layers of the cut that start at layer `slab * Cut::SLAB`: x fastest, then y, then
    /// z.
    ///
    /// # Errors
    /// [`Error::Grid`] for a slab outside the cut.
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

/// The regular grid of all points of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The first point.
    pub origin: Vec3,
    /// The distance between points.
    pub spacing: f64,
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// The isovalue of the Q criterion, $-\frac12\partial_iu_j\partial_ju_i$, at which vortices are shown.
    pub q_level: f64,
}

impl Cut {
    /// Layers of points in a slab.
    pub const SLAB: usize = 16;
}

/// The magnitude of a flow's vorticity on all points of one level, and the distance to bodies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Glow {
    /// Points along x, y and z.
    pub size: [usize; 3],
    /// The magnitude at each point, x fastest, then y, then z.
    pub magnitude: Vec<f32>,
    /// The distance to the nearest body in spacings, negative inside; empty without bodies.
    pub distance: Vec<f32>,
    /// The magnitude that is drawn brightest.
    pub bright: f32,
}

/// The points and fields shown of one state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Point sets; pictures draw the first.
    pub clouds: Vec<Cloud>,
    /// Planes through a flow.
    pub slices: Vec<Slice>,
    /// The volume for a picture of the whole flow.
    pub glow: Option<Glow>,
}
