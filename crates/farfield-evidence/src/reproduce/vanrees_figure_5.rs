//! van Rees et al., figure 5: rates of the treecode along a simulation of the flow past a sphere.
//!
//! The flow itself is ours, with one velocity for all components to a tolerance. At moments spread evenly over the run, the
//! paper's treecode solves for each component of the stream function on the grid as it is then. At every other of these moments a
//! flow with half the spacing takes the state over, goes on for a few steps, in which its grid adapts, and is measured too.

use super::published::{VANREES_HARDWARE, VANREES_THETA};
use super::table::{Cell, Table};
use super::vanrees::{Precision, beside, gpu, treecode};
use super::{Context, Reproduction};
use crate::Error;
use crate::sphere::sphere;
use farfield::Device;
use farfield_grid::poisson::{Accuracy, Poisson, Report};
use farfield_grid::{BlockId, Forest, Grid};
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::case::Case;
use farfield_sim::flow::{FlowModel, Setup};
use farfield_sim::model::{Model, State};

/// Moments of a run that are looked at.
const SAMPLES: u32 = 12;
/// Steps that a flow with half the spacing goes on with a state, adapting its grid in each.
const STEPS_OF_FINER: u32 = 2;
/// Steps between lines of progress.
const STEPS_A_LINE: u64 = 20;
/// The name of the state in a flow's checkpoints.
const VORTICITY: &str = "vorticity";
/// The tolerance of the solves beside the paper's.
const TOLERANCE: f64 = 1e-3;

/// What was measured at a moment, for one component.
struct Sample {
    size: &'static str,
    t: f64,
    component: usize,
    cores: Report,
    hybrid: Option<Report>,
    tolerance: Report,
}

/// A flow to be followed, by what the built-in case is set to.
struct Resolution {
    /// The points of a uniform grid, by which the paper names them.
    name: &'static str,
    points: usize,
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
    let mut remarks = vec![
        "direct and indirect: pairs of a point with a source and with an expansion, a second; the seconds are those of all \
         threads over their number"
            .to_owned(),
        format!(
            "at half the spacing: every other moment, {STEPS_OF_FINER} steps after the state of the coarser flow was taken over and its grid adapted"
        ),
        format!("solve: one component with theta {VANREES_THETA} and p = 6; beside it to a tolerance of {TOLERANCE:e}"),
    ];
    if samples.iter().all(|sample| sample.hybrid.is_none()) {
        remarks.push("no graphics processor here: its columns are empty".to_owned());
    }
    Ok(Reproduction {
        title: "van Rees, figure 5: rates along the flow past a sphere, Re 550, to T = 1.5".to_owned(),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table(&samples))],
        remarks,
        png: figure(&samples).to_png()?,
    })
}

/// A flow, ready to go.
struct Flow {
    name: &'static str,
    case: Case,
    setup: Setup,
    model: Box<dyn Model>,
}

impl Flow {
    fn new(context: &Context, resolution: &Resolution) -> Result<Self, Error> {
        let case = sphere(resolution.set)?;
        let setup = Setup::new(&case).map_err(|(key, why)| format!("{key}: {why}"))?;
        let mut model = FlowModel::new(&case, context.profile.clone())?;
        if let Some(gpu) = gpu() {
            model.summation().device = Device::Cuda(gpu.properties().ordinal).into();
        }
        Ok(Self {
            name: resolution.name,
            case,
            setup,
            model,
        })
    }

    /// One step, at most as long as what is `left`; returns its length.
    fn step(&mut self, number: u64, left: f64) -> Result<f64, Error> {
        self.model.evaluate()?;
        let dt = self.model.choose_step(&self.case.time)?.dt.min(left);
        self.model.advance(dt, number)?;
        Ok(dt)
    }

    /// Goes on for a few steps with the state of a coarser flow.
    fn take_over(&mut self, state: &State) -> Result<(), Error> {
        self.model.restore(state)?;
        let adapts = self.setup.grid.adapt_every;
        for _ in 0..STEPS_OF_FINER {
            self.step(adapts, f64::INFINITY)?;
        }
        Ok(())
    }

    fn measure(&mut self, t: f64, samples: &mut Vec<Sample>) -> Result<(), Error> {
        let mut grid = grid_of(&self.setup, &self.model.state()?)?;
        measure(self.name, t, &mut grid, samples)
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
            flow.measure(t, samples)?;
            if let Some(finer) = finer.as_mut().filter(|_| taken % 2 == 1) {
                context.step(format_args!("{}, T = {t:.3}", finer.name));
                finer.take_over(&flow.model.state()?)?;
                finer.measure(t, samples)?;
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
        let blocks = grid
            .values_mut(component)?
            .chunks_exact_mut(farfield_grid::BLOCK_POINTS);
        for (values, from) in blocks.zip(omega.chunks_exact(farfield_grid::BLOCK_POINTS).skip(c).step_by(3)) {
            for (value, from) in values.iter_mut().zip(from) {
                *value = *from as Precision;
            }
        }
    }
    Ok(grid)
}

const COMPONENTS: [&str; 3] = ["x", "y", "z"];

fn measure(name: &'static str, t: f64, grid: &mut Grid<Precision>, samples: &mut Vec<Sample>) -> Result<(), Error> {
    let gpu = gpu();
    for (component, channel) in COMPONENTS.into_iter().enumerate() {
        let largest = grid.largest(channel)?;
        if largest == 0.0 {
            continue;
        }
        let paper = treecode(VANREES_THETA).threshold(1e-5 * largest);
        let tolerant = Poisson::new(Accuracy::Tolerance(TOLERANCE)).threshold(1e-5 * largest);
        samples.push(Sample {
            size: name,
            t,
            component,
            cores: paper.solve(grid, channel, "psi")?,
            hybrid: gpu
                .as_ref()
                .map(|gpu| beside(&paper, gpu).solve(grid, channel, "psi"))
                .transpose()?,
            tolerance: tolerant.solve(grid, channel, "psi")?,
        });
    }
    Ok(())
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

fn table(samples: &[Sample]) -> Table {
    let mut table = Table::new([
        ("grid", "grid"),
        ("T", "T"),
        ("component", "component"),
        ("points", "points"),
        ("sources", "sources"),
        ("direct", "direct"),
        ("direct_per_s", "direct (1/s)"),
        ("indirect", "indirect"),
        ("indirect_per_s", "indirect (1/s)"),
        ("gpu_direct_per_s", "direct, GPU (1/s)"),
        ("solve_s", "solve (s)"),
        ("hybrid_solve_s", "CPU + GPU (s)"),
        ("tolerance_solve_s", "to tolerance (s)"),
    ]);
    for sample in samples {
        let (cores, counts) = (&sample.cores, sample.cores.interactions);
        let on_gpu =
            |value: fn(&Report) -> f64| sample.hybrid.as_ref().map_or(Cell::Missing, |r| Cell::Small(value(r)));
        table.row([
            Cell::Text(sample.size.to_owned()),
            Cell::Number(sample.t),
            Cell::Text(COMPONENTS[sample.component].to_owned()),
            Cell::Count(cores.targets as u64),
            Cell::Count(cores.sources as u64),
            Cell::Count(counts.direct),
            Cell::Small(rate(counts.direct, cores.seconds.direct)),
            Cell::Count(counts.indirect),
            Cell::Small(rate(counts.indirect, cores.seconds.indirect)),
            on_gpu(|r| rate(r.interactions.direct, r.seconds.direct)),
            Cell::Number(cores.seconds.total),
            on_gpu(|r| r.seconds.total),
            Cell::Number(sample.tolerance.seconds.total),
        ]);
    }
    table
}

fn figure(samples: &[Sample]) -> ChartGrid {
    let chart = |title: &str| {
        LineChart::new(title)
            .x_axis(Axis::log("interactions"))
            .y_axis(Axis::log("interactions a second"))
    };
    let (mut direct, mut indirect) = (chart("Direct interactions"), chart("Indirect interactions"));
    let mut sizes: Vec<&str> = Vec::new();
    for sample in samples {
        if !sizes.contains(&sample.size) {
            sizes.push(sample.size);
        }
    }
    for (k, size) in sizes.into_iter().enumerate() {
        let of_size = || samples.iter().filter(move |sample| sample.size == size);
        let series = |name: &str, points: &[(f64, f64)], marker: Marker| {
            Series::new(format!("{name}, {size}"))
                .points(points)
                .style(LineStyle::None, marker)
                .color(Color::PALETTE[k])
        };
        let on_cores: Vec<(f64, f64)> = of_size()
            .map(|s| (s.cores.interactions.direct, s.cores.seconds.direct))
            .map(|(count, seconds)| (count as f64, rate(count, seconds)))
            .collect();
        direct = direct.series(series("CPU", &on_cores, Marker::Circle));
        let on_gpu: Vec<(f64, f64)> = of_size()
            .filter_map(|s| s.hybrid.as_ref())
            .map(|r| {
                (
                    r.interactions.direct as f64,
                    rate(r.interactions.direct, r.seconds.direct),
                )
            })
            .collect();
        if !on_gpu.is_empty() {
            direct = direct.series(series("GPU", &on_gpu, Marker::Triangle));
        }
        let of_expansions: Vec<(f64, f64)> = of_size()
            .map(|s| (s.cores.interactions.indirect, s.cores.seconds.indirect))
            .map(|(count, seconds)| (count as f64, rate(count, seconds)))
            .collect();
        indirect = indirect.series(series("CPU", &of_expansions, Marker::Circle));
    }
    ChartGrid::new("Flow past a sphere, Re 550, to T = 1.5, theta = 0.5, p = 6")
        .columns(2)
        .chart(direct)
        .chart(indirect)
        .size(1200, 500)
}
