//! The settings of vortices and tracers.

use crate::particles::ParticleFile;
use crate::vec3::Vec3;
use farfield::kernel::Core;
use serde::{Deserialize, Serialize};

/// Vortex elements and their evolution.
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
    /// The diffusion scheme.
    #[serde(default = "no_diffusion")]
    pub diffusion: Diffusion,
    /// Steps between remeshings; 0 for never.
    #[serde(default)]
    pub remesh_every: u64,
    /// Remeshing drops elements weaker than this fraction of the strongest.
    #[serde(default = "default_cutoff")]
    pub remesh_cutoff: f64,
    /// The rate (one over time) at which strengths relax towards the direction of the vorticity (Pedrizzetti); 0 for
    /// none.
    #[serde(default)]
    pub relaxation: f64,
    /// The number of elements around each ring or along each knot.
    #[serde(default = "default_around")]
    pub around: usize,
    /// The number of layers in the core; 0 is a single filament whose elements have the core size of the ring.
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
    /// Elements from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticleFile>,
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

/// The names of the cores.
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
    /// $\nabla u^T\gamma$, which conserves the total strength.
    Transpose,
    /// The mean of both.
    Mixed,
}

/// The diffusion scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Diffusion {
    /// No viscosity.
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
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// The centre.
    #[serde(default)]
    pub centre: Vec3,
    /// The direction it moves in.
    #[serde(default = "super::settings::z_axis", deserialize_with = "super::value::direction")]
    pub axis: Vec3,
    /// The amplitude of a wave on the radius, as a fraction of it.
    #[serde(default)]
    pub ripple: f64,
    /// The number of periods of that wave.
    #[serde(default = "default_ripple_modes")]
    pub ripple_modes: u32,
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
    #[serde(default = "super::settings::unit_value")]
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
    /// The number of tracers, shared evenly among rings and knots; in the plane, placed randomly in the box around the
    /// vortices.
    #[serde(default, deserialize_with = "super::value::count")]
    pub count: usize,
    /// Tracers from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticleFile>,
    /// The radius of the tube that they fill around each centre line, in core radii; in the plane, the factor on the
    /// sides of the box.
    #[serde(default = "default_thickness")]
    pub thickness: f64,
    /// The relative error allowed in their velocities; `None` for `sum.tolerance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

fn default_thickness() -> f64 {
    2.0
}
