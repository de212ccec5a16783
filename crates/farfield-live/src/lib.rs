//! Shows a simulation in a browser while it runs. Viewers can pause it, step it and change it.
//!
//! The way of a state from the run to the screen:
//!
//! 1. [`Live`] is an observer of the run. Between two steps it checks whether a viewer waits for a frame. If so, it
//!    writes the points, quantised, from the model's arrays into one [`Frame`](frame::Frame) for all viewers.
//! 2. The [`Hub`] holds the newest frame and drops the previous one; there is no queue. It also holds the commands of
//!    viewers until the run reads them between two steps.
//! 3. Each viewer has a thread that sends the newest frame as soon as its browser has drawn the previous one, cut to
//!    the number of points the browser can handle. A slow viewer misses frames; the run does not wait.
//! 4. The page (`page/`, embedded in the program) draws with WebGL2.
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

/// Errors of the live page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}; choose another port with --port")]
    Listen {
        /// The address.
        address: String,
        /// The error of the operating system.
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
        /// The reason.
        why: String,
    },
}
