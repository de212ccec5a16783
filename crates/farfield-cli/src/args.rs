//! The command line as typed: options, their ranges and their help, a file for each group of commands.

mod evaluate;
mod measure;
mod poisson;
mod run;
mod value;
mod view;

pub use evaluate::{EvaluateArgs, KernelName};
pub use measure::{BenchArgs, InfoArgs, ReproduceArgs, SelftestArgs, TestedDevice};
pub use poisson::{AxesOrder, KernelChoice, PoissonArgs, PoissonMethod, WaveletName};
pub use run::{ResumeArgs, RunArgs, ValidateArgs, WatchArgs};
pub use value::PrecisionName;
pub use view::{LiveArgs, ViewArgs};

use clap::{Parser, Subcommand};

/// Fast sums of long-range interactions: direct, treecode and FMM, to a tolerance you choose.
#[derive(Debug, Parser)]
#[command(name = "farfield", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a simulation: a case by name, or a case file
    Run(RunArgs),
    /// Go on with a run that was stopped
    Resume(ResumeArgs),
    /// Watch a simulation in the browser as it runs: a case; or look at a run's folder, or a file of points
    View(ViewArgs),
    /// Print the schema of case files: every key, its default and its meaning
    Schema,
    /// Check the simulations against theory and write tables and figures
    Validate(ValidateArgs),
    /// Sum a kernel over points, made up or from files, and report time, error, memory and rates
    Evaluate(Box<EvaluateArgs>),
    /// Solve the Poisson problem of a vorticity field in free space on a grid adapted to it
    Poisson(Box<PoissonArgs>),
    /// Measure the machine's ceilings and what share of them operators and methods reach
    Bench(BenchArgs),
    /// Say what this machine has and what this build uses of it
    Info(InfoArgs),
    /// Measure what a paper measured and put the numbers side by side
    Reproduce(ReproduceArgs),
    /// Compare every operator and method of a device with the truth
    Selftest(SelftestArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
