//! `farfield evaluate`, as typed.

use super::value::{
    PrecisionName, at_least_one, count, distributions, methods, number, simd_levels, size, threads, whole,
};
use crate::problem::Named;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use farfield::Device;
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::SimdLevel;
use farfield::{Method, kernel, plane};
use std::path::PathBuf;

/// `farfield evaluate`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct EvaluateArgs {
    /// What is summed between the points
    #[arg(long, value_enum, default_value_t = KernelName::Coulomb, help_heading = "Kernel")]
    pub kernel: KernelName,
    /// What to compute, separated by commas; derivative and second-derivative are for the plane [default: potential, or velocity]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = outputs(), help_heading = "Kernel")]
    pub outputs: Vec<String>,
    /// Regularisation of the sources (biot-savart, harmonic2d, log2d) [default: singular]
    #[arg(long, value_parser = cores(), value_name = "NAME", help_heading = "Kernel")]
    pub core: Option<String>,
    /// Size of the cores (biot-savart, harmonic2d, log2d)
    #[arg(long, value_name = "S", value_parser = size, requires = "core", help_heading = "Kernel")]
    pub core_size: Option<f64>,
    /// Accept the velocity gradient of the hu-polynomial core, unbounded at its centre (biot-savart)
    #[arg(long, help_heading = "Kernel")]
    pub allow_unbounded_gradient: bool,
    /// Softening length (gravity) [default: none]
    #[arg(long, value_name = "S", value_parser = size, help_heading = "Kernel")]
    pub softening: Option<f64>,
    /// What softened masses attract like: plummer, or spline and wendland-c2, which are points beyond 2.8 and 3 softening
    /// lengths (gravity) [default: plummer]
    #[arg(long, value_name = "NAME", value_parser = softenings(), requires = "softening", help_heading = "Kernel")]
    pub softening_kernel: Option<String>,
    /// Newton's constant (gravity) [default: 1]
    #[arg(long, value_name = "G", value_parser = number, help_heading = "Kernel")]
    pub gravitational_constant: Option<f64>,
    /// Strengths are complex: two numbers each, real and imaginary part (harmonic2d, log2d)
    #[arg(long, help_heading = "Kernel")]
    pub complex: bool,

    /// Kind of point set to make; square, normal, layer and circle are in the plane, line and clusters in both
    /// [default: cube, in the plane square]
    #[arg(long, value_parser = point_sets(), value_name = "SET", conflicts_with = "sources", help_heading = "Points")]
    pub points: Option<String>,
    /// How many points to make: 1000000, 1_000_000 or 1e6 [default: 100000]
    #[arg(long, value_parser = count, conflicts_with = "sources", help_heading = "Points")]
    pub n: Option<usize>,
    /// Seed of points, charges and sampled targets
    #[arg(long, default_value_t = 1, value_name = "S", value_parser = whole, help_heading = "Points")]
    pub seed: u64,
    /// Distribution of made-up charges, masses or vortex strengths [default: signed]
    #[arg(long, value_parser = distributions(), value_name = "NAME", conflicts_with = "charges",
        help_heading = "Points")]
    pub charge_distribution: Option<ChargeDistribution>,
    /// How many vectors of charges to sum at once [default: 1, or what the file has]
    #[arg(long, value_name = "K", value_parser = count, help_heading = "Points")]
    pub charge_vectors: Option<usize>,
    /// File of the sources, and of their charges where it has them: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub sources: Option<PathBuf>,
    /// File of the charges, masses or vortex strengths: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", requires = "sources", help_heading = "Points")]
    pub charges: Option<PathBuf>,
    /// File of the dipole moments of the sources, three numbers each (coulomb): .npy, .npz or .csv. Charges are those of
    /// --charges, --charge-distribution or the sources' file, else there are none
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub dipoles: Option<PathBuf>,
    /// File of the targets: .npy, .npz or .csv [default: the targets are the sources]
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub targets: Option<PathBuf>,
    /// File to write the results to, in the targets' order: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub output: Option<PathBuf>,

    /// Relative error allowed in each output: 1e-12 to 1e-2 (f32: from 1e-5) [default: 1e-6, f32: 1e-4]
    #[arg(long, value_name = "E", value_parser = number, help_heading = "Accuracy")]
    pub tolerance: Option<f64>,
    /// Precision of points, charges and results
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Accuracy")]
    pub precision: PrecisionName,
    /// Measure the true error at K random targets by a direct sum
    #[arg(long, default_value = "0", value_name = "K", value_parser = count, help_heading = "Accuracy")]
    pub verify: usize,
    /// Do not compute the true sum at a few dozen targets of every evaluation, nor sum again where the tolerance is exceeded
    #[arg(long, help_heading = "Accuracy")]
    pub no_check: bool,
    /// For experts: one order for all expansions, in place of the tolerance
    #[arg(long, value_name = "P", value_parser = count, help_heading = "Accuracy")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion; in the plane, what couples boxes
    #[arg(long, value_parser = number, help_heading = "Accuracy")]
    pub theta: Option<f64>,

    /// How to sum
    #[arg(long, value_parser = methods(), value_name = "METHOD", default_value = "auto", help_heading = "Execution")]
    pub method: Method,
    /// Where to sum: cpu; cuda or cuda:N, an NVIDIA graphics processor; auto, a graphics processor where there is one and it is
    /// faster, transfers included
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Auto, help_heading = "Execution")]
    pub device: Device,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads, help_heading = "Execution")]
    pub threads: Option<usize>,
    /// Instruction set to use [default: the machine's best]
    #[arg(long, value_name = "LEVEL", value_parser = simd_levels(), help_heading = "Execution")]
    pub simd: Option<SimdLevel>,
    /// For experts: how many points a box may hold before it is cut; in the plane, how many it should hold
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Execution")]
    pub leaf_capacity: Option<usize>,
    /// Machine profile [default: $FARFIELD_PROFILE, else farfield/profile.toml in the configuration folder]
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub profile: Option<PathBuf>,
    /// Evaluate R times from raw points and report the fastest
    #[arg(long, value_name = "R", default_value = "1", value_parser = at_least_one, help_heading = "Execution")]
    pub repeat: usize,
    /// Evaluate R more times with the same plan and report the fastest of these as well
    #[arg(long, value_name = "R", default_value = "0", value_parser = count, help_heading = "Execution")]
    pub reuse: usize,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// The kernels by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// Charges: the potential sum of q/r
    Coulomb,
    /// Masses: the potential -G sum of m/r and the acceleration
    Gravity,
    /// Vortex elements: the velocity they induce
    BiotSavart,
    /// In the plane: the complex potential sum of gamma_j/(z_j - z_i)
    #[value(name = "harmonic2d")]
    Harmonic2d,
    /// In the plane: the potential sum of gamma_j log|z_i - z_j|
    #[value(name = "log2d")]
    Log2d,
}

impl KernelName {
    /// Whether the points are those of a plane.
    pub fn is_plane(self) -> bool {
        matches!(self, KernelName::Harmonic2d | KernelName::Log2d)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            KernelName::Coulomb => "coulomb",
            KernelName::Gravity => "gravity",
            KernelName::BiotSavart => "biot-savart",
            KernelName::Harmonic2d => plane::Kernel::Harmonic.name(),
            KernelName::Log2d => plane::Kernel::Log.name(),
        }
    }
}

/// A parser of names in space and in the plane; which of them fit is known when the kernel is.
fn names_of<A: Named, B: Named>(space: &[A], plane: &[B]) -> PossibleValuesParser {
    let mut names: Vec<&str> = space.iter().map(|value| value.name()).collect();
    for name in plane.iter().map(|value| value.name()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    PossibleValuesParser::new(names)
}

fn outputs() -> PossibleValuesParser {
    names_of(&kernel::Output::ALL, &plane::Output::ALL)
}

fn cores() -> PossibleValuesParser {
    names_of(&kernel::Core::ALL, &plane::Core::ALL)
}

fn softenings() -> PossibleValuesParser {
    PossibleValuesParser::new(kernel::Softening::ALL.map(kernel::Softening::name))
}

fn point_sets() -> PossibleValuesParser {
    names_of(&PointSet::ALL, &plane::PlaneSet::ALL)
}
