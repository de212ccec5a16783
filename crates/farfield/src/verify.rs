//! The true error of a result, measured at sampled targets by a direct sum in double precision.

pub use farfield_core::verify::{Inputs, verify};

/// The measured error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// The output's name.
    pub output: &'static str,
    /// The root of the summed squared differences over that of the true values.
    pub relative_l2: f64,
    /// The largest relative difference at a target, where it is measured: in the plane.
    pub maximum: Option<f64>,
}
