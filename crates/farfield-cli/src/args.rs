//! Command-line options, their ranges and their help; one file for each group of commands.

mod after;
mod evaluate;
mod measure;
mod poisson;
mod run;
mod value;
mod view;

pub use after::{CompletionsArgs, ManArgs, PlotArgs, SampleArgs, SweepArgs};
pub use evaluate::EvaluateArgs;
pub use measure::{BenchArgs, InfoArgs, SelftestArgs, TestedPart};
pub use poisson::{AxesOrder, KernelChoice, PoissonArgs, PoissonMethod, WaveletName};
pub use run::{ResumeArgs, RunArgs, WatchArgs};
pub use value::{PrecisionName, at_least_one, size, threads};
pub use view::{LiveArgs, ViewArgs};

use clap::{Parser, Subcommand};

/// Fast sums of long-range interactions: direct, treecode and FMM, to a tolerance you choose.
#[derive(Debug, Parser)]
#[command(name = "farfield", version, max_term_width = 100, arg_required_else_help = true, after_help = VARIABLES)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Environment variables that the program reads.
pub const VARIABLES: &str = "\
Environment:
  FARFIELD_PROFILE     machine profile [overridden by --profile]
  FARFIELD_SIMD        instruction set, instead of the machine's best: scalar, avx2, avx512, neon
  FARFIELD_CACHE       folder for compiled device code
  FARFIELD_NVRTC       path of the library that compiles device code
  NO_COLOR             no colours in messages and help
  COLUMNS              width of reports [default: the width of the terminal]
  XDG_CONFIG_HOME      folder that contains farfield/profile.toml";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a simulation: a case by name, or a case file
    Run(RunArgs),
    /// Continue a stopped run
    Resume(ResumeArgs),
    /// Run a case and watch it in the browser, or show a run's folder or a file of points
    View(ViewArgs),
    /// Sample velocity, vorticity, Q and lambda-2 of a run on a grid or a slice
    Sample(SampleArgs),
    /// Redraw the diagnostics of a run, or compare several runs
    Plot(PlotArgs),
    /// Run a case with every combination of the given values, and draw the results
    Sweep(SweepArgs),
    /// Print the schema of case files: every key, its default and its meaning
    Schema,
    /// Sum a kernel over generated points or points from files, and report time, error, memory and rates
    Evaluate(Box<EvaluateArgs>),
    /// Solve the Poisson problem of a vorticity field in free space on a grid adapted to it
    Poisson(Box<PoissonArgs>),
    /// Measure the machine's peak rates and the share of them that operators and methods reach
    Bench(BenchArgs),
    /// Describe this machine and the parts this build uses; for a run's folder, its contents and progress
    Info(InfoArgs),
    /// Compare every operator and method of a device with exact results
    Selftest(SelftestArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_error_of_an_option_speaks_of_rust_types() {
        let mut asked = 0;
        for command in Cli::command().get_subcommands() {
            let options = command
                .get_arguments()
                .filter(|option| option.get_action().takes_values());
            for option in options.filter_map(|option| option.get_long()) {
                for value in ["x?", "1.5.2", "-3", ""] {
                    let line = ["farfield", command.get_name(), &format!("--{option}={value}")];
                    let Err(error) = Cli::try_parse_from(line) else {
                        continue;
                    };
                    asked += 1;
                    let message = error.to_string();
                    for word in [
                        "digit", "literal", "usize", "u64", "u16", "f64 ", "parse", "ParseInt", "string",
                    ] {
                        assert!(!message.contains(word), "{line:?}: {message}");
                    }
                }
            }
        }
        assert!(asked > 100, "{asked}");
    }
}
