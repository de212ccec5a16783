//! The smallest boxes that cores with long tails allow.
//!
//! The far field treats sources as points. A core of compact support is a point from its edge on. A core like
//! Plummer's approaches a point only as $(\epsilon/d)^2$, and boxes for which every single pair keeps the tolerance
//! are very large. But a far pair is a small part of a sum: it suffices that the summed error of all far pairs is
//! small relative to the sum. Both are estimated here from a sample of the points, for strengths of one sign, which
//! add up, and of random signs, which cancel.

use crate::kernel::Regularisation;
use crate::parallel::map;
use crate::points::Random;
use crate::simd::Real;

/// The numbers of targets and sources in the sample.
const TARGETS: usize = 48;
const SOURCES: usize = 1 << 13;

/// The share of the tolerance given to tails.
const BUDGET: f64 = 0.25;

/// The number of halvings tried, from the side at which the worst pair keeps the tolerance.
const HALVINGS: usize = 8;

/// The tail of a core.
#[derive(Debug, Clone, Copy)]
pub struct Tail<'a> {
    /// The replacement for the singular kernel.
    pub core: &'a Regularisation,
    /// The largest core size.
    pub size: f64,
    /// Whether the sum is of gradients rather than potentials.
    pub gradient: bool,
    /// The relative error allowed.
    pub tolerance: f64,
    /// The distance from which on every single pair keeps the tolerance.
    pub worst: f64,
}

impl Tail<'_> {
    /// The smallest box side with which the sum of all far pairs keeps the tolerance, for charges and masses.
    pub fn least_side<T: Real>(&self, sources: &[[T; 3]], targets: &[[T; 3]]) -> f64 {
        let (sources, targets) = (sample(sources, SOURCES, 1), sample(targets, TARGETS, 2));
        let mut errors = [Errors::default(); HALVINGS + 1];
        for (shells, all) in map(targets.len(), 1, |k| self.at_target(targets[k], &sources)) {
            // With boxes halved k times, shell k and everything beyond it is far.
            let mut far = Shell::default();
            for (shell, errors) in shells.iter().zip(&mut errors) {
                far.join(shell);
                errors.add(&far, &all);
            }
        }
        let kept = errors
            .iter()
            .take_while(|errors| errors.largest() <= BUDGET * self.tolerance)
            .count();
        self.worst * 0.5f64.powi(kept.saturating_sub(1) as i32)
    }

    /// The errors of the sources in each shell around a target, and the sum over all sources.
    fn at_target(&self, target: [f64; 3], sources: &[[f64; 3]]) -> ([Shell; HALVINGS + 1], Shell) {
        let mut shells = [Shell::default(); HALVINGS + 1];
        let mut all = Shell::default();
        for source in sources {
            let d: [f64; 3] = std::array::from_fn(|axis| target[axis] - source[axis]);
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if r2 == 0.0 {
                continue;
            }
            let r = r2.sqrt();
            let (potential, slope) = (self.core.profile)(r2, self.size);
            all.add(d, self.gradient, potential, slope);
            let shell = (self.worst / r).log2().ceil().max(0.0) as usize;
            if let Some(shell) = shells.get_mut(shell) {
                shell.add(d, self.gradient, potential - 1.0 / r, slope - 1.0 / (r2 * r));
            }
        }
        (shells, all)
    }
}

/// A sum over some sources at a target: for strengths of one sign, and the sum of squares for random signs.
#[derive(Debug, Clone, Copy, Default)]
struct Shell {
    sum: [f64; 3],
    squares: f64,
}

impl Shell {
    fn add(&mut self, d: [f64; 3], gradient: bool, potential: f64, slope: f64) {
        let value = if gradient {
            d.map(|c| slope * c)
        } else {
            [potential, 0.0, 0.0]
        };
        for (sum, value) in self.sum.iter_mut().zip(value) {
            *sum += value;
            self.squares += value * value;
        }
    }

    fn join(&mut self, other: &Shell) {
        for (sum, other) in self.sum.iter_mut().zip(other.sum) {
            *sum += other;
        }
        self.squares += other.squares;
    }
}

/// Squared errors and squared sums over all targets, for one sign and for random signs.
#[derive(Debug, Clone, Copy, Default)]
struct Errors {
    error: [f64; 2],
    sum: [f64; 2],
}

impl Errors {
    fn add(&mut self, far: &Shell, all: &Shell) {
        let square = |shell: &Shell| [shell.sum.iter().map(|c| c * c).sum(), shell.squares];
        let (error, sum) = (square(far), square(all));
        for k in 0..2 {
            self.error[k] += error[k];
            self.sum[k] += sum[k];
        }
    }

    fn largest(&self) -> f64 {
        let relative = |k: usize| (self.error[k] / self.sum[k].max(f64::MIN_POSITIVE)).sqrt();
        relative(0).max(relative(1))
    }
}

/// A sample of at most `most` points.
fn sample<T: Real>(points: &[[T; 3]], most: usize, seed: u64) -> Vec<[f64; 3]> {
    let chosen = Random::new(seed).one_of_each_stretch(points.len(), most);
    chosen.map(|at| points[at].map(Real::to_f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Output, Sizes};
    use crate::points::{ChargeDistribution, PointSet};
    use crate::{Method, Points, Request, Space};

    fn tail(size: f64, tolerance: f64, gradient: bool) -> Tail<'static> {
        let kernel = Kernel::gravity(1.0);
        let core = kernel.description().regularisation.unwrap();
        Tail {
            core,
            size,
            gradient,
            tolerance,
            worst: kernel.core_reach(size, 0.5 * tolerance, usize::from(gradient)),
        }
    }

    #[test]
    fn boxes_never_exceed_the_worst_pairs_limit_and_shrink_where_tails_are_small() {
        let points = PointSet::Cube.generate::<f64>(100_000, 1);
        let wide = tail(1e-3, 1e-4, true);
        let side = wide.least_side(&points, &points);
        assert!(side <= 0.5 * wide.worst, "{side} {}", wide.worst);
        for gradient in [false, true] {
            for tolerance in [1e-2, 1e-6, 1e-9] {
                let tail = tail(1e-3, tolerance, gradient);
                assert!(tail.least_side(&points, &points) <= tail.worst);
            }
        }
        let one = tail(0.1, 1e-3, true);
        assert!(one.least_side(&points[..1], &points[..1]) <= one.worst);
    }

    #[test]
    fn sums_with_smaller_boxes_keep_the_tolerance_for_one_sign_and_both() {
        for (set, seed) in [(PointSet::Plummer, 1), (PointSet::Cube, 2), (PointSet::Sphere, 3)] {
            let points = set.generate::<f64>(12_000, seed);
            for charges in [ChargeDistribution::Positive, ChargeDistribution::Signed] {
                let masses = charges.generate::<f64>(points.len(), seed + 7);
                for (tolerance, softening) in [(1e-3, 0.01), (1e-4, 1e-3), (1e-6, 1e-4)] {
                    let field = |method| {
                        let mut request = Request::<Space>::new(Kernel::gravity(1.0));
                        request.outputs = vec![Output::Potential, Output::Acceleration];
                        request.options.tolerance = Some(tolerance);
                        request.options.method = method;
                        request.options.check = false;
                        let sizes = Sizes::Global(softening);
                        let sum = request.over(Points::new(&points, None, &sizes));
                        sum.plan().unwrap().evaluate(&masses).unwrap()
                    };
                    let (fast, direct) = (field(Method::Fmm), field(Method::Direct));
                    for output in [Output::Potential, Output::Acceleration] {
                        let (fast, direct) = (fast.get(output).unwrap(), direct.get(output).unwrap());
                        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
                        let error = square(&mut fast.iter().zip(direct).map(|(a, b)| a - b));
                        let error = (error / square(&mut direct.iter().copied())).sqrt();
                        assert!(
                            error <= tolerance,
                            "{set} {charges:?} {tolerance:e} {output:?}: {error:e}"
                        );
                    }
                }
            }
        }
    }
}
