//! Goude, figures 5.1, 5.3 and 5.7: how much faster the GPU does each part of the FMM, against the number of points per
//! box, the order and the number of points.

use super::goude::{Vortices, boxes, seconds_of};
use super::measure::Measured;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_FIGURE_5_1, GOUDE_FIGURE_5_3, GOUDE_FIGURE_5_7, GOUDE_HARDWARE, GOUDE_ORDER,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_io::units;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine, Series};

/// The parts that are compared.
const PARTS: [&str; 7] = ["Sort", "Connect", "P2M", "M2M", "M2L", "L2L", "P2P + L2P"];

/// One sum: where it is on the axis, its points, order and points per box.
struct Place {
    at: f64,
    n: usize,
    order: usize,
    per_box: usize,
}

/// A figure.
struct Sweep {
    figure: &'static str,
    what: &'static str,
    subtitle: String,
    /// The column of what varies: its name and heading.
    column: (&'static str, &'static str),
    axis: Axis,
    places: Vec<Place>,
    paper: &'static str,
}

/// What was measured at a place.
struct Row {
    at: f64,
    cpu: Measured,
    gpu: Option<Measured>,
}

/// Figure 5.1: as many boxes with more and more points.
pub fn figure_5_1(context: &Context) -> Result<Reproduction, Error> {
    let boxes = boxes(context);
    let fillings: &[usize] = if context.quick {
        &[4, 16, 48]
    } else {
        &[1, 2, 4, 8, 16, 24, 32, 33, 40, 48, 64, 65, 75]
    };
    let place = |per_box: &usize| Place {
        at: *per_box as f64,
        n: per_box * boxes,
        order: GOUDE_ORDER,
        per_box: *per_box,
    };
    run(
        context,
        Sweep {
            figure: "5.1",
            what: "the number of points per box",
            subtitle: format!("{} boxes, p = {GOUDE_ORDER}", units::count(boxes as u64)),
            column: ("points_per_box", "points per box"),
            axis: Axis::linear("points per box N_{d}"),
            places: fillings.iter().map(place).collect(),
            paper: GOUDE_FIGURE_5_1,
        },
    )
}

/// Figure 5.3: higher and higher orders.
pub fn figure_5_3(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(1_000_000, 10_000);
    let per_box = GOUDE_BEST_PER_BOX.1;
    let orders: &[usize] = if context.quick {
        &[5, 17]
    } else {
        &[4, 8, 12, 17, 22, 27, 32, 37, 42, 47, 52, 60]
    };
    let place = |order: &usize| Place {
        at: *order as f64,
        n,
        order: *order,
        per_box,
    };
    run(
        context,
        Sweep {
            figure: "5.3",
            what: "the order",
            subtitle: format!("N = {}, N_{{d}} = {per_box}", units::count(n as u64)),
            column: ("order", "p"),
            axis: Axis::linear("order p"),
            places: orders.iter().map(place).collect(),
            paper: GOUDE_FIGURE_5_3,
        },
    )
}

/// Figure 5.7: more and more points.
pub fn figure_5_7(context: &Context) -> Result<Reproduction, Error> {
    let per_box = GOUDE_BEST_PER_BOX.1;
    let powers = if context.quick { 6..=8 } else { 6..=14 };
    let sizes = powers.map(|k| 10f64.powf(0.5 * f64::from(k)).round() as usize);
    let place = |n: usize| Place {
        at: n as f64,
        n,
        order: GOUDE_ORDER,
        per_box,
    };
    run(
        context,
        Sweep {
            figure: "5.7",
            what: "the number of points",
            subtitle: format!("p = {GOUDE_ORDER}, N_{{d}} = {per_box}"),
            column: ("n", "N"),
            axis: Axis::log("number of points N"),
            places: context.sizes(sizes).into_iter().map(place).collect(),
            paper: GOUDE_FIGURE_5_7,
        },
    )
}

fn run(context: &Context, sweep: Sweep) -> Result<Reproduction, Error> {
    let mut rows = Vec::new();
    for place in &sweep.places {
        context.step(format_args!("{} = {}", sweep.column.1, place.at));
        let vortices = Vortices::new(PlaneSet::Square, place.n);
        let case = vortices.fmm_with(place.order, place.per_box);
        rows.push(Row {
            at: place.at,
            cpu: case.measure(context, 0)?,
            gpu: case.measure_on_gpu(context, 0)?,
        });
    }
    let threads = rayon::current_num_threads();
    Ok(Reproduction {
        title: format!(
            "Goude, figure {}: GPU over CPU by part against {}, f64",
            sweep.figure, sweep.what
        ),
        hardware: GOUDE_HARDWARE,
        png: chart(&sweep, &rows).to_png()?,
        tables: vec![("", ratios(&sweep, &rows)), ("times", times(&sweep, &rows))],
        remarks: vec![
            format!("how many times as fast the GPU is as {threads} threads of the CPU; the paper's CPU code uses one"),
            "parts: time of the device; total: with copies to and from it, as in the paper".to_owned(),
            "P2M includes P2L; on our GPU all at the leaves (P2P, L2P, M2P) is one kernel".to_owned(),
            format!("the paper prints no values for this figure; it says: {}", sweep.paper),
        ],
    })
}

/// How many times as fast the GPU is in a part; none where either has nothing to do.
fn speedup(row: &Row, part: &str) -> Option<f64> {
    let (cpu, gpu) = (seconds_of(part, &row.cpu), seconds_of(part, &row.gpu?));
    (cpu > 0.0 && gpu > 0.0).then(|| cpu / gpu)
}

fn total_speedup(row: &Row) -> Option<f64> {
    Some(row.cpu.seconds.total / row.gpu?.seconds.total)
}

/// A name for the file.
fn column_name(part: &str) -> String {
    part.to_lowercase().replace(" + ", "_")
}

fn ratios(sweep: &Sweep, rows: &[Row]) -> Table {
    let mut columns = vec![
        (sweep.column.0.to_owned(), sweep.column.1.to_owned()),
        ("total".to_owned(), "total".to_owned()),
        ("total_device".to_owned(), "total, device only".to_owned()),
    ];
    columns.extend(PARTS.map(|part| (column_name(part), part.to_owned())));
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![
            Cell::Count(row.at as u64),
            total_speedup(row).into(),
            row.gpu.map(|gpu| row.cpu.seconds.total / gpu.in_phases()).into(),
        ];
        cells.extend(PARTS.map(|part| Cell::from(speedup(row, part))));
        table.row(cells);
    }
    table
}

fn times(sweep: &Sweep, rows: &[Row]) -> Table {
    let mut columns = vec![(sweep.column.0.to_owned(), sweep.column.1.to_owned())];
    // The GPU's total is with copies to and from it, its parts are times of the device.
    for (processor, parts_of) in [("cpu", "cpu"), ("gpu", "gpu_device")] {
        let heading = |part: &str| format!("{} {part} (ms)", processor.to_uppercase());
        columns.push((format!("{processor}_total_ms"), heading("total")));
        let names = PARTS.map(|part| (format!("{parts_of}_{}_ms", column_name(part)), heading(part)));
        columns.extend(names);
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![Cell::Count(row.at as u64)];
        for measured in [Some(row.cpu), row.gpu].into_iter().flatten() {
            cells.push(Cell::milliseconds(measured.seconds.total));
            cells.extend(PARTS.map(|part| Cell::milliseconds(seconds_of(part, &measured))));
        }
        table.row(cells);
    }
    table
}

/// Ratios of the parts where there is a GPU, else the CPU's times.
fn chart(sweep: &Sweep, rows: &[Row]) -> LineChart {
    let compared = rows.iter().any(|row| row.gpu.is_some());
    let (title, label) = if compared {
        ("GPU over CPU by part of the FMM in the plane", "times as fast")
    } else {
        ("Timing by part of the FMM in the plane, CPU", "time (ms)")
    };
    let mut chart = LineChart::new(title)
        .subtitle(format!(
            "harmonic potential in the square, {}, CPU: {} threads; as in Goude and Engblom, figure {}",
            sweep.subtitle,
            rayon::current_num_threads(),
            sweep.figure
        ))
        .x_axis(sweep.axis.clone())
        .y_axis(Axis::log(label));
    for part in PARTS {
        let value = |row: &Row| {
            if compared {
                speedup(row, part)
            } else {
                Some(1e3 * seconds_of(part, &row.cpu)).filter(|ms| *ms > 0.0)
            }
        };
        let points: Vec<_> = rows.iter().filter_map(|row| Some((row.at, value(row)?))).collect();
        chart = chart.series(Series::new(part).points(&points));
    }
    if compared {
        let total: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.at, total_speedup(row)?)))
            .collect();
        chart = chart
            .series(Series::expected("total, with copies").points(&total))
            .reference(ReferenceLine::horizontal(1.0));
    }
    chart
}
