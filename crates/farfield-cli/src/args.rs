//! The command line as typed: options, their ranges and their help, a file for each group of commands.

mod after;
mod evaluate;
mod measure;
mod poisson;
mod run;
mod value;
mod view;

pub use after::{CompletionsArgs, ManArgs, PlotArgs, SampleArgs, SweepArgs};
pub use evaluate::{EvaluateArgs, KernelName};
pub use measure::{BenchArgs, InfoArgs, ReproduceArgs, SelftestArgs, TestedPart};
pub use poisson::{AxesOrder, KernelChoice, PoissonArgs, PoissonMethod, WaveletName};
pub use run::{ResumeArgs, RunArgs, ValidateArgs, WatchArgs};
pub use value::PrecisionName;
pub use view::{LiveArgs, ViewArgs};

use clap::{Parser, Subcommand};

/// Fast sums of long-range interactions: direct, treecode and FMM, to a tolerance you choose.
#[derive(Debug, Parser)]
#[command(name = "farfield", version, max_term_width = 100, arg_required_else_help = true, after_help = VARIABLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The variables of the environment that the program looks at.
const VARIABLES: &str = "\
Environment:
  FARFIELD_PROFILE     the machine profile, where --profile is not given
  FARFIELD_SIMD        a lower instruction set than the machine's best: scalar, avx2, avx512, neon
  FARFIELD_CACHE       where compiled device code is kept
  FARFIELD_NVRTC       the library that compiles device code (a path)
  NO_COLOR             no colours in messages and help
  COLUMNS              how wide reports may be, where it is not the terminal's width
  XDG_CONFIG_HOME      where farfield/profile.toml is looked for";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a simulation: a case by name, or a case file
    Run(RunArgs),
    /// Go on with a run that was stopped
    Resume(ResumeArgs),
    /// Watch a simulation in the browser as it runs: a case; or look at a run's folder, or a file of points
    View(ViewArgs),
    /// Sample velocity, vorticity, Q and lambda-2 of a run on a grid or a slice
    Sample(SampleArgs),
    /// Draw the diagnostics of a run again, or compare several runs
    Plot(PlotArgs),
    /// Run every combination of some values of a case, and draw what came out
    Sweep(SweepArgs),
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
    /// Say what this machine has and what this build uses of it; or, of a run's folder, what it holds and how far it got
    Info(InfoArgs),
    /// Measure what a paper measured and put the numbers side by side
    Reproduce(ReproduceArgs),
    /// Compare every operator and method of a device with the truth
    Selftest(SelftestArgs),
    /// Print what a shell needs to complete commands and options
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
    fn no_option_answers_in_words_of_the_language_it_is_written_in() {
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
