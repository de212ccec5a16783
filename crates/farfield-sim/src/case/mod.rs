//! Cases: what to simulate, as TOML.
//!
//! text -> table -> size preset merged in -> `--set` overrides -> [`Case`] -> checked.
//! The schema with every key and its default is `schema.toml`, printed by `farfield schema`.

mod built_in;
mod check;
mod nearest;
mod read;
mod settings;

pub use built_in::{BuiltIn, SCHEMA};
pub use read::{Override, read};
pub use settings::{
    Alarm, Body, Case, CoreName, Diffusion, Disk, Gravity, Knot, MethodName, Output, Plummer, Ring, Scheme, Stretching,
    SumSettings, Time, Tracers, View, Vortex,
};
