//! Yokota, figure 5: direct sum, treecode and FMM against the number of bodies.

use super::crossover::{Crossover, Time, direct_sum, direct_sum_on_gpu};
use super::measure::{Case, SEED};
use super::published::{Crossovers, YOKOTA_CPU_CROSSOVERS, YOKOTA_GPU_CROSSOVERS, YOKOTA_HARDWARE};
use super::table::{Cell, Table};
use super::{Context, Reproduction, progress};
use crate::failure::Failure;
use crate::problem::{Data, Settings, Space};
use farfield::Method;
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// The accuracy of treecode and FMM alike.
pub const TOLERANCE: f64 = 1e-4;
/// Where the true error is measured.
pub const SAMPLES: usize = 100;
/// Direct sums that would take longer, in seconds, are timed at some of the targets only; treecodes are not run.
const LONGEST: f64 = 60.0;
/// How long such a part of a direct sum takes, about.
const SAMPLED_DIRECT: f64 = 5.0;
/// The same of the GPU.
const GPU_LIMITS: (f64, f64) = (2.0, 0.5);

/// Bodies in the unit cube and the sums over them: accelerations in single precision.
pub struct Bodies {
    points: Vec<[f32; 3]>,
    masses: Vec<f32>,
}

impl Bodies {
    /// The first `n` bodies.
    pub fn new(n: usize) -> Self {
        let masses = ChargeDistribution::Positive.generate(n, SEED);
        Self {
            points: PointSet::Cube.generate(n, SEED),
            masses,
        }
    }

    /// The sum by a method.
    pub fn case(&self, method: Method) -> Case<'_, Space, f32, 3> {
        Case {
            problem: Space::new(Kernel::Gravity { constant: 1.0 }, &[Output::Acceleration]),
            data: Data {
                sources: &self.points,
                targets: None,
                strengths: &self.masses,
                vectors: 1,
            },
            settings: Settings {
                method,
                tolerance: Some(TOLERANCE),
                ..Settings::default()
            },
        }
    }
}

/// The three methods at one number of bodies.
struct Row {
    n: f64,
    direct: Time,
    treecode: Time,
    fmm: Time,
    /// Not measured where the treecode was not run.
    treecode_error: Option<f64>,
    fmm_error: f64,
    gpu: Option<GpuTimes>,
}

/// Seconds on the graphics processor.
#[derive(Debug, Clone, Copy)]
struct GpuTimes {
    direct: f64,
    treecode: f64,
    fmm: f64,
}

/// A time at `from` bodies scaled to `to` bodies by N log N.
fn by_n_log_n(seconds: f64, from: f64, to: f64) -> f64 {
    seconds * (to * to.ln()) / (from * from.ln())
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    // Five for every two decades.
    let steps = if context.quick { 3 } else { 10 };
    let sizes = (0..=steps).map(|k| 10f64.powf(3.0 + 0.4 * f64::from(k)).round() as usize);
    let mut rows: Vec<Row> = Vec::new();
    for n in sizes {
        rows.push(measure(context, n, rows.last())?);
    }
    let ours = crossovers(&rows);
    let mut remarks = vec![format!(
        "treecode and FMM to a tolerance of {TOLERANCE:e}; errors of the acceleration at {SAMPLES} bodies"
    )];
    if rows.iter().any(|row| row.direct.extrapolated) {
        remarks.push("direct sums marked `extrapolated` were timed at some of the targets and scaled".to_owned());
    }
    if rows.iter().any(|row| row.treecode.extrapolated) {
        let remark = "treecodes marked `extrapolated` were not run: the last time measured is scaled by N log N";
        remarks.push(remark.to_owned());
    }
    Ok(Reproduction {
        title: "Yokota, figure 5: time against the number of bodies, gravity, f32".to_owned(),
        hardware: YOKOTA_HARDWARE,
        png: chart(&rows, &ours).to_png()?,
        tables: vec![("", times(&rows)), ("crossovers", ours.table(&gpu_crossovers(&rows)))],
        remarks,
    })
}

/// Measures the three methods; `previous` is the next smaller size, from which times are predicted.
fn measure(context: &Context, n: usize, previous: Option<&Row>) -> Result<Row, Failure> {
    let step = |what: &str| progress("yokota-figure-5", format_args!("N = {n}, {what}"));
    let bodies = Bodies::new(n);
    let (longest, sampled) = if context.quick {
        (0.05, 0.01)
    } else {
        (LONGEST, SAMPLED_DIRECT)
    };
    let pair_cost = previous.map_or(1e-9, |row| row.direct.seconds / (row.n * row.n));
    let predicted = pair_cost * n as f64 * n as f64;
    step("direct sum");
    let direct = direct_sum(context, bodies.case(Method::Direct), predicted, (longest, sampled))?;
    let predicted = previous.map_or(0.0, |row| by_n_log_n(row.treecode.seconds, row.n, n as f64));
    let (treecode, treecode_error) = if predicted > longest {
        step("treecode not run, its time extrapolated");
        (Time::extrapolated(predicted), None)
    } else {
        step("treecode");
        let measured = bodies.case(Method::Treecode).measure(context, SAMPLES)?;
        (Time::of(&measured), Some(measured.error))
    };
    step("fmm");
    let fmm = bodies.case(Method::Fmm).measure(context, SAMPLES)?;
    Ok(Row {
        n: n as f64,
        direct,
        treecode,
        fmm: Time::of(&fmm),
        treecode_error,
        fmm_error: fmm.error,
        gpu: gpu_times(context, &bodies, previous)?,
    })
}

fn gpu_times(context: &Context, bodies: &Bodies, previous: Option<&Row>) -> Result<Option<GpuTimes>, Failure> {
    let n = bodies.masses.len() as f64;
    let before = previous.and_then(|row| row.gpu.map(|gpu| (row.n, gpu.direct)));
    let predicted = before.map_or(0.0, |(size, seconds)| seconds * (n / size).powi(2));
    let direct = direct_sum_on_gpu(context, bodies.case(Method::Direct), predicted, GPU_LIMITS)?;
    let seconds = |method| -> Result<Option<f64>, Failure> {
        let measured = bodies.case(method).measure_on_gpu(context, 0)?;
        Ok(measured.map(|measured| measured.seconds.total))
    };
    let (treecode, fmm) = (seconds(Method::Treecode)?, seconds(Method::Fmm)?);
    Ok(match (direct, treecode, fmm) {
        (Some(direct), Some(treecode), Some(fmm)) => Some(GpuTimes {
            direct: direct.seconds,
            treecode,
            fmm,
        }),
        _ => None,
    })
}

fn times(rows: &[Row]) -> Table {
    let mut table = Table::new([
        ("n", "N"),
        ("direct_s", "direct (s)"),
        ("direct_extrapolated", "extrapolated"),
        ("treecode_s", "treecode (s)"),
        ("treecode_extrapolated", "extrapolated"),
        ("fmm_s", "FMM (s)"),
        ("gpu_direct_s", "GPU direct (s)"),
        ("gpu_treecode_s", "GPU treecode (s)"),
        ("gpu_fmm_s", "GPU FMM (s)"),
        ("treecode_error", "treecode error"),
        ("fmm_error", "FMM error"),
    ]);
    for row in rows {
        table.row([
            Cell::Count(row.n as u64),
            Cell::Number(row.direct.seconds),
            row.direct.mark(),
            Cell::Number(row.treecode.seconds),
            row.treecode.mark(),
            Cell::Number(row.fmm.seconds),
            row.gpu.map_or(Cell::Missing, |gpu| Cell::Number(gpu.direct)),
            row.gpu.map_or(Cell::Missing, |gpu| Cell::Number(gpu.treecode)),
            row.gpu.map_or(Cell::Missing, |gpu| Cell::Number(gpu.fmm)),
            row.treecode_error.map_or(Cell::Missing, Cell::Small),
            Cell::Small(row.fmm_error),
        ]);
    }
    table
}

/// Our crossovers on one device.
struct OurCrossovers {
    treecode_direct: Option<Crossover>,
    fmm_direct: Option<Crossover>,
    fmm_treecode: Option<Crossover>,
}

/// Those on the graphics processor, where there is one.
fn gpu_crossovers(rows: &[Row]) -> OurCrossovers {
    let times: Vec<(f64, GpuTimes)> = rows.iter().filter_map(|row| Some((row.n, row.gpu?))).collect();
    let between = |fast: fn(&GpuTimes) -> f64, slow: fn(&GpuTimes) -> f64| {
        Crossover::find(times.iter().map(|(n, gpu)| (*n, fast(gpu), slow(gpu))))
    };
    OurCrossovers {
        treecode_direct: between(|gpu| gpu.treecode, |gpu| gpu.direct),
        fmm_direct: between(|gpu| gpu.fmm, |gpu| gpu.direct),
        fmm_treecode: between(|gpu| gpu.fmm, |gpu| gpu.treecode),
    }
}

fn crossovers(rows: &[Row]) -> OurCrossovers {
    let between = |fast: fn(&Row) -> f64, slow: fn(&Row) -> f64| {
        Crossover::find(rows.iter().map(|row| (row.n, fast(row), slow(row))))
    };
    OurCrossovers {
        treecode_direct: between(|row| row.treecode.seconds, |row| row.direct.seconds),
        fmm_direct: between(|row| row.fmm.seconds, |row| row.direct.seconds),
        fmm_treecode: between(|row| row.fmm.seconds, |row| row.treecode.seconds),
    }
}

impl OurCrossovers {
    fn table(&self, on_gpu: &Self) -> Table {
        let mut table = Table::new([
            ("crossover", "crossover at N"),
            ("paper_cpu", "paper CPU"),
            ("cpu", "our CPU"),
            ("paper_gpu", "paper GPU"),
            ("gpu", "our GPU"),
        ]);
        let mut row =
            |name: &str, paper: fn(&Crossovers) -> Option<f64>, ours: fn(&OurCrossovers) -> Option<Crossover>| {
                let published = |crossovers| paper(crossovers).map_or(Cell::Missing, |n| Cell::Count(n as u64));
                let measured = |crossovers| ours(crossovers).map_or(Cell::Missing, Crossover::cell);
                table.row([
                    Cell::Text(name.to_owned()),
                    published(&YOKOTA_CPU_CROSSOVERS),
                    measured(self),
                    published(&YOKOTA_GPU_CROSSOVERS),
                    measured(on_gpu),
                ]);
            };
        row(
            "treecode overtakes direct",
            |paper| Some(paper.treecode_direct),
            |ours| ours.treecode_direct,
        );
        row(
            "FMM overtakes direct",
            |paper| Some(paper.fmm_direct),
            |ours| ours.fmm_direct,
        );
        row(
            "FMM overtakes treecode",
            |paper| paper.fmm_treecode,
            |ours| ours.fmm_treecode,
        );
        table
    }
}

/// The name, colour and times of a line.
type Line = (&'static str, Color, fn(&Row) -> Time);

const LINES: [Line; 3] = [
    ("direct sum", Color::PALETTE[0], |row| row.direct),
    ("treecode", Color::PALETTE[1], |row| row.treecode),
    ("FMM", Color::PALETTE[2], |row| row.fmm),
];

fn chart(rows: &[Row], ours: &OurCrossovers) -> LineChart {
    let mut chart = LineChart::new("Direct sum, treecode and FMM on the CPU")
        .subtitle(format!(
            "gravity, single precision, tolerance 10^{{-4}}, {} threads",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of bodies N"))
        .y_axis(Axis::log("time (s)"));
    let mut continued = Vec::new();
    for (name, color, time) in LINES {
        let points: Vec<_> = rows.iter().map(|row| (row.n, time(row).seconds)).collect();
        let measured = rows.iter().take_while(|row| !time(row).extrapolated).count();
        let series = Series::new(name).points(&points[..measured]).color(color);
        chart = chart.series(series);
        if measured < rows.len() {
            // From the last measured point on, so that the line goes on.
            let series = Series::new(format!("{name}, extrapolated")).points(&points[measured.saturating_sub(1)..]);
            continued.push(series.color(color).style(LineStyle::Dashed, Marker::Cross));
        }
    }
    for series in continued {
        chart = chart.series(series);
    }
    if let Some(Crossover::At(n)) = ours.fmm_direct {
        chart = chart.reference(ReferenceLine::vertical(n).label("FMM overtakes direct"));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treecode_times_grow_as_n_log_n() {
        let seconds = by_n_log_n(2.0, 1e3, 1e6);
        assert!((seconds - 4e3).abs() < 1e-9, "{seconds}");
    }

    #[test]
    fn a_treecode_that_was_not_run_is_marked() {
        let measured = |seconds| Time {
            seconds,
            extrapolated: false,
        };
        let row = |n: f64, treecode, treecode_error| Row {
            n,
            direct: measured(n * n),
            treecode,
            fmm: measured(n),
            treecode_error,
            fmm_error: 1e-5,
            gpu: None,
        };
        let rows = [
            row(10.0, measured(100.0), Some(1e-5)),
            row(100.0, Time::extrapolated(2000.0), None),
        ];
        let csv = times(&rows).csv();
        assert_eq!(csv.lines().nth(2), Some("100,10000,no,2000,yes,100,,,,,0.00001"));
        assert!(chart(&rows, &crossovers(&rows)).to_png().is_ok());
    }
}
