use super::*;
use crate::kernel::reference;
use crate::points::Random;

/// The potential and gradient of `points` at themselves, with core sizes `sizes`.
fn sums(level: SimdLevel, points: &[Vec<f64>; 3], sizes: Size2<f64>, accuracy: RsqrtAccuracy) -> Vec<f64> {
    let n = points[0].len();
    let strengths: Vec<f64> = (0..n).map(|k| 1.0 + (k % 5) as f64).collect();
    let pairs = Pairs {
        kernel: Kernel::gravity(1.0),
        softened: true,
        derivatives: 1,
        accuracy,
    };
    let mut sums = vec![0.0; pairs.sums() * n];
    let own = [(0, n as u32)];
    let block = Block {
        positions: columns(points),
        targets: 0..n,
        sources: Sources {
            position: columns(points),
            strengths: &strengths,
            stride: n,
            size2: sizes,
        },
        own: (&own, Skip::Coincident),
        others: &[],
    };
    pairs.add(level, &block, &mut sums);
    sums
}

#[test]
fn pairs_beyond_the_range_of_singles_are_as_accurate_as_others() {
    let n = 37;
    let mut random = Random::new(8);
    let unit: [Vec<f64>; 3] = std::array::from_fn(|_| (0..n).map(|_| random.uniform()).collect());
    // Points within 1e-30 of each other, two of them coincident, and one at distance 1.
    let clustered = unit.clone().map(|column| {
        let mut column: Vec<f64> = column.iter().map(|x| 1e-30 * x).collect();
        column[n - 1] = 1.0;
        column[3] = column[4];
        column
    });
    let tiny = unit.clone().map(|column| column.iter().map(|x| 1e-90 * x).collect());
    let some_huge: Vec<f64> = (0..n).map(|k| if k == 20 { 1e80 } else { 1e-4 }).collect();
    for (points, sizes) in [
        (&unit, Size2::Global(0.0)),
        (&unit, Size2::Global(1e70)),
        (&unit, Size2::PerSource(&some_huge)),
        (&clustered, Size2::Global(0.0)),
        (&tiny, Size2::Global(0.0)),
        (&tiny, Size2::Global(1e-190)),
    ] {
        let want = sums(SimdLevel::SCALAR, points, sizes, RsqrtAccuracy::Full);
        for level in SimdLevel::available() {
            for (accuracy, allowed) in [(RsqrtAccuracy::Full, 1e-13), (RsqrtAccuracy::Newton, 3e-6)] {
                let got = sums(level, points, sizes, accuracy);
                for (k, (got, want)) in got.chunks(n).zip(want.chunks(n)).enumerate() {
                    // The terms of a gradient cancel, so errors are relative to the largest component.
                    let largest = want.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                    for (got, want) in got.iter().zip(want) {
                        let error = (got - want).abs() / largest;
                        assert!(error <= allowed, "{level} {accuracy:?} sum {k}: {got} {want}");
                    }
                }
            }
        }
    }
}

/// The difference between sums over pairs of 45 points in a cube and the kernel's plain formula.
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
                    for tolerance in [1e-12, 1e-6, 1e-2f64] {
                        // Half of the tolerance is for the roots; single precision has its own limit.
                        let (allowed, allowed_single) = (0.5 * tolerance, (0.5 * tolerance).max(1e-6));
                        let factors = derivatives + kernel.form().source_derivatives();
                        let what = format!("{simd} {kernel:?} {derivatives} {sizes:?} {tolerance:e}");
                        let pairs = |accuracy| Pairs {
                            kernel,
                            softened,
                            derivatives,
                            accuracy,
                        };
                        let double =
                            difference::<f64>(&pairs(accuracy_for::<f64>(simd, tolerance, factors)), simd, sizes);
                        assert!(double < allowed, "{what}: {double:e}");
                        let single =
                            difference::<f32>(&pairs(accuracy_for::<f32>(simd, tolerance, factors)), simd, sizes);
                        assert!(single < allowed_single, "{what} f32: {single:e}");
                    }
                }
            }
        }
    }
}

/// The difference between `vectors` strength vectors summed in one pass and each summed alone. `same` says that the
/// sources are the targets.
fn at_once_as_alone<T: Real>(pairs: &Pairs, simd: SimdLevel, vectors: usize, same: bool) -> f64 {
    let n = 45;
    let mut random = Random::new(5);
    let mut column = |count: usize| -> Vec<T> { (0..count).map(|_| T::from_f64(random.uniform() - 0.5)).collect() };
    let position: [Vec<T>; 3] = std::array::from_fn(|_| column(n));
    let components = pairs.kernel.strength_components();
    let strengths = column(vectors * components * n);
    let length = pairs.sums() * n;
    let ranges = [(0, 20), (20, n as u32)];
    let block = |strengths| Block {
        positions: columns(&position),
        targets: 0..n,
        sources: Sources {
            position: columns(&position),
            strengths,
            stride: n,
            size2: Size2::Global(T::from_f64(0.01)),
        },
        own: (&ranges, pairs.own_skip(same)),
        others: &[],
    };
    let mut together = vec![T::ZERO; vectors * length];
    block(&strengths).add_vectors(pairs, simd, vectors, &mut together);
    let mut alone = vec![T::ZERO; vectors * length];
    for (vector, sums) in alone.chunks_mut(length).enumerate() {
        pairs.add(simd, &block(&strengths[vector * components * n..]), sums);
    }
    let size = alone.iter().fold(0.0, |a: f64, b| a.max(b.to_f64().abs()));
    let differences = alone
        .iter()
        .zip(&together)
        .map(|(a, b)| (a.to_f64() - b.to_f64()).abs());
    differences.fold(0.0, f64::max) / size
}

#[test]
fn several_vectors_at_once_give_the_sums_of_each_alone() {
    for simd in SimdLevel::available() {
        for kernel in Kernel::all() {
            for (derivatives, softened) in [(0, false), (1, false), (1, true), (2, false)] {
                let outputs = kernel.outputs().iter().map(|output| output.derivatives());
                let (least, most) = (outputs.clone().min().unwrap(), outputs.max().unwrap());
                if !(least..=most).contains(&derivatives) || (softened && !kernel.has_sizes()) {
                    continue;
                }
                for accuracy in [RsqrtAccuracy::Newton, RsqrtAccuracy::Full] {
                    let pairs = Pairs {
                        kernel,
                        softened,
                        derivatives,
                        accuracy,
                    };
                    // An estimate with one Newton step has an error of at most 1e-4.
                    let rounding = if accuracy == RsqrtAccuracy::Newton { 1e-4 } else { 0.0 };
                    for vectors in [1, 2, 3, 4, 5, 7, 8, 11] {
                        for same in [true, false] {
                            let double = at_once_as_alone::<f64>(&pairs, simd, vectors, same);
                            assert!(
                                double <= 1e-14f64.max(rounding),
                                "{simd} {pairs:?} {vectors}: {double:e}"
                            );
                            let single = at_once_as_alone::<f32>(&pairs, simd, vectors, same);
                            assert!(
                                single <= 1e-5f64.max(rounding),
                                "{simd} {pairs:?} {vectors}: {single:e}"
                            );
                        }
                    }
                }
            }
        }
    }
}
