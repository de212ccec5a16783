//! Options of `farfield evaluate`.

use super::value::{
    PrecisionName, at_least_one, count, distributions, methods, number, simd_levels, size, threads, whole,
};
use crate::problem::Named;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use farfield::Device;
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::SimdLevel;
use farfield::{Method, kernel, plane};
use std::path::PathBuf;

/// `farfield evaluate`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct EvaluateArgs {
    /// The interaction between the points
    #[arg(long, value_parser = kernels(), value_name = "KERNEL", default_value = "coulomb", help_heading = "Kernel")]
    pub kernel: String,
    /// Outputs to compute, separated by commas; derivative and second-derivative are for the plane [default: potential,
    /// or velocity]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = outputs(), help_heading = "Kernel")]
    pub outputs: Vec<String>,
    /// Regularisation of the sources (biot-savart, harmonic2d, log2d) [default: singular]
    #[arg(long, value_parser = cores(), value_name = "NAME", help_heading = "Kernel")]
    pub core: Option<String>,
    /// Size of the cores (biot-savart, harmonic2d, log2d)
    #[arg(long, value_name = "S", value_parser = size, requires = "core", help_heading = "Kernel")]
    pub core_size: Option<f64>,
    /// Accept the velocity gradient of the hu-polynomial core, which is unbounded at its centre (biot-savart)
    #[arg(long, help_heading = "Kernel")]
    pub allow_unbounded_gradient: bool,
    /// Softening length (gravity) [default: none]
    #[arg(long, value_name = "S", value_parser = size, help_heading = "Kernel")]
    pub softening: Option<f64>,
    /// Softened force law: plummer, or spline and wendland-c2, which are exactly Newtonian beyond 2.8 and 3 softening
    /// lengths (gravity) [default: plummer]
    #[arg(long, value_name = "NAME", value_parser = softenings(), requires = "softening", help_heading = "Kernel")]
    pub softening_kernel: Option<String>,
    /// Newton's constant (gravity) [default: 1]
    #[arg(long, value_name = "G", value_parser = number, help_heading = "Kernel")]
    pub gravitational_constant: Option<f64>,
    /// Complex strengths: a real and an imaginary part for each (harmonic2d, log2d)
    #[arg(long, help_heading = "Kernel")]
    pub complex: bool,

    /// Point set to generate; square, normal, layer and circle are in the plane, line and clusters in both space and
    /// plane [default: cube, in the plane square]
    #[arg(long, value_parser = point_sets(), value_name = "SET", conflicts_with = "sources", help_heading = "Points")]
    pub points: Option<String>,
    /// Number of points to generate: 1000000, 1_000_000 or 1e6 [default: 100000]
    #[arg(long, value_parser = count, conflicts_with = "sources", help_heading = "Points")]
    pub n: Option<usize>,
    /// Seed of points, charges and sampled targets
    #[arg(long, default_value_t = 1, value_name = "S", value_parser = whole, help_heading = "Points")]
    pub seed: u64,
    /// Distribution of generated charges, masses or vortex strengths [default: signed]
    #[arg(long, value_parser = distributions(), value_name = "NAME", conflicts_with = "charges",
        help_heading = "Points")]
    pub charge_distribution: Option<ChargeDistribution>,
    /// Number of charge vectors to sum at once [default: 1, or as many as the file has]
    #[arg(long, value_name = "K", value_parser = count, help_heading = "Points")]
    pub charge_vectors: Option<usize>,
    /// File of the sources, and of their charges if it contains them: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub sources: Option<PathBuf>,
    /// File of the charges, masses or vortex strengths: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", requires = "sources", help_heading = "Points")]
    pub charges: Option<PathBuf>,
    /// File of the dipole moments of the sources, three numbers each (coulomb): .npy, .npz or .csv. Charges come from
    /// --charges, --charge-distribution or the sources' file; without any of these, there are only dipoles
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
    /// Skip the check of every evaluation, which compares a few dozen targets with the exact sum and sums again if the
    /// tolerance is exceeded
    #[arg(long, help_heading = "Accuracy")]
    pub no_check: bool,
    /// For experts: one order for all expansions, instead of a tolerance
    #[arg(long, value_name = "P", value_parser = count, help_heading = "Accuracy")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion; in the plane, the criterion that couples boxes
    #[arg(long, value_parser = number, help_heading = "Accuracy")]
    pub theta: Option<f64>,

    /// Method of summation
    #[arg(long, value_parser = methods(), value_name = "METHOD", default_value = "auto", help_heading = "Execution")]
    pub method: Method,
    /// Device: cpu; cuda or cuda:N, an NVIDIA GPU; auto, a GPU if there is one and it is faster, transfers included
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Auto, help_heading = "Execution")]
    pub device: Device,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads, help_heading = "Execution")]
    pub threads: Option<usize>,
    /// Instruction set to use [default: the machine's best]
    #[arg(long, value_name = "LEVEL", value_parser = simd_levels(), help_heading = "Execution")]
    pub simd: Option<SimdLevel>,
    /// For experts: largest number of points in a box before it is cut; in the plane, the number of points a box should
    /// hold
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Execution")]
    pub leaf_capacity: Option<usize>,
    /// Machine profile [default: $FARFIELD_PROFILE, else farfield/profile.toml in the configuration folder]
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub profile: Option<PathBuf>,
    /// Evaluate R times from raw points and report the fastest
    #[arg(long, value_name = "R", default_value = "1", value_parser = at_least_one, help_heading = "Execution")]
    pub repeat: usize,
    /// Evaluate R more times with the same plan and also report the fastest of these
    #[arg(long, value_name = "R", default_value = "0", value_parser = count, help_heading = "Execution")]
    pub reuse: usize,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// A parser of the names of kernels. Charges with dipoles are `coulomb` with `--dipoles`.
fn kernels() -> PossibleValuesParser {
    let mut all: Vec<PossibleValue> = Vec::new();
    for kernel in kernel::Kernel::all().into_iter().map(kernel::Kernel::description) {
        // A kernel has an entry for each of its cores.
        let is_new = all.last().is_none_or(|last| last.get_name() != kernel.name);
        if is_new && kernel.form != kernel::Form::Dipole {
            all.push(PossibleValue::new(kernel.name).help(kernel.about));
        }
    }
    all.extend(plane::Kernel::ALL.map(|kernel| PossibleValue::new(kernel.name()).help(kernel.about())));
    PossibleValuesParser::new(all)
}

/// A parser of names in space and in the plane. Whether a name fits is checked once the kernel is known.
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
