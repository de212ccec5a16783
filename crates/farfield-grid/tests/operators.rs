//! Finite differences on blocks of several levels.

use crate::polynomials::{domain, mixed_forest};
use farfield_grid::operators::{Curl, Divergence, Gradient, Laplacian, Stencil};
use farfield_grid::{BLOCK_POINTS, Domain, Error, Grid, Sampling, Wavelet};

fn grid(wavelet: Wavelet) -> Grid<f64> {
    let builder = Grid::builder(domain()).wavelet(wavelet).forest(mixed_forest());
    builder.scalar("s").vector("v").vector("w").scalar("t").build().unwrap()
}

/// The largest difference between a component and a function of position.
fn error(grid: &Grid<f64>, channel: &str, component: usize, want: impl Fn([f64; 3]) -> f64) -> f64 {
    let channel = grid.channel(channel).unwrap();
    let mut error = 0.0f64;
    for leaf in 0..grid.forest().leaves().len() {
        for (k, value) in channel.block(leaf, component).iter().enumerate() {
            let x = grid.position(leaf, [k % 16, k / 16 % 16, k / 256]);
            error = error.max((value - want(x)).abs());
        }
    }
    error
}

#[test]
fn differences_of_quadratics_are_exact_across_levels() {
    // Averages of quadratics are quadratics with another constant term, so the derivatives are the same.
    for wavelet in Wavelet::ALL {
        for stencil in [Stencil::Second, Stencil::Fourth] {
            let mut grid = grid(wavelet);
            let f = |x: [f64; 3]| x[0] * x[0] - 2.0 * x[0] * x[1] + 3.0 * x[2] * x[2] + x[1];
            grid.fill_scalar("s", Sampling::Exact, f).unwrap();
            grid.apply(&Gradient(stencil), "s", "v").unwrap();
            assert!(error(&grid, "v", 0, |x| 2.0 * x[0] - 2.0 * x[1]) < 1e-9);
            assert!(error(&grid, "v", 1, |x| 1.0 - 2.0 * x[0]) < 1e-9);
            assert!(error(&grid, "v", 2, |x| 6.0 * x[2]) < 1e-9);
            grid.apply(&Laplacian(stencil), "s", "t").unwrap();
            assert!(error(&grid, "t", 0, |_| 8.0) < 1e-7);
            grid.apply(&Divergence(stencil), "v", "t").unwrap();
            assert!(error(&grid, "t", 0, |_| 8.0) < 1e-7);
            grid.apply(&Curl(stencil), "v", "w").unwrap();
            for component in 0..3 {
                assert!(error(&grid, "w", component, |_| 0.0) < 1e-7);
            }
            grid.fill_vector("v", Sampling::Exact, |x| [x[1] * x[2], x[0] * x[0], -x[0] * x[1]])
                .unwrap();
            grid.apply(&Curl(stencil), "v", "w").unwrap();
            assert!(error(&grid, "w", 0, |x| -x[0]) < 1e-9);
            assert!(error(&grid, "w", 1, |x| 2.0 * x[1]) < 1e-9);
            assert!(error(&grid, "w", 2, |x| 2.0 * x[0] - x[2]) < 1e-9);
        }
    }
}

#[test]
fn differences_converge_at_their_order() {
    for (stencil, want) in [(Stencil::Second, 2.0), (Stencil::Fourth, 4.0)] {
        let errors = [1u8, 2].map(|level| {
            let mut grid = Grid::<f64>::builder(Domain::unit_cube())
                // Extrapolates to fifth order, so that differences at the faces of the box are of fourth order too.
                .wavelet(Wavelet::AverageInterpolating5)
                .scalar("s")
                .vector("v")
                .start_level(level)
                .build()
                .unwrap();
            grid.fill_scalar("s", Sampling::Point, |x| (3.0 * x[0]).sin() * (2.0 * x[1]).cos())
                .unwrap();
            grid.apply(&Gradient(stencil), "s", "v").unwrap();
            error(&grid, "v", 0, |x| 3.0 * (3.0 * x[0]).cos() * (2.0 * x[1]).cos())
        });
        let measured = (errors[0] / errors[1]).log2();
        assert!((measured - want).abs() < 0.4, "{stencil:?}: {measured}");
    }
}

#[test]
fn wrong_channels_are_rejected() {
    let mut grid = grid(Wavelet::AverageInterpolating5);
    let curl = Curl(Stencil::Fourth);
    assert!(matches!(grid.apply(&curl, "v", "v"), Err(Error::InPlace { .. })));
    assert!(matches!(grid.apply(&curl, "s", "v"), Err(Error::Components { .. })));
    assert!(matches!(grid.apply(&curl, "v", "x"), Err(Error::UnknownChannel { .. })));
    assert!(matches!(grid.ghosted("s", 0, 9), Err(Error::GhostWidth { .. })));
    assert_eq!(
        grid.channel("v").unwrap().values().len(),
        3 * BLOCK_POINTS * grid.forest().leaves().len()
    );
}
