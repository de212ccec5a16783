//! Errors that stop a simulation.

use std::path::PathBuf;

/// Why a case cannot be read, or a run cannot start or continue. Messages name a remedy where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The case file does not follow the schema.
    #[error("{0}")]
    Case(Box<CaseError>),
    /// The engine rejected a sum.
    #[error("{what}: {cause}")]
    Sum {
        /// The name of the sum.
        what: &'static str,
        /// The engine's error.
        cause: Box<farfield::Error>,
    },
    /// The grid of a flow could not be made or used.
    #[error("{0}")]
    Grid(Box<farfield_grid::Error>),
    /// The device failed during a sum.
    #[error("{what}: {cause}")]
    Device {
        /// The name of the sum.
        what: &'static str,
        /// The device's error.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file could not be read or written.
    #[error("{0}")]
    File(Box<farfield_io::Error>),
    /// A picture could not be drawn or written.
    #[error("{0}")]
    Plot(Box<farfield_plot::Error>),
    /// The output folder cannot be used.
    #[error("{}: {why}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The reason and the remedy.
        why: String,
    },
    /// A checkpoint cannot be read.
    #[error("{}: {why}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The solution blew up.
    #[error("step {step}, time {time:.6}: {why}")]
    BlowUp {
        /// The step at which it was detected.
        step: u64,
        /// The time of that step.
        time: f64,
        /// The symptom and a possible remedy.
        why: String,
    },
    /// A file of a running simulation could not be written.
    #[error("{cause}. The run stops at step {step}; {}", what_is_left(.folder, *.kept))]
    Writing {
        /// The error that occurred.
        cause: Box<Error>,
        /// The step.
        step: u64,
        /// The run's folder.
        folder: PathBuf,
        /// Whether a checkpoint is left in the folder.
        kept: bool,
    },
    /// The simulation does not fit into memory.
    #[error(
        "{what} would take about {:.1} GiB, but only {:.1} GiB are free: {remedy}",
        gib(*.needed), gib(*.available)
    )]
    Memory {
        /// The part of the simulation that does not fit.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// The remedy.
        remedy: &'static str,
    },
    /// A value that cannot be changed when a run is continued.
    #[error("{}: {why}", .folder.display())]
    Unchangeable {
        /// The run's folder.
        folder: PathBuf,
        /// The value and the reason.
        why: String,
    },
    /// One rank failed; every rank ends with this error.
    #[error("rank {rank}: {message}")]
    OnRank {
        /// The first rank that failed.
        rank: usize,
        /// Its error message.
        message: String,
        /// Whether the cause is a non-finite number or an overflow.
        blew_up: bool,
    },
    /// A kind of case that several ranks cannot share.
    #[error("only cases with [vortex] or [gravity] can be shared by several ranks: start this one with farfield run")]
    OneProcess,
    /// The device `hybrid` for a case without a Poisson problem, which alone a GPU and the CPU cores can share.
    #[error(
        "the device `hybrid` shares the Poisson problem of cases with [flow] between a GPU and the CPU cores; this case \
         sums over particles: choose cpu, cuda, cuda:N or auto"
    )]
    Hybrid,
    /// The writing thread ended early.
    #[error("the thread that writes files and pictures stopped unexpectedly")]
    Writer,
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

fn what_is_left(folder: &std::path::Path, kept: bool) -> String {
    let folder = folder.display();
    if kept {
        format!("its last checkpoint is intact: free some disk space, then `farfield resume {folder}`")
    } else {
        format!("no checkpoint is left: was {folder} removed or moved?")
    }
}

impl Error {
    /// The error of the engine or its device while it computed `what`.
    pub(crate) fn during(what: &'static str, error: farfield::Error) -> Self {
        if error.is_of_the_device() {
            Self::Device {
                what,
                cause: Box::new(error),
            }
        } else {
            Self::Sum {
                what,
                cause: Box::new(error),
            }
        }
    }
}

impl From<farfield::Error> for Error {
    fn from(error: farfield::Error) -> Self {
        Self::during("the state", error)
    }
}

// Boxed, because a `Result` is as large as its largest error.
macro_rules! boxed {
    ($($variant:ident: $cause:ty),*) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Self {
                Self::$variant(Box::new(cause))
            }
        }
    )*};
}
boxed!(Case: CaseError, Grid: farfield_grid::Error, File: farfield_io::Error, Plot: farfield_plot::Error);

/// An error in a case and its location.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{origin}{place}: {message}", place = place_text(.line, .column))]
pub struct CaseError {
    /// The file, the name of a built-in case, or the option.
    pub origin: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// The error and the expected value.
    pub message: String,
}

fn place_text(line: &Option<usize>, column: &Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(": line {line}, column {column}"),
        (Some(line), None) => format!(": line {line}"),
        _ => String::new(),
    }
}
