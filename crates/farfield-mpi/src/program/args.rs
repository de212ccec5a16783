//! The command line as typed.

use clap::{Args, Parser, Subcommand};
use farfield_cli::args::{EvaluateArgs, ResumeArgs, RunArgs};
use std::ffi::OsString;

const OTHERS: &str =
    "All other commands of farfield (info, schema, plot, ...) are done by the first rank alone, as farfield does them.";

/// Sums of long-range interactions, and simulations by them, over the ranks of MPI.
#[derive(Debug, Parser)]
#[command(name = "farfield-mpi", version, max_term_width = 100, arg_required_else_help = true, after_help = OTHERS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sum a kernel over points that are spread over the ranks, and report time, error, memory, bytes and messages of each. Options
    /// as for `farfield evaluate`; --threads are those of each rank [default: the machine's cores over its ranks], and --device cuda
    /// is the GPU of the rank's number on its machine
    Evaluate(Box<EvaluateArgs>),
    /// Run a case with [vortex] or [gravity] whose points are spread over the ranks. Options as for `farfield run`; --threads and --device
    /// as for `evaluate`
    Run(Box<RunArgs>),
    /// Go on with a run, of any number of ranks or of `farfield run`, on the ranks there are now
    Resume(Box<ResumeArgs>),
    /// Forecast time, bytes and messages of a sum on many ranks
    Model(ModelArgs),
    /// Any other command of `farfield`: the first rank does it, alone.
    #[command(external_subcommand)]
    OfOne(Vec<OsString>),
}

/// `farfield-mpi model`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Ranks: one number, or several separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64, 512, 4096, 65536])]
    pub ranks: Vec<u64>,
    /// Points on all ranks together: 1e9
    #[arg(long, default_value_t = 1e9)]
    pub n: f64,
    /// Relative error allowed
    #[arg(long, default_value_t = 1e-6)]
    pub tolerance: f64,
    /// Seconds that one rank takes for a million points of its own
    #[arg(long, default_value_t = 2.1)]
    pub seconds_per_million: f64,
    /// Seconds until a message has arrived, however short
    #[arg(long, default_value_t = 2e-6)]
    pub latency: f64,
    /// Bytes in a second from one rank
    #[arg(long, default_value_t = 10e9)]
    pub bandwidth: f64,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}
