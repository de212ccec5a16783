//! The program `farfield-evidence`: the evidence for farfield, apart from the program that users install.
//!
//! - `reproduce` measures tables and figures of papers again and puts the numbers side by side with the printed ones;
//! - `validate` compares simulations with theory, as tables, figures and claims.
//!
//! Options, output and exit codes follow the program `farfield`.

mod args;
mod case;
mod reproduce;
mod validate;

use args::{Cli, Command};
use clap::Parser;
use farfield_cli::{check_level_variable, print};
use std::process::ExitCode;

/// Why a measurement or a simulation stopped early.
type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let text = check_level_variable().and_then(|()| match command {
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Validate(args) => validate::run(&args),
    });
    match text.and_then(|text| print::result(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
