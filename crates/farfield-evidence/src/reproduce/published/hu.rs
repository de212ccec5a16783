//! Hu, Gumerov and Duraiswami.

use super::Hardware;

/// The machine of Hu's table A.1 (section 2.4). Section 2.4 names no other machine, so it may be that of table A.2 and of
/// figures A.4 to A.7 as well, but the paper does not say so.
pub const HU_TABLE_A1_HARDWARE: Hardware = Hardware {
    cpu: "Intel Xeon X5560, 2.8 GHz, one of four cores",
    gpu: "NVIDIA GTX 480",
    notes: "single precision; CPU code optimised, one thread, no SSE",
};

/// The workstation of Hu's vortex ring simulations (section 3.3).
///
/// The paper says there that "all the experiments" ran on it; table A.1 names another machine, so this is taken to mean
/// all those of section 3.
pub const HU_SIMULATION_HARDWARE: Hardware = Hardware {
    cpu: "Intel Xeon E5504, 2.0 GHz, 12 GB of memory",
    gpu: "NVIDIA Tesla C2050",
    notes: "double precision with ECC disabled, truncation number 12",
};

/// Hu, table A.1, complete: the depth of the octree `lmax`, and the time in ms to build the FMM data structures of
/// [`HU_TABLE_A1_POINTS`] sources and as many receivers, uniformly random in a cube, in single precision: by the original
/// O(N log N) algorithm (sorting, set intersection) on one CPU core, by the O(N) algorithm (histogram, pseudo-sort, scan)
/// on one CPU core, and by the O(N) algorithm on the GPU.
///
/// The GPU time goes down from `lmax` 4 to 5 (13.9 to 13.0 ms); the table has it so.
pub const HU_TABLE_A1: [(u32, [f64; 3]); 6] = [
    (3, [1293.0, 223.0, 7.7]),
    (4, [1387.0, 272.0, 13.9]),
    (5, [2137.0, 431.0, 13.0]),
    (6, [8973.0, 1808.0, 34.6]),
    (7, [30652.0, 6789.0, 70.8]),
    (8, [58773.0, 7783.0, 124.9]),
];

/// Number of sources, and of receivers, in Hu's table A.1 (section 2.4 and caption): 2^20.
pub const HU_TABLE_A1_POINTS: usize = 1 << 20;

/// Hu, table A.2, complete, here with the smallest problem first: the number of points, and the time in ms of a whole FMM
/// run in single precision on the GPU, for the scalar Coulomb kernel and for the Biot-Savart kernel (three Coulomb runs
/// merged into one). The paper states neither the truncation number nor, explicitly, the machine.
///
/// Section 2.4 says that the Biot-Savart kernel takes less than twice the time of the Coulomb kernel, and the caption that
/// the time is "only doubled"; in the table the ratio is 1.52 to 1.72 up to 262144 points and 2.01 at 1048576 points.
pub const HU_TABLE_A2: [(usize, [f64; 2]); 6] = [
    (1_024, [89.8, 136.1]),
    (4_096, [97.8, 153.1]),
    (16_384, [129.1, 215.7]),
    (65_536, [418.3, 669.6]),
    (262_144, [565.7, 975.4]),
    (1_048_576, [1074.1, 2159.1]),
];

/// What Hu's text says about figure A.4, the time by phase for the Biot-Savart kernel. It gives no numbers.
pub const HU_FIGURE_A4: &str = "for small numbers of points only one level of expansions and translations is performed";

/// The number of sources, and of receivers, at which the GPU FMM overtakes the direct sums on CPU and GPU for the Coulomb
/// kernel (Hu, section 2.4, on figure A.5).
pub const HU_FIGURE_A5_CROSSOVER: usize = 65_536;

/// The largest problem in Hu's tests, "10 million" (section 2.4).
pub const HU_LARGEST_PROBLEM: usize = 10_000_000;

/// The time in seconds for the Biot-Savart kernel with [`HU_LARGEST_PROBLEM`] points on the GPU in single precision:
/// "about 7" (Hu, section 2.4, after figure A.5).
///
/// The paper speaks of "10 million particle interactions"; that is taken to mean the interactions of 10 million
/// particles, the size of its largest tests.
pub const HU_LARGEST_SINGLE_S: f64 = 7.0;

/// The same in double precision: "about 16" seconds (Hu, section 2.4, after figure A.5).
pub const HU_LARGEST_DOUBLE_S: f64 = 16.0;

/// The number of receivers at which Hu compares with the direct sum for figures A.6 and A.7. The error is the 2-norm of
/// the differences relative to the 2-norm of the exact values, which come from the CPU in double precision (section 2.4,
/// equation 27).
pub const HU_ERROR_SAMPLES: usize = 100;

/// The truncation numbers between which Hu's error in single precision does not improve, because of round-off in the
/// recurrences and in the near field (section 2.4, on figure A.6). The text gives no value of the error, neither for
/// figure A.6 nor for figure A.7.
pub const HU_FIGURE_A6_NO_GAIN: (usize, usize) = (8, 12);

/// What Hu's text says about the errors in figures A.6 and A.7 when the number of points grows in the same unit cube.
pub const HU_FIGURES_A6_A7_TREND: &str = "the relative error goes down as the number of points \
    grows, in double precision; in single precision as well, until round-off stops it";

/// The time in seconds of one frame (FMM steps and rendering on the same GPU) of the vortex ring simulations in double
/// precision: about 1.4 to 2.5 (Hu, section 3.3).
pub const HU_FRAME_S: (f64, f64) = (1.4, 2.5);

/// Truncation number of Hu's vortex ring simulations (section 3.3).
pub const HU_SIMULATION_ORDER: usize = 12;

/// Radius of the vortex rings in Hu's simulations, in a unit cube (section 3.3).
pub const HU_RING_RADIUS: f64 = 0.3;

/// Vortex elements and fluid particles of Hu's simulations: 2^12 and 2^18 in figures A.1 and A.8, 2^15 and 2^18 in figures
/// A.9 and A.10, 2^15 and 2^20 in figure A.11 (section 3.3).
pub const HU_SIMULATION_SIZES: [(usize, usize); 3] = [(1 << 12, 1 << 18), (1 << 15, 1 << 18), (1 << 15, 1 << 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_times_match_what_the_text_says_of_them() {
        for ((depth, [sorting, linear, gpu]), lmax) in HU_TABLE_A1.into_iter().zip(3..) {
            assert!(depth == lmax && sorting / linear > 4.0, "{lmax}");
            // Section 2.4: the GPU is from 20 to 100 times as fast as one core with the same algorithm.
            assert!((0.95 * 20.0..=100.0).contains(&(linear / gpu)), "{lmax}");
        }
    }

    #[test]
    fn kernel_times_match_what_the_text_says_of_them() {
        for (n, [coulomb, biot_savart]) in HU_TABLE_A2 {
            assert!((1.5..2.02).contains(&(biot_savart / coulomb)), "{n}");
        }
        assert!(HU_TABLE_A2.windows(2).all(|rows| rows[1].0 == 4 * rows[0].0));
    }
}
