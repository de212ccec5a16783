//! Options of the commands that measure and test the machine: `farfield bench`, `info`, `reproduce` and `selftest`.

use super::value::{PrecisionName, at_least_one, size, threads};
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

/// `farfield reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// The table or figure [default: list them]
    #[arg(value_parser = PossibleValuesParser::new(crate::reproduce::NAMES), hide_possible_values = true)]
    pub name: Option<String>,
    /// List the available tables and figures
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Folder to write NAME.csv and NAME.png to [default: reproduce/NAME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Use much smaller sizes, to try the command rather than to compare
    #[arg(long)]
    pub quick: bool,
    /// Leave out sizes above N points
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_n: Option<usize>,
    /// Repeat short sums for S seconds, and sample direct sums that would take longer than ten times S
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = size)]
    pub seconds: f64,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
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
