//! Numbers of the papers that our own are compared with.
//!
//! * *Hu*: Hu, Gumerov and Duraiswami, "GPU accelerated fast multipole methods for vortex particle
//!   simulation".
//! * *Yokota*: Yokota and Barba, "Treecode and fast multipole method for N-body simulation with
//!   CUDA".
//! * *Goude*: Goude and Engblom, "Adaptive fast multipole methods on the GPU".
//! * *van Rees*: van Rees, Rossinelli, Hadjidoukas and Koumoutsakos, "High performance CPU/GPU
//!   multiresolution Poisson solver".
//!
//! Every constant names the table or section it comes from. All numbers are stated in the text or in a table; none was
//! read off a plot. Where a figure has no printed values, the constant is what the text says about it.
//!
//! The papers used GPUs of 2010 to 2012. Their absolute times are context, not a target: growth, crossovers and ratios
//! can be compared.

mod goude;
mod hu;
mod vanrees;
mod yokota;

pub use goude::*;
pub use hu::*;
pub use vanrees::*;
pub use yokota::*;

/// A machine on which published numbers were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    /// The processor.
    pub cpu: &'static str,
    /// The GPU.
    pub gpu: &'static str,
    /// Precision and software.
    pub notes: &'static str,
}
