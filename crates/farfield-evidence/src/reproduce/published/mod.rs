//! Numbers published in the papers that this program measures itself against.
//!
//! * *Hu*: Hu, Gumerov and Duraiswami, "GPU accelerated fast multipole methods for vortex particle
//!   simulation".
//! * *Yokota*: Yokota and Barba, "Treecode and fast multipole method for N-body simulation with
//!   CUDA".
//! * *Goude*: Goude and Engblom, "Adaptive fast multipole methods on the GPU".
//! * *van Rees*: van Rees, Rossinelli, Hadjidoukas and Koumoutsakos, "High performance CPU/GPU
//!   multiresolution Poisson solver".
//!
//! Every constant names the table or section it comes from. Only numbers that the text or a table
//! states are here. The curves and bars of the figures are pictures without printed values, so for
//! those there is just what the text says about them; nothing was read off a plot.
//!
//! The papers used graphics processors of 2010 to 2012. Their absolute times are context, not a
//! target: what can be compared is how times grow, where methods overtake each other, and ratios.

#![allow(
    dead_code,
    reason = "this is the complete record of the numbers; a given comparison uses some of them"
)]

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
    /// The graphics processor.
    pub gpu: &'static str,
    /// Anything else the paper says about the set-up.
    pub notes: &'static str,
}
