//! Operators of a flow that read several channels, and adaptation by rules.

use farfield_grid::{BLOCK_SIDE, Boundary, Domain, Forest, Grid, Read, Rules, Sampling, Threshold, Wavelet};
use std::f64::consts::TAU;

/// All blocks of `level`; with `jump`, one octant of the box is one level finer.
fn forest(level: u8, jump: bool) -> Forest {
    let uniform = Forest::uniform([1; 3], level);
    if !jump {
        return uniform;
    }
    let inner = |block: &farfield_grid::BlockId| block.at.iter().all(|c| *c < 1 << (level - 1));
    let marked: Vec<usize> = (0..uniform.leaves().len())
        .filter(|leaf| inner(&uniform.leaves()[*leaf]))
        .collect();
    uniform.refined(marked)
}

fn grid(level: u8, jump: bool) -> Grid<f64> {
    let mut grid = Grid::<f64>::builder(Domain::unit_cube())
        .boundary(Boundary::Periodic)
        .wavelet(Wavelet::AverageInterpolating5)
        .forest(forest(level, jump))
        .vector("omega")
        .vector("u")
        .vector("out")
        .build()
        .unwrap();
    grid.fill_vector("omega", Sampling::Exact, omega).unwrap();
    grid.fill_vector("u", Sampling::Exact, velocity).unwrap();
    grid
}

/// A divergence-free field.
fn omega(x: [f64; 3]) -> [f64; 3] {
    [(TAU * x[1]).sin(), (TAU * x[2]).cos(), (TAU * x[0]).sin()]
}

fn velocity(x: [f64; 3]) -> [f64; 3] {
    [
        (TAU * x[1]).cos() * (TAU * x[2]).sin(),
        (TAU * x[0]).sin() * (TAU * x[2]).cos(),
        (TAU * (x[0] + x[1])).sin(),
    ]
}

/// $\partial_ju_i$.
fn gradient(x: [f64; 3]) -> [[f64; 3]; 3] {
    let (s, c) = (x.map(|v| (TAU * v).sin()), x.map(|v| (TAU * v).cos()));
    let both = TAU * (TAU * (x[0] + x[1])).cos();
    [
        [0.0, -TAU * s[1] * s[2], TAU * c[1] * c[2]],
        [TAU * c[0] * c[2], 0.0, -TAU * s[0] * s[2]],
        [both, both, 0.0],
    ]
}

fn largest_error(grid: &Grid<f64>, want: impl Fn([f64; 3]) -> [f64; 3]) -> f64 {
    let mut error = 0.0f64;
    for leaf in 0..grid.forest().leaves().len() {
        for k in 0..BLOCK_SIDE.pow(3) {
            let x = grid.position(leaf, [k % 16, k / 16 % 16, k / 256]);
            for (c, want) in want(x).into_iter().enumerate() {
                error = error.max((grid.channel("out").unwrap().block(leaf, c)[k] - want).abs());
            }
        }
    }
    error
}

const VISCOSITY: f64 = 0.3;

fn rates_error(level: u8, jump: bool) -> f64 {
    let mut grid = grid(level, jump);
    grid.vorticity_rates("omega", "u", VISCOSITY, "out").unwrap();
    largest_error(&grid, |x| {
        let (w, g) = (omega(x), gradient(x));
        std::array::from_fn(|i| (0..3).map(|j| w[j] * g[i][j]).sum::<f64>() - VISCOSITY * TAU * TAU * w[i])
    })
}

#[test]
fn stretching_and_diffusion_converge_on_one_level_and_across_levels() {
    // Grid values are averages over cells. They differ from the values at the centres by h^2/24 of the curvature, and
    // so do products of averages: compared with values at the centres, the error is second order with a small constant.
    for jump in [false, true] {
        let errors = [1, 2].map(|level| rates_error(level, jump));
        let order = (errors[0] / errors[1]).log2();
        assert!(order > 1.9, "jump {jump}: {order} {errors:?}");
        assert!(errors[1] < 0.02 * TAU * TAU, "{errors:?}");
    }
}

#[test]
fn differences_of_point_values_are_of_fourth_order() {
    let errors = [1, 2].map(|level| {
        let mut grid = grid(level, false);
        grid.fill_vector("omega", Sampling::Point, omega).unwrap();
        grid.fill_vector("u", Sampling::Point, velocity).unwrap();
        grid.vorticity_rates("omega", "u", VISCOSITY, "out").unwrap();
        largest_error(&grid, |x| {
            let (w, g) = (omega(x), gradient(x));
            std::array::from_fn(|i| (0..3).map(|j| w[j] * g[i][j]).sum::<f64>() - VISCOSITY * TAU * TAU * w[i])
        })
    });
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 4.0).abs() < 0.3, "{order} {errors:?}");
}

#[test]
fn stretching_and_diffusion_conserve_the_total_on_one_level() {
    let mut grid = grid(1, false);
    grid.vorticity_rates("omega", "u", VISCOSITY, "out").unwrap();
    let [total, absolute] = grid.integrals("out").unwrap();
    for c in 0..3 {
        assert!(total[c].abs() < 1e-13 * absolute[c], "{total:?} {absolute:?}");
    }
}

#[test]
fn convection_is_of_fourth_order_and_finds_the_largest_gradient() {
    let mut found = Vec::new();
    let errors = [1, 2].map(|level| {
        let mut grid = grid(level, false);
        grid.fill_vector("u", Sampling::Point, velocity).unwrap();
        found.push(grid.convection("u", "out").unwrap());
        largest_error(&grid, |x| {
            let (u, g) = (velocity(x), gradient(x));
            std::array::from_fn(|i| (0..3).map(|j| u[j] * g[i][j]).sum())
        })
    });
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 4.0).abs() < 0.3, "{order} {errors:?}");
    // The third row is the largest: 2 * 2 pi where the cosine is one.
    assert!((found[1].gradient - 2.0 * TAU).abs() < 0.01 * TAU, "{found:?}");
    assert!(
        (found[1].speed - 1.0).abs() < 0.01 && (found[1].crossing - 64.0).abs() < 1.0,
        "{found:?}"
    );
    // The cosine is one or minus one there.
    let sum = 2.0 * (found[1].place[0] + found[1].place[1]);
    assert!((sum - sum.round()).abs() < 0.03, "{found:?}");
}

#[test]
fn a_sweep_reads_several_channels_accumulates_and_returns_the_results_of_blocks() {
    let mut grid = grid(1, true);
    grid.fill_vector("out", Sampling::Point, |_| [1.0; 3]).unwrap();
    let sums = grid
        .sweep(&[Read::new("omega", 1), Read::new("u", 0)], "out", |inputs, out| {
            assert_eq!((inputs[0].width(), inputs[1].width()), (1, 0));
            for (k, value) in inputs[1].values(2).iter().enumerate() {
                out[k] += value;
            }
            inputs[1].values(2).iter().sum::<f64>()
        })
        .unwrap();
    assert_eq!(sums.len(), grid.forest().leaves().len());
    let (out, u) = (grid.channel("out").unwrap(), grid.channel("u").unwrap());
    assert_eq!(out.block(3, 0)[5], 1.0 + u.block(3, 2)[5]);
    assert_eq!(out.block(3, 1)[5], 1.0);
    let looked = grid.look(&[Read::new("u", 0)], |inputs| inputs[0].values(2).iter().sum::<f64>());
    assert_eq!(looked.unwrap(), sums);
    assert!(grid.sweep(&[Read::new("u", 1)], "u", |_, _| ()).is_err());
    assert!(grid.look(&[Read::new("u", 9)], |_| ()).is_err());
}

#[test]
fn rules_refine_at_bodies_and_compress_elsewhere() {
    let mut grid = grid(1, false);
    let thresholds = [Threshold {
        channel: "omega".to_owned(),
        refine: 1e3,
        compress: 1e2,
    }];
    let corner = |block: farfield_grid::BlockId| if block.at == [0; 3] { 3 } else { 0 };
    let rules = |most_blocks| Rules {
        thresholds: &thresholds,
        max_level: 4,
        at_least: &corner,
        most_blocks,
    };
    let report = grid.clone().adapt_by(&rules(10)).unwrap();
    assert!(report.capped);
    grid.adapt_by(&rules(1000)).unwrap();
    assert!(grid.forest().is_balanced());
    assert_eq!(grid.forest().leaves()[0].level, 3);
    // Elsewhere details are small, so blocks are joined as far as the balance allows.
    for _ in 0..3 {
        grid.adapt_by(&rules(1000)).unwrap();
    }
    assert_eq!(grid.forest().leaves_per_level(), [0, 7, 7, 8]);
}

#[test]
fn blocks_cut_for_their_details_are_not_joined_again_immediately() {
    let mut grid = Grid::<f64>::builder(Domain::unit_cube())
        .vector("omega")
        .build()
        .unwrap();
    let bump = |x: [f64; 3]| {
        let r2: f64 = x.iter().map(|c| (c - 0.4) * (c - 0.4)).sum();
        [(-r2 / 0.01).exp(), 0.0, 0.0]
    };
    let thresholds = [Threshold {
        channel: "omega".to_owned(),
        refine: 1e-3,
        compress: 1e-4,
    }];
    let rules = Rules {
        thresholds: &thresholds,
        max_level: 2,
        at_least: &|_| 0,
        most_blocks: 1000,
    };
    let mut levels = Vec::new();
    for _ in 0..3 {
        grid.fill_vector("omega", Sampling::Exact, bump).unwrap();
        grid.adapt_by(&rules).unwrap();
        levels.push(grid.forest().finest_level());
    }
    assert_eq!(levels, [1, 2, 2]);
}
