//! What the papers measured, measured again.
//!
//! Each table or figure is a file here. It measures, and returns tables, remarks and a chart; [`run`] makes a text of the
//! tables and writes `NAME.csv` and `NAME.png`.

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
mod yokota_one_core;

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
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use table::Table;

/// A table or figure that can be reproduced.
#[derive(Clone, Copy)]
struct Entry {
    /// Its name.
    name: &'static str,
    /// What it shows.
    about: &'static str,
    run: fn(&Context) -> Result<Reproduction, Error>,
}

/// All tables and figures.
const ENTRIES: [Entry; 31] = [
    Entry {
        name: "goude-figure-2-1",
        about: "the adaptive mesh in the plane, a box's couplings, and the mesh as a height field",
        run: goude_figure_2_1::run,
    },
    Entry {
        name: "goude-table-5-1",
        about: "time of the FMM in the plane by part",
        run: goude_table_5_1::run,
    },
    Entry {
        name: "goude-figure-5-1",
        about: "GPU over CPU by part of the FMM in the plane, against the number of points per box",
        run: goude_speedups::figure_5_1,
    },
    Entry {
        name: "goude-figure-5-2",
        about: "time of the FMM in the plane against the number of points per box",
        run: goude_points_per_box::figure_5_2,
    },
    Entry {
        name: "goude-figure-5-3",
        about: "GPU over CPU by part, against the order",
        run: goude_speedups::figure_5_3,
    },
    Entry {
        name: "goude-figure-5-4",
        about: "the best number of points per box against the order",
        run: goude_points_per_box::figure_5_4,
    },
    Entry {
        name: "goude-figure-5-5",
        about: "FMM against direct sum in the plane over the number of points, with break-even",
        run: goude_figure_5_5::run,
    },
    Entry {
        name: "goude-figure-5-6",
        about: "GPU over CPU of FMM and direct sum in the plane, against the number of points",
        run: goude_figure_5_6::run,
    },
    Entry {
        name: "goude-figure-5-7",
        about: "GPU over CPU by part, against the number of points",
        run: goude_speedups::figure_5_7,
    },
    Entry {
        name: "goude-figure-5-8",
        about: "time of the FMM in the plane for three distributions up to ten million points",
        run: goude_figure_5_8::run,
    },
    Entry {
        name: "goude-figure-5-9",
        about: "time of the FMM in the plane as points become less uniform",
        run: goude_figure_5_9::run,
    },
    Entry {
        name: "hu-figure-a1",
        about: "two vortex rings pass through each other twice, 2^12 elements and 2^18 particles",
        run: hu_rings::figure_a1,
    },
    Entry {
        name: "hu-table-a1",
        about: "time to build the data structures, by depth of the tree",
        run: hu_table_a1::run,
    },
    Entry {
        name: "hu-table-a2",
        about: "time of the FMM for the Biot-Savart kernel against the Coulomb kernel",
        run: hu_table_a2::run,
    },
    Entry {
        name: "hu-figure-a4",
        about: "time of the Biot-Savart FMM by phase, over the number of points",
        run: hu_figure_a4::run,
    },
    Entry {
        name: "hu-figure-a5",
        about: "FMM against direct sum, single and double precision, with crossovers",
        run: hu_figure_a5::run,
    },
    Entry {
        name: "hu-figure-a6",
        about: "error against the number of points for several orders, single precision",
        run: hu_errors::single,
    },
    Entry {
        name: "hu-figure-a7",
        about: "error against the number of points for several orders, double precision",
        run: hu_errors::double,
    },
    Entry {
        name: "hu-figure-a8",
        about: "two vortex rings collide, 2^12 elements and 2^18 particles",
        run: hu_rings::figure_a8,
    },
    Entry {
        name: "hu-figure-a9",
        about: "two vortex rings pass through each other twice, 2^15 elements, 2^15 of 2^18 particles drawn",
        run: hu_rings::figure_a9,
    },
    Entry {
        name: "hu-figure-a10",
        about: "the same with all of 2^18 particles drawn",
        run: hu_rings::figure_a10,
    },
    Entry {
        name: "hu-figure-a11",
        about: "the same with 2^20 particles",
        run: hu_rings::figure_a11,
    },
    Entry {
        name: "hu-ten-million",
        about: "the Biot-Savart FMM of ten million points, single and double precision",
        run: hu_ten_million::run,
    },
    Entry {
        name: "yokota-figure-5",
        about: "time of direct sum, treecode and FMM against the number of bodies, with crossovers",
        run: yokota_figure_5::run,
    },
    Entry {
        name: "yokota-figure-6",
        about: "time of treecode and FMM by phase for ten million bodies",
        run: yokota_figure_6::run,
    },
    Entry {
        name: "yokota-figure-7",
        about: "operations per second of each operator against the number of bodies",
        run: yokota_figure_7::run,
    },
    Entry {
        name: "vanrees-figure-3",
        about: "time by phase of the multiresolution Poisson solver, theta 0.5",
        run: vanrees::figure_3,
    },
    Entry {
        name: "vanrees-figure-4",
        about: "time of its direct and indirect interactions against theta",
        run: vanrees::figure_4,
    },
    Entry {
        name: "vanrees-table-1",
        about: "operations per second of both beside their bounds",
        run: vanrees::table_1,
    },
    Entry {
        name: "vanrees-figure-5",
        about: "rates of direct and indirect interactions along the flow past a sphere",
        run: vanrees_figure_5::run,
    },
    Entry {
        name: "vanrees-scaling",
        about: "strong scaling of its evaluation beside that of the direct sum",
        run: vanrees_scaling::run,
    },
];

/// What figures with small sizes say.
const QUICK_BANNER: &str = "A quick look: sizes are too small to compare with the paper";
/// How long sums are repeated at most in a quick look, in seconds.
const QUICK: f64 = 0.02;

/// Tables with more rows are written, but not printed.
const LONGEST_TABLE: usize = 60;

/// The names of all tables and figures.
pub fn names() -> [&'static str; ENTRIES.len()] {
    ENTRIES.map(|entry| entry.name)
}

/// Settings of every reproduction.
struct Context {
    /// Which one it is.
    name: &'static str,
    started: Instant,
    /// Small sizes, to see it work.
    quick: bool,
    /// No larger sizes.
    largest: usize,
    /// Repeats of a sum stop after this many seconds.
    enough: f64,
    profile: MachineProfile,
    /// A graphics processor to fill the GPU columns, if there is one.
    gpu: Option<Arc<Device>>,
}

impl Context {
    /// A line of progress: the seconds since the start, and what comes now.
    fn step(&self, what: impl std::fmt::Display) {
        let seconds = self.started.elapsed().as_secs_f64();
        print::progress(&format!("{seconds:7.1} s  {}: {what}", self.name));
    }

    /// Says what is next on a graphics processor, where there is one.
    fn step_on_gpu(&self, what: impl std::fmt::Display) {
        if farfield::all_gpus().is_ok_and(|gpus| !gpus.is_empty()) {
            self.step(what);
        }
    }

    /// The size of something that has one size: the paper's, unless smaller ones are wanted.
    fn size(&self, paper: usize, quick: usize) -> usize {
        if self.quick { quick } else { paper }.min(self.largest)
    }

    /// Those of some growing sizes that are wanted, the first in any case.
    fn sizes(&self, sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut sizes = sizes.into_iter();
        let first = sizes.next();
        let others = sizes.take_while(|n| *n <= self.largest);
        first.into_iter().chain(others).collect()
    }

    /// A direct sum that would take longer than the first number of seconds is timed at some of its targets, for as long
    /// as the second.
    fn direct_limits(&self) -> (f64, f64) {
        (10.0 * self.enough, self.enough)
    }
}

/// What a reproduction found.
struct Reproduction {
    title: String,
    /// The machine of the paper.
    hardware: Hardware,
    /// The first goes to `NAME.csv`, each other one to `NAME-ITS-NAME.csv`.
    tables: Vec<(&'static str, Table)>,
    remarks: Vec<String>,
    png: Vec<u8>,
}

/// Measures a table or figure, writes its files and returns the report; without a name, lists them.
pub fn run(args: &ReproduceArgs) -> Result<String, Failure> {
    let Some(entry) = ENTRIES
        .into_iter()
        .find(|entry| args.name.as_deref() == Some(entry.name))
    else {
        return Ok(layout::list(ENTRIES.map(|entry| (entry.name, entry.about.to_owned()))));
    };
    let profile = Profile::load(args.profile.as_deref())?;
    threads::start(args.threads)?;
    let folder = args.output.clone();
    let folder = folder.unwrap_or_else(|| Path::new("reproduce").join(entry.name));
    reproduce(&entry, &folder, args, profile.costs).map_err(Failure::data)
}

fn reproduce(entry: &Entry, folder: &Path, args: &ReproduceArgs, profile: MachineProfile) -> Result<String, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot make this folder: {error}", folder.display()))?;
    let context = Context {
        name: entry.name,
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
    let mut reproduction = (entry.run)(&context)?;
    if args.quick {
        reproduction.png = marked_as_quick(&reproduction.png)?;
    }
    let written = write(folder, entry.name, &reproduction)?;
    context.step("done");
    Ok(layout::fit(report(&reproduction, args, &written)))
}

/// The figure below a line that nobody overlooks.
fn marked_as_quick(png: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Image::from_png(png)?.under_banner(QUICK_BANNER)?.to_png()?)
}

fn write(folder: &Path, name: &str, reproduction: &Reproduction) -> Result<Vec<PathBuf>, Error> {
    let mut written = Vec::new();
    for (k, (suffix, table)) in reproduction.tables.iter().enumerate() {
        let file = folder.join(if k == 0 {
            format!("{name}.csv")
        } else {
            format!("{name}-{suffix}.csv")
        });
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
        let _ = writeln!(text, "max-n   no sizes above {}", units::count(largest as u64));
    }
    for (_, table) in reproduction
        .tables
        .iter()
        .filter(|(_, table)| table.rows() <= LONGEST_TABLE)
    {
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

/// The machine our numbers are measured on.
fn this_machine() -> String {
    let cpu = machine::cpu_model().unwrap_or_else(|| "unknown processor".to_owned());
    let threads = rayon::current_num_threads();
    let plural = if threads == 1 { "" } else { "s" };
    format!("{cpu}, {threads} thread{plural}, {}; {}", SimdLevel::best(), gpu_name())
}

/// The first graphics processor.
fn gpu_name() -> String {
    match farfield::cuda::Device::all().as_deref() {
        Ok([first, ..]) => first.name.clone(),
        _ => "no GPU".to_owned(),
    }
}
