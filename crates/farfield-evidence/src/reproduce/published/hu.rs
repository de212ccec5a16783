//! Hu, Gumerov and Duraiswami.

use super::Hardware;

/// The machine of Hu's table A.1 (section 2.4). Section 2.4 names no other machine, so it may be
/// that of table A.2 and of figures A.4 to A.7 as well, but the paper does not say so.
pub const HU_TABLE_A1_HARDWARE: Hardware = Hardware {
    cpu: "Intel Xeon X5560, 2.8 GHz, one of four cores",
    gpu: "NVIDIA GTX 480",
    notes: "single precision; CPU code optimised, one thread, no SSE",
};

/// The workstation of Hu's vortex ring simulations (section 3.3).
///
/// The paper says there that "all the experiments" ran on it; table A.1 names another machine, so
/// this is taken to mean all those of section 3.
pub const HU_SIMULATION_HARDWARE: Hardware = Hardware {
    cpu: "Intel Xeon E5504, 2.0 GHz, 12 GB of memory",
    gpu: "NVIDIA Tesla C2050",
    notes: "double precision with ECC disabled, truncation number 12",
};

/// A row of Hu's table A.1: time to build the FMM data structures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildTime {
    /// Depth of the octree, `lmax`.
    pub lmax: u32,
    /// The original O(N log N) algorithm (sorting, set intersection) on one CPU core, in ms.
    pub cpu_ms: f64,
    /// The O(N) algorithm (histogram, pseudo-sort, scan) on one CPU core, in ms.
    pub improved_cpu_ms: f64,
    /// The O(N) algorithm on the GPU, in ms.
    pub gpu_ms: f64,
}

/// Hu, table A.1, complete: [`HU_TABLE_A1_POINTS`] sources and as many receivers, uniformly random
/// in a cube, single precision.
///
/// The GPU time goes down from `lmax` 4 to 5 (13.9 to 13.0 ms); the table has it so.
pub const HU_TABLE_A1: [BuildTime; 6] = [
    build_time(3, 1293.0, 223.0, 7.7),
    build_time(4, 1387.0, 272.0, 13.9),
    build_time(5, 2137.0, 431.0, 13.0),
    build_time(6, 8973.0, 1808.0, 34.6),
    build_time(7, 30652.0, 6789.0, 70.8),
    build_time(8, 58773.0, 7783.0, 124.9),
];

const fn build_time(lmax: u32, cpu_ms: f64, improved_cpu_ms: f64, gpu_ms: f64) -> BuildTime {
    BuildTime {
        lmax,
        cpu_ms,
        improved_cpu_ms,
        gpu_ms,
    }
}

/// Number of sources, and also of receivers, in Hu's table A.1 (section 2.4 and caption): 2^20.
pub const HU_TABLE_A1_POINTS: usize = 1 << 20;

/// How much faster the GPU builds the data structures than one CPU core does with the same
/// algorithm: from 20 to 100 times (Hu, section 2.4, on table A.1).
pub const HU_BUILD_GPU_SPEEDUP: (f64, f64) = (20.0, 100.0);

/// The deepest tree that Hu's histogram of 8^lmax boxes allows on a GPU with 4 GB (section 2.1).
pub const HU_LARGEST_LMAX: u32 = 8;

/// A row of Hu's table A.2: time of a whole FMM run for two kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelTime {
    /// Number of points.
    pub n: usize,
    /// Scalar Coulomb kernel, in ms.
    pub coulomb_ms: f64,
    /// Biot-Savart kernel: three Coulomb runs merged into one, in ms.
    pub biot_savart_ms: f64,
}

impl KernelTime {
    /// Cost of the Biot-Savart kernel relative to the Coulomb kernel.
    pub fn ratio(&self) -> f64 {
        self.biot_savart_ms / self.coulomb_ms
    }
}

/// Hu, table A.2, complete, here with the smallest problem first: single precision on the GPU. The
/// paper gives neither the truncation number nor, in so many words, the machine.
///
/// Section 2.4 says that the Biot-Savart kernel takes less than twice the time of the Coulomb
/// kernel, and the caption that the time is "only doubled"; in the table the ratio is 1.52 to 1.72
/// up to 262144 points and 2.01 at 1048576 points.
pub const HU_TABLE_A2: [KernelTime; 6] = [
    kernel_time(1_024, 89.8, 136.1),
    kernel_time(4_096, 97.8, 153.1),
    kernel_time(16_384, 129.1, 215.7),
    kernel_time(65_536, 418.3, 669.6),
    kernel_time(262_144, 565.7, 975.4),
    kernel_time(1_048_576, 1074.1, 2159.1),
];

const fn kernel_time(n: usize, coulomb_ms: f64, biot_savart_ms: f64) -> KernelTime {
    KernelTime {
        n,
        coulomb_ms,
        biot_savart_ms,
    }
}

/// What Hu's text says about figure A.4, the time by phase for the Biot-Savart kernel. It gives no
/// numbers for it.
pub const HU_FIGURE_A4: &str = "for small numbers of points only one level of expansions and translations is performed";

/// Number of sources, and as many receivers, from which on the GPU FMM beats the direct sums on CPU
/// and GPU for the Coulomb kernel (Hu, section 2.4, on figure A.5).
pub const HU_FIGURE_A5_CROSSOVER: usize = 65_536;

/// The largest problem in Hu's tests, "10 million" (section 2.4).
pub const HU_LARGEST_PROBLEM: usize = 10_000_000;

/// Timing in seconds for the Biot-Savart kernel with [`HU_LARGEST_PROBLEM`] points on the GPU in
/// single precision: "about 7" (Hu, section 2.4, after figure A.5).
///
/// The paper speaks of "10 million particle interactions"; that is taken to mean the interactions
/// of 10 million particles, the size of its largest tests.
pub const HU_LARGEST_SINGLE_S: f64 = 7.0;

/// The same in double precision: "about 16" seconds (Hu, section 2.4, after figure A.5).
pub const HU_LARGEST_DOUBLE_S: f64 = 16.0;

/// Number of receivers at which Hu compares with the direct sum for figures A.6 and A.7. The error
/// is the 2-norm of the differences relative to the 2-norm of the exact values, which come from the
/// CPU in double precision (section 2.4, equation 27).
pub const HU_ERROR_SAMPLES: usize = 100;

/// The truncation numbers between which Hu's single precision error does not improve any more,
/// because of round-off in the recurrences and in the near field (section 2.4, on figure A.6).
///
/// The text gives no value of the error, neither for figure A.6 nor for figure A.7.
pub const HU_FIGURE_A6_NO_GAIN: (usize, usize) = (8, 12);

/// What Hu's text says about the errors in figures A.6 and A.7 when the number of points grows in
/// the same unit cube.
pub const HU_FIGURES_A6_A7_TREND: &str = "the relative error goes down as the number of points \
    grows, in double precision; in single precision as well, until round-off stops it";

/// Timing for one frame (FMM steps and rendering on the same GPU) of the vortex ring simulations in
/// double precision, in seconds: about 1.4 to 2.5 (Hu, section 3.3).
pub const HU_FRAME_S: (f64, f64) = (1.4, 2.5);

/// Truncation number of Hu's vortex ring simulations (section 3.3).
pub const HU_SIMULATION_ORDER: usize = 12;

/// Radius of the vortex rings in Hu's simulations, in a unit cube (section 3.3).
pub const HU_RING_RADIUS: f64 = 0.3;

/// Vortex elements and fluid particles of Hu's simulations: 2^12 and 2^18 in figures A.1 and A.8,
/// 2^15 and 2^18 in figures A.9 and A.10, 2^15 and 2^20 in figure A.11 (section 3.3).
pub const HU_SIMULATION_SIZES: [(usize, usize); 3] = [(1 << 12, 1 << 18), (1 << 15, 1 << 18), (1 << 15, 1 << 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_times_match_what_the_text_says_of_them() {
        let (low, high) = HU_BUILD_GPU_SPEEDUP;
        for (row, lmax) in HU_TABLE_A1.iter().zip(3..) {
            assert_eq!(row.lmax, lmax);
            assert!(row.cpu_ms / row.improved_cpu_ms > 4.0);
            let speedup = row.improved_cpu_ms / row.gpu_ms;
            assert!((0.95 * low..=high).contains(&speedup), "{row:?}");
        }
    }

    #[test]
    fn kernel_times_match_what_the_text_says_of_them() {
        for row in &HU_TABLE_A2 {
            assert!((1.5..2.02).contains(&row.ratio()), "{row:?}");
        }
        assert!(HU_TABLE_A2.windows(2).all(|rows| rows[1].n == 4 * rows[0].n));
    }
}
