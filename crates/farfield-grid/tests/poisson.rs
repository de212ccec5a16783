//! The Poisson solver against direct sums and exact solutions.

use crate::jump::{erf_over, grid, one_finer_octant};
use farfield::simd::{Real, SimdLevel};
use farfield_grid::flows::CompactRing;
use farfield_grid::poisson::{
    Accuracy, BRICK_SIDE, Brick, BrickLists, Kernel, LATTICE_SELF_TERM, Method, Poisson, Smoothing,
};
use farfield_grid::{BLOCK_POINTS, Domain, Error, Forest, Grid, Sampling, Wavelet};
use proptest::prelude::*;
use std::f64::consts::PI;

/// The potential at every `step`-th point, summed pair by pair in double precision.
fn plain_sum<T: Real>(grid: &Grid<T>, kernel: Kernel, component: usize, step: usize) -> Vec<(usize, f64)> {
    let omega = grid.channel("omega").unwrap();
    let finest = grid.finest_spacing();
    let point = |k: usize| [k % 16, k / 16 % 16, k / 256];
    let mut sources = Vec::new();
    for leaf in 0..grid.forest().leaves().len() {
        let h = grid.domain().spacing(grid.forest().leaves()[leaf].level);
        for (k, value) in omega.block(leaf, component).iter().enumerate() {
            if value.to_f64() != 0.0 {
                sources.push((grid.position(leaf, point(k)), h, value.to_f64()));
            }
        }
    }
    let all = 0..grid.forest().leaves().len() * BLOCK_POINTS;
    all.step_by(step)
        .map(|k| {
            let (leaf, k) = (k / BLOCK_POINTS, k % BLOCK_POINTS);
            let x = grid.position(leaf, point(k));
            let mut psi = 0.0;
            for (y, h, value) in &sources {
                let r2: f64 = (0..3).map(|axis| (x[axis] - y[axis]).powi(2)).sum();
                let epsilon = match kernel {
                    Kernel::Regularised(Smoothing::FinestSpacing) => finest,
                    _ => *h,
                };
                let own = if kernel == Kernel::Singular && r2 == 0.0 {
                    LATTICE_SELF_TERM / h
                } else {
                    0.0
                };
                psi += value * h.powi(3) / (4.0 * PI) * (kernel.at(r2, epsilon * epsilon) + own);
            }
            let components = omega.components();
            ((leaf * components + component) * BLOCK_POINTS + k, psi)
        })
        .collect()
}

/// The relative L2 difference between channel `psi` and the direct sum.
fn error<T: Real>(grid: &Grid<T>, kernel: Kernel) -> f64 {
    let psi = grid.channel("psi").unwrap();
    let (mut difference, mut size) = (0.0, 0.0);
    for component in 0..psi.components() {
        for (at, want) in plain_sum(grid, kernel, component, 37) {
            difference += (psi.values()[at].to_f64() - want).powi(2);
            size += want * want;
        }
    }
    (difference / size).sqrt()
}

const KERNELS: [Kernel; 3] = [
    Kernel::Singular,
    Kernel::Regularised(Smoothing::OwnSpacing),
    Kernel::Regularised(Smoothing::FinestSpacing),
];

#[test]
fn theta_zero_is_the_direct_sum_for_every_kernel_wavelet_and_instruction_set() {
    let exact = Accuracy::Fixed { theta: 0.0, order: 4 };
    for kernel in KERNELS {
        for simd in SimdLevel::available() {
            for (wavelet, components) in [(Wavelet::AverageInterpolating5, 1), (Wavelet::Interpolating4, 3)] {
                let mut grid = grid::<f64>(wavelet, components);
                let solver = Poisson::new(exact).kernel(kernel).simd(simd).leaf_capacity(100);
                let solver = solver.interface_correction(false);
                let report = solver.solve(&mut grid, "omega", "psi").unwrap();
                assert_eq!(report.interactions.direct, (report.sources * report.targets) as u64);
                assert_eq!(report.interactions.indirect, 0);
                let error = error(&grid, kernel);
                assert!(error < 1e-14, "{kernel} {simd} {wavelet:?}: {error:e}");
            }
        }
    }
    let mut single = grid::<f32>(Wavelet::AverageInterpolating5, 2);
    let solver = Poisson::new(exact).interface_correction(false);
    solver.solve(&mut single, "omega", "psi").unwrap();
    assert!(error(&single, Kernel::Singular) < 2e-6);
}

#[test]
fn the_treecode_converges_with_its_order() {
    for (kernel, components, simd) in [
        (Kernel::Singular, 1, SimdLevel::best()),
        (Kernel::Singular, 3, SimdLevel::SCALAR),
        (Kernel::Regularised(Smoothing::OwnSpacing), 2, SimdLevel::best()),
    ] {
        let mut last = f64::INFINITY;
        for order in Poisson::ORDERS {
            let mut grid = grid::<f64>(Wavelet::AverageInterpolating5, components);
            let solver = Poisson::new(Accuracy::Fixed { theta: 0.6, order });
            let report = solver
                .kernel(kernel)
                .interface_correction(false)
                .simd(simd)
                .leaf_capacity(40)
                .solve(&mut grid, "omega", "psi")
                .unwrap();
            assert!(report.interactions.indirect > 0);
            let error = error(&grid, kernel);
            // The far field of the regularised kernel differs from that of the singular one by 3/8 (e/r)^4, and boxes
            // are small.
            let floor = if kernel == Kernel::Singular { 0.0 } else { 1e-3 };
            assert!(
                error < (0.7 * last).max(floor),
                "{kernel} order {order}: {error:e} after {last:e}"
            );
            assert!(
                error < 0.6f64.powi(order as i32).max(floor),
                "{kernel} order {order}: {error:e}"
            );
            last = error;
        }
    }
}

#[test]
fn sources_alone_in_their_leaves_do_not_count_as_far_from_themselves() {
    for order in [4, 12] {
        let mut grid = grid::<f64>(Wavelet::AverageInterpolating5, 1);
        let solver = Poisson::new(Accuracy::Fixed { theta: 0.4, order }).leaf_capacity(1);
        let solver = solver.interface_correction(false);
        solver.solve(&mut grid, "omega", "psi").unwrap();
        let error = error(&grid, Kernel::Singular);
        assert!(error < 0.4f64.powi(order as i32), "order {order}: {error:e}");
    }
}

#[test]
fn either_method_meets_the_tolerance() {
    for tolerance in [1e-2, 1e-4, 1e-6] {
        for (method, kernel) in [
            (Method::Fmm, Kernel::Singular),
            (Method::Treecode, Kernel::Singular),
            (Method::Treecode, Kernel::Regularised(Smoothing::OwnSpacing)),
            (Method::Fmm, Kernel::Regularised(Smoothing::OwnSpacing)),
            (Method::Fmm, Kernel::Regularised(Smoothing::FinestSpacing)),
        ] {
            let mut grid = grid::<f64>(Wavelet::AverageInterpolating5, 3);
            let solver = Poisson::new(Accuracy::Tolerance(tolerance))
                .kernel(kernel)
                .method(method);
            let report = solver
                .interface_correction(false)
                .solve(&mut grid, "omega", "psi")
                .unwrap();
            assert_eq!(report.method, method);
            let error = error(&grid, kernel);
            assert!(error < tolerance, "{method} {kernel} {tolerance:e}: {error:e}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Checks eq. 6 for the nodes that act on a brick through their expansions, at the corners of every third brick.
    #[test]
    fn the_error_bound_holds_for_nodes_and_bricks(theta in 0.3..0.9f64, pick in 0..5usize, capacity in 1..200usize) {
        let order = Poisson::ORDERS[pick];
        let grid = grid::<f64>(Wavelet::AverageInterpolating5, 1);
        let solver = Poisson::new(Accuracy::Fixed { theta, order }).leaf_capacity(capacity);
        let parts = solver.parts(&grid, "omega").unwrap();
        let (sources, tree, expansions, lists): (_, _, _, &BrickLists) =
            (&parts.sources, &parts.tree, &parts.expansions, &parts.lists);
        let mut met = 0;
        for (number, brick) in parts.bricks.iter().enumerate().step_by(3) {
            for &node in lists.indirect(number) {
                met += 1;
                let node = node as usize;
                let at = &tree.nodes()[node];
                let r: f64 = Brick::distance(brick, at.center);
                let size: f64 = at.sources.clone().map(|j| sources.weight(j, 0).abs()).sum();
                let bound = size / (r - at.radius) * (at.radius / r).powi(order as i32 + 1);
                for corner in 0..8 {
                    let x = brick.point([0, 1, 2].map(|axis| (corner >> axis & 1) * (BRICK_SIDE - 1)));
                    let exact: f64 = at
                        .sources
                        .clone()
                        .map(|j| {
                            let y = sources.position(j);
                            let r2: f64 = (0..3).map(|axis| (x[axis] - y[axis]).powi(2)).sum();
                            sources.weight(j, 0) / r2.sqrt()
                        })
                        .sum();
                    let error = (expansions.evaluate(tree, node, 0, x) - exact).abs();
                    prop_assert!(error <= bound + 1e-14 * size / r, "{:e} > {:e}", error, bound);
                }
            }
        }
        prop_assert!(met > 0 || theta < 0.35);
    }
}

/// The relative L2 error of one ring's stream function on a uniform grid.
fn ring_error(level: u8, kernel: Kernel) -> f64 {
    let [ring, _] = CompactRing::two_rings();
    // The ring alone, in a box just large enough.
    let domain = Domain::new([0.0, 0.0, 0.125], [2, 2, 1], 0.25).unwrap();
    let mut grid = Grid::<f64>::builder(domain)
        .scalar("omega")
        .scalar("psi")
        .start_level(level)
        .build()
        .unwrap();
    grid.fill_scalar("omega", Sampling::Point, |x| ring.vorticity(x)[1])
        .unwrap();
    let solver = Poisson::new(Accuracy::Tolerance(1e-6)).kernel(kernel);
    solver.solve(&mut grid, "omega", "psi").unwrap();
    let difference = grid
        .integrate("psi", 0, |x, psi| (psi - ring.stream_function(x)[1]).powi(2))
        .unwrap();
    let size = grid
        .integrate("psi", 0, |x, _| ring.stream_function(x)[1].powi(2))
        .unwrap();
    (difference / size).sqrt()
}

#[test]
fn the_singular_kernel_with_its_self_term_converges_at_fourth_order() {
    // 64 and 128 points across the unit cube; the errors of the reference are 7.8e-3 and 4.7e-4.
    let errors = [0, 1].map(|level| ring_error(level, Kernel::Singular));
    assert!(errors[0] < 1.1 * 7.8e-3 && errors[1] < 1.1 * 4.7e-4, "{errors:?}");
    assert!((errors[0] / errors[1]).log2() > 3.8, "{errors:?}");
}

/// The relative L2 error for a Gaussian of width one in (-8, 8)^3, centred where eight octants meet; with `jump`, one
/// of them is finer.
fn blob_error(level: u8, jump: bool, corrected: bool) -> f64 {
    let domain = Domain::new([-8.0; 3], [1; 3], 16.0).unwrap();
    let forest = if jump {
        one_finer_octant(level)
    } else {
        Forest::uniform([1; 3], level)
    };
    let mut grid = Grid::<f64>::builder(domain)
        .forest(forest)
        .scalar("omega")
        .scalar("psi")
        .build()
        .unwrap();
    let r2 = |x: [f64; 3]| x.iter().map(|c| c * c).sum::<f64>();
    grid.fill_scalar("omega", Sampling::Point, |x| (-r2(x)).exp()).unwrap();
    let solver = Poisson::new(Accuracy::Tolerance(1e-8)).interface_correction(corrected);
    solver.solve(&mut grid, "omega", "psi").unwrap();
    // psi = sqrt(pi)/4 erf(r)/r
    let exact = |x: [f64; 3]| PI.sqrt() / 4.0 * erf_over(r2(x).sqrt());
    let difference = grid.integrate("psi", 0, |x, psi| (psi - exact(x)).powi(2)).unwrap();
    (difference / grid.integrate("psi", 0, |x, _| exact(x).powi(2)).unwrap()).sqrt()
}

#[test]
fn the_interface_correction_reduces_the_error_of_a_blob_across_a_change_of_level() {
    let uniform = [1, 2].map(|level| blob_error(level, false, true));
    assert!((uniform[0] / uniform[1]).log2() > 3.7, "{uniform:?}");
    let plain = [1, 2].map(|level| blob_error(level, true, false));
    let corrected = [1, 2].map(|level| blob_error(level, true, true));
    assert!((corrected[0] / corrected[1]).log2() > 3.0, "{corrected:?}");
    assert!(corrected[1] < 0.6 * plain[1], "{plain:?} {corrected:?}");
}

#[test]
fn the_regularised_kernel_has_the_error_of_the_reference() {
    let error = ring_error(0, Kernel::Regularised(Smoothing::OwnSpacing));
    assert!((error / 1.56e-1 - 1.0).abs() < 0.05, "{error}");
}

#[test]
fn invalid_parameters_and_channels_are_rejected() {
    let mut grid = grid::<f64>(Wavelet::AverageInterpolating5, 1);
    let mut solve = |solver: Poisson, from: &str, to: &str| solver.solve(&mut grid, from, to).unwrap_err();
    let tolerance = Poisson::new(Accuracy::Tolerance(1e-4));
    for accuracy in [
        Accuracy::Tolerance(0.0),
        Accuracy::Tolerance(f64::NAN),
        Accuracy::Fixed { theta: 1.0, order: 6 },
        Accuracy::Fixed { theta: -0.1, order: 6 },
        Accuracy::Fixed { theta: 0.5, order: 5 },
    ] {
        let error = solve(Poisson::new(accuracy), "omega", "psi");
        assert!(matches!(error, Error::Parameter { .. }), "{accuracy:?}: {error}");
    }
    assert!(matches!(
        solve(tolerance.clone().threshold(-1.0), "omega", "psi"),
        Error::Parameter { .. }
    ));
    assert!(matches!(
        solve(tolerance.clone().leaf_capacity(0), "omega", "psi"),
        Error::Parameter { .. }
    ));
    assert!(matches!(
        solve(tolerance.clone(), "omega", "omega"),
        Error::InPlace { .. }
    ));
    assert!(matches!(
        solve(tolerance.clone(), "omega", "other"),
        Error::UnknownChannel { .. }
    ));
    let fixed = Poisson::new(Accuracy::Fixed { theta: 0.5, order: 6 });
    assert!(matches!(
        solve(fixed.method(Method::Fmm), "omega", "psi"),
        Error::Unsupported { .. }
    ));
    grid.values_mut("omega").unwrap()[BLOCK_POINTS + 7] = f64::INFINITY;
    match tolerance.solve(&mut grid, "omega", "psi") {
        Err(Error::NotFinite { block, point, .. }) => {
            assert_eq!((block, point), (grid.forest().leaves()[1], [7, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_solution_that_does_not_fit_into_memory_is_rejected_before_it_starts() {
    let builder = Grid::<f64>::builder(Domain::unit_cube()).start_level(1);
    let mut grid = builder
        .scalar("omega")
        .scalar("psi")
        .memory_cap((1 << 20) + (1 << 18))
        .build()
        .unwrap();
    grid.fill_scalar("omega", Sampling::Point, |_| 1.0).unwrap();
    for solver in [
        Poisson::new(Accuracy::Tolerance(1e-4)),
        Poisson::new(Accuracy::Fixed { theta: 0.5, order: 6 }),
    ] {
        let forecast = solver.memory_forecast::<f64>(grid.points(), grid.points(), 1);
        assert!(forecast > 1 << 20, "{forecast}");
        let error = solver.solve(&mut grid, "omega", "psi").unwrap_err();
        assert!(matches!(error, Error::SolutionMemory { .. }), "{error}");
    }
}

#[test]
fn the_method_expected_to_be_faster_is_used() {
    // Few points are best summed directly; for many points local expansions pay.
    let mut few = grid::<f64>(Wavelet::AverageInterpolating5, 1);
    let report = Poisson::new(Accuracy::Tolerance(1e-6))
        .solve(&mut few, "omega", "psi")
        .unwrap();
    assert_eq!(report.method, Method::Treecode);
    let mut many = Grid::<f64>::builder(Domain::unit_cube())
        .scalar("omega")
        .scalar("psi")
        .start_level(2)
        .build()
        .unwrap();
    many.fill_scalar("omega", Sampling::Point, |x| x[0] - x[1] * x[2])
        .unwrap();
    let report = Poisson::new(Accuracy::Tolerance(1e-6))
        .solve(&mut many, "omega", "psi")
        .unwrap();
    assert_eq!(report.method, Method::Fmm);
}

#[test]
fn the_potential_without_sources_is_zero() {
    for accuracy in [Accuracy::Tolerance(1e-4), Accuracy::Fixed { theta: 0.5, order: 6 }] {
        let mut grid = grid::<f64>(Wavelet::AverageInterpolating5, 1);
        grid.fill_scalar("omega", Sampling::Point, |_| 0.0).unwrap();
        grid.fill_scalar("psi", Sampling::Point, |_| 1.0).unwrap();
        let report = Poisson::new(accuracy).solve(&mut grid, "omega", "psi").unwrap();
        assert_eq!(report.sources, 0);
        assert!(grid.channel("psi").unwrap().values().iter().all(|psi| *psi == 0.0));
    }
}
