//! Yokota, figure 5: direct sum, treecode and FMM against the number of bodies.

use super::crossover::{Crossover, DirectSums, Timing};
use super::measure::{On, always};
use super::published::{Crossovers, YOKOTA_CPU_CROSSOVERS, YOKOTA_GPU_CROSSOVERS, YOKOTA_HARDWARE};
use super::table::{Cell, Table};
use super::yokota::{Bodies, SAMPLES, TOLERANCE};
use super::{Context, Reproduction, yokota_one_core};
use crate::Error;
use farfield::Method;
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Treecodes of the CPU that would take more than this many times the repeating time are not run.
const LONGEST_TREECODE: f64 = 60.0;

/// The three methods at one number of bodies.
struct Row {
    n: f64,
    direct: Timing,
    treecode: Timing,
    fmm: Timing,
    /// Not measured where the treecode was not run.
    treecode_error: Option<f64>,
    fmm_error: f64,
    gpu: Option<GpuTimes>,
}

/// Times of the graphics processor.
#[derive(Debug, Clone, Copy)]
struct GpuTimes {
    direct: Timing,
    treecode: f64,
    fmm: f64,
    /// The same on the device alone.
    fmm_on_device: f64,
}

/// A time at `from` bodies scaled to `to` bodies by N log N.
fn by_n_log_n(seconds: f64, from: f64, to: f64) -> f64 {
    seconds * (to * to.ln()) / (from * from.ln())
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    // Five for every two decades.
    let steps = if context.quick { 3 } else { 10 };
    let sizes = (0..=steps).map(|k| 10f64.powf(3.0 + 0.4 * f64::from(k)).round() as usize);
    let mut direct = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows: Vec<Row> = Vec::new();
    for n in context.sizes(sizes) {
        rows.push(measure(context, n, &mut direct, rows.last())?);
    }
    let [on_cpu, on_gpu] = crossovers(&rows);
    let mut remarks = vec![format!(
        "treecode and FMM to a tolerance of {TOLERANCE:e}; errors of the acceleration at {SAMPLES} bodies"
    )];
    if rows.iter().any(|row| row.direct.extrapolated) {
        remarks
            .push("direct sums marked `extrapolated` (dashed) were timed at some of the targets and scaled".to_owned());
    }
    if rows.iter().any(|row| row.treecode.extrapolated) {
        let remark = "treecodes marked `extrapolated` were not run: the last time measured is scaled by N log N";
        remarks.push(remark.to_owned());
    }
    Ok(Reproduction {
        title: "Yokota, figure 5: time against the number of bodies, gravity, f32".to_owned(),
        hardware: YOKOTA_HARDWARE,
        png: chart(&rows, &on_cpu, &on_gpu).to_png()?,
        tables: vec![
            ("", times(&rows)),
            ("crossovers", on_cpu.table(&on_gpu)),
            ("one-core", yokota_one_core::table(context)?),
        ],
        remarks,
    })
}

/// Measures the three methods; `previous` is the next smaller size, from which the treecode's time is predicted.
fn measure(
    context: &Context,
    n: usize,
    [on_cpu, on_gpu]: &mut [DirectSums; 2],
    previous: Option<&Row>,
) -> Result<Row, Error> {
    let step = |what: &str| context.step(format_args!("N = {n}, {what}"));
    let bodies = Bodies::new(n);
    step("direct sum");
    let direct = always(on_cpu.next(context, bodies.case(Method::Direct))?)?;
    let predicted = previous.map_or(0.0, |row| by_n_log_n(row.treecode.seconds, row.n, n as f64));
    let (treecode, treecode_error) = if predicted > LONGEST_TREECODE * context.enough.max(0.1) {
        step("treecode not run, its time extrapolated");
        (Timing::extrapolated(predicted), None)
    } else {
        step("treecode");
        let measured = bodies.case(Method::Treecode).measure(context, SAMPLES)?;
        (Timing::of(&measured), Some(measured.error))
    };
    step("fmm");
    let fmm = bodies.case(Method::Fmm).measure(context, SAMPLES)?;
    step("on the GPU");
    Ok(Row {
        n: n as f64,
        direct,
        treecode,
        fmm: Timing::of(&fmm),
        treecode_error,
        fmm_error: fmm.error,
        gpu: gpu_times(context, &bodies, on_gpu)?,
    })
}

fn gpu_times(context: &Context, bodies: &Bodies, direct: &mut DirectSums) -> Result<Option<GpuTimes>, Error> {
    let direct = direct.next(context, bodies.case(Method::Direct))?;
    let treecode = bodies.case(Method::Treecode).measure_on_gpu(context, 0)?;
    let fmm = bodies.case(Method::Fmm).measure_on_gpu(context, 0)?;
    let all = direct.zip(treecode).zip(fmm);
    Ok(all.map(|((direct, treecode), fmm)| GpuTimes {
        direct,
        treecode: treecode.seconds.total,
        fmm: fmm.seconds.total,
        fmm_on_device: fmm.in_phases(),
    }))
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
        ("gpu_direct_extrapolated", "extrapolated"),
        ("gpu_treecode_s", "GPU treecode (s)"),
        ("gpu_fmm_s", "GPU FMM (s)"),
        ("gpu_fmm_device_s", "GPU FMM, device only (s)"),
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
            row.gpu.map(|gpu| gpu.direct.seconds).into(),
            row.gpu.map_or(Cell::Missing, |gpu| gpu.direct.mark()),
            row.gpu.map(|gpu| gpu.treecode).into(),
            row.gpu.map(|gpu| gpu.fmm).into(),
            row.gpu.map(|gpu| gpu.fmm_on_device).into(),
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

/// Those of the CPU and of the graphics processor, where there is one.
fn crossovers(rows: &[Row]) -> [OurCrossovers; 2] {
    let seconds = |row: &Row| [row.direct, row.treecode, row.fmm].map(|time| time.seconds);
    let on_gpu = |row: &Row| row.gpu.map(|gpu| [gpu.direct.seconds, gpu.treecode, gpu.fmm]);
    [
        OurCrossovers::between(rows.iter().map(|row| (row.n, seconds(row))).collect()),
        OurCrossovers::between(rows.iter().filter_map(|row| Some((row.n, on_gpu(row)?))).collect()),
    ]
}

impl OurCrossovers {
    /// From the seconds of direct sum, treecode and FMM at some sizes.
    fn between(times: Vec<(f64, [f64; 3])>) -> Self {
        let find = |fast: usize, slow: usize| {
            Crossover::find(times.iter().map(|(n, seconds)| (*n, seconds[fast], seconds[slow])))
        };
        Self {
            treecode_direct: find(1, 0),
            fmm_direct: find(2, 0),
            fmm_treecode: find(2, 1),
        }
    }

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

/// The name and times of a line.
type Line = (&'static str, fn(&Row) -> Option<Timing>);

const LINES: [Line; 6] = [
    ("direct sum, CPU", |row| Some(row.direct)),
    ("treecode, CPU", |row| Some(row.treecode)),
    ("FMM, CPU", |row| Some(row.fmm)),
    ("direct sum, GPU", |row| row.gpu.map(|gpu| gpu.direct)),
    ("treecode, GPU", |row| row.gpu.map(|gpu| Timing::measured(gpu.treecode))),
    ("FMM, GPU", |row| row.gpu.map(|gpu| Timing::measured(gpu.fmm))),
];

fn chart(rows: &[Row], on_cpu: &OurCrossovers, on_gpu: &OurCrossovers) -> LineChart {
    let mut chart = LineChart::new("Direct sum, treecode and FMM")
        .subtitle(format!(
            "gravity, f32, tolerance 10^{{-4}}, {} threads, GPU with copies; Yokota and Barba, figure 5",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of bodies N"))
        .y_axis(Axis::log("time (s)"));
    let mut continued = Vec::new();
    for (k, (name, time)) in LINES.into_iter().enumerate() {
        let times: Vec<_> = rows.iter().filter_map(|row| Some((row.n, time(row)?))).collect();
        if times.is_empty() {
            continue;
        }
        let points: Vec<_> = times.iter().map(|(n, time)| (*n, time.seconds)).collect();
        let measured = times.iter().take_while(|(_, time)| !time.extrapolated).count();
        let color = Color::PALETTE[k];
        chart = chart.series(Series::new(name).points(&points[..measured]).color(color));
        if measured < points.len() {
            // From the last measured point on, so that the line goes on.
            let series = Series::new("").points(&points[measured.saturating_sub(1)..]);
            continued.push(series.color(color).style(LineStyle::Dashed, Marker::None));
        }
    }
    for series in continued {
        chart = chart.series(series);
    }
    for (name, crossovers) in [("CPU", on_cpu), ("GPU", on_gpu)] {
        if let Some(Crossover::At(n)) = crossovers.fmm_direct {
            chart = chart.reference(ReferenceLine::vertical(n).label(format!("FMM overtakes direct, {name}")));
        }
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
        let measured = Timing::measured;
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
            row(100.0, Timing::extrapolated(2000.0), None),
        ];
        let csv = times(&rows).csv();
        assert_eq!(csv.lines().nth(2), Some("100,10000,no,2000,yes,100,,,,,,,0.00001"));
        let [on_cpu, on_gpu] = crossovers(&rows);
        assert!(chart(&rows, &on_cpu, &on_gpu).to_png().is_ok());
    }
}
