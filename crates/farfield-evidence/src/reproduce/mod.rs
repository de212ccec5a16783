//! Tables and figures of the papers, measured again.
//!
//! Each table or figure is a function that measures and returns tables, remarks and a chart; [`run`] prints the tables
//! and writes `NAME.csv` and `NAME.png`.

mod chart;
mod crossover;
mod goude;
mod goude_figure_2_1;
mod goude_figure_5_5;
mod goude_figure_5_6;
mod goude_figure_5_8;
mod goude_figure_5_9;
mod goude_points_per_box;
mod goude_speedups;
mod goude_table_5_1;
mod hu;
mod hu_errors;
mod hu_figure_a4;
mod hu_figure_a5;
mod hu_rings;
mod hu_table_a1;
mod hu_table_a2;
mod hu_ten_million;
mod measure;
mod operations;
mod phases;
mod published;
mod table;
mod textbook_lists;
mod two_rings;
mod vanrees;
mod vanrees_figure_5;
mod vanrees_scaling;
mod yokota;
mod yokota_figure_5;
mod yokota_figure_6;
mod yokota_figure_7;

use crate::Error;
use crate::args::ReproduceArgs;
use farfield::cuda::Device;
use farfield::machine;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use farfield_cli::failure::Failure;
use farfield_cli::profile::Profile;
use farfield_cli::{layout, print, threads};
use farfield_io::{units, write_bytes_atomically, write_text_atomically};
use farfield_plot::Image;
use published::Hardware;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use table::Table;

/// A table or figure: its name, the function that measures it, and its contents.
type Entry = (&'static str, fn(&Context) -> Result<Reproduction, Error>, &'static str);

/// All tables and figures.
#[rustfmt::skip]
const ENTRIES: [Entry; 31] = [
    ("goude-figure-2-1", goude_figure_2_1::run, "the adaptive mesh in the plane, a box's couplings, and box heights"),
    ("goude-table-5-1", goude_table_5_1::run, "time of the FMM in the plane by part"),
    ("goude-figure-5-1", goude_speedups::figure_5_1, "GPU over CPU by part of the FMM, against points per box"),
    ("goude-figure-5-2", goude_points_per_box::figure_5_2, "time of the FMM in the plane against points per box"),
    ("goude-figure-5-3", goude_speedups::figure_5_3, "GPU over CPU by part, against the order"),
    ("goude-figure-5-4", goude_points_per_box::figure_5_4, "the best number of points per box against the order"),
    ("goude-figure-5-5", goude_figure_5_5::run, "FMM against direct sum in the plane, with the break-even"),
    ("goude-figure-5-6", goude_figure_5_6::run, "GPU over CPU of FMM and direct sum in the plane, against N"),
    ("goude-figure-5-7", goude_speedups::figure_5_7, "GPU over CPU by part, against the number of points"),
    ("goude-figure-5-8", goude_figure_5_8::run, "time of the FMM in the plane for three distributions of points"),
    ("goude-figure-5-9", goude_figure_5_9::run, "time of the FMM in the plane as points become less uniform"),
    ("hu-figure-a1", hu_rings::figure_a1, "two vortex rings leapfrog, 2^12 elements, 2^14 of 2^18 particles drawn"),
    ("hu-table-a1", hu_table_a1::run, "time to build the data structures, by depth of the tree"),
    ("hu-table-a2", hu_table_a2::run, "time of the FMM for the Biot-Savart kernel against the Coulomb kernel"),
    ("hu-figure-a4", hu_figure_a4::run, "time of the Biot-Savart FMM by phase, over the number of points"),
    ("hu-figure-a5", hu_figure_a5::run, "FMM against direct sum, single and double precision, with crossovers"),
    ("hu-figure-a6", hu_errors::single, "error against the number of points for several orders, single precision"),
    ("hu-figure-a7", hu_errors::double, "error against the number of points for several orders, double precision"),
    ("hu-figure-a8", hu_rings::figure_a8, "two vortex rings collide, 2^12 elements, 2^14 of 2^18 particles drawn"),
    ("hu-figure-a9", hu_rings::figure_a9, "two vortex rings leapfrog, 2^15 elements, 2^15 of 2^18 particles drawn"),
    ("hu-figure-a10", hu_rings::figure_a10, "two vortex rings leapfrog, 2^15 elements, 2^18 particles"),
    ("hu-figure-a11", hu_rings::figure_a11, "two vortex rings leapfrog, 2^15 elements, 2^20 particles"),
    ("hu-ten-million", hu_ten_million::run, "the Biot-Savart FMM of ten million points, single and double precision"),
    ("yokota-figure-5", yokota_figure_5::run, "time of direct sum, treecode and FMM against N, with crossovers"),
    ("yokota-figure-6", yokota_figure_6::run, "time of treecode and FMM by phase for ten million bodies"),
    ("yokota-figure-7", yokota_figure_7::run, "operations per second of each operator against the number of bodies"),
    ("vanrees-figure-3", vanrees::figure_3, "time by phase of the multiresolution Poisson solver, theta 0.5"),
    ("vanrees-figure-4", vanrees::figure_4, "time of its direct and indirect interactions against theta"),
    ("vanrees-table-1", vanrees::table_1, "operations per second of both kinds of interaction beside their bounds"),
    ("vanrees-figure-5", vanrees_figure_5::run, "rates of both kinds of interaction along the flow past a sphere"),
    ("vanrees-scaling", vanrees_scaling::run, "strong scaling of its evaluation beside that of the direct sum"),
];

/// The banner over figures of small sizes.
const QUICK_BANNER: &str = "A quick look: sizes are too small to compare with the paper";
/// The longest time that `--quick` repeats sums for, in seconds.
const QUICK: f64 = 0.02;

/// Tables with more rows are written, but not printed.
const LONGEST_TABLE: usize = 60;

/// The names of all tables and figures.
pub fn names() -> [&'static str; ENTRIES.len()] {
    ENTRIES.map(|(name, ..)| name)
}

/// The settings of a reproduction.
struct Context {
    /// The name of the table or figure.
    name: &'static str,
    started: Instant,
    /// Small sizes, to see it work.
    quick: bool,
    /// The largest size.
    largest: usize,
    /// Repeats of a sum stop after this many seconds.
    enough: f64,
    profile: MachineProfile,
    /// The GPU of the GPU columns, if there is one.
    gpu: Option<Arc<Device>>,
}

impl Context {
    /// Prints a line of progress: the seconds since the start, and what is measured next.
    fn step(&self, what: impl Display) {
        let seconds = self.started.elapsed().as_secs_f64();
        print::progress(&format!("{seconds:7.1} s  {}: {what}", self.name));
    }

    /// The same for a measurement on the GPU, if there is one.
    fn step_on_gpu(&self, what: impl Display) {
        if self.gpu.is_some() {
            self.step(what);
        }
    }

    /// The size of a problem that has one size: `paper` or `quick`, and at most the largest.
    fn size(&self, paper: usize, quick: usize) -> usize {
        if self.quick { quick } else { paper }.min(self.largest)
    }

    /// The first of growing sizes, and the others up to the largest.
    fn sizes(&self, sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut sizes = sizes.into_iter();
        let first = sizes.next();
        let others = sizes.take_while(|n| *n <= self.largest);
        first.into_iter().chain(others).collect()
    }

    /// A direct sum that would take longer than the first number of seconds is timed at some of its targets, for the
    /// second number of seconds.
    fn direct_limits(&self) -> (f64, f64) {
        (10.0 * self.enough, self.enough)
    }
}

/// The powers of ten whose exponents are `step` times the numbers of `range`, rounded.
fn powers_of_ten(step: f64, range: impl Iterator<Item = u32>) -> impl Iterator<Item = usize> {
    range.map(move |k| 10f64.powf(step * f64::from(k)).round() as usize)
}

/// A number for reading, its digits in groups.
fn count(n: usize) -> String {
    units::count(n as u64)
}

/// The result of a reproduction.
struct Reproduction {
    title: String,
    /// The machine of the paper.
    hardware: Hardware,
    /// The first goes to `NAME.csv`, each other one to `NAME-ITS-NAME.csv`.
    tables: Vec<(&'static str, Table)>,
    remarks: Vec<String>,
    png: Vec<u8>,
}

impl Reproduction {
    fn new(title: impl Into<String>, hardware: Hardware, table: impl Into<Table>, png: Vec<u8>) -> Self {
        Self {
            title: title.into(),
            hardware,
            tables: vec![("", table.into())],
            remarks: Vec::new(),
            png,
        }
    }

    /// Adds another table.
    fn table(mut self, name: &'static str, table: impl Into<Table>) -> Self {
        self.tables.push((name, table.into()));
        self
    }

    /// Adds a remark below the tables.
    fn remark(mut self, text: impl Into<String>) -> Self {
        self.remarks.push(text.into());
        self
    }
}

/// Measures a table or figure, writes its files and returns the report; without a name, lists them.
pub fn run(args: &ReproduceArgs) -> Result<String, Failure> {
    let Some(entry) = ENTRIES.into_iter().find(|entry| args.name.as_deref() == Some(entry.0)) else {
        return Ok(layout::list(ENTRIES.map(|(name, _, about)| (name, about.to_owned()))));
    };
    let profile = Profile::load(args.profile.as_deref())?;
    threads::start(args.threads)?;
    let folder = args.output.clone();
    let folder = folder.unwrap_or_else(|| Path::new("reproduce").join(entry.0));
    reproduce(entry, &folder, args, profile.costs).map_err(Failure::data)
}

fn reproduce(
    (name, measure, _): Entry,
    folder: &Path,
    args: &ReproduceArgs,
    profile: MachineProfile,
) -> Result<String, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot make this folder: {error}", folder.display()))?;
    let context = Context {
        name,
        started: Instant::now(),
        quick: args.quick,
        largest: args.max_n.unwrap_or(usize::MAX),
        enough: if args.quick {
            args.seconds.min(QUICK)
        } else {
            args.seconds
        },
        profile,
        gpu: farfield::open(0).ok(),
    };
    let mut reproduction = measure(&context)?;
    if args.quick {
        let figure = Image::from_png(&reproduction.png)?;
        reproduction.png = figure.under_banner(QUICK_BANNER)?.to_png()?;
    }
    let written = write(folder, name, &reproduction)?;
    context.step("done");
    Ok(layout::fit(report(&reproduction, args, &written)))
}

fn write(folder: &Path, name: &str, reproduction: &Reproduction) -> Result<Vec<PathBuf>, Error> {
    let mut written = Vec::new();
    for (suffix, table) in &reproduction.tables {
        let dash = if suffix.is_empty() { "" } else { "-" };
        let file = folder.join(format!("{name}{dash}{suffix}.csv"));
        write_text_atomically(&file, &table.csv())?;
        written.push(file);
    }
    let file = folder.join(format!("{name}.png"));
    write_bytes_atomically(&file, &reproduction.png)?;
    written.push(file);
    Ok(written)
}

fn report(reproduction: &Reproduction, args: &ReproduceArgs, written: &[PathBuf]) -> String {
    let mut text = format!("{}\n", reproduction.title);
    let Hardware { cpu, gpu, notes } = reproduction.hardware;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "paper   {cpu}; {gpu} ({notes})");
    let _ = writeln!(text, "ours    {}", this_machine());
    if args.quick {
        let _ = writeln!(text, "quick   sizes are too small to compare");
    }
    if let Some(largest) = args.max_n {
        let _ = writeln!(text, "max-n   no sizes above {}", count(largest));
    }
    let tables = reproduction.tables.iter().map(|(_, table)| table);
    for table in tables.filter(|table| table.rows() <= LONGEST_TABLE) {
        let _ = write!(text, "\n{}", table.text(layout::width()));
    }
    if !reproduction.remarks.is_empty() {
        text.push('\n');
    }
    for remark in &reproduction.remarks {
        let _ = writeln!(text, "* {remark}");
    }
    text.push('\n');
    for file in written {
        let _ = writeln!(text, "written {}", file.display());
    }
    text
}

/// The machine that our numbers are measured on.
fn this_machine() -> String {
    let cpu = machine::cpu_model().unwrap_or_else(|| "unknown processor".to_owned());
    let threads = rayon::current_num_threads();
    let plural = if threads == 1 { "" } else { "s" };
    let gpu = match Device::all().as_deref() {
        Ok([first, ..]) => first.name.clone(),
        _ => "no GPU".to_owned(),
    };
    format!("{cpu}, {threads} thread{plural}, {}; {gpu}", SimdLevel::best())
}
