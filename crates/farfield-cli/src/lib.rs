//! The program `farfield`: fast sums of long-range interactions from the command line.
//!
//! `main` parses the command line, `execute` picks the command, and the command does the work and returns one text for
//! standard output. Progress and errors go to standard error. The exit code is 0 for success, 2 for a command line that
//! asks for something impossible, 1 for an error of the data or the machine, 3 for a sum whose measured error exceeds
//! its tolerance, and 4 for a run that a signal stopped after a step and a checkpoint.
//!
//! It is a library only to share its options and their way to sums with `farfield-mpi` and `farfield-evidence`; it is
//! not an interface for others.

#[doc(hidden)]
pub mod args;
mod bench;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod evaluate;
#[doc(hidden)]
pub mod failure;
mod info;
#[doc(hidden)]
pub mod layout;
#[cfg(test)]
mod mutations;
mod plot;
mod poisson;
#[doc(hidden)]
pub mod print;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod profile;
#[doc(hidden)]
pub mod run;
mod sample;
mod selftest;
mod shell;
mod sweep;
#[doc(hidden)]
pub mod threads;
mod view;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use farfield::simd::{LEVEL_VARIABLE, SimdLevel};
use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    // An invalid command line ends here with exit code 2, `--help` and `--version` with 0.
    let cli = Cli::parse();
    match execute(cli).and_then(|text| print::result(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Runs the command, and returns its text for standard output.
#[doc(hidden)]
pub fn execute(cli: Cli) -> Result<String, Failure> {
    check_level_variable()?;
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::View(args) => view::run(&args),
        Command::Schema => Ok(run::schema()),
        Command::Evaluate(args) => evaluate::run(*args),
        Command::Poisson(args) => poisson::run(*args),
        Command::Bench(args) => bench::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Selftest(args) => selftest::run(&args),
    }
}

/// Refuses an instruction set from the environment that does not exist or is missing on this machine.
#[doc(hidden)]
pub fn check_level_variable() -> Result<(), Failure> {
    let available = SimdLevel::available().into_iter().map(SimdLevel::name);
    match SimdLevel::asked_for() {
        Some(Err(reason)) => Err(Failure::Usage(format!(
            "{LEVEL_VARIABLE}={}: {reason}; this machine has {}",
            reason.name(),
            available.collect::<Vec<_>>().join(", ")
        ))),
        _ => Ok(()),
    }
}
