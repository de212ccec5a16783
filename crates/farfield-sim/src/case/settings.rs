//! The settings of a case, as in the file.

use super::flow::{BodySettings, Flow, FlowRing, GridSettings};
use super::gravity::Gravity;
use super::plane::Plane;
use super::vortex::{Tracers, Vortex};
use crate::error::Error;
use crate::sample::{Quantity, Region};
use crate::vec3::Vec3;
use farfield::Method;
use farfield_grid::poisson::PoissonDevice;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A simulation. Exactly one of `vortex`, `plane`, `gravity` and `flow` is present.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The title of pictures and reports, on one line.
    #[serde(default)]
    pub title: String,
    /// The seed of all random numbers: tracers, stars.
    #[serde(default = "one")]
    pub seed: u64,
    /// The end and the time steps.
    pub time: Time,
    /// The settings of the sums.
    #[serde(default)]
    pub sum: SumSettings,
    /// Files and pictures.
    #[serde(default)]
    pub output: Output,
    /// The alarm that stops a run that blows up.
    #[serde(default)]
    pub alarm: Alarm,
    /// Vortex elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vortex: Option<Vortex>,
    /// Vortices in the plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<Plane>,
    /// Passive points that move with the flow induced by the vortices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracers: Option<Tracers>,
    /// Bodies that attract each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Gravity>,
    /// A flow on an adapted grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The grid of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridSettings>,
    /// Bodies in the flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodySettings>,
    /// Vortex rings in the flow at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ring: Vec<FlowRing>,
}

impl Case {
    /// Checks that `device` can compute this case.
    ///
    /// # Errors
    /// [`Error::Hybrid`] for the device `hybrid` and a case that is not a flow on a grid.
    pub fn check_device(&self, device: PoissonDevice) -> Result<(), Error> {
        match device {
            PoissonDevice::Hybrid(_) if self.flow.is_none() => Err(Error::Hybrid),
            _ => Ok(()),
        }
    }

    /// The files of points, each with the section that names it.
    pub(crate) fn files_mut(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let vortex = self.vortex.iter_mut().flat_map(|vortex| &mut vortex.particles);
        let plane = self.plane.iter_mut().flat_map(|plane| &mut plane.particles);
        let tracers = self.tracers.iter_mut().flat_map(|tracers| &mut tracers.particles);
        let gravity = self.gravity.iter_mut().flat_map(|gravity| &mut gravity.particles);
        let vortex = vortex.map(|file| ("vortex", &mut file.file));
        let plane = plane.map(|file| ("plane", &mut file.file));
        let tracers = tracers.map(|file| ("tracers", &mut file.file));
        let gravity = gravity.map(|file| ("gravity", &mut file.file));
        vortex.chain(plane).chain(tracers).chain(gravity).collect()
    }

    /// This case with the files of `other`, if both have equally many: a run refers to its copies of the files.
    #[must_use]
    pub fn with_files_of(mut self, other: &Self) -> Self {
        let mut other = other.clone();
        let (files, kept) = (self.files_mut(), other.files_mut());
        if files.len() == kept.len() {
            for ((_, file), (_, kept)) in files.into_iter().zip(kept) {
                file.clone_from(kept);
            }
        }
        self
    }

    /// This case with relative paths resolved against `folder`.
    #[must_use]
    pub fn located_in(mut self, folder: &Path) -> Self {
        for (_, file) in self.files_mut() {
            if file.is_relative() {
                *file = folder.join(&*file);
            }
        }
        self
    }
}

fn one() -> u64 {
    1
}

/// The end and the time steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The end time.
    pub end: f64,
    /// The time step; with `adaptive`, the longest allowed.
    pub step: f64,
    /// The time integration scheme.
    #[serde(default = "default_scheme")]
    pub scheme: Scheme,
    /// Whether each step is chosen from the flow.
    #[serde(default)]
    pub adaptive: bool,
    /// With `adaptive`: the limit of step times velocity gradient (vortex, flow), of step times speed over core size
    /// (plane), or of step over the time a body takes to fall through its softening length (gravity).
    #[serde(default = "default_limit")]
    pub limit: f64,
}

fn default_scheme() -> Scheme {
    Scheme::Rk4
}

fn default_limit() -> f64 {
    0.3
}

/// The time integration scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Euler's, first order.
    Euler,
    /// Heun's, second order.
    Rk2,
    /// The classical Runge-Kutta scheme, fourth order.
    Rk4,
    /// Kick-drift-kick, second order and symplectic; for gravity.
    Leapfrog,
    /// Yoshida's composition of three leapfrog steps, fourth order and symplectic; for gravity.
    Yoshida4,
}

impl Scheme {
    /// The name in case files.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Euler => "euler",
            Scheme::Rk2 => "rk2",
            Scheme::Rk4 => "rk4",
            Scheme::Leapfrog => "leapfrog",
            Scheme::Yoshida4 => "yoshida4",
        }
    }
}

/// The settings of the sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SumSettings {
    /// The method.
    pub method: MethodName,
    /// The relative error allowed in each sum.
    pub tolerance: f64,
    /// For experts: one order for all expansions instead of the tolerance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// For experts: the largest number of points in a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_capacity: Option<usize>,
}

impl Default for SumSettings {
    fn default() -> Self {
        Self {
            method: MethodName::Auto,
            tolerance: 1e-5,
            order: None,
            theta: None,
            leaf_capacity: None,
        }
    }
}

/// The names of the methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// The fastest method, according to the cost model.
    Auto,
    /// Direct summation of every pair.
    Direct,
    /// The treecode: multipole expansions of distant boxes, evaluated at each target.
    Treecode,
    /// The fast multipole method.
    Fmm,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Auto => Method::Auto,
            MethodName::Direct => Method::Direct,
            MethodName::Treecode => Method::Treecode,
            MethodName::Fmm => Method::Fmm,
        }
    }
}

/// Files and pictures. Intervals are in steps; 0 means only at the end. The end is always written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Steps between pictures.
    pub frames_every: u64,
    /// Steps between field files.
    pub fields_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Steps between rows of diagnostics.
    pub diagnostics_every: u64,
    /// Rows of diagnostics from one with the energy to the next. For vortices the energy needs a separate sum.
    pub energy_every: u64,
    /// The predefined views of the pictures. The animation shows the first. Empty: no pictures.
    pub views: Vec<View>,
    /// User-defined views, in addition to `views`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub view: Vec<OwnView>,
    /// Fields sampled on grids and slices, as often as field files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<SampleSettings>,
    /// The number of previous pictures whose points are drawn faintly as trails; 0 for none.
    pub trails: usize,
    /// Make a film, `film.mp4` or `film.webm`, of all pictures of the first view. Needs the program ffmpeg.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub film: Option<FilmName>,
    /// Width and height of the pictures, in pixels.
    pub image: [u32; 2],
    /// The smallest half extent of pictures along x, y and z, so that a growing flow does not rescale them.
    pub reach: [f64; 3],
    /// Make an animation, `animation.gif`, of all pictures of the first view.
    pub animation: bool,
    /// Write `.vtp` files and their `.pvd` index.
    pub vtk: bool,
    /// Write `.npz` files.
    pub npz: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            frames_every: 0,
            fields_every: 0,
            checkpoint_every: 100,
            diagnostics_every: 1,
            energy_every: 1,
            views: vec![View::Oblique, View::Side, View::Axis],
            view: Vec::new(),
            sample: Vec::new(),
            trails: 0,
            film: None,
            image: [800, 600],
            reach: [0.0; 3],
            animation: true,
            vtk: true,
            npz: true,
        }
    }
}

/// A predefined view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// From above, at an angle.
    Oblique,
    /// Across the z axis, which points right.
    Side,
    /// Along the z axis.
    Axis,
}

impl View {
    /// The name in case files and file names.
    pub fn name(self) -> &'static str {
        match self {
            View::Oblique => "oblique",
            View::Side => "side",
            View::Axis => "axis",
        }
    }
}

/// A grid or slice on which the flow is sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleSettings {
    /// The name of its files.
    pub name: String,
    /// The lower corner of the box.
    pub low: Vec3,
    /// Its upper corner. A side of length 0 makes a slice.
    pub high: Vec3,
    /// Points along the longest side.
    #[serde(default = "default_sample_resolution")]
    pub resolution: usize,
    /// The quantities that are sampled.
    #[serde(default = "default_quantities")]
    pub quantities: Vec<Quantity>,
}

fn default_sample_resolution() -> usize {
    128
}

fn default_quantities() -> Vec<Quantity> {
    vec![Quantity::Velocity, Quantity::Vorticity]
}

impl SampleSettings {
    /// The grid of its points.
    ///
    /// # Errors
    /// A sentence naming the problem.
    pub fn region(&self) -> Result<Region, String> {
        Region::new(self.low, self.high, self.resolution)
    }
}

/// A user-defined view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnView {
    /// The name of its folder.
    pub name: String,
    /// The position of the camera.
    pub eye: Vec3,
    /// The point at the centre of the picture.
    #[serde(default)]
    pub target: Vec3,
    /// The direction to the top of the picture.
    #[serde(default = "z_axis", deserialize_with = "super::value::direction")]
    pub up: Vec3,
    /// The magnification.
    #[serde(default = "unit_value")]
    pub scale: f64,
    /// Whether eye and target are relative to the centre of the points, so that the camera moves with them.
    #[serde(default)]
    pub follow: bool,
    /// The rotation of the camera about the target, around `up`, in degrees per unit of time.
    #[serde(default)]
    pub turn: f64,
    /// Later positions of the camera, which moves smoothly between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Waypoint>,
}

/// The position of a camera at a given time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// The time.
    pub time: f64,
    /// The position of the camera.
    pub eye: Vec3,
    /// The point at the centre of the picture.
    #[serde(default)]
    pub target: Vec3,
}

/// The film formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilmName {
    /// H.264 in MP4.
    Mp4,
    /// VP9 in WebM.
    Webm,
}

impl FilmName {
    /// The extension of its file.
    pub fn extension(self) -> &'static str {
        match self {
            FilmName::Mp4 => "mp4",
            FilmName::Webm => "webm",
        }
    }
}

/// The alarm that stops a run that blows up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alarm {
    /// The largest accepted relative change of the energy between two rows of diagnostics; 0 accepts any.
    pub energy_jump: f64,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { energy_jump: 0.1 }
    }
}

/// The default value 1.
pub(super) fn unit_value() -> f64 {
    1.0
}

/// The default direction.
pub(super) fn z_axis() -> Vec3 {
    [0.0, 0.0, 1.0]
}
