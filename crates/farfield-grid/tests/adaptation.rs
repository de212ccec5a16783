//! Refinement and compression, and their effect on a field.

use crate::polynomials::{Polynomial, domain, mixed_forest};
use farfield::simd::Real;
use farfield_grid::{Adaptation, BlockId, Boundary, Domain, Error, Forest, Grid, Sampling, Wavelet};
use std::f64::consts::TAU;

fn blob(x: [f64; 3]) -> f64 {
    (-200.0 * ((x[0] - 0.45).powi(2) + (x[1] - 0.5).powi(2) + (x[2] - 0.6).powi(2))).exp()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn prediction_is_exact_for_polynomials_of_the_order() {
    for wavelet in Wavelet::ALL {
        let polynomial = Polynomial {
            degree: wavelet.order() as i32 - 1,
        };
        let mut grid = Grid::builder(domain())
            .wavelet(wavelet)
            .forest(mixed_forest())
            .scalar("f")
            .build()
            .unwrap();
        polynomial.fill(&mut grid, "f");
        let scale = grid.largest("f").unwrap();
        let all = 0..grid.forest().leaves().len();
        grid.move_to(grid.forest().refined(all)).unwrap();
        let predicted = grid.channel("f").unwrap().values().to_vec();
        polynomial.fill(&mut grid, "f");
        let error = largest_difference(&predicted, grid.channel("f").unwrap().values()) / scale;
        assert!(error < 1e-11, "{wavelet:?}: {error:e}");
        // The details vanish.
        assert!(
            grid.details(&["f"])
                .unwrap()
                .iter()
                .all(|detail| *detail < 1e-10 * scale)
        );
    }
}

#[test]
fn prediction_errors_and_details_decay_at_the_order() {
    let wave = |x: [f64; 3]| (TAU * x[0]).sin() * (TAU * x[1] + 0.5).cos() + (TAU * (x[2] + x[0])).cos();
    for wavelet in Wavelet::ALL {
        let errors: Vec<[f64; 2]> = [0u8, 1]
            .iter()
            .map(|&level| {
                let mut grid = Grid::<f64>::builder(Domain::unit_cube())
                    .wavelet(wavelet)
                    .boundary(Boundary::Periodic)
                    .scalar("f")
                    .start_level(level)
                    .build()
                    .unwrap();
                grid.fill_scalar("f", Sampling::Exact, wave).unwrap();
                grid.move_to(Forest::uniform([1; 3], level + 1)).unwrap();
                let predicted = grid.channel("f").unwrap().values().to_vec();
                grid.fill_scalar("f", Sampling::Exact, wave).unwrap();
                let details = grid.details(&["f"]).unwrap();
                let error = largest_difference(&predicted, grid.channel("f").unwrap().values());
                [error, details.into_iter().fold(0.0, f64::max)]
            })
            .collect();
        for k in 0..2 {
            let order = (errors[0][k] / errors[1][k]).log2();
            assert!(
                (order - wavelet.order() as f64).abs() < 0.25,
                "{wavelet:?}: order {order}"
            );
        }
    }
}

#[test]
fn refining_and_then_joining_restores_the_field() {
    for wavelet in Wavelet::ALL {
        // After the refinement all details vanish, also next to blocks that stayed coarse.
        let mut grid = Grid::builder(domain())
            .wavelet(wavelet)
            .start_level(2)
            .scalar("f")
            .build()
            .unwrap();
        grid.fill_scalar("f", Sampling::Point, blob).unwrap();
        let (before, forest) = (grid.channel("f").unwrap().values().to_vec(), grid.forest().clone());
        grid.move_to(forest.refined((0..forest.leaves().len()).step_by(3)))
            .unwrap();
        grid.move_to(forest).unwrap();
        let error = largest_difference(&before, grid.channel("f").unwrap().values());
        assert!(error < 1e-12, "{wavelet:?}: {error:e}");
    }
}

#[test]
fn compression_changes_the_field_by_a_few_thresholds_at_most() {
    for wavelet in Wavelet::ALL {
        let mut grid = Grid::<f64>::builder(Domain::unit_cube())
            .wavelet(wavelet)
            .scalar("f")
            .start_level(2)
            .build()
            .unwrap();
        grid.fill_scalar("f", Sampling::Exact, blob).unwrap();
        let before = grid.uniform("f", 0, 2).unwrap();
        let threshold = 1e-3;
        let mut blocks = grid.forest().leaves().len();
        let mut steps = 0;
        loop {
            grid.adapt(&["f"], &Adaptation::new(1e3, threshold, 2)).unwrap();
            assert!(grid.forest().is_balanced());
            if grid.forest().leaves().len() == blocks {
                break;
            }
            (blocks, steps) = (grid.forest().leaves().len(), steps + 1);
        }
        assert!(steps > 0 && blocks < 64, "{wavelet:?}: {blocks} blocks");
        let error = largest_difference(&before, &grid.uniform("f", 0, 2).unwrap());
        // Each joined level adds its details, spread by lifting and prediction.
        assert!(error < 3.0 * threshold * steps as f64, "{wavelet:?}: {error:e}");
    }
}

#[test]
fn joining_all_blocks_preserves_the_moments() {
    for wavelet in Wavelet::ALL {
        let mut grid = Grid::<f64>::builder(Domain::unit_cube())
            .wavelet(wavelet)
            .boundary(Boundary::Zero)
            .scalar("f")
            .start_level(2)
            .build()
            .unwrap();
        // Noise away from the faces of the box, so that details are large.
        let mut state = 1u64;
        let noise: Vec<f64> = (0..64 * 64 * 64)
            .map(|k| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let inside = [k % 64, k / 64 % 64, k / 4096].iter().all(|c| (14..50).contains(c));
                if inside {
                    (state >> 40) as f64 / (1 << 24) as f64 - 0.3
                } else {
                    0.0
                }
            })
            .collect();
        grid.set_uniform("f", &noise).unwrap();
        let top = wavelet.moments() as i32;
        let powers: Vec<[i32; 3]> = (0..top * top * top)
            .map(|k| [k % top, k / top % top, k / top / top])
            .collect();
        let moments = |grid: &Grid<f64>| -> Vec<f64> {
            powers
                .iter()
                .map(|power| grid.moment("f", 0, *power).unwrap())
                .collect()
        };
        let before = moments(&grid);
        grid.move_to(Forest::uniform([1; 3], 1)).unwrap();
        let change = largest_difference(&before, &moments(&grid));
        assert!(change < 1e-13, "{wavelet:?}: {change:e}");
        assert!(before[0].abs() > 1e-3);
    }
}

#[test]
fn a_function_is_resolved_to_the_thresholds() {
    for wavelet in Wavelet::ALL {
        let adaptation = Adaptation::new(1e-2, 1e-4, 3);
        let mut grid = Grid::<f64>::builder(Domain::unit_cube())
            .wavelet(wavelet)
            .scalar("f")
            .vector("other")
            .start_level(1)
            .build()
            .unwrap();
        let fill = |grid: &mut Grid<f64>| grid.fill_scalar("f", Sampling::Exact, blob);
        let report = grid.adapt_to(&["f"], &adaptation, fill).unwrap();
        assert!(report.unresolved == 0 && grid.forest().is_balanced());
        let blocks = grid.forest().leaves().len();
        assert!(blocks > 8 && blocks < 512, "{blocks}");
        assert!(
            grid.details(&["f"])
                .unwrap()
                .iter()
                .all(|detail| *detail <= adaptation.refine)
        );
        // Starting from the finest level, the same function needs at least as many blocks.
        let mut fine = Grid::<f64>::builder(Domain::unit_cube())
            .wavelet(wavelet)
            .scalar("f")
            .start_level(3)
            .build()
            .unwrap();
        fine.adapt_to(&["f"], &adaptation, fill).unwrap();
        assert!(fine.forest().leaves().len() >= blocks);
        assert_eq!(grid.channel("other").unwrap().values().len(), 3 * grid.points());
    }
}

#[test]
fn single_and_double_precision_give_the_same_grid_and_field() {
    /// The adapted blocks, and the field on all points of the finest level.
    fn adapted<T: Real>() -> (Vec<BlockId>, Vec<f64>) {
        let mut grid = Grid::<T>::builder(Domain::unit_cube())
            .scalar("f")
            .start_level(1)
            .build()
            .unwrap();
        let adaptation = Adaptation::new(1e-3, 1e-5, 3);
        let report = grid
            .adapt_to(&["f"], &adaptation, |grid| grid.fill_scalar("f", Sampling::Point, blob))
            .unwrap();
        assert_eq!(report.unresolved, 0);
        let field = grid.uniform("f", 0, 3).unwrap();
        (
            grid.forest().leaves().to_vec(),
            field.into_iter().map(Real::to_f64).collect(),
        )
    }
    let ((blocks, field), (blocks_f32, field_f32)) = (adapted::<f64>(), adapted::<f32>());
    assert!(blocks.len() > 8 && blocks.len() < 512, "{}", blocks.len());
    let levels: std::collections::BTreeSet<u8> = blocks.iter().map(|block| block.level).collect();
    assert!(levels.len() > 1, "{levels:?}");
    assert_eq!(blocks, blocks_f32);
    // The field is at most one; prediction from level to level adds a few round-off errors.
    let error = largest_difference(&field, &field_f32);
    assert!(error > 0.0 && error < 8.0 * f64::from(f32::EPSILON), "{error:e}");
}

#[test]
fn invalid_input_to_adaptation_is_rejected_with_its_position() {
    let new = || Grid::<f64>::builder(Domain::unit_cube()).scalar("f").start_level(1);
    let mut grid = new().build().unwrap();
    for (refine, compress) in [
        (1e-4, 1e-2),
        (0.0, 0.0),
        (f64::NAN, 1e-4),
        (1e-2, -1.0),
        (f64::INFINITY, 1.0),
    ] {
        let result = grid.adapt(&["f"], &Adaptation::new(refine, compress, 3));
        assert!(
            matches!(result, Err(Error::Thresholds { .. })),
            "{refine} {compress}: {result:?}"
        );
    }
    grid.fill_scalar("f", Sampling::Point, |_| 1e8).unwrap();
    let result = grid.adapt(&["f"], &Adaptation::new(1e-12, 1e-13, 3));
    assert!(
        matches!(result, Err(Error::ThresholdBelowRoundOff { .. })),
        "{result:?}"
    );

    let at = 5 * 4096 + (3 * 16 + 2) * 16 + 1;
    grid.values_mut("f").unwrap()[at] = f64::NAN;
    match grid.adapt(&["f"], &Adaptation::new(1e-2, 1e-4, 3)) {
        Err(Error::NotFinite { block, point, .. }) => {
            assert_eq!((block, point), (grid.forest().leaves()[5], [1, 2, 3]));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        grid.adapt(&["g"], &Adaptation::new(1e-2, 1e-4, 3)),
        Err(Error::UnknownChannel { .. })
    ));

    let mut small = new().memory_cap(2 * 8 * 4096 * 8 + 4096).build().unwrap();
    let fill = |grid: &mut Grid<f64>| grid.fill_scalar("f", Sampling::Point, blob);
    match small.adapt_to(&["f"], &Adaptation::new(1e-3, 1e-5, 3), fill) {
        Err(Error::Memory { blocks, .. }) => assert!(blocks > 8),
        other => panic!("{other:?}"),
    }
    assert_eq!(small.forest().leaves().len(), 8);
    assert!(matches!(new().memory_cap(1000).build(), Err(Error::Memory { .. })));
    assert!(matches!(new().scalar("f").build(), Err(Error::DuplicateChannel { .. })));
    assert!(matches!(new().start_level(17).build(), Err(Error::Level { .. })));
}
