//! The true error of a result, measured at sampled targets by a direct sum in double precision.

pub use farfield_core::verify::OutputError;
