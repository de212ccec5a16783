//! The program `farfield-mpi`: the sums of `farfield evaluate` and the simulations of `farfield run` over MPI ranks,
//! and a model of their scaling.
//!
//! All ranks run the same code; only the first rank prints. Exit codes are those of `farfield`, the same on every rank.

#[cfg(farfield_has_mpi)]
mod program {
    pub mod args;
    pub mod code;
    pub mod evaluate;
    pub mod input;
    pub mod model;
    pub mod of_one;
    pub mod output;
    pub mod record;
    pub mod simulate;
}
#[cfg(not(farfield_has_mpi))]
mod program {
    pub mod args;
    pub mod code;
    pub mod model;
    pub mod of_one;
}

use clap::Parser;
use program::args::{Cli, Command};
use std::process::ExitCode;

#[cfg(farfield_has_mpi)]
fn main() -> ExitCode {
    use farfield_cli::print;
    use farfield_mpi::{Communicator, Mpi, OneThread};
    use std::sync::Arc;
    farfield::machine::return_freed_arrays();
    let ranks = Arc::new(OneThread::new(Mpi::world()));
    let speaks = ranks.get().rank() == 0;
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if speaks {
                // Prints help to standard output, errors to standard error.
                let _ = error.print();
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let result = match cli.command {
        Command::Evaluate(args) => program::evaluate::run(ranks.get(), *args),
        Command::Run(args) => program::simulate::run(&ranks, *args),
        Command::Resume(args) => program::simulate::resume(&ranks, *args),
        Command::Model(args) => program::model::run(&args),
        Command::OfOne(words) => {
            let mut code = [if speaks { program::of_one::run(words).into() } else { 0 }];
            ranks.get().sum_all(&mut code);
            return ExitCode::from(code[0] as u8);
        }
    };
    match result.and_then(|text| if speaks { print::result(&text) } else { Ok(()) }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if speaks => failure.report(),
        Err(failure) => ExitCode::from(program::code::of(&failure)),
    }
}

#[cfg(not(farfield_has_mpi))]
fn main() -> ExitCode {
    use farfield_cli::failure::Failure;
    use farfield_cli::print;
    let result = match Cli::parse().command {
        Command::Evaluate(_) | Command::Run(_) | Command::Resume(_) => Err(Failure::data(farfield_mpi::Error::NoMpi)),
        Command::Model(args) => program::model::run(&args),
        Command::OfOne(words) => return ExitCode::from(program::of_one::run(words)),
    };
    match result.and_then(|text| print::result(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
