//! The command line as typed.

use crate::{reproduce, validate};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use farfield::Device;
use farfield_cli::args::{VARIABLES, at_least_one, size, threads};
use farfield_grid::poisson::PoissonDevice;
use std::path::PathBuf;

/// The evidence for farfield: papers measured again, simulations compared with theory
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true, after_help = VARIABLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what a paper measured and put the numbers side by side
    Reproduce(ReproduceArgs),
    /// Check the simulations against theory and write tables and figures
    Validate(ValidateArgs),
}

/// `farfield-evidence reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// The table or figure [default: list them]
    #[arg(value_parser = PossibleValuesParser::new(reproduce::names()), hide_possible_values = true)]
    pub name: Option<String>,
    /// List the tables and figures there are
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Folder to write NAME.csv and NAME.png to [default: reproduce/NAME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Much smaller sizes: to see it work, not to compare
    #[arg(long)]
    pub quick: bool,
    /// Leave out sizes above this many points
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_n: Option<usize>,
    /// Repeat short sums for this many seconds, and sample direct sums that would take ten times as long
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = size)]
    pub seconds: f64,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for farfield evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
}

/// `farfield-evidence validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The validation, or `all` [default: list them]
    #[arg(value_parser = PossibleValuesParser::new(validate::names()))]
    pub name: Option<String>,
    /// Folder to write NAME.csv and NAME.png to
    #[arg(short, long, value_name = "DIR", default_value = "validation")]
    pub output: PathBuf,
    /// Where sphere-drag computes its sums: cpu, cuda, cuda:N, hybrid or auto; with a GPU at finer resolutions
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu.into())]
    pub device: PoissonDevice,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
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
