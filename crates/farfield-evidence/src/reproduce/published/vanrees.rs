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

/// van Rees, table 1: the measured rate and its bound in Gflop/s of direct and indirect interactions on the CPU, and of
/// direct ones on the GPU.
pub const VANREES_TABLE_1: [[f64; 2]; 3] = [[118.6, 160.0], [135.6, 166.5], [2180.0, 2260.0]];
