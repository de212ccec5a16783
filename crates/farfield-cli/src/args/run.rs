//! Options of `farfield run` and `resume`.

use super::value::{threads, whole};
use super::view::LiveArgs;
use clap::Args;
use farfield::Device;
use farfield_grid::poisson::PoissonDevice;
use std::path::PathBuf;

/// `farfield run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A case by name, or a file that ends in .toml [default: list the cases]
    pub case: Option<String>,
    /// Replace a value of the case: time.end=2, vortex.rings.0.radius=0.5, size=paper
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder for everything the run writes [default: runs/CASE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How the run is watched.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Device: cpu; cuda or cuda:N, a GPU, which keeps the state of the particles in its memory; hybrid, a GPU and the
    /// CPU at once, for flows on a grid; auto, a GPU if there is one
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu.into())]
    pub device: PoissonDevice,
}

/// `farfield resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The folder of the run
    pub folder: PathBuf,
    /// Replace a value of the case from here on: time.end=20, time.step=0.01
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// How the run is watched.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile of a run that was stopped before its first checkpoint; other runs keep their own [default: as
    /// for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Device: cpu; cuda or cuda:N, a GPU, which keeps the state of the particles in its memory; hybrid, a GPU and the
    /// CPU at once, for flows on a grid; auto, a GPU if there is one
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu.into())]
    pub device: PoissonDevice,
}

/// How a run is watched.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Serve a page that shows the run in a browser
    #[arg(long)]
    pub live: bool,
    /// How the page is served.
    #[command(flatten)]
    pub page: LiveArgs,
    /// Stop after K steps and write a checkpoint, as Ctrl-C does
    #[arg(long, value_name = "K", value_parser = whole)]
    pub steps: Option<u64>,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object at the end instead of the summary
    #[arg(long)]
    pub json: bool,
}
