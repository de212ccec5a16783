//! The command line.

use clap::{Args, Parser, Subcommand};
use farfield_cli::args::{EvaluateArgs, ResumeArgs, RunArgs};
use std::ffi::OsString;

const OTHERS: &str =
    "All other commands of farfield (info, schema, plot, ...) are executed by the first rank alone, as by farfield.";

/// Sums of long-range interactions over MPI ranks, and simulations based on them.
#[derive(Debug, Parser)]
#[command(name = "farfield-mpi", version, max_term_width = 100, arg_required_else_help = true, after_help = OTHERS)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sum a kernel over points that are distributed over the ranks, and report time, error, memory, bytes and
    /// messages of each rank. Options as for `farfield evaluate`; --threads is the number of threads per rank
    /// [default: the cores of the machine divided by its ranks]; with --device cuda, each rank uses the GPU with its
    /// own number on its machine
    Evaluate(Box<EvaluateArgs>),
    /// Run a case with [vortex] or [gravity] whose points are distributed over the ranks. Options as for
    /// `farfield run`; --threads and --device as for `evaluate`
    Run(Box<RunArgs>),
    /// Resume a run of any number of ranks, or of `farfield run`, on the current ranks
    Resume(Box<ResumeArgs>),
    /// Forecast time, bytes and messages of a sum on many ranks
    Model(ModelArgs),
    /// Any other command of `farfield`, executed by the first rank alone.
    #[command(external_subcommand)]
    OfOne(Vec<OsString>),
}

/// `farfield-mpi model`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Number of ranks; several values separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64, 512, 4096, 65536])]
    pub ranks: Vec<u64>,
    /// Number of points on all ranks together, such as 1e9
    #[arg(long, default_value_t = 1e9)]
    pub n: f64,
    /// Relative error allowed
    #[arg(long, default_value_t = 1e-6)]
    pub tolerance: f64,
    /// Seconds that a single rank takes for a million points
    #[arg(long, default_value_t = 2.1)]
    pub seconds_per_million: f64,
    /// Latency of a message in seconds
    #[arg(long, default_value_t = 2e-6)]
    pub latency: f64,
    /// Bandwidth of one rank in bytes per second
    #[arg(long, default_value_t = 10e9)]
    pub bandwidth: f64,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}
