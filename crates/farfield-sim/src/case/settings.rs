//! The settings of a case, as they stand in the file.

use crate::vec3::Vec3;
use farfield::Method;
use farfield::kernel::Core;
use serde::{Deserialize, Serialize};

/// A simulation: exactly one of `vortex` and `gravity` is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// One line for pictures and reports.
    #[serde(default)]
    pub title: String,
    /// Seed of everything random: tracers, stars.
    #[serde(default = "one")]
    pub seed: u64,
    /// How long and in which steps.
    pub time: Time,
    /// How sums are done.
    #[serde(default)]
    pub sum: SumSettings,
    /// Files and pictures.
    #[serde(default)]
    pub output: Output,
    /// When to stop a run that goes wrong.
    #[serde(default)]
    pub alarm: Alarm,
    /// Vortex elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vortex: Option<Vortex>,
    /// Passive points that move with the flow of the vortices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracers: Option<Tracers>,
    /// Bodies that attract each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Gravity>,
}

fn one() -> u64 {
    1
}

/// How long and in which steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// When the simulation ends.
    pub end: f64,
    /// The time step; with `adaptive`, the longest one.
    pub step: f64,
    /// How a step is done.
    #[serde(default = "default_scheme")]
    pub scheme: Scheme,
    /// Choose each step from the flow.
    #[serde(default)]
    pub adaptive: bool,
    /// With `adaptive`: the largest step times velocity gradient (vortex), or the largest step over the time in which
    /// a body falls through its softening length (gravity).
    #[serde(default = "default_limit")]
    pub limit: f64,
}

fn default_scheme() -> Scheme {
    Scheme::Rk4
}

fn default_limit() -> f64 {
    0.3
}

/// How a step is done.
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

/// How sums are done.
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
    /// For experts: how many points a box may hold.
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

/// The methods by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// The fastest, by the cost model.
    Auto,
    /// Every pair.
    Direct,
    /// Multipoles of far boxes at each target.
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

/// Files and pictures. Intervals are in steps; 0 means only at the end, and the end is always written.
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
    /// Rows of diagnostics between those with the energy, which costs a sum of its own (vortex).
    pub energy_every: u64,
    /// From where the pictures look; the animation is made of the first. None: no pictures.
    pub views: Vec<View>,
    /// Width and height of the pictures, in pixels.
    pub image: [u32; 2],
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
            image: [800, 600],
            animation: true,
            vtk: true,
            npz: true,
        }
    }
}

/// From where a picture looks.
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

/// When to stop a run that goes wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alarm {
    /// The largest relative change of the energy between two rows of diagnostics; 0 switches this alarm off.
    pub energy_jump: f64,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { energy_jump: 0.1 }
    }
}

/// Vortex elements, and how they evolve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vortex {
    /// The core of an element.
    #[serde(default = "gaussian")]
    pub core: CoreName,
    /// The form of the stretching term.
    #[serde(default = "transpose")]
    pub stretching: Stretching,
    /// The kinematic viscosity.
    #[serde(default)]
    pub viscosity: f64,
    /// How viscosity acts.
    #[serde(default = "no_diffusion")]
    pub diffusion: Diffusion,
    /// Steps between remeshings; 0 for none.
    #[serde(default)]
    pub remesh_every: u64,
    /// Remeshing drops elements weaker than this share of the strongest.
    #[serde(default = "default_cutoff")]
    pub remesh_cutoff: f64,
    /// The rate (one over time) at which strengths are turned towards the vorticity (Pedrizzetti); 0 for none.
    #[serde(default)]
    pub relaxation: f64,
    /// Elements around each ring or along each knot.
    #[serde(default = "default_around")]
    pub around: usize,
    /// Layers across the core; 0 is a single filament whose elements have the core size of the ring.
    #[serde(default = "default_layers")]
    pub layers: usize,
    /// The core size of layered elements over their spacing.
    #[serde(default = "default_overlap")]
    pub overlap: f64,
    /// Vortex rings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rings: Vec<Ring>,
    /// Torus knots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knots: Vec<Knot>,
}

fn gaussian() -> CoreName {
    CoreName::Gaussian
}
fn transpose() -> Stretching {
    Stretching::Transpose
}
fn no_diffusion() -> Diffusion {
    Diffusion::None
}
fn default_cutoff() -> f64 {
    1e-4
}
fn default_around() -> usize {
    96
}
fn default_layers() -> usize {
    3
}
fn default_overlap() -> f64 {
    1.0
}

/// The cores by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreName {
    /// A Gaussian blob.
    Gaussian,
    /// Winckelmans and Leonard's algebraic core.
    WinckelmansLeonard,
    /// Hu, Gumerov and Duraiswami's polynomial core.
    HuPolynomial,
}

impl From<CoreName> for Core {
    fn from(name: CoreName) -> Self {
        match name {
            CoreName::Gaussian => Core::Gaussian,
            CoreName::WinckelmansLeonard => Core::WinckelmansLeonard,
            CoreName::HuPolynomial => Core::HuPolynomial,
        }
    }
}

/// The form of the stretching term, with $\nabla u$ the matrix $\partial u_i/\partial x_j$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stretching {
    /// $\nabla u\\,\gamma$
    Classical,
    /// $\nabla u^T\gamma$, which keeps the total strength.
    Transpose,
    /// The mean of both.
    Mixed,
}

/// How viscosity acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Diffusion {
    /// Not at all.
    None,
    /// Particle strength exchange.
    Pse,
    /// Growing cores.
    CoreSpreading,
}

/// A vortex ring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// The radius of its centre line.
    pub radius: f64,
    /// The radius a of its core: vorticity falls off as exp(-r²/a²).
    pub core: f64,
    /// The circulation.
    #[serde(default = "unit_value")]
    pub circulation: f64,
    /// The centre.
    #[serde(default)]
    pub centre: Vec3,
    /// The direction it moves in.
    #[serde(default = "z_axis")]
    pub axis: Vec3,
    /// The amplitude of a wave on the radius, as a share of it.
    #[serde(default)]
    pub ripple: f64,
    /// How many periods that wave has.
    #[serde(default = "default_ripple_modes")]
    pub ripple_modes: u32,
}

fn unit_value() -> f64 {
    1.0
}
fn z_axis() -> Vec3 {
    [0.0, 0.0, 1.0]
}
fn default_ripple_modes() -> u32 {
    6
}

/// A torus knot: it winds `turns_around` times around the z axis and `turns_through` times through the hole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knot {
    /// The radius of the torus.
    pub radius: f64,
    /// The radius of the tube it winds on.
    pub tube: f64,
    /// The radius a of its core: vorticity falls off as exp(-r²/a²).
    pub core: f64,
    /// The circulation.
    #[serde(default = "unit_value")]
    pub circulation: f64,
    /// The centre.
    #[serde(default)]
    pub centre: Vec3,
    /// Turns around the axis.
    #[serde(default = "two")]
    pub turns_around: u32,
    /// Turns through the hole.
    #[serde(default = "three")]
    pub turns_through: u32,
}

fn two() -> u32 {
    2
}
fn three() -> u32 {
    3
}

/// Passive points that move with the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracers {
    /// How many, shared evenly among rings and knots.
    pub count: usize,
    /// They fill a tube around each centre line, this many core radii thick.
    #[serde(default = "default_thickness")]
    pub thickness: f64,
    /// The relative error allowed in their velocities, where it is not `sum.tolerance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

fn default_thickness() -> f64 {
    2.0
}

/// Bodies that attract each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gravity {
    /// Newton's constant.
    #[serde(default = "unit_value")]
    pub constant: f64,
    /// The softening length.
    #[serde(default)]
    pub softening: f64,
    /// Single bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Star clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plummer: Vec<Plummer>,
    /// Galaxies: a heavy centre and a disk of light stars around it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disk>,
}

/// A single body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its mass.
    pub mass: f64,
    /// Where it starts.
    #[serde(default)]
    pub position: Vec3,
    /// How fast it starts.
    #[serde(default)]
    pub velocity: Vec3,
}

/// A Plummer sphere in equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plummer {
    /// How many stars.
    pub count: usize,
    /// The mass of all.
    #[serde(default = "unit_value")]
    pub mass: f64,
    /// Plummer's radius.
    #[serde(default = "unit_value")]
    pub radius: f64,
    /// Where its centre of mass starts.
    #[serde(default)]
    pub centre: Vec3,
    /// How fast its centre of mass moves.
    #[serde(default)]
    pub velocity: Vec3,
}

/// A galaxy: a heavy centre and a disk of light stars on circular orbits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// How many stars.
    pub count: usize,
    /// The mass of all stars.
    pub mass: f64,
    /// The mass of the centre.
    pub central_mass: f64,
    /// The radius of the disk.
    pub radius: f64,
    /// The root mean square height of the stars above the disk, as a share of its radius.
    #[serde(default = "default_height")]
    pub height: f64,
    /// Where the centre starts.
    #[serde(default)]
    pub centre: Vec3,
    /// How fast the centre moves.
    #[serde(default)]
    pub velocity: Vec3,
    /// The axis the stars turn about, right-handed.
    #[serde(default = "z_axis")]
    pub axis: Vec3,
}

fn default_height() -> f64 {
    0.02
}
