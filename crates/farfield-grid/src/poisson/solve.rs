//! Solving: the steps in order.

use super::bricks::sum_index;
use super::fmm;
use super::kernel::{Kernel, LATTICE_SELF_TERM};
use super::multipole::Expansions;
use super::plan::{BRICK_POINTS, BRICK_SIDE, BRICKS_PER_BLOCK, Brick, Plans, bricks};
use super::precision::Precision;
use super::sources::Sources;
use super::tree::SourceTree;
use super::tuning::Parameters;
use super::{Accuracy, Method, Poisson};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Channel, Grid};
use crate::operators::{BlockOperator, Curl, Order};
use farfield::simd::{RsqrtAccuracy, SimdLevel};
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Wall-clock seconds by phase. Direct and indirect evaluation run side by side; their shares are the threads' times
/// divided by the number of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// From the channel to the result.
    pub total: f64,
    /// Choosing the sources and putting them in order.
    pub sources: f64,
    /// The tree (with the FMM: tree, lists and tables).
    pub tree: f64,
    /// P2M and M2M.
    pub expansions: f64,
    /// The bricks' plans.
    pub plan: f64,
    /// Pairs of points.
    pub direct: f64,
    /// Everything that uses expansions (with the FMM: M2L, L2L, L2P, M2P, P2L).
    pub indirect: f64,
}

/// How many interactions there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactions {
    /// Pairs of a source and a point.
    pub direct: u64,
    /// Pairs of an expansion and a point.
    pub indirect: u64,
    /// Translations between expansions (FMM).
    pub translations: u64,
}

/// What a solution took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// How it was summed.
    pub method: Method,
    /// Source points.
    pub sources: usize,
    /// Destination points.
    pub targets: usize,
    /// The opening parameter, for the treecode.
    pub theta: Option<f64>,
    /// The order of the expansions.
    pub order: Option<usize>,
    /// Sources a box may hold.
    pub leaf_capacity: Option<usize>,
    /// Boxes in the tree.
    pub boxes: usize,
    /// The depth of the tree.
    pub depth: usize,
    /// The instruction set.
    pub simd: SimdLevel,
    /// How exact the treecode's reciprocal square roots are.
    pub rsqrt: Option<RsqrtAccuracy>,
    /// The work.
    pub interactions: Interactions,
    /// The time.
    pub seconds: Seconds,
}

/// What a treecode evaluation works on; a device evaluates the same plans.
#[derive(Debug, Clone)]
pub struct Parts<T> {
    /// The source points.
    pub sources: Sources<T>,
    /// Their octree.
    pub tree: SourceTree,
    /// The expansions of its nodes.
    pub expansions: Expansions<T>,
    /// The bricks of all blocks, eight for each.
    pub bricks: Vec<Brick>,
    /// What each brick meets.
    pub plans: Plans,
}

impl Poisson {
    /// The parts of the treecode for one grid and channel.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::NotFinite`].
    pub fn parts<T: Precision>(&self, grid: &Grid<T>, source: &str) -> Result<Parts<T>, Error> {
        self.check()?;
        grid.check_finite(source)?;
        let sources = Sources::gather(grid, grid.channel(source)?, self);
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        Ok(Parts::build(
            grid,
            sources,
            &self.parameters(),
            simd,
            &mut Seconds::default(),
        ))
    }

    /// Sets channel `potential` to the solution of $\nabla^2\psi=-\omega$ in free space, $\omega$ being channel
    /// `source`; both have one, two or three components.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`],
    /// [`Error::NotFinite`], [`Error::Sum`]; channel `potential` is then unchanged.
    pub fn solve<T: Precision>(&self, grid: &mut Grid<T>, source: &str, potential: &str) -> Result<Report, Error> {
        self.check()?;
        check_channels(grid, source, potential)?;
        let start = Instant::now();
        let sources = Sources::gather(grid, grid.channel(source)?, self);
        let gathered = start.elapsed().as_secs_f64();
        let (mut report, mut values) = match (self.method, self.kernel, self.accuracy) {
            (Some(Method::Treecode), ..) | (None, Kernel::Regularised(_), _) | (None, _, Accuracy::Fixed { .. }) => {
                self.by_treecode(grid, sources)
            }
            (None | Some(Method::Fmm), Kernel::Singular, Accuracy::Tolerance(tolerance)) => {
                fmm::sum(self, grid, &sources, tolerance, fmm::Quantity::Potential)?
            }
            (Some(Method::Fmm), Kernel::Regularised(_), _) => {
                return Err(Error::Unsupported {
                    what: "the FMM with the regularised kernel",
                    instead: "the treecode, or the singular kernel",
                });
            }
            (Some(Method::Fmm), _, Accuracy::Fixed { .. }) => {
                return Err(Error::Unsupported {
                    what: "the FMM with a fixed theta and order",
                    instead: "a tolerance, or the treecode",
                });
            }
        };
        if self.kernel == Kernel::Singular {
            add_self_term(grid, grid.channel(source)?, self.threshold, &mut values);
        }
        *grid.values_vec_mut(potential)? = values;
        report.seconds.sources = gathered;
        report.seconds.total = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Sets channel `velocity` to $u=\nabla\times\psi=\sum_j\frac{\omega_jh_j^3\times(x-x_j)}{4\pi|x-x_j|^3}$ with the
    /// singular kernel, straight from the gradients of the expansions. The other way is to solve for $\psi$ and to apply
    /// [`crate::operators::Curl`] to it.
    ///
    /// # Errors
    /// As [`Poisson::solve`], and [`Error::Unsupported`] for the regularised kernel or fixed parameters.
    pub fn solve_velocity<T: Precision>(
        &self,
        grid: &mut Grid<T>,
        vorticity: &str,
        velocity: &str,
    ) -> Result<Report, Error> {
        self.check()?;
        check_channels(grid, vorticity, velocity)?;
        let found = grid.channel(vorticity)?.components();
        if found != 3 {
            return Err(Error::Components {
                name: vorticity.to_owned(),
                found,
                expected: 3,
            });
        }
        let (Kernel::Singular, Accuracy::Tolerance(tolerance), None | Some(Method::Fmm)) =
            (self.kernel, self.accuracy, self.method)
        else {
            return Err(Error::Unsupported {
                what: "velocity from expansions with this kernel, accuracy or method",
                instead: "the singular kernel, a tolerance and the FMM, or the curl of the stream function",
            });
        };
        let start = Instant::now();
        let sources = Sources::gather(grid, grid.channel(vorticity)?, self);
        let gathered = start.elapsed().as_secs_f64();
        let (mut report, mut values) = fmm::sum(self, grid, &sources, tolerance, fmm::Quantity::Velocity)?;
        add_velocity_self_term(grid, grid.channel(vorticity)?, &mut values);
        *grid.values_vec_mut(velocity)? = values;
        report.seconds.sources = gathered;
        report.seconds.total = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Sources -> tree -> expansions -> plans -> evaluation.
    fn by_treecode<T: Precision>(&self, grid: &Grid<T>, sources: Sources<T>) -> (Report, Vec<T>) {
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        let parameters = self.parameters();
        let mut seconds = Seconds::default();
        let parts = Parts::build(grid, sources, &parameters, simd, &mut seconds);
        let accuracy = T::rsqrt_accuracy(simd, parameters.rsqrt_error);
        let evaluation = Evaluation {
            kernel: self.kernel,
            simd,
            accuracy,
            parts: &parts,
        };
        let values = evaluation.run(&mut seconds);
        let Parts {
            sources, tree, plans, ..
        } = parts;
        let Parameters {
            theta,
            order,
            leaf_capacity,
            ..
        } = parameters;
        let report = Report {
            method: Method::Treecode,
            sources: sources.len(),
            targets: grid.points(),
            theta: Some(theta),
            order: Some(order),
            leaf_capacity: Some(leaf_capacity),
            boxes: tree.nodes().len(),
            depth: tree.depth(),
            simd,
            rsqrt: Some(accuracy),
            interactions: Interactions {
                direct: plans.direct_interactions(),
                indirect: plans.indirect_interactions(),
                translations: 0,
            },
            seconds,
        };
        (report, values)
    }
}

/// Whether `source` can be the right-hand side for `potential`.
fn check_channels<T: Precision>(grid: &Grid<T>, source: &str, potential: &str) -> Result<(), Error> {
    if source == potential {
        return Err(Error::InPlace {
            name: source.to_owned(),
        });
    }
    let components = grid.channel(source)?.components();
    let wrong = |name: &str, found, expected| {
        Err(Error::Components {
            name: name.to_owned(),
            found,
            expected,
        })
    };
    if components > 3 {
        return wrong(source, components, 3);
    }
    let found = grid.channel(potential)?.components();
    if found != components {
        return wrong(potential, found, components);
    }
    grid.check_finite(source)
}

/// Runs `work` and adds its time.
fn timed<R>(seconds: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}

impl<T: Precision> Parts<T> {
    /// Sources -> tree -> expansions -> plans.
    fn build(
        grid: &Grid<T>,
        sources: Sources<T>,
        parameters: &Parameters,
        simd: SimdLevel,
        seconds: &mut Seconds,
    ) -> Self {
        let tree = timed(&mut seconds.tree, || {
            SourceTree::build(&sources, grid.domain(), parameters.leaf_capacity)
        });
        let expansions = timed(&mut seconds.expansions, || {
            Expansions::build(&sources, &tree, parameters.order, simd)
        });
        let (bricks, plans) = timed(&mut seconds.plan, || {
            let bricks = bricks(grid);
            let clearances = tree.clearances(&sources, parameters.clearance);
            let plans = Plans::build(&bricks, &tree, parameters.theta, &clearances);
            (bricks, plans)
        });
        Self {
            sources,
            tree,
            expansions,
            bricks,
            plans,
        }
    }
}

/// The evaluation of plans.
struct Evaluation<'a, T> {
    kernel: Kernel,
    simd: SimdLevel,
    accuracy: RsqrtAccuracy,
    parts: &'a Parts<T>,
}

impl<T: Precision> Evaluation<'_, T> {
    /// The sums at all points, ordered as a channel's numbers are; blocks in parallel.
    fn run(&self, seconds: &mut Seconds) -> Vec<T> {
        let components = self.parts.sources.components();
        let blocks = self.parts.bricks.len() / BRICKS_PER_BLOCK;
        let mut values = vec![T::ZERO; blocks * components * BLOCK_POINTS];
        let nanoseconds = [AtomicU64::new(0), AtomicU64::new(0)];
        values
            .par_chunks_exact_mut(components * BLOCK_POINTS)
            .enumerate()
            .for_each(|(leaf, values)| {
                let mut sums = vec![T::ZERO; components * BRICK_POINTS];
                for brick in 0..BRICKS_PER_BLOCK {
                    sums.fill(T::ZERO);
                    self.sum_brick(leaf * BRICKS_PER_BLOCK + brick, &mut sums, &nanoseconds);
                    write_brick(brick, &sums, values);
                }
            });
        let threads = rayon::current_num_threads() as f64;
        let [direct, indirect] = nanoseconds.map(|n| n.into_inner() as f64 * 1e-9 / threads);
        (seconds.direct, seconds.indirect) = (direct, indirect);
        values
    }

    /// One brick: its direct plan, then its indirect plan.
    fn sum_brick(&self, number: usize, sums: &mut [T], nanoseconds: &[AtomicU64; 2]) {
        let Parts {
            sources,
            tree,
            expansions,
            bricks,
            plans,
        } = self.parts;
        let (brick, how) = (&bricks[number], (self.simd, self.accuracy));
        let start = Instant::now();
        let ranges = plans.direct(number);
        T::add_direct(how, self.kernel, sources, ranges, brick, sums);
        let middle = Instant::now();
        let nodes = plans.indirect(number);
        T::add_indirect(how, expansions, tree, nodes, brick, sums);
        let end = Instant::now();
        for (total, time) in nanoseconds.iter().zip([middle - start, end - middle]) {
            total.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

/// Puts a brick's sums where they belong in their block.
fn write_brick<T: Precision>(brick: usize, sums: &[T], values: &mut [T]) {
    let corner: [usize; 3] = std::array::from_fn(|axis| (brick >> axis & 1) * BRICK_SIDE);
    for (component, values) in values.chunks_exact_mut(BLOCK_POINTS).enumerate() {
        for z in 0..BRICK_SIDE {
            for y in 0..BRICK_SIDE {
                let line = ((corner[2] + z) * BLOCK_SIDE + corner[1] + y) * BLOCK_SIDE + corner[0];
                for x in 0..BRICK_SIDE {
                    values[line + x] = sums[sum_index(component, [x, y, z])];
                }
            }
        }
    }
}

/// A point's own share with the singular kernel, $\frac{2.8373}{4\pi h}\omega h^3$, at the points that are sources.
fn add_self_term<T: Precision>(grid: &Grid<T>, source: &Channel<T>, threshold: f64, values: &mut [T]) {
    let components = source.components();
    values
        .par_chunks_exact_mut(components * BLOCK_POINTS)
        .enumerate()
        .for_each(|(leaf, values)| {
            let h = grid.domain().spacing(grid.forest().leaves()[leaf].level);
            let factor = LATTICE_SELF_TERM * h * h / (4.0 * PI);
            for point in 0..BLOCK_POINTS {
                let omega = |component: usize| source.block(leaf, component)[point].to_f64();
                if (0..components).all(|component| omega(component).abs() <= threshold) {
                    continue;
                }
                for component in 0..components {
                    values[component * BLOCK_POINTS + point] += T::from_f64(factor * omega(component));
                }
            }
        });
}

/// A point's own share of the velocity, $\frac{2.8373}{12\pi}h^2\nabla\times\omega$: around a point, the sum over the lattice
/// sees $\omega$ as constant plus linear, and of $y_iy_k/r^3$ it keeps a third of $1/r$ for $i=k$.
fn add_velocity_self_term<T: Precision>(grid: &Grid<T>, vorticity: &Channel<T>, values: &mut [T]) {
    let curl = Curl(Order::Fourth);
    let width = BlockOperator::<T>::ghost_width(&curl);
    values
        .par_chunks_exact_mut(vorticity.block_len())
        .enumerate()
        .for_each(|(leaf, values)| {
            let ghosted = grid.with_ghosts(vorticity, leaf, width);
            let factor = T::from_f64(LATTICE_SELF_TERM * ghosted.spacing().powi(2) / (12.0 * PI));
            let mut own = vec![T::ZERO; values.len()];
            curl.apply(&ghosted, &mut own);
            for (value, own) in values.iter_mut().zip(own) {
                *value += factor * own;
            }
        });
}
