//! van Rees, Rossinelli, Hadjidoukas and Koumoutsakos.

use super::Hardware;

/// The machine of van Rees' measurements (section 5).
pub const VANREES_HARDWARE: Hardware = Hardware {
    cpu: "AMD Interlagos 6272, 16 cores",
    gpu: "NVIDIA Tesla K20X",
    notes: "Cray XK7, single precision; peak of the CPU 268.8 Gflop/s",
};

/// The opening parameter of van Rees' figure 3 and table 1.
pub const VANREES_THETA: f64 = 0.5;

/// Destination points of van Rees' two-ring problem (section 5.1).
pub const VANREES_POINTS: f64 = 3.6e6;

/// Source points of its y component (section 5.1).
pub const VANREES_SOURCES: f64 = 8.7e5;

/// A row of van Rees' table 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelRate {
    /// Which interactions.
    pub name: &'static str,
    /// Measured on the CPU, in Gflop/s.
    pub cpu_gflops: f64,
    /// The bound on the CPU.
    pub cpu_bound_gflops: f64,
    /// Measured on the GPU, where it was.
    pub gpu_gflops: Option<f64>,
    /// The bound on the GPU.
    pub gpu_bound_gflops: Option<f64>,
}

/// van Rees, table 1.
pub const VANREES_TABLE_1: [KernelRate; 2] = [
    KernelRate {
        name: "direct",
        cpu_gflops: 118.6,
        cpu_bound_gflops: 160.0,
        gpu_gflops: Some(2180.0),
        gpu_bound_gflops: Some(2260.0),
    },
    KernelRate {
        name: "indirect",
        cpu_gflops: 135.6,
        cpu_bound_gflops: 166.5,
        gpu_gflops: None,
        gpu_bound_gflops: None,
    },
];
