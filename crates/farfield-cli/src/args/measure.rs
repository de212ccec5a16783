//! Options of the commands that measure and test the machine: `farfield bench`, `info` and `selftest`.

use super::value::{PrecisionName, threads};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use farfield::Device;
use std::path::PathBuf;

/// `farfield bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Measure this machine's operator costs and store them as the profile that plans are made from
    #[arg(long, conflicts_with = "json")]
    pub calibrate: bool,
    /// Measure only this: `leapfrog`, steps of the simulation of that name [default: everything else]
    #[arg(value_parser = PossibleValuesParser::new(["leapfrog"]), conflicts_with = "calibrate")]
    pub case: Option<String>,
    /// Use small sizes, for a first look
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile to plan with, or to write with --calibrate [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Device to measure: cpu or cuda
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub device: Device,
}

/// `farfield info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The folder of a run [default: describe this machine]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Machine profile to show
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `farfield selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// The GPU to test: cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cuda(0))]
    pub device: Device,
    /// Test only one precision [default: both]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionName>,
    /// Test only one part [default: all]
    #[arg(long, value_enum)]
    pub part: Option<TestedPart>,
    /// Small sums only, for use with a memory checker
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The parts of the selftest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestedPart {
    /// The bricks of the Poisson problem
    Poisson,
    /// States that stay in the GPU's memory
    Simulations,
    /// Operators, kernels, cores and methods in space
    Space,
    /// Operators, kernels, cores and methods in the plane
    Plane,
    /// Points and strengths with structure
    Structured,
}

impl TestedPart {
    /// The parts that test sums.
    pub const SUMS: [TestedPart; 3] = [TestedPart::Space, TestedPart::Plane, TestedPart::Structured];
}
