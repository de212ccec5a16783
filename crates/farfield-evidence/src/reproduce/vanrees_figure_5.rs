//! van Rees et al., figure 5: rates of the treecode along a simulation of the flow past a sphere.
//!
//! The flow itself is ours, which solves for the velocity once, to a tolerance. At moments spread evenly over the run, the
//! paper's treecode solves for each component of the stream function on the present grid. At every other moment a flow
//! with half the spacing takes over the state, goes on for a few steps, in which its grid adapts, and is measured too.

use super::published::{VANREES_HARDWARE, VANREES_THETA};
use super::table::{Cell, Table, TableOf};
use super::vanrees::{Precision, treecode};
use super::{Context, Reproduction};
use crate::Error;
use crate::case::built_in;
use farfield::Device;
use farfield_grid::poisson::{Accuracy, Poisson, Report};
use farfield_grid::{BLOCK_POINTS, BlockId, Forest, Grid};
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::case::Case;
use farfield_sim::flow::{FlowModel, Setup};
use farfield_sim::model::{Model, State};

/// Moments of a run that are measured.
const SAMPLES: u32 = 12;
/// Steps of a flow with half the spacing after it took over a state. Its grid adapts in each.
const STEPS_OF_FINER: u32 = 2;
/// Steps between lines of progress.
const STEPS_A_LINE: u64 = 20;
/// The name of the vorticity in a flow's checkpoints.
const VORTICITY: &str = "vorticity";
/// The tolerance of the solves beside the paper's.
const TOLERANCE: f64 = 1e-3;

/// A measurement of one component at a moment.
struct Sample {
    size: &'static str,
    t: f64,
    component: usize,
    cores: Report,
    hybrid: Option<Report>,
    tolerance: Report,
}

/// A flow to be followed.
struct Resolution {
    /// The size of a uniform grid with the finest spacing, the paper's name.
    name: &'static str,
    points: usize,
    /// Settings of the built-in case.
    set: &'static [&'static str],
}

const PAPER: [Resolution; 2] = [
    Resolution {
        name: "512^3",
        points: 512usize.pow(3),
        set: &["size=paper-512"],
    },
    Resolution {
        name: "1024^3",
        points: 1024usize.pow(3),
        set: &["size=paper-1024"],
    },
];

const QUICK: [Resolution; 2] = [
    Resolution {
        name: "tiny",
        points: 0,
        set: &["size=tiny", "time.end=0.02", "grid.level=0"],
    },
    Resolution {
        name: "tiny fine",
        points: 0,
        set: &["size=tiny", "time.end=0.02"],
    },
];

/// Rates against the number of interactions, at both resolutions.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let [coarse, fine] = if context.quick { &QUICK } else { &PAPER };
    let mut samples = Vec::new();
    if coarse.points <= context.largest {
        let finer = (fine.points <= context.largest).then_some(fine);
        follow(context, coarse, finer, &mut samples)?;
    }
    let title = "van Rees, figure 5: rates along the flow past a sphere, Re 550, to T = 1.5";
    let reproduction = Reproduction::new(title, VANREES_HARDWARE, table(&samples), figure(&samples).to_png()?)
        .remark(
            "direct and indirect: pairs of a point with a source and with an expansion, a second; the seconds are those of \
             all threads over their number",
        )
        .remark(format!(
            "at half the spacing: every other moment, {STEPS_OF_FINER} steps after the state of the coarser flow was taken \
             over and its grid adapted"
        ))
        .remark(format!(
            "solve: one component with theta {VANREES_THETA} and p = 6; beside it to a tolerance of {TOLERANCE:e}"
        ));
    Ok(if context.gpu.is_none() {
        reproduction.remark("no GPU here: its columns are empty")
    } else {
        reproduction
    })
}

/// A flow at some moment.
struct Flow {
    name: &'static str,
    case: Case,
    setup: Setup,
    model: Box<dyn Model>,
}

impl Flow {
    fn new(context: &Context, resolution: &Resolution) -> Result<Self, Error> {
        let case = built_in("sphere", resolution.set)?;
        let setup = Setup::new(&case).map_err(|(key, why)| format!("{key}: {why}"))?;
        let mut model = FlowModel::new(&case, context.profile.clone())?;
        if let Some(gpu) = &context.gpu {
            model.summation().device = Device::Cuda(gpu.properties().ordinal).into();
        }
        Ok(Self {
            name: resolution.name,
            case,
            setup,
            model,
        })
    }

    /// Makes a step of at most `left`; returns its length.
    fn step(&mut self, number: u64, left: f64) -> Result<f64, Error> {
        self.model.evaluate()?;
        let dt = self.model.choose_step(&self.case.time)?.dt.min(left);
        self.model.advance(dt, number)?;
        Ok(dt)
    }

    /// Takes over the state of a coarser flow and goes on for a few steps.
    fn take_over(&mut self, state: &State) -> Result<(), Error> {
        self.model.restore(state)?;
        let adapts = self.setup.grid.adapt_every;
        for _ in 0..STEPS_OF_FINER {
            self.step(adapts, f64::INFINITY)?;
        }
        Ok(())
    }

    /// Solves for each component of the stream function that has sources.
    fn measure(&mut self, context: &Context, t: f64, samples: &mut Vec<Sample>) -> Result<(), Error> {
        let mut grid = grid_of(&self.setup, &self.model.state()?)?;
        for (component, channel) in COMPONENTS.into_iter().enumerate() {
            let largest = grid.largest(channel)?;
            if largest == 0.0 {
                continue;
            }
            let paper = treecode(VANREES_THETA).threshold(1e-5 * largest);
            let tolerant = Poisson::new(Accuracy::Tolerance(TOLERANCE)).threshold(1e-5 * largest);
            let hybrid = context.beside_gpu(&paper);
            samples.push(Sample {
                size: self.name,
                t,
                component,
                cores: paper.solve(&mut grid, channel, "psi")?,
                hybrid: hybrid
                    .map(|solver| solver.solve(&mut grid, channel, "psi"))
                    .transpose()?,
                tolerance: tolerant.solve(&mut grid, channel, "psi")?,
            });
        }
        Ok(())
    }
}

/// Runs a flow and measures on the way, at every other moment also with half the spacing.
fn follow(
    context: &Context,
    resolution: &Resolution,
    finer: Option<&Resolution>,
    samples: &mut Vec<Sample>,
) -> Result<(), Error> {
    let mut flow = Flow::new(context, resolution)?;
    let mut finer = finer.map(|resolution| Flow::new(context, resolution)).transpose()?;
    let (name, end) = (flow.name, flow.case.time.end);
    let (mut time, mut step, mut taken) = (0.0, 0, 0);
    while time < end {
        if step % STEPS_A_LINE == 0 {
            context.step(format_args!(
                "{name}, step {step}, {:.0} % of the time",
                100.0 * time / end
            ));
        }
        if step > 0 && time >= end * f64::from(taken) / f64::from(SAMPLES) {
            let t = 2.0 * flow.setup.speed * time / flow.setup.length;
            context.step(format_args!("{name}, step {step}, T = {t:.3}"));
            flow.measure(context, t, samples)?;
            if let Some(finer) = finer.as_mut().filter(|_| taken % 2 == 1) {
                context.step(format_args!("{}, T = {t:.3}", finer.name));
                finer.take_over(&flow.model.state()?)?;
                finer.measure(context, t, samples)?;
            }
            taken += 1;
        }
        step += 1;
        let left = end - time;
        let dt = flow.step(step, left)?;
        time = if dt == left { end } else { time + dt };
    }
    Ok(())
}

/// The grid and the vorticity of a state, component by component.
fn grid_of(setup: &Setup, state: &State) -> Result<Grid<Precision>, Error> {
    let missing = "a flow's state has no leaves";
    let (_, _, numbers) = state.arrays.iter().find(|(name, ..)| name == "leaves").ok_or(missing)?;
    let leaves = numbers.as_chunks::<4>().0.iter().map(|[level, x, y, z]| BlockId {
        level: *level as u8,
        at: [*x as u32, *y as u32, *z as u32],
    });
    let forest = Forest::from_leaves(setup.domain.roots(), leaves.collect())?;
    let mut builder = Grid::<Precision>::builder(setup.domain).forest(forest).scalar("psi");
    for component in COMPONENTS {
        builder = builder.scalar(component);
    }
    let mut grid = builder.build()?;
    let omega = state.numbers(VORTICITY)?;
    for (c, component) in COMPONENTS.into_iter().enumerate() {
        let blocks = grid.values_mut(component)?.chunks_exact_mut(BLOCK_POINTS);
        for (values, from) in blocks.zip(omega.chunks_exact(BLOCK_POINTS).skip(c).step_by(3)) {
            for (value, from) in values.iter_mut().zip(from) {
                *value = *from as Precision;
            }
        }
    }
    Ok(grid)
}

const COMPONENTS: [&str; 3] = ["x", "y", "z"];

/// The number of interactions, and interactions a second.
fn rate(count: u64, seconds: f64) -> (f64, f64) {
    let count = count as f64;
    (count, if seconds > 0.0 { count / seconds } else { 0.0 })
}

fn direct(report: &Report) -> (f64, f64) {
    rate(report.interactions.direct, report.seconds.direct)
}

fn indirect(report: &Report) -> (f64, f64) {
    rate(report.interactions.indirect, report.seconds.indirect)
}

fn table(samples: &[Sample]) -> TableOf<'_, Sample> {
    Table::of(samples)
        .column("grid", "grid", |sample| sample.size)
        .column("T", "T", |sample| sample.t)
        .column("component", "component", |sample| COMPONENTS[sample.component])
        .column("points", "points", |sample| sample.cores.targets)
        .column("sources", "sources", |sample| sample.cores.sources)
        .column("direct", "direct", |sample| sample.cores.interactions.direct)
        .column("direct_per_s", "direct (1/s)", |sample| {
            Cell::Small(direct(&sample.cores).1)
        })
        .column("indirect", "indirect", |sample| sample.cores.interactions.indirect)
        .column("indirect_per_s", "indirect (1/s)", |sample| {
            Cell::Small(indirect(&sample.cores).1)
        })
        .column("gpu_direct_per_s", "direct, GPU (1/s)", |sample| {
            sample.hybrid.as_ref().map(|report| Cell::Small(direct(report).1))
        })
        .column("solve_s", "solve (s)", |sample| sample.cores.seconds.total)
        .column("hybrid_solve_s", "CPU + GPU (s)", |sample| {
            sample.hybrid.as_ref().map(|report| Cell::Small(report.seconds.total))
        })
        .column("tolerance_solve_s", "to tolerance (s)", |sample| {
            sample.tolerance.seconds.total
        })
}

fn figure(samples: &[Sample]) -> ChartGrid {
    let chart = |title: &str| {
        LineChart::new(title)
            .x_axis(Axis::log("interactions"))
            .y_axis(Axis::log("interactions a second"))
    };
    let mut charts = [chart("Direct interactions"), chart("Indirect interactions")];
    let mut sizes: Vec<&str> = Vec::new();
    for sample in samples {
        if !sizes.contains(&sample.size) {
            sizes.push(sample.size);
        }
    }
    for (k, size) in sizes.into_iter().enumerate() {
        type Line = (usize, &'static str, Marker, fn(&Sample) -> Option<(f64, f64)>);
        let lines: [Line; 3] = [
            (0, "CPU", Marker::Circle, |sample| Some(direct(&sample.cores))),
            (0, "GPU", Marker::Triangle, |sample| sample.hybrid.as_ref().map(direct)),
            (1, "CPU", Marker::Circle, |sample| Some(indirect(&sample.cores))),
        ];
        for (at, name, marker, point) in lines {
            let of_size = samples.iter().filter(|sample| sample.size == size);
            let points: Vec<_> = of_size.filter_map(point).collect();
            if !points.is_empty() {
                let series = Series::new(format!("{name}, {size}")).points(&points);
                let series = series.style(LineStyle::None, marker).color(Color::PALETTE[k]);
                charts[at] = charts[at].clone().series(series);
            }
        }
    }
    let grid = ChartGrid::new("Flow past a sphere, Re 550, to T = 1.5, theta = 0.5, p = 6").columns(2);
    charts.into_iter().fold(grid, ChartGrid::chart).size(1200, 500)
}
