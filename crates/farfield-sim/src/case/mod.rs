//! Cases: descriptions of simulations in TOML.
//!
//! text -> table -> size preset merged in -> `--set` overrides -> [`Case`] -> checks.
//! The schema with every key and its default is `schema.toml`, printed by `farfield schema`.

mod built_in;
mod check;
mod flow;
mod gravity;
mod nearest;
mod plane;
mod read;
mod settings;
mod value;
mod vortex;

pub use built_in::{BuiltIn, SCHEMA};
pub use flow::{BodySettings, Flow, FlowRing, GridSettings, PrecisionName, RemeshName, ShapeName};
pub use gravity::{Body, Disk, Gravity, Plummer};
pub use plane::{Patch, Plane, PlaneCoreName, PlaneDiffusion, PointVortex, Sheet, SheetProfile, VortexCloud};
pub use read::{Override, read, read_table};
pub use settings::{
    Alarm, Case, FilmName, MethodName, Output, OwnView, SampleSettings, Scheme, SumSettings, Time, View, Waypoint,
};
pub use value::direction;
pub use vortex::{CoreName, Diffusion, Knot, Ring, Stretching, Tracers, Vortex};
