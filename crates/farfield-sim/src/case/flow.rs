//! The settings of a flow on an adapted grid.

use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// An incompressible flow in free space, with a free stream, bodies or vortex rings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Speed times length over viscosity; either this or `viscosity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reynolds: Option<f64>,
    /// The kinematic viscosity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity: Option<f64>,
    /// The free-stream velocity.
    pub stream: Vec3,
    /// The length in the Reynolds number and coefficients; `None` for that of the first body or ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// The area in coefficients; `None` for the projected area of the bodies along the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// The penalisation parameter of the bodies, in units of speed over length.
    pub penalisation: f64,
    /// The gain of the correction of slip at bodies. Values above 1 make up for the part of the correction that the
    /// flow around the bodies cancels.
    pub relaxation: f64,
    /// The number of passes of velocity and penalisation at the impulsive start.
    pub start_passes: u32,
    /// The remeshing kernel.
    pub remesh: RemeshName,
    /// Steps between projections of the vorticity to a divergence-free one; 0 for never.
    pub clean_every: u64,
    /// Vorticity weaker than this fraction of the strongest induces no velocity.
    pub source_cutoff: f64,
    /// The storage precision of the fields.
    pub precision: PrecisionName,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            reynolds: None,
            viscosity: None,
            stream: [0.0; 3],
            length: None,
            area: None,
            penalisation: 1e4,
            relaxation: 1.3,
            start_passes: 6,
            remesh: RemeshName::M6,
            clean_every: 0,
            source_cutoff: 1e-5,
            precision: PrecisionName::F32,
        }
    }
}

/// The names of the remeshing kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemeshName {
    /// Two points to each side.
    M4,
    /// Three points to each side.
    M6,
}

/// The names of the precisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionName {
    /// Single.
    F32,
    /// Double.
    F64,
}

/// The box, and the refinement of its blocks of 16^3 points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridSettings {
    /// The lower corner of the box.
    pub origin: Vec3,
    /// Root cubes along x, y and z.
    pub roots: [u32; 3],
    /// The side of a root cube.
    pub side: f64,
    /// The finest level, on which a root cube has 16 2^level points along a side.
    pub level: u8,
    /// Blocks whose details exceed this fraction of the largest vorticity are refined.
    #[serde(default = "default_refine")]
    pub refine: f64,
    /// Blocks whose details are all below this fraction are coarsened.
    #[serde(default = "default_compress")]
    pub compress: f64,
    /// Steps between adaptations.
    #[serde(default = "default_adapt_every")]
    pub adapt_every: u64,
    /// The number of blocks beyond which no block is refined.
    #[serde(default = "default_most_blocks")]
    pub most_blocks: usize,
    /// Whether the box is enlarged by whole root cubes: downstream if the wake would leave it before the end, and
    /// across the stream if viscosity spreads vorticity that far.
    #[serde(default = "default_grow")]
    pub grow: bool,
}

fn default_refine() -> f64 {
    2e-3
}

fn default_compress() -> f64 {
    1e-4
}

fn default_adapt_every() -> u64 {
    5
}

fn default_grow() -> bool {
    true
}

fn default_most_blocks() -> usize {
    20_000
}

/// A body in the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySettings {
    /// Its shape.
    pub shape: ShapeName,
    /// Its centre at time 0.
    #[serde(default)]
    pub centre: Vec3,
    /// Sphere and cylinder: the radius; torus: the radius of the centre line of its tube.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Ellipsoid: the semi-axes along x, y and z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radii: Option<Vec3>,
    /// Box: its extent along x, y and z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Vec3>,
    /// Cylinder: its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Torus: the radius of its tube.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tube: Option<f64>,
    /// Cylinder and torus: the axis.
    #[serde(default = "super::settings::z_axis")]
    pub axis: Vec3,
    /// Mesh: the file, STL or OBJ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Mesh: a factor on its coordinates.
    #[serde(default = "super::settings::unit_value")]
    pub scale: f64,
    /// Its velocity.
    #[serde(default)]
    pub velocity: Vec3,
    /// Its angular velocity about its centre, in radians per unit of time.
    #[serde(default)]
    pub turning: Vec3,
}

/// The names of the shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeName {
    /// A sphere.
    Sphere,
    /// An ellipsoid.
    Ellipsoid,
    /// A cylinder with flat ends.
    Cylinder,
    /// A box with sharp edges.
    Box,
    /// A torus.
    Torus,
    /// A closed triangulated surface.
    Mesh,
}

/// A vortex ring with a Gaussian core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowRing {
    /// Its radius.
    pub radius: f64,
    /// The core radius: the vorticity at distance d from the circle is circulation / (pi core^2) exp(-d^2 / core^2).
    pub core: f64,
    /// Its circulation.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Its centre.
    #[serde(default)]
    pub centre: Vec3,
    /// Its axis and direction of motion.
    #[serde(default = "super::settings::z_axis")]
    pub axis: Vec3,
}
