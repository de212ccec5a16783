//! What can stop a simulation.

use std::path::PathBuf;

/// Why a case cannot be read, or a run cannot start or go on. Every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The case file is not as the schema asks.
    #[error("{0}")]
    Case(Box<CaseError>),
    /// The engine refused a sum.
    #[error("{what}: {cause}")]
    Sum {
        /// Which sum.
        what: &'static str,
        /// What the engine said.
        cause: Box<farfield::Error>,
    },
    /// The grid of a flow could not be made or used.
    #[error("{0}")]
    Grid(Box<farfield_grid::Error>),
    /// The device that was to sum failed.
    #[error("{what}: {cause}")]
    Device {
        /// Which sum.
        what: &'static str,
        /// What the device said.
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
        /// Why not, and what to do.
        why: String,
    },
    /// A checkpoint cannot be read.
    #[error("{}: {why}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The solution blew up.
    #[error("step {step}, time {time:.6}: {why}")]
    BlowUp {
        /// The step at which it was seen.
        step: u64,
        /// The time of that step.
        time: f64,
        /// What was seen and what may help.
        why: String,
    },
    /// A file of a running simulation could not be written.
    #[error("{cause}. The run stops at step {step}; {}", what_is_left(.folder, *.kept))]
    Writing {
        /// What failed.
        cause: Box<Error>,
        /// The step.
        step: u64,
        /// The run's folder.
        folder: PathBuf,
        /// Whether a checkpoint is still there.
        kept: bool,
    },
    /// What was to be simulated does not fit into memory.
    #[error(
        "{what} would take about {:.1} GiB, but only {:.1} GiB are free: {remedy}",
        gib(*.needed), gib(*.available)
    )]
    Memory {
        /// What it is.
        what: String,
        /// Bytes it takes.
        needed: u64,
        /// Bytes there are.
        available: u64,
        /// What helps.
        remedy: &'static str,
    },
    /// A run cannot go on with a changed value.
    #[error("{}: {why}", .folder.display())]
    Unchangeable {
        /// The run's folder.
        folder: PathBuf,
        /// Which value, and why not.
        why: String,
    },
    /// A rank could not do its part; every rank ends with this.
    #[error("rank {rank}: {message}")]
    OnRank {
        /// The first rank that failed.
        rank: usize,
        /// What it said.
        message: String,
        /// Whether numbers that are not finite, or results too large, are the cause.
        blew_up: bool,
    },
    /// A kind of case that several ranks cannot share.
    #[error("only cases with [vortex] or [gravity] can be shared by several ranks: start this one with farfield run")]
    OneProcess,
    /// A case without a Poisson problem that a graphics processor and the cores can share.
    #[error(
        "the device `hybrid` shares the Poisson problem of cases with [flow] between a GPU and the cores; this case sums over \
         particles: choose cpu, cuda, cuda:N or auto"
    )]
    Hybrid,
    /// The thread that writes files ended early.
    #[error("the thread that writes files and pictures stopped unexpectedly")]
    Writer,
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

fn what_is_left(folder: &std::path::Path, kept: bool) -> String {
    let folder = folder.display();
    if kept {
        format!("its last checkpoint is kept: make room, then `farfield resume {folder}`")
    } else {
        format!("no checkpoint is left: was {folder} removed or moved?")
    }
}

impl Error {
    /// What the engine or its device says of something that was to be done.
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

// Boxed: a result is as large as the largest error it may hold.
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

/// What is wrong with a case, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{origin}{place}: {message}", place = place_text(.line, .column))]
pub struct CaseError {
    /// The file, the name of a built-in case, or the option.
    pub origin: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// What is wrong and what is expected.
    pub message: String,
}

fn place_text(line: &Option<usize>, column: &Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(": line {line}, column {column}"),
        (Some(line), None) => format!(": line {line}"),
        _ => String::new(),
    }
}
