//! The settings of vortices in the plane.

use crate::particles::ParticleFile;
use farfield::plane::Core;
use serde::{Deserialize, Serialize};

/// Vortices in the plane and their evolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// The core of a vortex.
    #[serde(default)]
    pub core: PlaneCoreName,
    /// The kinematic viscosity.
    #[serde(default)]
    pub viscosity: f64,
    /// The diffusion scheme.
    #[serde(default)]
    pub diffusion: PlaneDiffusion,
    /// Single vortices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vortices: Vec<PointVortex>,
    /// Vortex sheets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sheets: Vec<Sheet>,
    /// Elliptic patches of constant vorticity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
    /// Clouds of random vortices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clouds: Vec<VortexCloud>,
    /// Vortices from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticleFile>,
}

/// The names of the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaneCoreName {
    /// Point vortices.
    Singular,
    /// Gaussian blobs.
    #[default]
    Gaussian,
    /// Algebraic blobs.
    Algebraic,
}

impl From<PlaneCoreName> for Core {
    fn from(name: PlaneCoreName) -> Self {
        match name {
            PlaneCoreName::Singular => Core::Singular,
            PlaneCoreName::Gaussian => Core::Gaussian,
            PlaneCoreName::Algebraic => Core::Algebraic,
        }
    }
}

/// The diffusion scheme in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneDiffusion {
    /// No viscosity.
    #[default]
    None,
    /// Gaussian cores grow like a diffusing vortex.
    CoreSpreading,
    /// Vortices take random steps.
    RandomWalk,
}

/// A single vortex.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointVortex {
    /// Its circulation, positive anticlockwise.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Its initial position.
    #[serde(default)]
    pub position: [f64; 2],
    /// The size of its core.
    #[serde(default)]
    pub core: f64,
}

/// A straight vortex sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// The number of vortices.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// One end.
    pub from: [f64; 2],
    /// The other end.
    pub to: [f64; 2],
    /// The distribution of circulation along it.
    #[serde(default)]
    pub profile: SheetProfile,
    /// The total circulation; with the elliptic profile, that of one half.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// The size of the cores.
    pub core: f64,
    /// The amplitude of a wave across it, as a fraction of its length.
    #[serde(default)]
    pub ripple: f64,
    /// The number of periods of that wave.
    #[serde(default = "one_mode")]
    pub ripple_modes: u32,
}

fn one_mode() -> u32 {
    1
}

/// The distribution of circulation along a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SheetProfile {
    /// Constant.
    #[default]
    Uniform,
    /// As behind a wing with elliptic lift: the two halves have opposite signs.
    Elliptic,
}

/// An elliptic patch of constant vorticity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The approximate number of vortices.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The centre.
    #[serde(default)]
    pub centre: [f64; 2],
    /// The semi-axes.
    pub axes: [f64; 2],
    /// The angle of the first axis to x, in degrees.
    #[serde(default)]
    pub angle: f64,
    /// The vorticity.
    #[serde(default = "super::settings::unit_value")]
    pub vorticity: f64,
    /// The core size over the spacing of the vortices.
    #[serde(default = "super::settings::unit_value")]
    pub overlap: f64,
}

/// Randomly placed vortices in a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VortexCloud {
    /// The number of vortices.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The centre.
    #[serde(default)]
    pub centre: [f64; 2],
    /// The radius of the disk.
    #[serde(default = "super::settings::unit_value")]
    pub radius: f64,
    /// The sum of the absolute circulations.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Whether every second vortex has the opposite sign.
    #[serde(default)]
    pub both_signs: bool,
    /// The size of the cores.
    #[serde(default)]
    pub core: f64,
}
