//! The velocity across changes of level, against a flow with a known velocity.

use farfield_grid::flows::{CompactRing, RingFrame};
use farfield_grid::poisson::{Accuracy, Kernel, Method, Poisson};
use farfield_grid::{BLOCK_POINTS, Domain, Forest, Grid, Sampling};

/// A ring that fills the unit cube, so that changes of level cut through it.
fn ring() -> CompactRing {
    CompactRing {
        frame: RingFrame {
            center: [0.5; 3],
            axis: 2,
        },
        radius: 0.24,
        amplitude: 2f64.powi(14),
        steepness: 10.0,
    }
}

/// The curl of the ring's stream function, by eighth-order central differences.
fn exact_velocity(x: [f64; 3]) -> [f64; 3] {
    const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let (ring, h) = (ring(), 2e-3);
    let derivative = |axis: usize| -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (k, weight) in WEIGHTS.iter().enumerate() {
            let at = |sign: f64| {
                let mut y = x;
                y[axis] += sign * (k + 1) as f64 * h;
                ring.stream_function(y)
            };
            let (ahead, behind) = (at(1.0), at(-1.0));
            for c in 0..3 {
                sum[c] += weight / h * (ahead[c] - behind[c]);
            }
        }
        sum
    };
    let d = [0, 1, 2].map(derivative);
    [d[1][2] - d[2][1], d[2][0] - d[0][2], d[0][1] - d[1][0]]
}

/// The relative L2 error, and the largest error over the largest velocity, on blocks of `level` with two octants one
/// level finer.
fn errors(level: u8, method: Method) -> [f64; 2] {
    let per_octant = 8usize.pow(u32::from(level) - 1);
    let finer = [0, 3]
        .into_iter()
        .flat_map(|octant| octant * per_octant..(octant + 1) * per_octant);
    let forest = Forest::uniform([1; 3], level).refined(finer);
    let mut grid = Grid::<f64>::builder(Domain::unit_cube())
        .forest(forest)
        .build()
        .unwrap();
    grid.add_channel("omega", 3).unwrap();
    grid.add_channel("u", 3).unwrap();
    let ring = ring();
    grid.fill_vector("omega", Sampling::Point, |x| ring.vorticity(x))
        .unwrap();
    let solver = Poisson::new(Accuracy::Tolerance(1e-6))
        .kernel(Kernel::Singular)
        .method(method);
    solver.solve_velocity(&mut grid, "omega", "u").unwrap();
    let u = grid.channel("u").unwrap();
    let (mut difference, mut size, mut worst, mut largest) = (0.0, 0.0, 0.0f64, 0.0f64);
    for leaf in 0..grid.forest().leaves().len() {
        // The weight of a point is the volume of its cell.
        let volume = grid.domain().spacing(grid.forest().leaves()[leaf].level).powi(3);
        for k in (0..BLOCK_POINTS).step_by(3) {
            let want = exact_velocity(grid.position(leaf, [k % 16, k / 16 % 16, k / 256]));
            let (mut off, mut all) = (0.0, 0.0);
            for c in 0..3 {
                off += (u.block(leaf, c)[k] - want[c]).powi(2);
                all += want[c].powi(2);
            }
            difference += volume * off;
            size += volume * all;
            worst = worst.max(off);
            largest = largest.max(all);
        }
    }
    [(difference / size).sqrt(), (worst / largest).sqrt()]
}

#[test]
fn across_changes_of_level_the_velocity_converges_to_the_exact_one() {
    let [coarse, coarse_worst] = errors(1, Method::Fmm);
    let [fine, fine_worst] = errors(2, Method::Fmm);
    // Uniform grids of the coarser spacing have 0.6 % and 0.025 %: the rest of the error is in a layer of a few points
    // at the change of level.
    assert!(coarse < 1.1e-2 && coarse_worst < 5e-2, "{coarse:e} {coarse_worst:e}");
    assert!(fine < 2.6e-3 && fine_worst < 2e-2, "{fine:e} {fine_worst:e}");
    assert!(fine < coarse / 4.0, "{coarse:e} {fine:e}");
}

#[test]
fn treecode_and_fmm_agree_across_changes_of_level() {
    let (fmm, treecode) = (errors(1, Method::Fmm), errors(1, Method::Treecode));
    for k in 0..2 {
        assert!((fmm[k] - treecode[k]).abs() < 1e-5, "{fmm:?} {treecode:?}");
    }
}
