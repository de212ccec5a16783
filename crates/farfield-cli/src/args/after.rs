//! Options of the commands that read runs, `farfield sample`, `plot` and `sweep`, and of `completions` and `man`.

use super::value::{at_least_one, count, number, threads, whole};
use clap::Args;
use clap::builder::PossibleValuesParser;
use farfield_sim::sample::Quantity;
use std::path::PathBuf;

/// `farfield sample`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct SampleArgs {
    /// The folder of a run with vortices
    pub folder: PathBuf,
    /// A slice: x=0, y=1.5 or z=0 [default: the whole box]
    #[arg(long, value_name = "AXIS=PLACE")]
    pub slice: Option<String>,
    /// Quantities to sample, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_values = ["velocity", "vorticity"],
        value_parser = PossibleValuesParser::new(Quantity::ALL.map(Quantity::name)))]
    pub quantity: Vec<String>,
    /// Points along the longest side
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least_one)]
    pub resolution: usize,
    /// The lower corner of the box, three numbers separated by commas [default: around the vortices]
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', num_args = 1, requires = "high", value_parser = number)]
    pub low: Vec<f64>,
    /// The upper corner of the box
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', num_args = 1, requires = "low", value_parser = number)]
    pub high: Vec<f64>,
    /// The step of a checkpoint [default: the newest]
    #[arg(long, value_name = "K", value_parser = whole)]
    pub step: Option<u64>,
    /// Name of the files to write, without extension: .vti and .npz, and .png for a slice [default: DIR/sample-STEP]
    #[arg(short, long, value_name = "STEM")]
    pub output: Option<PathBuf>,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
}

/// `farfield plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The folders of one or several runs; they may still be running
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Columns of diagnostics.csv to draw, separated by commas [default: the usual chart for one run, the energy for
    /// several]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Vec<String>,
    /// File to write: .png for a chart, .csv for a table [default: DIR/diagnostics.png, for several runs compare.png]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `farfield sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// A case by name, or a file that ends in .toml
    pub case: String,
    /// A value, or several separated by commas; every combination becomes a run (time.step=0.1,0.05 vortex.layers=1,2)
    #[arg(long, value_name = "KEY=VALUES")]
    pub set: Vec<String>,
    /// Columns of diagnostics.csv for the table and the chart, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_value = "energy")]
    pub plot: Vec<String>,
    /// Folder for the runs, sweep.csv and sweep.png [default: runs/CASE-sweep]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Largest number of runs of a sweep
    #[arg(long, value_name = "N", default_value = "100", value_parser = count)]
    pub most: usize,
}

/// `farfield completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `farfield man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for farfield.1, farfield-run.1 and so on
    #[arg(short, long, value_name = "DIR", default_value = "man")]
    pub output: PathBuf,
}
