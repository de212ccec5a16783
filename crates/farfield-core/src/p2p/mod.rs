//! P2P: sums over pairs of points, the near field of every method and the whole of the direct sum.

mod accuracy;
mod block;
mod mutual;

pub(crate) use block::{Block, Size2, Skip, Sources, columns};
pub(crate) use mutual::{MutualBlock, MutualPair};

use crate::kernel::Kernel;
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};

/// What is summed over pairs of points in `D` dimensions.
pub(crate) trait PairSums<const D: usize> {
    /// Numbers of strength per source.
    fn strengths(&self) -> usize;
    /// Sums per target.
    fn sums(&self) -> usize;
    /// What to skip among points that may coincide; `same` says that the sources are the targets.
    fn own_skip(&self, same: bool) -> Skip;
    /// Adds to `sums[k * n + i]`, for the i-th of n targets, the sums over the sources of the block.
    fn add<T: Real>(&self, simd: SimdLevel, block: &Block<T, D>, sums: &mut [T]);
}

/// A P2P task: the kernel, how many derivatives, and how exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    pub kernel: Kernel,
    pub softened: bool,
    pub derivatives: usize,
    pub accuracy: RsqrtAccuracy,
}

impl Pairs {
    /// Sums per target.
    pub fn sums(&self) -> usize {
        self.kernel.form().sums(self.derivatives)
    }
}

impl PairSums<3> for Pairs {
    fn strengths(&self) -> usize {
        self.kernel.strength_components()
    }

    fn sums(&self) -> usize {
        Pairs::sums(self)
    }

    fn own_skip(&self, same: bool) -> Skip {
        if same && !self.kernel.is_singular(self.softened) {
            Skip::SameIndex
        } else {
            Skip::Coincident
        }
    }

    fn add<T: Real>(&self, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
        Kernel::add_pairs(self, simd, block, sums);
    }
}

/// The accuracy a plan of this tolerance uses for reciprocal square roots.
pub(crate) fn accuracy_for<T: Real>(level: SimdLevel, tolerance: f64) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_error::<V>(self.0)
        }
    }
    dispatch::<T, _>(level, Choose(0.1 * tolerance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::reference;
    use crate::points::Random;

    /// Sums over pairs of 45 points in a cube, of any kernel, against its plain formula.
    fn difference<T: Real>(pairs: &Pairs, simd: SimdLevel, sizes: &[f64]) -> f64 {
        let n = 45;
        let mut random = Random::new(3);
        let mut column = |count: usize| -> Vec<T> { (0..count).map(|_| T::from_f64(random.uniform())).collect() };
        let position: [Vec<T>; 3] = std::array::from_fn(|_| column(n));
        let components = pairs.kernel.strength_components();
        let strengths = column(n * components);
        let sizes: Vec<T> = (0..n).map(|j| T::from_f64(sizes[j % sizes.len()])).collect();
        let size2: Vec<T> = sizes.iter().map(|size| *size * *size).collect();
        let mut sums = vec![T::ZERO; pairs.sums() * n];
        let sources = Sources {
            position: columns(&position),
            strengths: &strengths,
            stride: n,
            size2: Size2::PerSource(&size2),
        };
        let block = Block {
            positions: columns(&position),
            targets: 0..n,
            sources,
            own: (&[(0, n as u32)], pairs.own_skip(true)),
            others: &[],
        };
        pairs.add(simd, &block, &mut sums);
        let (mut squares, mut norm) = (0.0, 0.0);
        let outputs = pairs.kernel.outputs().iter();
        for output in outputs.filter(|output| output.derivatives() <= pairs.derivatives) {
            let first = crate::plan::first_sum(*output);
            for i in 0..n {
                let mut want = vec![0.0; output.components()];
                for j in (0..n).filter(|j| *j != i) {
                    let d = std::array::from_fn(|axis| position[axis][i].to_f64() - position[axis][j].to_f64());
                    let strength: Vec<f64> = (0..components).map(|c| strengths[c * n + j].to_f64()).collect();
                    reference::add_pair(pairs.kernel, *output, d, &strength, sizes[j].to_f64(), &mut want);
                }
                for (c, want) in want.iter().enumerate() {
                    let got = sums[(first + c) * n + i].to_f64() * pairs.kernel.scale(*output);
                    squares += (got - want) * (got - want);
                    norm += want * want;
                }
            }
        }
        (squares / norm).sqrt()
    }

    #[test]
    fn loops_over_pairs_match_the_plain_formula_for_every_kernel_level_and_precision() {
        for simd in SimdLevel::available() {
            for kernel in Kernel::all() {
                let most = kernel.outputs().iter().map(|output| output.derivatives()).max();
                for derivatives in 0..=most.unwrap_or(0) {
                    if derivatives == 0 && kernel.outputs()[0].derivatives() > 0 {
                        continue;
                    }
                    for (softened, sizes) in [(false, &[0.0][..]), (true, &[0.3]), (true, &[0.0, 0.05, 0.2, 2.0])] {
                        if softened && !kernel.has_sizes() {
                            continue;
                        }
                        for (tolerance, allowed, allowed_single) in
                            [(1e-12, 1e-13, 1e-6), (1e-6, 3e-7, 1e-6), (1e-2, 2e-3, 2e-3)]
                        {
                            let what = format!("{simd} {kernel:?} {derivatives} {sizes:?} {tolerance:e}");
                            let pairs = |accuracy| Pairs {
                                kernel,
                                softened,
                                derivatives,
                                accuracy,
                            };
                            let double = difference::<f64>(&pairs(accuracy_for::<f64>(simd, tolerance)), simd, sizes);
                            assert!(double < allowed, "{what}: {double:e}");
                            let single = difference::<f32>(&pairs(accuracy_for::<f32>(simd, tolerance)), simd, sizes);
                            assert!(single < allowed_single, "{what} f32: {single:e}");
                        }
                    }
                }
            }
        }
    }
}
