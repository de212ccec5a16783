//! Goude and Engblom.

use super::Hardware;

/// The machine of Goude's measurements (section 5).
pub const GOUDE_HARDWARE: Hardware = Hardware {
    cpu: "Intel Xeon W3680, 3.33 GHz, one core",
    gpu: "NVIDIA Tesla C2075",
    notes: "double precision; CPU code with SSE and symmetric interactions; GCC 4.4.5, CUDA 4.0",
};

/// The order of Goude's expansions unless the text says otherwise; it gives a maximum relative error of about
/// [`GOUDE_TOLERANCE`] (sections 5.1, 5.3 and 5.4). The sum runs from degree 0 to p.
pub const GOUDE_ORDER: usize = 17;

/// The maximum relative error (Goude, eq. 5.3) that [`GOUDE_ORDER`] gives, stated as approximate.
pub const GOUDE_TOLERANCE: f64 = 1e-6;

/// Goude, table 5.1, complete: parts of the FMM and their percentages of the GPU's time, `None` where the paper says less
/// than 1, for 45 points in each of the boxes of level 8 in the unit square. P2M includes P2L, L2P includes M2P (sections
/// 3.3.1 and 3.3.4). "Other" has all transfers between host and device.
pub const GOUDE_TABLE_5_1: [(&str, Option<f64>); 9] = [
    ("P2P", Some(43.0)),
    ("Sort", Some(30.0)),
    ("M2L", Some(11.0)),
    ("P2M", Some(5.0)),
    ("L2P", Some(2.0)),
    ("Connect", Some(1.0)),
    ("M2M", None),
    ("L2L", None),
    ("Other", Some(8.0)),
];

/// Points in a box of level 8, more than the first and up to the second, for which eq. 5.2 gives 8 levels at 45 desired
/// points per box (Goude, section 5.1).
pub const GOUDE_SAME_LEVELS: (usize, usize) = (18, 72);

/// The share of P2P in percent for these, on the GPU (Goude, section 5.1).
pub const GOUDE_P2P_SHARES: (f64, f64) = (25.0, 55.0);

/// The best number of points per box on Goude's CPU and GPU for p = 17 (section 5.1, on figure 5.2).
pub const GOUDE_BEST_PER_BOX: (usize, usize) = (35, 45);

/// The sizes of Goude's 150 simulations for figure 5.2 (section 5.1).
pub const GOUDE_FIGURE_5_2_SIZES: (f64, f64) = (1e4, 2e6);

/// What Goude's section 5.1 says about figure 5.1. It gives no values.
pub const GOUDE_FIGURE_5_1: &str = "parts that depend on the points in a box gain from more of them; P2P loses a little \
    after each multiple of 16, all after multiples of 32";

/// What Goude's section 5.2 says about figure 5.3. It gives no values.
pub const GOUDE_FIGURE_5_3: &str = "speedups of shifts fall in steps as shared memory holds fewer of them, of M2L at 42 \
    coefficients";

/// What Goude's section 5.3 says about figure 5.7. It gives no values.
pub const GOUDE_FIGURE_5_7: &str = "M2L and P2P are fast from few points on; sort, connect, M2M and L2L need many";

/// The speed of Goude's GPU over that of one core for large N, FMM and direct sum, "about" (section 5.3, on figure 5.6).
pub const GOUDE_SPEEDUPS: (f64, f64) = (11.0, 15.0);

/// What Goude's section 5.2 says about figure 5.4. It gives no values.
pub const GOUDE_FIGURE_5_4: &str = "the best number of points per box grows about linearly with p";

/// The number of points at which the FMM overtakes the direct sum on Goude's GPU, "about 3500" (section 5.3, on figure
/// 5.5). The text gives no number for the CPU.
pub const GOUDE_GPU_BREAK_EVEN: f64 = 3500.0;

/// The largest sets of Goude's figure 5.8, "some 10 million" (section 5.4).
pub const GOUDE_LARGEST: f64 = 1e7;

/// What Goude's section 5.4 says about figure 5.9. It gives no values.
pub const GOUDE_FIGURE_5_9: &str = "almost all of the additional time of less uniform points is that of P2P";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_parts_make_a_whole() {
        let sum: f64 = GOUDE_TABLE_5_1.iter().filter_map(|(_, percent)| *percent).sum();
        assert_eq!(sum, 100.0);
        let (cpu, gpu) = GOUDE_BEST_PER_BOX;
        // Conclusions: boxes of the GPU hold some 20 to 25 % more.
        assert!((1.2..1.3).contains(&(gpu as f64 / cpu as f64)));
    }
}
