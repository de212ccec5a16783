//! Goude, figures 5.1, 5.3 and 5.7: GPU over CPU by part of the FMM, against the number of points per box, the order and
//! the number of points.

use super::chart::Lines;
use super::goude::{Vortices, boxes, seconds_of};
use super::measure::Measured;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_FIGURE_5_1, GOUDE_FIGURE_5_3, GOUDE_FIGURE_5_7, GOUDE_HARDWARE, GOUDE_ORDER,
};
use super::table::{Table, TableOf};
use super::{Context, Reproduction, count, powers_of_ten};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine, Series};

/// The parts that are compared.
const PARTS: [&str; 7] = ["Sort", "Connect", "P2M", "M2M", "M2L", "L2L", "P2P + L2P"];

/// One sum: its points, order and points per box.
struct Place {
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
    /// What varies.
    at: fn(&Place) -> usize,
    paper: &'static str,
}

/// The measurements at a place.
struct Row {
    at: usize,
    cpu: Measured,
    gpu: Option<Measured>,
}

/// Figure 5.1: a fixed number of boxes with more and more points.
pub fn figure_5_1(context: &Context) -> Result<Reproduction, Error> {
    let boxes = boxes(context);
    let fillings: &[usize] = if context.quick {
        &[4, 16, 48]
    } else {
        &[1, 2, 4, 8, 16, 24, 32, 33, 40, 48, 64, 65, 75]
    };
    let place = |per_box: &usize| Place {
        n: per_box * boxes,
        order: GOUDE_ORDER,
        per_box: *per_box,
    };
    let sweep = Sweep {
        figure: "5.1",
        what: "the number of points per box",
        subtitle: format!("{} boxes, p = {GOUDE_ORDER}", count(boxes)),
        column: ("points_per_box", "points per box"),
        axis: Axis::linear("points per box N_{d}"),
        places: fillings.iter().map(place).collect(),
        at: |place| place.per_box,
        paper: GOUDE_FIGURE_5_1,
    };
    sweep.run(context)
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
    let places = orders.iter().map(|&order| Place { n, order, per_box });
    let sweep = Sweep {
        figure: "5.3",
        what: "the order",
        subtitle: format!("N = {}, N_{{d}} = {per_box}", count(n)),
        column: ("order", "p"),
        axis: Axis::linear("order p"),
        places: places.collect(),
        at: |place| place.order,
        paper: GOUDE_FIGURE_5_3,
    };
    sweep.run(context)
}

/// Figure 5.7: more and more points.
pub fn figure_5_7(context: &Context) -> Result<Reproduction, Error> {
    let (order, per_box) = (GOUDE_ORDER, GOUDE_BEST_PER_BOX.1);
    let sizes = context.sizes(powers_of_ten(0.5, if context.quick { 6..=8 } else { 6..=14 }));
    let places = sizes.into_iter().map(|n| Place { n, order, per_box });
    let sweep = Sweep {
        figure: "5.7",
        what: "the number of points",
        subtitle: format!("p = {order}, N_{{d}} = {per_box}"),
        column: ("n", "N"),
        axis: Axis::log("number of points N"),
        places: places.collect(),
        at: |place| place.n,
        paper: GOUDE_FIGURE_5_7,
    };
    sweep.run(context)
}

impl Sweep {
    fn run(&self, context: &Context) -> Result<Reproduction, Error> {
        let mut rows = Vec::new();
        for place in &self.places {
            let at = (self.at)(place);
            context.step(format_args!("{} = {at}", self.column.1));
            let vortices = Vortices::new(PlaneSet::Square, place.n);
            let case = vortices.fmm_with(place.order, place.per_box);
            rows.push(Row {
                at,
                cpu: case.measure(context, 0)?,
                gpu: case.measure_on_gpu(context, 0)?,
            });
        }
        let threads = rayon::current_num_threads();
        let (figure, what) = (self.figure, self.what);
        let title = format!("Goude, figure {figure}: GPU over CPU by part against {what}, f64");
        Ok(
            Reproduction::new(title, GOUDE_HARDWARE, self.ratios(&rows), self.chart(&rows).to_png()?)
                .table("times", self.times(&rows))
                .remark(format!(
                    "times of {threads} threads of the CPU over those of the GPU; the paper's CPU code uses one thread"
                ))
                .remark("parts: time of the device; total: with copies to and from it, as in the paper")
                .remark("P2M includes P2L; on our GPU one kernel does all work at the leaves (P2P, L2P, M2P)")
                .remark(format!(
                    "the paper prints no values for this figure; it says: {}",
                    self.paper
                )),
        )
    }

    fn ratios<'a>(&self, rows: &'a [Row]) -> TableOf<'a, Row> {
        let table = Table::of(rows)
            .column(self.column.0, self.column.1, |row| row.at)
            .column("total", "total", |row| row.speedup("total"))
            .column("total_device", "total, device only", |row| {
                Some(row.cpu.seconds.total / row.gpu?.in_phases())
            });
        PARTS.into_iter().fold(table, |table, part| {
            table.column(column_name(part), part, |row| row.speedup(part))
        })
    }

    fn times<'a>(&self, rows: &'a [Row]) -> TableOf<'a, Row> {
        type Processor = (&'static str, &'static str, fn(&Row) -> Option<Measured>);
        // The GPU's total is with copies to and from it, its parts are times of the device.
        let processors: [Processor; 2] = [
            ("cpu", "cpu", |row| Some(row.cpu)),
            ("gpu", "gpu_device", |row| row.gpu),
        ];
        let mut table = Table::of(rows).column(self.column.0, self.column.1, |row| row.at);
        for (processor, of_parts, on) in processors {
            for part in ["total"].into_iter().chain(PARTS) {
                let prefix = if part == "total" { processor } else { of_parts };
                let heading = format!("{} {part} (ms)", processor.to_uppercase());
                table = table.column(format!("{prefix}_{}_ms", column_name(part)), heading, |row| {
                    Some(1e3 * seconds_of(part, &on(row)?))
                });
            }
        }
        table
    }

    /// Ratios of the parts; without a GPU, the CPU's times.
    fn chart(&self, rows: &[Row]) -> LineChart {
        let compared = rows.iter().any(|row| row.gpu.is_some());
        let (title, label) = if compared {
            ("GPU over CPU by part of the FMM in the plane", "times as fast")
        } else {
            ("Timing by part of the FMM in the plane, CPU", "time (ms)")
        };
        let mut chart = LineChart::new(title)
            .subtitle(format!(
                "harmonic potential in the square, {}, CPU: {} threads; as in Goude and Engblom, figure {}",
                self.subtitle,
                rayon::current_num_threads(),
                self.figure
            ))
            .x_axis(self.axis.clone())
            .y_axis(Axis::log(label));
        for part in PARTS {
            chart = chart.line(part, rows, |row| {
                let value = if compared {
                    row.speedup(part)
                } else {
                    Some(1e3 * seconds_of(part, &row.cpu)).filter(|ms| *ms > 0.0)
                };
                Some((row.at as f64, value?))
            });
        }
        if compared {
            let total = |row: &Row| Some((row.at as f64, row.speedup("total")?));
            let total: Vec<_> = rows.iter().filter_map(total).collect();
            chart = chart
                .series(Series::expected("total, with copies").points(&total))
                .reference(ReferenceLine::horizontal(1.0));
        }
        chart
    }
}

impl Row {
    /// The CPU's time of a part over the GPU's; `None` where either is zero.
    fn speedup(&self, part: &str) -> Option<f64> {
        let (cpu, gpu) = (seconds_of(part, &self.cpu), seconds_of(part, &self.gpu?));
        (cpu > 0.0 && gpu > 0.0).then(|| cpu / gpu)
    }
}

/// The name of a part in the file.
fn column_name(part: &str) -> String {
    part.to_lowercase().replace(" + ", "_")
}
