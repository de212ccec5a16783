//! Sums in three dimensions.

use super::{Facts, Problem};
use farfield::points::PointSet;
use farfield::simd::Real;
use farfield::{Request, Space};
use std::ops::Range;

impl Problem<3> for Space {
    type Set = PointSet;

    const SETS: &'static [PointSet] = &PointSet::ALL;

    fn generate<T: Real>(set: PointSet, part: Range<usize>, seed: u64) -> Vec<[T; 3]> {
        set.generate_part(part, seed)
    }

    fn facts(request: &Request<Self>, size: Option<f64>) -> Facts {
        let (kernel, core) = (request.kernel.description(), request.kernel.core_name());
        let softened = kernel.core_word == "softening_kernel";
        let of_size = |word: &str| size.map_or_else(String::new, |size| format!(" {word} {size}"));
        let parameters = match (softened, core) {
            (_, "") => String::new(),
            (true, core) => {
                let constant = kernel.constant.unwrap_or(1.0);
                let kind = if core == "plummer" { "" } else { core };
                let softening = size.map_or_else(String::new, |_| {
                    format!(",{}", of_size(format!("{kind} softening").trim()))
                });
                format!(" (G = {constant}{softening})")
            }
            (false, core) => format!(" ({core} core{})", of_size("of size")),
        };
        Facts {
            kernel: kernel.name,
            title: format!("{}{parameters}", kernel.title),
            core: (!softened && !core.is_empty()).then_some(core),
            core_size: size.filter(|_| !softened),
            softening: size.filter(|_| softened),
            gravitational_constant: kernel.constant,
            complex: None,
        }
    }

    fn uses_theta(method: &str) -> bool {
        method == "treecode"
    }
}
