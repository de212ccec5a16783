//! Yokota, figure 5: direct sum, treecode and FMM against the number of bodies; and the GPU over one core.

use super::crossover::{Crossover, DirectSums, Timing};
use super::measure::{On, Problem};
use super::published::{YOKOTA_CPU_CROSSOVERS, YOKOTA_GPU_CROSSOVERS, YOKOTA_GPU_SPEEDUPS, YOKOTA_HARDWARE};
use super::table::{Cell, Table, TableOf};
use super::yokota::{Bodies, SAMPLES, TOLERANCE};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Method;
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Treecodes of the CPU that would take more than this many times the repeating time are not run.
const LONGEST_TREECODE: f64 = 60.0;

/// Times of direct sum, treecode and FMM, in this order.
type Times = [Timing; 3];
const METHODS: [&str; 3] = ["direct sum", "treecode", "FMM"];

/// The crossovers: the faster method, the slower one, and their names.
const CROSSOVERS: [(usize, usize, &str); 3] = [
    (1, 0, "treecode overtakes direct"),
    (2, 0, "FMM overtakes direct"),
    (2, 1, "FMM overtakes treecode"),
];

/// The three methods at one number of bodies.
struct Row {
    n: f64,
    cpu: Times,
    /// Not measured where the treecode was not run.
    treecode_error: Option<f64>,
    fmm_error: f64,
    gpu: Option<Methods>,
}

/// The three methods on one processor.
#[derive(Debug, Clone, Copy)]
struct Methods {
    times: Times,
    /// The FMM on the device alone.
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
    let title = "Yokota, figure 5: time against the number of bodies, gravity, f32";
    let mut reproduction = Reproduction::new(title, YOKOTA_HARDWARE, times(&rows), chart(&rows).to_png()?)
        .table("crossovers", crossovers(&rows))
        .table("one-core", one_core_table(&over_one_core(context)?))
        .remark(format!(
            "treecode and FMM to a tolerance of {TOLERANCE:e}; errors of the acceleration at {SAMPLES} bodies"
        ));
    let is_extrapolated = |method: usize| rows.iter().any(|row| row.cpu[method].extrapolated);
    if is_extrapolated(0) {
        reproduction = reproduction
            .remark("direct sums marked `extrapolated` (dashed) were timed at some of the targets and scaled");
    }
    if is_extrapolated(1) {
        reproduction = reproduction
            .remark("treecodes marked `extrapolated` were not run: the last time measured is scaled by N log N");
    }
    Ok(reproduction)
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
    let direct = on_cpu.next(context, bodies.case(Method::Direct))?;
    let predicted = previous.map_or(0.0, |row| by_n_log_n(row.cpu[1].seconds, row.n, n as f64));
    let (treecode, treecode_error) = if predicted > LONGEST_TREECODE * context.enough.max(0.1) {
        step("treecode not run, its time extrapolated");
        (Timing::extrapolated(predicted), None)
    } else {
        step("treecode");
        let measured = bodies.case(Method::Treecode).measure(context, SAMPLES)?;
        (Timing::of(&measured), Some(measured.error))
    };
    step("fmm");
    let fmm = bodies.fmm().measure(context, SAMPLES)?;
    step("on the GPU");
    Ok(Row {
        n: n as f64,
        cpu: [direct.ok_or("no direct sum")?, treecode, Timing::of(&fmm)],
        treecode_error,
        fmm_error: fmm.error,
        gpu: measure_on(context, &bodies, on_gpu, On::Gpu)?,
    })
}

/// The three methods on one processor, without their errors; `None` for a GPU that is not there.
fn measure_on(context: &Context, bodies: &Bodies, direct: &mut DirectSums, on: On) -> Result<Option<Methods>, Error> {
    let direct = direct.next(context, bodies.case(Method::Direct))?;
    let treecode = bodies.case(Method::Treecode).measure_on(on, context, 0)?;
    let fmm = bodies.fmm().measure_on(on, context, 0)?;
    let all = direct.zip(treecode).zip(fmm);
    Ok(all.map(|((direct, treecode), fmm)| Methods {
        times: [direct, Timing::of(&treecode), Timing::of(&fmm)],
        fmm_on_device: fmm.in_phases(),
    }))
}

fn times(rows: &[Row]) -> TableOf<'_, Row> {
    let on_gpu = |method: usize| move |row: &Row| Some(row.gpu?.times[method].seconds);
    Table::of(rows)
        .column("n", "N", |row| row.n as usize)
        .column("direct_s", "direct (s)", |row| row.cpu[0].seconds)
        .column("direct_extrapolated", "extrapolated", |row| row.cpu[0].mark())
        .column("treecode_s", "treecode (s)", |row| row.cpu[1].seconds)
        .column("treecode_extrapolated", "extrapolated", |row| row.cpu[1].mark())
        .column("fmm_s", "FMM (s)", |row| row.cpu[2].seconds)
        .column("gpu_direct_s", "GPU direct (s)", on_gpu(0))
        .column("gpu_direct_extrapolated", "extrapolated", |row| {
            Some(row.gpu?.times[0].mark())
        })
        .column("gpu_treecode_s", "GPU treecode (s)", on_gpu(1))
        .column("gpu_fmm_s", "GPU FMM (s)", on_gpu(2))
        .column("gpu_fmm_device_s", "GPU FMM, device only (s)", |row| {
            Some(row.gpu?.fmm_on_device)
        })
        .column("treecode_error", "treecode error", |row| {
            row.treecode_error.map(Cell::Small)
        })
        .column("fmm_error", "FMM error", |row| Cell::Small(row.fmm_error))
}

/// The size at which the faster of two methods overtakes the slower, on the CPU and on the GPU.
fn crossover(rows: &[Row], faster: usize, slower: usize) -> [Option<Crossover>; 2] {
    let at = |n: f64, times: Times| (n, times[faster].seconds, times[slower].seconds);
    [
        Crossover::find(rows.iter().map(|row| at(row.n, row.cpu))),
        Crossover::find(rows.iter().filter_map(|row| Some(at(row.n, row.gpu?.times)))),
    ]
}

fn crossovers(rows: &[Row]) -> Table {
    let ours = CROSSOVERS.map(|(faster, slower, _)| crossover(rows, faster, slower));
    let published = |n: Option<f64>| n.map(|n| n as usize);
    Table::of(&[0, 1, 2])
        .column("crossover", "crossover at N", |k| CROSSOVERS[*k].2)
        .column("paper_cpu", "paper CPU", |k| published(YOKOTA_CPU_CROSSOVERS[*k]))
        .column("cpu", "our CPU", |k| ours[*k][0])
        .column("paper_gpu", "paper GPU", |k| published(YOKOTA_GPU_CROSSOVERS[*k]))
        .column("gpu", "our GPU", |k| ours[*k][1])
        .into()
}

fn chart(rows: &[Row]) -> LineChart {
    let mut chart = LineChart::new("Direct sum, treecode and FMM")
        .subtitle(format!(
            "gravity, f32, tolerance 10^{{-4}}, {} threads, GPU with copies; Yokota and Barba, figure 5",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of bodies N"))
        .y_axis(Axis::log("time (s)"));
    let mut continued = Vec::new();
    type Processor = (&'static str, fn(&Row) -> Option<Times>);
    let processors: [Processor; 2] = [("CPU", |row| Some(row.cpu)), ("GPU", |row| Some(row.gpu?.times))];
    for (k, (name, on)) in processors.into_iter().enumerate() {
        for (method, what) in METHODS.into_iter().enumerate() {
            let times: Vec<_> = rows.iter().filter_map(|row| Some((row.n, on(row)?[method]))).collect();
            if times.is_empty() {
                continue;
            }
            let points: Vec<_> = times.iter().map(|(n, time)| (*n, time.seconds)).collect();
            let measured = times.iter().take_while(|(_, time)| !time.extrapolated).count();
            let color = Color::PALETTE[METHODS.len() * k + method];
            let series = Series::new(format!("{what}, {name}"));
            chart = chart.series(series.points(&points[..measured]).color(color));
            if measured < points.len() {
                // From the last measured point on, so that the line goes on.
                let series = Series::new("").points(&points[measured.saturating_sub(1)..]);
                continued.push(series.color(color).style(LineStyle::Dashed, Marker::None));
            }
        }
    }
    chart = continued.into_iter().fold(chart, LineChart::series);
    for (name, at) in ["CPU", "GPU"].into_iter().zip(crossover(rows, 2, 0)) {
        if let Some(Crossover::At(n)) = at {
            chart = chart.reference(ReferenceLine::vertical(n).label(format!("FMM overtakes direct, {name}")));
        }
    }
    chart
}

/// The three methods of one size on one core and on the GPU.
struct OverOneCore {
    n: usize,
    one_core: Times,
    gpu: Option<Times>,
}

/// Yokota's claim beside figure 5: the speed of the GPU over that of one core.
fn over_one_core(context: &Context) -> Result<Vec<OverOneCore>, Error> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let sizes = if context.quick { 3..=4 } else { 4..=6 };
    let [mut alone, mut on_gpu] = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows = Vec::new();
    for n in context.sizes(sizes.map(|power| 10usize.pow(power))) {
        context.step(format_args!("N = {n}, one core"));
        let bodies = Bodies::new(n);
        let Some(one_core) = one.install(|| measure_on(context, &bodies, &mut alone, On::Cpu))? else {
            continue;
        };
        let gpu = measure_on(context, &bodies, &mut on_gpu, On::Gpu)?;
        rows.push(OverOneCore {
            n,
            one_core: one_core.times,
            gpu: gpu.map(|gpu| gpu.times),
        });
    }
    Ok(rows)
}

fn one_core_table(rows: &[OverOneCore]) -> Table {
    let methods = ["direct", "treecode", "FMM"].into_iter().enumerate();
    let cells: Vec<_> = rows
        .iter()
        .flat_map(|row| methods.clone().map(move |method| (row, method)))
        .collect();
    let gpu = |(row, (k, _)): &(&OverOneCore, (usize, &str))| Some(row.gpu?[*k]);
    Table::of(&cells)
        .column("n", "N", |(row, _)| row.n)
        .column("method", "method", |(_, (_, name))| *name)
        .column("one_core_s", "one core (s)", |(row, (k, _))| row.one_core[*k].seconds)
        .column("one_core_extrapolated", "extrapolated", |(row, (k, _))| {
            row.one_core[*k].mark()
        })
        .column("gpu_s", "GPU (s)", |cell| Some(gpu(cell)?.seconds))
        .column("gpu_extrapolated", "extrapolated", |cell| Some(gpu(cell)?.mark()))
        .column("gpu_over_one_core", "GPU over one core", |cell| {
            Some(cell.0.one_core[cell.1.0].seconds / gpu(cell)?.seconds)
        })
        .column("paper_gpu_over_one_core", "paper", |(_, (k, _))| {
            YOKOTA_GPU_SPEEDUPS[*k]
        })
        .into()
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
            cpu: [measured(n * n), treecode, measured(n)],
            treecode_error,
            fmm_error: 1e-5,
            gpu: None,
        };
        let rows = [
            row(10.0, measured(100.0), Some(1e-5)),
            row(100.0, Timing::extrapolated(2000.0), None),
        ];
        let csv = Table::from(times(&rows)).csv();
        assert_eq!(csv.lines().nth(2), Some("100,10000,no,2000,yes,100,,,,,,,0.00001"));
        assert!(chart(&rows).to_png().is_ok());
    }

    #[test]
    fn the_gpu_stands_beside_one_core_and_the_paper() {
        let time = Timing::measured;
        let rows = [OverOneCore {
            n: 1000,
            one_core: [Timing::extrapolated(600.0), time(10.0), time(6.0)],
            gpu: Some([time(2.0), time(0.1), time(0.3)]),
        }];
        let csv = one_core_table(&rows).csv();
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "1000,direct,600,yes,2,no,300,300",
                "1000,treecode,10,no,0.1,no,100,100",
                "1000,FMM,6,no,0.3,no,20,30"
            ]
        );
    }
}
