//! Yokota and Barba.

use super::Hardware;

/// The machine of all of Yokota's measurements (section 4).
pub const YOKOTA_HARDWARE: Hardware = Hardware {
    cpu: "Intel Core i7, 2.67 GHz, one core",
    gpu: "NVIDIA 295GTX",
    notes: "gcc 4.3 -O3 for the CPU codes, nvcc with fast math for the GPU codes",
};

/// Numbers of bodies at which the treecode overtakes the direct sum, the FMM the direct sum, and the FMM the treecode, on
/// the CPU (Yokota, section 4, on figure 5).
pub const YOKOTA_CPU_CROSSOVERS: [Option<f64>; 3] = [Some(3e3), Some(3e3), Some(3e3)];

/// The same on the GPU; the paper finds the last one unclear in its range.
pub const YOKOTA_GPU_CROSSOVERS: [Option<f64>; 3] = [Some(2e4), Some(4e4), None];

/// The speed of the GPU over that of one CPU core, of direct sum, treecode and FMM, all of them stated as approximate
/// (Yokota, section 4, on figure 5).
pub const YOKOTA_GPU_SPEEDUPS: [f64; 3] = [300.0, 100.0, 30.0];

/// Number of bodies in figure 6, the time by phase on the GPU (Yokota, section 4).
pub const YOKOTA_FIGURE_6_N: f64 = 1e7;

/// What Yokota's section 4 says about figure 6. It gives no times.
pub const YOKOTA_FIGURE_6: [&str; 6] = [
    "P2P takes the same time in both methods, since they use the same neighbour lists",
    "P2M takes longer in the FMM, which needs a higher order for the same accuracy",
    "M2M, L2L and L2P are small compared with M2P and M2L",
    "M2P and M2L take similar times: M2P has more work, but also more parallelism",
    "phases other than P2P, M2P and M2L are not negligible on the GPU",
    "sorting and all else (allocation, tree, interaction lists) run on the CPU",
];

/// On the CPU, P2P and M2P or M2L together take more than this share of the time (Yokota, section 4).
pub const YOKOTA_CPU_MAIN_PHASES: f64 = 0.99;

/// The opening angle that the neighbour lists of treecode and FMM correspond to (Yokota, section 4).
pub const YOKOTA_OPENING_ANGLE: f64 = 2.0 / 3.0;

/// The rate of P2P on the GPU for larger problems in Gflop/s, "in the order of 300" (Yokota, section 4, on figure 7).
pub const YOKOTA_P2P_GFLOPS: f64 = 300.0;

/// Floating-point operations that Yokota counts per P2P interaction (section 5.1).
pub const YOKOTA_P2P_FLOPS: u32 = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossovers_have_the_stated_orders_of_magnitude() {
        // Section 7: in the order of 10^3 on the CPU and of 10^4 on the GPU.
        for (crossovers, order) in [(YOKOTA_CPU_CROSSOVERS, 1e3), (YOKOTA_GPU_CROSSOVERS, 1e4)] {
            for n in crossovers.into_iter().flatten() {
                assert!((order..10.0 * order).contains(&n));
            }
        }
    }
}
