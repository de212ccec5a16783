//! The settings of gravity.

use crate::particles::ParticleFile;
use crate::vec3::Vec3;
use farfield::kernel::Softening;
use serde::{Deserialize, Serialize};

/// Bodies that attract each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gravity {
    /// Newton's constant.
    #[serde(default = "super::settings::unit_value")]
    pub constant: f64,
    /// The softening length.
    #[serde(default)]
    pub softening: f64,
    /// The softening kernel.
    #[serde(default)]
    pub softening_kernel: SofteningName,
    /// Single bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Star clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plummer: Vec<Plummer>,
    /// Galaxies: a heavy centre and a disk of light stars around it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disk>,
    /// Bodies from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticleFile>,
}

/// The names of the softening kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SofteningName {
    /// Plummer's, which softens at every distance.
    #[default]
    Plummer,
    /// The cubic spline of Gadget.
    Spline,
    /// Wendland's C2 kernel.
    WendlandC2,
}

impl From<SofteningName> for Softening {
    fn from(name: SofteningName) -> Self {
        match name {
            SofteningName::Plummer => Softening::Plummer,
            SofteningName::Spline => Softening::Spline,
            SofteningName::WendlandC2 => Softening::WendlandC2,
        }
    }
}

/// A single body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its mass.
    pub mass: f64,
    /// Its initial position.
    #[serde(default)]
    pub position: Vec3,
    /// Its initial velocity.
    #[serde(default)]
    pub velocity: Vec3,
}

/// A Plummer sphere in equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plummer {
    /// The number of stars.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The total mass of the stars.
    #[serde(default = "super::settings::unit_value")]
    pub mass: f64,
    /// Plummer's radius.
    #[serde(default = "super::settings::unit_value")]
    pub radius: f64,
    /// The initial position of its centre of mass.
    #[serde(default)]
    pub centre: Vec3,
    /// The initial velocity of its centre of mass.
    #[serde(default)]
    pub velocity: Vec3,
}

/// A galaxy: a heavy centre and a disk of light stars on circular orbits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The number of stars.
    #[serde(deserialize_with = "super::value::count")]
    pub count: usize,
    /// The total mass of the stars.
    pub mass: f64,
    /// The mass of the centre.
    pub central_mass: f64,
    /// The radius of the disk.
    pub radius: f64,
    /// The root mean square height of the stars above the disk, as a fraction of its radius.
    #[serde(default = "default_height")]
    pub height: f64,
    /// The initial position of the centre.
    #[serde(default)]
    pub centre: Vec3,
    /// The initial velocity of the centre.
    #[serde(default)]
    pub velocity: Vec3,
    /// The axis of rotation, right-handed.
    #[serde(default = "super::settings::z_axis", deserialize_with = "super::value::direction")]
    pub axis: Vec3,
}

fn default_height() -> f64 {
    0.02
}
