//! The settings of vortices in the plane.

use crate::particles::ParticleFile;
use farfield::plane::Core;
use serde::{Deserialize, Serialize};

/// Vortices in the plane, and how they evolve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// The core of a vortex.
    #[serde(default)]
    pub core: PlaneCoreName,
    /// The kinematic viscosity.
    #[serde(default)]
    pub viscosity: f64,
    /// How viscosity acts.
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
    /// Vortices at random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clouds: Vec<VortexCloud>,
    /// Vortices from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticleFile>,
}

/// The cores by name.
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

/// How viscosity acts in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneDiffusion {
    /// Not at all.
    #[default]
    None,
    /// Gaussian cores grow as a diffusing vortex does.
    CoreSpreading,
    /// Vortices walk at random.
    RandomWalk,
}

/// A single vortex.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointVortex {
    /// Its circulation, positive against the clock.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Where it starts.
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
    /// How many vortices.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// One end.
    pub from: [f64; 2],
    /// The other end.
    pub to: [f64; 2],
    /// How the circulation is spread along it.
    #[serde(default)]
    pub profile: SheetProfile,
    /// The circulation: of all of it, or with the elliptic profile of one half.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// The size of the cores.
    pub core: f64,
    /// The amplitude of a wave across it, as a share of its length.
    #[serde(default)]
    pub ripple: f64,
    /// How many periods that wave has.
    #[serde(default = "one_mode")]
    pub ripple_modes: u32,
}

fn one_mode() -> u32 {
    1
}

/// How the circulation of a sheet is spread along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SheetProfile {
    /// Evenly.
    #[default]
    Uniform,
    /// As behind a wing with elliptic lift: of opposite sign in the two halves.
    Elliptic,
}

/// An elliptic patch of constant vorticity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// How many vortices, about.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The centre.
    #[serde(default)]
    pub centre: [f64; 2],
    /// The half axes.
    pub axes: [f64; 2],
    /// The angle of the first axis to x, in degrees.
    #[serde(default)]
    pub angle: f64,
    /// The vorticity.
    #[serde(default = "super::settings::unit_value")]
    pub vorticity: f64,
    /// The size of the cores over the distance of the vortices.
    #[serde(default = "super::settings::unit_value")]
    pub overlap: f64,
}

/// Vortices at random in a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VortexCloud {
    /// How many.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The centre.
    #[serde(default)]
    pub centre: [f64; 2],
    /// The radius of the disk.
    #[serde(default = "super::settings::unit_value")]
    pub radius: f64,
    /// The sizes of all circulations added up.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Whether every second vortex turns the other way.
    #[serde(default)]
    pub both_signs: bool,
    /// The size of the cores.
    #[serde(default)]
    pub core: f64,
}
