//! Watch a simulation in a browser while it runs, turn it, stop it, change it.
//!
//! How a moment travels from a run to the pixels:
//!
//! 1. [`Live`] is an observer of the run. Between two steps it looks whether a viewer waits for a frame; if so it writes the
//!    points, quantised, straight from the model's arrays into one [`Frame`](frame::Frame) for all viewers.
//! 2. The [`Hub`] holds that frame and lets go of the one before: there is no queue anywhere. It also holds what
//!    viewers ask for, until the run looks at it between two steps.
//! 3. Each viewer has a thread that sends the newest frame as soon as its browser has drawn the one before, cut to the
//!    number of points it can take. A slow viewer misses frames; the run does not wait.
//! 4. The page (`page/`, inside the program) draws with WebGL2.
//!
//! A finished run, a folder and a file are shown through the same [`Hub`] as [`Moments`](recording::Moments).

pub mod command;
mod connection;
pub mod files;
pub mod frame;
mod http;
pub mod hub;
mod live;
#[cfg(test)]
mod mutations;
pub mod recording;
mod rows;
mod server;
mod still;

pub use hub::Hub;
pub use live::{Live, Manner};
pub use server::{Access, Server};
pub use still::{Still, StillCloud};

/// What can go wrong in showing something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No viewer can be served there.
    #[error("cannot listen on {address}: {cause}; choose another port with --port")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] farfield_io::Error),
    /// A file was read but cannot be shown.
    #[error("{}: {why}", .path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        why: String,
    },
}
