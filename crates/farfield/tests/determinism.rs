//! Results do not depend on the number of threads, and only slightly on the instruction set.

use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::SimdLevel;
use farfield::{Field, Method, Sum};

fn evaluate<T: Precision>(
    threads: usize,
    kernel: Kernel,
    set: PointSet,
    method: Method,
    simd: Option<SimdLevel>,
) -> Field<T> {
    let n = 12_000;
    let points = set.generate::<T>(n, 1);
    let targets = PointSet::Sphere.generate::<T>(3000, 2);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * kernel.strength_components(), 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sum = Sum::new(kernel, &points)
            .outputs(kernel.outputs())
            .method(method)
            .tolerance(1e-4);
        if method == Method::Fmm {
            sum = sum.targets(&targets);
        }
        if let Some(level) = simd {
            sum = sum.simd(level);
        }
        sum.plan().unwrap().evaluate(&strengths).unwrap()
    })
}

#[test]
fn thread_count_changes_no_bit() {
    for method in [Method::Direct, Method::Treecode, Method::Fmm, Method::Auto] {
        for (kernel, set) in [
            (Kernel::Coulomb, PointSet::Plummer),
            (Kernel::gravity(1.0), PointSet::Cube),
            (Kernel::BiotSavart { core: Core::Singular }, PointSet::Ring),
        ] {
            let one = evaluate::<f64>(1, kernel, set, method, None);
            for threads in [2, 7] {
                assert!(
                    one == evaluate::<f64>(threads, kernel, set, method, None),
                    "{kernel:?} {method} {threads}"
                );
            }
        }
    }
}

/// Sources and targets in regions that overlap slightly, so that many boxes have only one kind; arrays large enough to
/// be returned to the system.
#[test]
fn a_plan_that_spares_memory_gives_the_same_bits_every_time() {
    fn check<T: Precision>(kernel: Kernel, apart: bool) {
        let n = 60_000;
        let sources = PointSet::Cube.generate::<T>(n, 1);
        let targets = PointSet::Cube.generate::<T>(n, 2);
        let targets: Vec<[T; 3]> = targets
            .iter()
            .map(|[x, y, z]| [*x + T::from_f64(0.8), *y, *z])
            .collect();
        let strengths = |seed| ChargeDistribution::Signed.generate::<T>(n * kernel.strength_components(), seed);
        let (first, second) = (strengths(1), strengths(2));
        let mut sum = Sum::new(kernel, &sources).method(Method::Fmm).leaf_capacity(10);
        if apart {
            sum = sum.targets(&targets);
        }
        let mut usual = sum.clone().plan().unwrap();
        let mut sparing = sum.plan().unwrap();
        sparing.spare_memory();
        for strengths in [&first, &second, &first] {
            assert!(
                usual.evaluate(strengths).unwrap() == sparing.evaluate(strengths).unwrap(),
                "{kernel:?}, targets apart: {apart}"
            );
        }
    }
    for apart in [false, true] {
        check::<f64>(Kernel::Coulomb, apart);
        check::<f32>(Kernel::BiotSavart { core: Core::Singular }, apart);
    }
}

#[test]
fn every_simd_level_agrees_to_the_tolerance() {
    fn check<T: Precision>(kernel: Kernel, method: Method) {
        let reference = evaluate::<T>(2, kernel, PointSet::Cube, method, Some(SimdLevel::SCALAR));
        for level in SimdLevel::available() {
            let field = evaluate::<T>(2, kernel, PointSet::Cube, method, Some(level));
            for output in kernel.outputs() {
                let (a, b) = (reference.get(*output).unwrap(), field.get(*output).unwrap());
                let (mut difference, mut size) = (0.0, 0.0);
                for (a, b) in a.iter().zip(b) {
                    difference += (a.to_f64() - b.to_f64()).powi(2);
                    size += a.to_f64().powi(2);
                }
                let error = f64::sqrt(difference / size);
                assert!(error < 2e-4, "{kernel:?} {method} {level} {output}: {error:e}");
            }
        }
    }
    for method in [Method::Direct, Method::Treecode, Method::Fmm] {
        for kernel in [Kernel::Coulomb, Kernel::BiotSavart { core: Core::Singular }] {
            check::<f32>(kernel, method);
            check::<f64>(kernel, method);
        }
    }
}

#[test]
fn a_second_evaluation_repeats_the_first_bit_by_bit() {
    let points = PointSet::Plummer.generate::<f64>(8000, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(8000, 1);
    let others = ChargeDistribution::Positive.generate::<f64>(8000, 2);
    for method in [Method::Direct, Method::Treecode, Method::Fmm] {
        let mut plan = Sum::new(Kernel::Coulomb, &points)
            .method(method)
            .outputs(&[Output::Gradient])
            .plan()
            .unwrap();
        let first = plan.evaluate(&charges).unwrap();
        plan.evaluate(&others).unwrap();
        assert!(first == plan.evaluate(&charges).unwrap());
    }
}

#[test]
fn several_strength_vectors_equal_one_at_a_time() {
    let (n, vectors) = (5000, 3);
    let points = PointSet::Cube.generate::<f64>(n, 1);
    for (kernel, method) in [
        (Kernel::Coulomb, Method::Fmm),
        (Kernel::Coulomb, Method::Direct),
        (Kernel::BiotSavart { core: Core::Gaussian }, Method::Fmm),
        (Kernel::gravity(2.0), Method::Treecode),
    ] {
        let length = n * kernel.strength_components();
        let strengths = ChargeDistribution::Signed.generate::<f64>(length * vectors, 1);
        let sizes = if kernel.has_sizes() {
            Sizes::Global(1e-3)
        } else {
            Sizes::None
        };
        let sum = Sum::new(kernel, &points).method(method).sizes(sizes).leaf_capacity(60);
        let together = sum
            .clone()
            .vectors(vectors)
            .plan()
            .unwrap()
            .evaluate(&strengths)
            .unwrap();
        let mut plan = sum.plan().unwrap();
        let output = kernel.outputs()[0];
        for vector in 0..vectors {
            let alone = plan
                .evaluate(&strengths[vector * length..(vector + 1) * length])
                .unwrap();
            let (a, b) = (together.of_vector(output, vector).unwrap(), alone.get(output).unwrap());
            let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            let size: f64 = b.iter().map(|b| b * b).sum();
            assert!(
                difference.sqrt() <= 2e-6 * size.sqrt(),
                "{kernel:?} {method}: {}",
                (difference / size).sqrt()
            );
        }
    }
}
