//! The speed of this machine and of the operators on it.
//!
//! Rates are measured on one thread, as the best of several short runs. [`calibrate`] turns them into a
//! [`MachineProfile`]; `farfield bench` prints them next to the machine's ceilings.

use crate::error::Error;
use crate::expansion::coefficient_count;
use crate::expansion::harmonics::Recurrence;
use crate::expansion::mirror::{self, IMAGES, Mirrored};
use crate::expansion::translation::{self, Translations};
use crate::fmm::operators::{Frame, LeafPoints, Placement, add_sources, add_values, workspace_len};
use crate::kernel::{Core, FarOutputs, Kernel, Side};
use crate::p2p::{Block, PairSums, Pairs, Size2, Sources, accuracy_for};
use crate::points::Random;
use crate::simd::{Lanes, MAX_LANES, Real, SimdLevel, Vectorized, dispatch};
use crate::tuning::{MachineProfile, OperatorCosts};
use std::hint::black_box;
use std::time::Instant;

mod list;

pub use list::{OperatorRate, operators};

/// Runs a block repeatedly in several rounds; the result is the seconds per run of the best round.
///
/// A macro, because a closure would be compiled without the features of the level that is measured.
macro_rules! best_of {
    ($work:block) => {{
        // The first round is one run and determines the number of runs per round. The work occurs once in the macro,
        // so that it is compiled once.
        let (mut runs, mut best) = (1, f64::MAX);
        for round in 0..7 {
            let start = Instant::now();
            for _ in 0..runs {
                $work
            }
            let seconds = start.elapsed().as_secs_f64();
            if round == 0 {
                runs = (4e-3 / seconds.max(1e-8)).ceil().max(1.0) as usize;
            } else {
                best = best.min(seconds / runs as f64);
            }
        }
        best
    }};
}

struct FmaLoop;

impl<T: Real> Vectorized<T> for FmaLoop {
    type Output = f64;
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> f64 {
        const STEPS: usize = 20_000;
        let mut sums = [V::splat(T::ONE); 12];
        let (a, b) = (
            black_box(V::splat(T::from_f64(0.999))),
            black_box(V::splat(T::from_f64(1e-3))),
        );
        let seconds = best_of!({
            for _ in 0..STEPS {
                for sum in &mut sums {
                    *sum = sum.mul_add(a, b);
                }
            }
        });
        let mut total = V::zero();
        for sum in sums {
            total = total + sum;
        }
        black_box(total.sum());
        (STEPS * 12 * V::LANES) as f64 / seconds
    }
}

/// A benchmark on one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Benchmark {
    /// Fused multiply-adds per second, counted per lane: the ceiling of all other rates.
    FmaRate,
    /// Pairs per second between a leaf of `leaf` targets and `leaves` leaves of as many sources.
    PairRate {
        /// The kernel.
        kernel: Kernel,
        /// The number of derivatives of the potential.
        derivatives: usize,
        /// The tolerance, which determines the accuracy of reciprocal square roots.
        tolerance: f64,
        /// Points per leaf.
        leaf: usize,
        /// The number of source leaves.
        leaves: usize,
    },
    /// Seconds of one M2L translation.
    M2l {
        /// The order.
        order: usize,
    },
    /// Seconds of one M2L translation among eight from mirrored sources into one box.
    MirroredM2l {
        /// The order.
        order: usize,
    },
    /// Seconds of one M2M translation.
    M2m {
        /// The order.
        order: usize,
    },
    /// Seconds of one L2L translation.
    L2l {
        /// The order.
        order: usize,
    },
    /// Seconds per point of an operator between points and an expansion.
    Point {
        /// The operator.
        operator: PointOperator,
        /// The kernel.
        kernel: Kernel,
        /// The number of derivatives of the potential at the targets.
        derivatives: usize,
        /// The order of the expansion.
        order: usize,
        /// Points in the box.
        points: usize,
    },
}

impl Benchmark {
    /// Measures in precision `T`.
    pub fn measure<T: Real>(&self, level: SimdLevel) -> f64 {
        T::bench(level, self)
    }

    pub(crate) fn run<T: Real>(&self, level: SimdLevel) -> f64 {
        match *self {
            Benchmark::FmaRate => dispatch::<T, _>(level, FmaLoop),
            Benchmark::PairRate {
                kernel,
                derivatives,
                tolerance,
                leaf,
                leaves,
            } => pair_rate::<T>(level, kernel, derivatives, tolerance, leaf, leaves),
            Benchmark::M2l { order } => dispatch::<T, _>(level, TranslationLoop(Kind::M2l, order)),
            Benchmark::MirroredM2l { order } => dispatch::<T, _>(level, MirroredLoop { level, order }),
            Benchmark::M2m { order } => dispatch::<T, _>(level, TranslationLoop(Kind::M2m, order)),
            Benchmark::L2l { order } => dispatch::<T, _>(level, TranslationLoop(Kind::L2l, order)),
            Benchmark::Point {
                operator,
                kernel,
                derivatives,
                order,
                points,
            } => dispatch::<T, _>(
                level,
                PointLoop {
                    operator,
                    kernel,
                    derivatives,
                    order,
                    points,
                },
            ),
        }
    }
}

fn pair_rate<T: Real>(
    level: SimdLevel,
    kernel: Kernel,
    derivatives: usize,
    tolerance: f64,
    leaf: usize,
    leaves: usize,
) -> f64 {
    let mut random = Random::new(5);
    let n = leaf * leaves;
    let mut column = |count: usize| -> Vec<T> { (0..count).map(|_| T::from_f64(random.uniform())).collect() };
    let position: [Vec<T>; 3] = std::array::from_fn(|_| column(n));
    let strengths = column(n * kernel.strength_components());
    let softened = !kernel.is_singular(true);
    let accuracy = accuracy_for::<T>(level, tolerance, derivatives);
    let pairs = Pairs {
        kernel,
        softened,
        derivatives,
        accuracy,
    };
    let mut sums = vec![T::ZERO; pairs.sums() * leaf];
    let others: Vec<(u32, u32)> = (1..leaves as u32)
        .map(|k| (k * leaf as u32, (k + 1) * leaf as u32))
        .collect();
    let positions = [&position[0][..], &position[1][..], &position[2][..]];
    let seconds = best_of!({
        let sources = Sources {
            position: positions,
            strengths: &strengths,
            stride: n,
            size2: Size2::Global(T::from_f64(1e-4)),
        };
        let own = [(0, leaf as u32)];
        pairs.add(
            level,
            &Block {
                positions,
                targets: 0..leaf,
                sources,
                own: (&own, pairs.own_skip(true)),
                others: &others,
            },
            &mut sums,
        );
        black_box(&sums);
    });
    (leaf * n) as f64 / seconds
}

#[derive(Clone, Copy)]
enum Kind {
    M2m,
    M2l,
    L2l,
}

struct TranslationLoop(Kind, usize);

impl<T: Real> Vectorized<T> for TranslationLoop {
    type Output = f64;
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> f64 {
        let Self(kind, order) = self;
        let shifts = [[2, 0, 0], [0, -2, 1], [3, 1, -2], [-2, 2, 2], [1, 3, 0], [-3, -1, -3]];
        let (tables, directions) = match kind {
            // As in the FMM, full batches use the broad vectors of this level.
            Kind::M2l => return translate::<V::Broad>(&Translations::m2l(order, &shifts), shifts.len(), order),
            Kind::M2m => (Translations::m2m(order), 8),
            Kind::L2l => (Translations::l2l(order), 8),
        };
        translate::<V>(&tables, directions, order)
    }
}

#[inline(always)]
fn translate<V: Lanes>(tables: &Translations<V::Elem>, directions: usize, order: usize) -> f64 {
    let count = coefficient_count(order);
    // As many boxes as in a block of M2L work, for the same use of the caches.
    let boxes = 128;
    let sources = vec![V::Elem::ONE; 2 * boxes * count];
    let mut targets = vec![V::Elem::ZERO; boxes * count];
    let mut workspace = vec![V::zero(); translation::workspace_len(order)];
    let batches = boxes / V::LANES;
    let seconds = best_of!({
        for direction in 0..directions {
            for batch in 0..batches {
                let mut starts = [[0; MAX_LANES]; 2];
                for l in 0..V::LANES {
                    starts[0][l] = ((batch * V::LANES + l) * 2 + direction % 2) * count;
                    starts[1][l] = (batch * V::LANES + l) * count;
                }
                let (from, to) = (&starts[0][..V::LANES], &starts[1][..V::LANES]);
                tables.apply::<V>(direction, order, &sources, from, &mut targets, to, &mut workspace);
            }
        }
        targets.fill(V::Elem::ZERO);
    });
    seconds / (directions * batches * V::LANES) as f64
}

struct MirroredLoop {
    level: SimdLevel,
    order: usize,
}

impl<T: Real> Vectorized<T> for MirroredLoop {
    type Output = f64;
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> f64 {
        translate_mirrored::<V::Broad>(self)
    }
}

#[inline(always)]
fn translate_mirrored<V: Lanes>(MirroredLoop { level, order }: MirroredLoop) -> f64 {
    let count = coefficient_count(order);
    let shift = [2, 1, 1];
    let set = mirror::set_of(shift);
    let orders = std::array::from_fn(|k| (k == set).then_some(order));
    let matrices = Mirrored::new(level, &Translations::m2l(order, &[shift]), |_| 0, &orders);
    let boxes = 128;
    let sources = vec![V::Elem::ONE; IMAGES * boxes * count];
    let mut targets = vec![V::Elem::ZERO; boxes * count];
    let mut workspace = vec![V::zero(); mirror::workspace_len(order)];
    let seconds = best_of!({
        for batch in 0..boxes / V::LANES {
            let (mut from, mut to) = ([[0; MAX_LANES]; IMAGES], [0; MAX_LANES]);
            for l in 0..V::LANES {
                let target = batch * V::LANES + l;
                to[l] = target * count;
                for (image, from) in from.iter_mut().enumerate() {
                    from[l] = (target * IMAGES + image) * count;
                }
            }
            let to = &to[..V::LANES];
            matrices.apply::<V>(set, order, &sources, &from, &mut targets, to, &mut workspace);
        }
        targets.fill(V::Elem::ZERO);
    });
    seconds / (boxes * IMAGES) as f64
}

/// The operators between points and an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointOperator {
    /// Sources to a multipole.
    P2m,
    /// Sources to a local.
    P2l,
    /// A multipole to targets.
    M2p,
    /// A local to targets.
    L2p,
}

struct PointLoop {
    operator: PointOperator,
    kernel: Kernel,
    derivatives: usize,
    order: usize,
    points: usize,
}

impl<T: Real> Vectorized<T> for PointLoop {
    type Output = f64;
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> f64 {
        let Self {
            operator,
            kernel,
            derivatives,
            order,
            points,
        } = self;
        let mut random = Random::new(3);
        let mut column = |count: usize| -> Vec<T> { (0..count).map(|_| T::from_f64(random.uniform() - 0.5)).collect() };
        let local = [column(points), column(points), column(points)];
        let (components, coefficients) = (kernel.strength_components(), coefficient_count(order));
        let leaf = LeafPoints {
            position: [&local[0], &local[1], &local[2]],
            frame: Frame::UNIT,
        };
        let strengths = column(components * points);
        let recurrence = Recurrence::<T>::new(order + 2);
        let mut expansion = vec![T::ONE; components * coefficients];
        let mut workspace = vec![V::zero(); workspace_len(order, components)];
        let side = if operator == PointOperator::L2p {
            Side::Local
        } else {
            Side::Multipole
        };
        let outputs = FarOutputs::<T>::new(kernel.form(), derivatives, order, side);
        let mut derived = vec![T::ZERO; outputs.derived_len()];
        let mut sums = vec![T::ZERO; outputs.sums() * points];
        let far = Placement {
            ratio: 1.0,
            offset: [3.0, 0.0, 0.0],
        };
        let seconds = match operator {
            PointOperator::P2m => best_of!({
                let same = &Placement::SAME;
                add_sources::<V, false>(
                    &recurrence,
                    order,
                    leaf,
                    same,
                    &strengths,
                    points,
                    &mut expansion,
                    &mut workspace,
                );
            }),
            PointOperator::P2l => best_of!({
                add_sources::<V, true>(
                    &recurrence,
                    order,
                    leaf,
                    &far,
                    &strengths,
                    points,
                    &mut expansion,
                    &mut workspace,
                );
            }),
            PointOperator::M2p => best_of!({
                outputs.derive(&expansion, coefficients, &mut derived);
                add_values::<V, true>(&recurrence, &outputs, &derived, 1.0, leaf, &far, &mut sums);
            }),
            PointOperator::L2p => best_of!({
                outputs.derive(&expansion, coefficients, &mut derived);
                let same = &Placement::SAME;
                add_values::<V, false>(&recurrence, &outputs, &derived, 1.0, leaf, same, &mut sums);
            }),
        };
        black_box((&expansion, &sums));
        seconds / points as f64
    }
}

/// Measures the costs that plans are based on.
///
/// # Errors
/// [`Error::Threads`] if the thread for the measurement could not be started.
pub fn calibrate(level: SimdLevel) -> Result<MachineProfile, Error> {
    // Costs are per thread.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone = alone.map_err(|reason| Error::Threads {
        threads: 1,
        reason: reason.to_string(),
    })?;
    Ok(alone.install(|| MachineProfile {
        f32: costs::<f32>(level, 1e-4),
        f64: costs::<f64>(level, 1e-6),
    }))
}

fn costs<T: Real>(level: SimdLevel, tolerance: f64) -> OperatorCosts {
    let pair = |kernel, derivatives| {
        1e9 / Benchmark::PairRate {
            kernel,
            derivatives,
            tolerance,
            leaf: 48,
            leaves: 27,
        }
        .measure::<T>(level)
    };
    let vortex = Kernel::BiotSavart { core: Core::Singular };
    // The polynomial passes through the costs of orders 3, 9 and 18.
    let orders = [3usize, 9, 18];
    let times = orders.map(|order| 1e9 * Benchmark::M2l { order }.measure::<T>(level));
    let rows = orders.map(|order| {
        let n = (order + 1) as f64;
        [1.0, n * n, n * n * n]
    });
    let m2l = solve3(rows, times).map(|c| c.max(0.0));
    let points = [PointOperator::P2m, PointOperator::L2p].map(|operator| {
        let seconds = Benchmark::Point {
            operator,
            kernel: Kernel::Coulomb,
            derivatives: 0,
            order: 10,
            points: 48,
        }
        .measure::<T>(level);
        1e9 * seconds / coefficient_count(10) as f64
    });
    OperatorCosts {
        pair_scalar: [0, 1, 2].map(|derivatives| pair(Kernel::Coulomb, derivatives)),
        pair_vector: [1, 2].map(|derivatives| pair(vortex, derivatives)),
        m2l,
        point_coefficient: 0.5 * (points[0] + points[1]),
        plane: crate::plane::calibrate::<T>(level),
    }
}

/// Solves a linear system of three equations by Cramer's rule.
pub(crate) fn solve3(a: [[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let det = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = det(a);
    std::array::from_fn(|k| {
        let mut m = a;
        for row in 0..3 {
            m[row][k] = b[row];
        }
        det(m) / whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_gives_positive_costs_that_grow_with_the_order() {
        let profile = calibrate(SimdLevel::best()).unwrap();
        for costs in [&profile.f32, &profile.f64] {
            assert!(
                costs
                    .pair_scalar
                    .iter()
                    .chain(&costs.pair_vector)
                    .all(|c| *c > 0.0 && *c < 1e4)
            );
            assert!(costs.m2l(3) > 0.0 && costs.m2l(12) > costs.m2l(4) && costs.point_coefficient > 0.0);
        }
    }

    #[test]
    fn three_equations_are_solved() {
        let x = solve3([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [2.0, 0.0, 1.0]], [5.0, 5.0, 5.0]);
        assert!((x[0] - 1.0).abs() + (x[1] - 2.0).abs() + (x[2] - 3.0).abs() < 1e-12);
    }
}
