//! Ghosts across levels and beyond the box.

use crate::polynomials::{Polynomial, domain, mixed_forest};
use farfield_grid::{Boundary, Domain, Forest, Grid, MAX_GHOSTS, Sampling, Wavelet};
use proptest::prelude::*;

/// The largest errors of all ghosts of all blocks, inside the box and beyond it, relative to the largest value.
fn ghost_errors(wavelet: Wavelet, forest: Forest, width: usize) -> [f64; 2] {
    let polynomial = Polynomial {
        degree: wavelet.order() as i32 - 1,
    };
    let mut grid = Grid::builder(domain())
        .wavelet(wavelet)
        .forest(forest)
        .scalar("f")
        .build()
        .unwrap();
    polynomial.fill(&mut grid, "f");
    let scale = grid.largest("f").unwrap();
    let (mut errors, w) = ([0.0f64; 2], width as isize);
    for leaf in 0..grid.forest().leaves().len() {
        let ghosted = grid.ghosted("f", leaf, width).unwrap();
        for z in -w..16 + w {
            for y in -w..16 + w {
                for x in -w..16 + w {
                    let position = grid.domain().position(wavelet, ghosted.block(), [x, y, z]);
                    let want = polynomial.number(wavelet, position, ghosted.spacing());
                    let (low, size) = (grid.domain().origin(), grid.domain().size());
                    let beyond = (0..3).any(|a| position[a] < low[a] || position[a] >= low[a] + size[a]);
                    let error = &mut errors[usize::from(beyond)];
                    *error = error.max((ghosted.values(0)[ghosted.index([x, y, z])] - want).abs());
                }
            }
        }
    }
    errors.map(|error| error / scale)
}

#[test]
fn ghosts_across_faces_edges_corners_and_the_box_are_exact_for_polynomials() {
    for wavelet in Wavelet::ALL {
        for width in [1, 2, 4, MAX_GHOSTS] {
            let [inside, beyond] = ghost_errors(wavelet, mixed_forest(), width);
            assert!(inside < 1e-11, "{wavelet:?}, width {width}: {inside:e}");
            // Extrapolation by w points along all three axes multiplies round-off by up to 1e7 (w = 4) or 1e10 (8).
            let limit = if width > 4 { 1e-5 } else { 1e-7 };
            assert!(beyond < limit, "{wavelet:?}, width {width}, beyond the box: {beyond:e}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn ghosts_are_exact_on_random_forests(
        steps in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 1..3), 1..3),
    ) {
        let mut forest = Forest::uniform([2, 1, 1], 1);
        for picks in steps {
            let count = forest.leaves().len();
            forest = forest.refined(picks.iter().map(|pick| pick.index(count)));
        }
        for wavelet in Wavelet::ALL {
            let [inside, beyond] = ghost_errors(wavelet, forest.clone(), 4);
            prop_assert!(inside < 1e-11 && beyond < 1e-7, "{:?}: {:e} {:e}", wavelet, inside, beyond);
        }
    }
}

#[test]
fn periodic_ghosts_come_from_the_other_side_of_the_box() {
    use std::f64::consts::TAU;
    let wave = |x: [f64; 3]| (TAU * x[0]).sin() + (TAU * x[1]).cos() * (TAU * x[2]).sin();
    let mut grid = Grid::<f64>::builder(Domain::unit_cube())
        .wavelet(Wavelet::Interpolating4)
        .boundary(Boundary::Periodic)
        .scalar("f")
        .start_level(1)
        .build()
        .unwrap();
    grid.fill_scalar("f", Sampling::Point, wave).unwrap();
    for leaf in 0..8 {
        let ghosted = grid.ghosted("f", leaf, 4).unwrap();
        for point in [[-4, 3, 19], [19, -1, -2], [-1, -1, -1], [16, 16, 16]] {
            let x = grid.domain().position(grid.wavelet(), ghosted.block(), point);
            let got = ghosted.values(0)[ghosted.index(point)];
            assert!((got - wave(x)).abs() < 1e-13, "{point:?}: {got} {}", wave(x));
        }
    }
}

#[test]
fn ghosts_beyond_a_zero_boundary_are_zero() {
    let mut grid = Grid::<f64>::builder(Domain::unit_cube())
        .boundary(Boundary::Zero)
        .scalar("f")
        .build()
        .unwrap();
    grid.fill_scalar("f", Sampling::Point, |_| 1.0).unwrap();
    let ghosted = grid.ghosted("f", 0, 2).unwrap();
    assert_eq!(ghosted.values(0)[ghosted.index([-1, 5, 5])], 0.0);
    assert_eq!(ghosted.values(0)[ghosted.index([0, 5, 15])], 1.0);
    assert_eq!(ghosted.values(0).iter().sum::<f64>(), 4096.0);
}
