//! Remeshing: accuracy and conservation, on one level and across levels.

use crate::polynomials::{Polynomial, domain, mixed_forest};
use farfield::simd::Real;
use farfield_grid::{Boundary, Domain, Error, Forest, Grid, RemeshKernel, Sampling, Wavelet};
use proptest::prelude::*;

const SHIFT: [f64; 3] = [0.006, -0.011, 0.008];

/// The largest error of a polynomial moved by [`SHIFT`], relative to its largest value.
fn polynomial_error(kernel: RemeshKernel, forest: Forest) -> f64 {
    let wavelet = Wavelet::AverageInterpolating5;
    let degree = match kernel {
        RemeshKernel::M4Prime => 2,
        RemeshKernel::M6Prime => 4,
    };
    let polynomial = Polynomial { degree };
    let builder = Grid::<f64>::builder(domain()).wavelet(wavelet).forest(forest);
    let mut grid = builder.scalar("f").scalar("moved").vector("u").build().unwrap();
    polynomial.fill(&mut grid, "f");
    grid.fill_vector("u", Sampling::Point, |_| SHIFT.map(|s| s / 0.5))
        .unwrap();
    grid.remesh(kernel, "f", "u", 0.5, "moved").unwrap();
    let mut error = 0.0f64;
    for leaf in 0..grid.forest().leaves().len() {
        let h = grid.domain().spacing(grid.forest().leaves()[leaf].level);
        for (k, value) in grid.channel("moved").unwrap().block(leaf, 0).iter().enumerate() {
            let x = grid.position(leaf, [k % 16, k / 16 % 16, k / 256]);
            let from = std::array::from_fn(|axis| x[axis] - SHIFT[axis]);
            error = error.max((value - polynomial.number(wavelet, from, h)).abs());
        }
    }
    error / grid.largest("f").unwrap()
}

#[test]
fn polynomials_move_exactly_across_levels_and_the_faces_of_the_box() {
    for kernel in RemeshKernel::ALL {
        let error = polynomial_error(kernel, mixed_forest());
        assert!(error < 1e-7, "{kernel}: {error:e}");
    }
}

fn random_forest(steps: &[Vec<prop::sample::Index>]) -> Forest {
    let mut forest = Forest::uniform([2, 1, 1], 1);
    for picks in steps {
        let count = forest.leaves().len();
        forest = forest.refined(picks.iter().map(|pick| pick.index(count)));
    }
    forest
}

/// A bump well inside the box, in a flow that translates and rotates it.
fn swirl(forest: Forest, boundary: Boundary) -> Grid<f64> {
    let mut grid = Grid::<f64>::builder(domain())
        .forest(forest)
        .boundary(boundary)
        .vector("f")
        .vector("moved")
        .vector("u")
        .build()
        .unwrap();
    let middle = [0.5, 0.5, 0.75];
    grid.fill_vector("f", Sampling::Exact, |x| {
        let d: [f64; 3] = std::array::from_fn(|a| x[a] - middle[a]);
        let bump = (-160.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])).exp();
        [bump, -d[0] * bump, d[1] * bump]
    })
    .unwrap();
    grid.fill_vector("u", Sampling::Exact, |x| {
        [0.3 - x[1] + middle[1], 0.2 + x[0] - middle[0], 0.1 * x[2]]
    })
    .unwrap();
    grid
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn on_random_forests_polynomials_move_exactly_and_totals_can_be_restored(
        steps in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 1..3), 1..3),
    ) {
        for kernel in RemeshKernel::ALL {
            let error = polynomial_error(kernel, random_forest(&steps));
            prop_assert!(error < 1e-7, "{}: {:e}", kernel, error);
            let mut grid = swirl(random_forest(&steps), Boundary::Zero);
            let [before, _] = grid.integrals("f").unwrap();
            grid.remesh(kernel, "f", "u", 0.02, "moved").unwrap();
            let balance = grid.restore_integrals("moved", &before).unwrap();
            // Interpolation errors at changes of level: up to 1e-3 of the total if one cuts through the centre of the
            // bump.
            prop_assert!(balance.lost() < 5e-3, "{}: lost {:e}", kernel, balance.lost());
            let [after, absolute] = grid.integrals("moved").unwrap();
            let size: f64 = absolute.iter().sum();
            for c in 0..3 {
                prop_assert!((after[c] - before[c]).abs() < 1e-12 * size, "{}: {:?} {:?}", kernel, before, after);
            }
        }
    }
}

#[test]
fn on_one_level_the_total_is_conserved_to_round_off() {
    for kernel in RemeshKernel::ALL {
        let mut grid = swirl(Forest::uniform([2, 1, 1], 1), Boundary::Zero);
        let [before, _] = grid.integrals("f").unwrap();
        grid.remesh(kernel, "f", "u", 0.02, "moved").unwrap();
        let [after, absolute] = grid.integrals("moved").unwrap();
        let size: f64 = absolute.iter().sum();
        for c in 0..3 {
            assert!(
                (after[c] - before[c]).abs() < 1e-14 * size,
                "{kernel}: {before:?} {after:?}"
            );
        }
    }
}

/// The largest difference from remeshing particle by particle in double precision, over the largest value.
fn difference_to_one_by_one<T: Real>(kernel: RemeshKernel, components: usize, most_cells: f64) -> f64 {
    let domain = Domain::new([0.0; 3], [1, 1, 1], 1.0).unwrap();
    let builder = Grid::<T>::builder(domain).forest(Forest::uniform([1, 1, 1], 1));
    let builder = builder.boundary(Boundary::Zero).vector("u");
    let mut grid = match components {
        1 => builder.scalar("f").scalar("moved"),
        _ => builder.vector("f").vector("moved"),
    }
    .build()
    .unwrap();
    // Random values, some of them zero: neighbours move in all directions, by different numbers of cells.
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    for value in grid.values_mut("f").unwrap() {
        let number = random();
        *value = T::from_f64(if number > 0.6 { 0.0 } else { number });
    }
    let h = domain.spacing(1);
    for value in grid.values_mut("u").unwrap() {
        *value = T::from_f64(most_cells * h * random());
    }
    grid.remesh(kernel, "f", "u", 1.0, "moved").unwrap();
    let reach = kernel.reach() as i64;
    let mut expected = vec![0.0; 32 * 32 * 32 * components];
    let cell = |leaf: usize, point: usize| {
        let place = grid.position(leaf, [point % 16, point / 16 % 16, point / 256]);
        place.map(|x| (x / h).floor() as i64)
    };
    for leaf in 0..8 {
        for point in 0..4096 {
            let from = cell(leaf, point);
            let u: [f64; 3] = std::array::from_fn(|c| grid.channel("u").unwrap().block(leaf, c)[point].to_f64() / h);
            let to: [f64; 3] = std::array::from_fn(|axis| from[axis] as f64 + u[axis]);
            let first = to.map(|x| x.floor() as i64 - reach + 1);
            for k in 0..(2 * reach).pow(3) {
                let offset = [
                    k % (2 * reach),
                    k / (2 * reach) % (2 * reach),
                    k / (2 * reach) / (2 * reach),
                ];
                let at: [i64; 3] = std::array::from_fn(|axis| first[axis] + offset[axis]);
                if at.iter().all(|c| (0..32).contains(c)) {
                    let weight: f64 = (0..3).map(|axis| kernel.at(to[axis] - at[axis] as f64)).product();
                    let place = ((at[2] * 32 + at[1]) * 32 + at[0]) as usize;
                    for c in 0..components {
                        let strength = grid.channel("f").unwrap().block(leaf, c)[point].to_f64();
                        expected[place * components + c] += weight * strength;
                    }
                }
            }
        }
    }
    let (mut error, mut largest) = (0.0f64, 0.0f64);
    for leaf in 0..8 {
        for point in 0..4096 {
            let [x, y, z] = cell(leaf, point);
            for c in 0..components {
                let expected = expected[((z * 32 + y) * 32 + x) as usize * components + c];
                let found = grid.channel("moved").unwrap().block(leaf, c)[point].to_f64();
                error = error.max((found - expected).abs());
                largest = largest.max(expected.abs());
            }
        }
    }
    error / largest
}

#[test]
fn particles_that_move_in_all_directions_match_particle_by_particle_remeshing() {
    for kernel in RemeshKernel::ALL {
        let limit = (8 - kernel.reach()) as f64;
        for components in [1, 3] {
            for most_cells in [0.3, 1.7, limit] {
                let double = difference_to_one_by_one::<f64>(kernel, components, most_cells);
                assert!(double < 1e-14, "{kernel} {components} {most_cells}: {double:e}");
                let single = difference_to_one_by_one::<f32>(kernel, components, most_cells);
                assert!(single < 4e-6, "{kernel} {components} {most_cells}: {single:e}");
            }
        }
    }
}

#[test]
fn values_that_do_not_move_keep_their_bits() {
    for kernel in RemeshKernel::ALL {
        let mut grid = swirl(mixed_forest(), Boundary::Zero);
        grid.remesh(kernel, "f", "u", 0.0, "moved").unwrap();
        assert_eq!(
            grid.channel("f").unwrap().values(),
            grid.channel("moved").unwrap().values()
        );
    }
}

#[test]
fn a_moving_wave_converges_at_the_order_of_the_kernel() {
    use std::f64::consts::TAU;
    for (kernel, order) in [(RemeshKernel::M4Prime, 3.0), (RemeshKernel::M6Prime, 5.0)] {
        let errors = [1u8, 2].map(|level| {
            let mut grid = Grid::<f64>::builder(Domain::unit_cube())
                .boundary(Boundary::Periodic)
                .start_level(level)
                .scalar("f")
                .scalar("moved")
                .vector("u")
                .build()
                .unwrap();
            let wave = |x: [f64; 3]| (TAU * x[0]).sin() * (TAU * x[1]).cos() + (TAU * x[2]).sin();
            grid.fill_scalar("f", Sampling::Point, wave).unwrap();
            grid.fill_vector("u", Sampling::Point, |_| [1.0; 3]).unwrap();
            // The same fraction of a spacing on both levels.
            let shift = 0.4 * grid.domain().spacing(level);
            grid.remesh(kernel, "f", "u", shift, "moved").unwrap();
            let mut error = 0.0f64;
            for leaf in 0..grid.forest().leaves().len() {
                for (k, value) in grid.channel("moved").unwrap().block(leaf, 0).iter().enumerate() {
                    let x = grid.position(leaf, [k % 16, k / 16 % 16, k / 256]);
                    error = error.max((value - wave(x.map(|c| c - shift))).abs());
                }
            }
            error
        });
        let measured = (errors[0] / errors[1]).log2();
        assert!((measured - order).abs() < 0.3, "{kernel}: {measured} {errors:?}");
    }
}

#[test]
fn steps_that_are_too_long_and_nan_velocities_are_rejected() {
    let mut grid = swirl(mixed_forest(), Boundary::Zero);
    let moved = grid.remesh(RemeshKernel::M6Prime, "f", "u", 10.0, "moved");
    assert!(matches!(moved, Err(Error::Displacement { .. })), "{moved:?}");
    grid.values_mut("u").unwrap()[77] = f64::NAN;
    let moved = grid.remesh(RemeshKernel::M4Prime, "f", "u", 0.01, "moved");
    assert!(matches!(moved, Err(Error::Displacement { .. })), "{moved:?}");
    assert!(grid.remesh(RemeshKernel::M4Prime, "f", "u", 0.01, "f").is_err());
}
