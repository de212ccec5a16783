//! Sums in the plane.

use super::{Facts, Problem};
use farfield::Request;
use farfield::plane::{Core, Interaction, Kernel, Plane, PlaneSet};
use farfield::simd::Real;
use std::ops::Range;

impl Problem<2> for Plane {
    type Set = PlaneSet;

    const SETS: &'static [PlaneSet] = &PlaneSet::ALL;

    fn generate<T: Real>(set: PlaneSet, part: Range<usize>, seed: u64) -> Vec<[T; 2]> {
        set.generate_part(part, seed)
    }

    fn facts(request: &Request<Self>, size: Option<f64>) -> Facts {
        let Interaction { kernel, core, complex } = request.kernel;
        let name = match kernel {
            Kernel::Harmonic => "harmonic in the plane",
            Kernel::Log => "logarithm in the plane",
        };
        let of_core = match core {
            Core::Singular => String::new(),
            core => format!(", {core} core of size {}", size.unwrap_or(0.0)),
        };
        let strengths = if complex { "complex" } else { "real" };
        Facts {
            kernel: kernel.name(),
            title: format!("{name} ({strengths} strengths{of_core})"),
            core: Some(core.name()),
            core_size: size,
            complex: Some(complex),
            ..Facts::default()
        }
    }

    fn uses_theta(method: &str) -> bool {
        method == "fmm"
    }
}
