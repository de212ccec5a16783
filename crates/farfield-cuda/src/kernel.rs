//! The specialisation of the device code: the constants of `kernels/pair.cuh`.

use crate::compile::Program;
use crate::device::Precision;
use farfield_core::kernel::{Form, Kernel, Sizes};
use farfield_core::simd::Real;
use farfield_core::{Space, Sum};

/// A kernel with its outputs and sizes, as literals of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PairKind {
    /// The form of strengths.
    pub form: Form,
    /// The highest derivative of the potential.
    pub derivatives: usize,
    /// The function that replaces the singular kernel near a source: `FARFIELD_CORE`.
    pub core: i32,
    /// The origin of core sizes or softening lengths.
    pub sizes: SizeKind,
    /// Whether the pair of a point with itself is skipped by its index.
    pub skip_same: bool,
}

/// The origin of core sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SizeKind {
    /// There are no sizes.
    None,
    /// One for all sources.
    Global,
    /// One for each source.
    PerSource,
}

impl PairKind {
    /// The kind of pair of a sum.
    pub fn of<T: Real>(asked: &Sum<T, Space>) -> Self {
        let softened = asked.largest_size() > 0.0;
        let sizes = match asked.points.sizes() {
            _ if !softened => SizeKind::None,
            Sizes::None => SizeKind::None,
            Sizes::Global(_) => SizeKind::Global,
            Sizes::PerSource(_) => SizeKind::PerSource,
        };
        let skip_same = asked.points.targets.is_none() && !asked.request.kernel.is_singular(softened);
        Self::new(asked.request.kernel, asked.most_derivatives(), sizes, skip_same)
    }

    fn new(kernel: Kernel, derivatives: usize, sizes: SizeKind, skip_same: bool) -> Self {
        let kernel = kernel.description();
        let least = usize::from(kernel.form == Form::Vortex);
        Self {
            form: kernel.form,
            derivatives: derivatives.max(least),
            core: match kernel.regularisation {
                Some(core) if sizes != SizeKind::None => core_constant(core.name),
                _ => 0,
            },
            sizes,
            skip_same,
        }
    }

    /// The number of components of a strength.
    pub fn strengths(&self) -> usize {
        self.form.strengths()
    }

    /// The number of expansions per box and strength vector.
    pub fn expansions(&self) -> usize {
        self.form.expansions()
    }

    /// The number of sums per target.
    pub fn sums(&self) -> usize {
        self.form.sums(self.derivatives)
    }

    /// The number of values of a packed source.
    pub fn source_len(&self) -> usize {
        if self.form.strengths() > 1 || self.sizes == SizeKind::PerSource {
            8
        } else {
            4
        }
    }

    /// The program with this kind's constants.
    pub fn define<T: Precision>(&self, program: Program) -> Program {
        program
            .define("FARFIELD_VECTOR", i32::from(self.form == Form::Vortex))
            .define("FARFIELD_DIPOLES", i32::from(self.form == Form::Dipole))
            .define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
            .define("FARFIELD_DERIVATIVES", self.derivatives)
            .define("FARFIELD_CORE", self.core)
            .define("FARFIELD_SIZES", self.sizes as i32)
            .define("FARFIELD_SKIP_SAME", i32::from(self.skip_same))
    }

    /// All kinds: kernels, derivatives, cores, sizes, skipping.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for kernel in Kernel::all() {
            for derivatives in kernel.outputs().iter().map(|output| output.derivatives()) {
                let mut add = |sizes, skip_same| {
                    let kind = Self::new(kernel, derivatives, sizes, skip_same);
                    if !all.contains(&kind) {
                        all.push(kind);
                    }
                };
                add(SizeKind::None, false);
                if kernel.has_sizes() {
                    for sizes in [SizeKind::Global, SizeKind::PerSource] {
                        add(sizes, false);
                        add(sizes, true);
                    }
                }
            }
        }
        all
    }
}

/// The constant `FARFIELD_CORE` of `pair.cuh` for a core or softening; zero is the singular kernel.
fn core_constant(name: &str) -> i32 {
    const NAMES: [&str; 6] = [
        "winckelmans-leonard",
        "gaussian",
        "hu-polynomial",
        "plummer",
        "spline",
        "wendland-c2",
    ];
    NAMES
        .iter()
        .position(|known| *known == name)
        .map_or(0, |at| at as i32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_a_constant_of_its_own() {
        let mut constants: Vec<i32> = Kernel::all()
            .into_iter()
            .filter_map(|kernel| kernel.description().regularisation)
            .map(|core| core_constant(core.name))
            .collect();
        constants.sort_unstable();
        assert_eq!(constants, [1, 2, 3, 4, 5, 6]);
    }
}
