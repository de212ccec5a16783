//! Commands that do not run in parallel: one process executes them as `farfield` does.

use clap::Parser;
use farfield_cli::args::Cli;
use farfield_cli::print;
use std::ffi::OsString;
use std::iter::once;

/// Executes a command of `farfield`; returns its exit code.
pub fn run(words: Vec<OsString>) -> u8 {
    let cli = match Cli::try_parse_from(once(OsString::from("farfield")).chain(words)) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    match farfield_cli::execute(cli).and_then(|text| print::result(&text)) {
        Ok(()) => 0,
        Err(failure) => {
            let code = super::code::of(&failure);
            failure.report();
            code
        }
    }
}
