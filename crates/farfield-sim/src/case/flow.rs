//! The settings of a flow on an adapted grid.

use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// An incompressible flow in free space, with a stream, bodies or vortex rings in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Speed times length over viscosity; either this or `viscosity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reynolds: Option<f64>,
    /// The kinematic viscosity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity: Option<f64>,
    /// The velocity far away.
    pub stream: Vec3,
    /// The length in Reynolds number and coefficients; of the first body if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// The area in coefficients; what the bodies show to the stream if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// How strongly bodies stop the flow, in units of speed over length.
    pub penalisation: f64,
    /// The gain by which bodies answer to slip; above 1 as part of the answer is lost again to the flow around them.
    pub relaxation: f64,
    /// Passes of velocity and penalisation for the impulsive start.
    pub start_passes: u32,
    /// How particles are spread over the grid again.
    pub remesh: RemeshName,
    /// Steps between projections of the vorticity to one without divergence; 0: never.
    pub clean_every: u64,
    /// Vorticity weaker than this share of the strongest induces no velocity.
    pub source_cutoff: f64,
    /// Storage of the fields.
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

/// The kernels of remeshing by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemeshName {
    /// Two points to each side.
    M4,
    /// Three points to each side.
    M6,
}

/// Precisions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionName {
    /// Single.
    F32,
    /// Double.
    F64,
}

/// The box and how fine its blocks of 16^3 points get.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridSettings {
    /// The lower corner of the box.
    pub origin: Vec3,
    /// Root cubes along x, y and z.
    pub roots: [u32; 3],
    /// The side of a root cube.
    pub side: f64,
    /// The finest level; a root cube then has 16 2^level points a side.
    pub level: u8,
    /// Blocks whose details exceed this share of the largest vorticity are cut.
    #[serde(default = "default_refine")]
    pub refine: f64,
    /// Blocks whose details are all below this share are joined.
    #[serde(default = "default_compress")]
    pub compress: f64,
    /// Steps between adaptations.
    #[serde(default = "default_adapt_every")]
    pub adapt_every: u64,
    /// The most blocks there may be; beyond that nothing is refined.
    #[serde(default = "default_most_blocks")]
    pub most_blocks: usize,
    /// Whether the box is made larger, by whole root cubes: downstream where the wake would leave it before the end, and across the
    /// stream where viscosity spreads vorticity that far.
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
    /// What it is.
    pub shape: ShapeName,
    /// Its middle at time 0.
    #[serde(default)]
    pub centre: Vec3,
    /// Sphere and cylinder: the radius; torus: that of the middle of its tube.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Ellipsoid: half of its extent along x, y and z.
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
    /// Cylinder and torus: their axis.
    #[serde(default = "super::settings::z_axis")]
    pub axis: Vec3,
    /// Mesh: the file, STL or OBJ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Mesh: a factor on its coordinates.
    #[serde(default = "super::settings::unit_value")]
    pub scale: f64,
    /// How fast it moves.
    #[serde(default)]
    pub velocity: Vec3,
    /// How fast it turns about its middle, in radians a unit of time.
    #[serde(default)]
    pub turning: Vec3,
}

/// Shapes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeName {
    /// A ball.
    Sphere,
    /// A stretched ball.
    Ellipsoid,
    /// A cylinder with flat ends.
    Cylinder,
    /// A box with sharp edges.
    Box,
    /// A ring with a round tube.
    Torus,
    /// A closed surface of triangles.
    Mesh,
}

/// A vortex ring with a Gaussian core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowRing {
    /// Its radius.
    pub radius: f64,
    /// The vorticity is circulation / (pi core^2) exp(-d^2 / core^2) at the distance d from the circle.
    pub core: f64,
    /// Its circulation.
    #[serde(default = "super::settings::unit_value")]
    pub circulation: f64,
    /// Its middle.
    #[serde(default)]
    pub centre: Vec3,
    /// It moves this way.
    #[serde(default = "super::settings::z_axis")]
    pub axis: Vec3,
}
