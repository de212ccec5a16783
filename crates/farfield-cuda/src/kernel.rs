//! What the device code is specialised for: the constants of `kernels/pair.cuh`.

use crate::compile::Program;
use crate::device::Precision;
use farfield_core::kernel::{Core, Kernel, Sizes, sums_of};
use farfield_core::plan::Request;

/// A kernel with its outputs and sizes, as literals of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PairKind {
    /// Strengths are vectors.
    pub vector: bool,
    /// How many derivatives of the potential are taken.
    pub derivatives: usize,
    /// The vortex core.
    pub core: Core,
    /// Where core sizes or softening lengths come from.
    pub sizes: SizeKind,
    /// Whether the pair of a point with itself is skipped by its index.
    pub skip_same: bool,
}

/// Where core sizes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SizeKind {
    /// There are none.
    None,
    /// One for all sources.
    Global,
    /// One for each source.
    PerSource,
}

impl PairKind {
    /// What a request needs.
    pub fn of<T>(request: &Request<T>) -> Self {
        let softened = request.largest_size > 0.0;
        let core = match request.kernel {
            Kernel::BiotSavart { core } if softened => core,
            _ => Core::Singular,
        };
        let sizes = match request.sizes {
            _ if !softened => SizeKind::None,
            Sizes::None => SizeKind::None,
            Sizes::Global(_) => SizeKind::Global,
            Sizes::PerSource(_) => SizeKind::PerSource,
        };
        let vector = request.kernel.strength_components() == 3;
        let derivatives = request.derivatives().last().copied().unwrap_or(0);
        Self {
            vector,
            derivatives: if vector { derivatives.max(1) } else { derivatives },
            core,
            sizes,
            skip_same: request.targets.is_none() && !request.kernel.is_singular(softened),
        }
    }

    /// Numbers per source strength.
    pub fn strengths(&self) -> usize {
        if self.vector { 3 } else { 1 }
    }

    /// Sums per target.
    pub fn sums(&self) -> usize {
        sums_of(self.vector, self.derivatives)
    }

    /// Numbers of a packed source.
    pub fn source_len(&self) -> usize {
        if self.vector || self.sizes == SizeKind::PerSource {
            8
        } else {
            4
        }
    }

    /// The program with this kind's constants.
    pub fn define<T: Precision>(&self, program: Program) -> Program {
        let core = match self.core {
            Core::Singular => 0,
            Core::WinckelmansLeonard => 1,
            Core::Gaussian => 2,
            Core::HuPolynomial => 3,
        };
        program
            .define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
            .define("FARFIELD_VECTOR", i32::from(self.vector))
            .define("FARFIELD_DERIVATIVES", self.derivatives)
            .define("FARFIELD_CORE", core)
            .define("FARFIELD_SIZES", self.sizes as i32)
            .define("FARFIELD_SKIP_SAME", i32::from(self.skip_same))
    }

    /// Every kind there is: kernels, derivatives, cores, sizes, skipping.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for sizes in [SizeKind::None, SizeKind::Global, SizeKind::PerSource] {
            let softened = sizes != SizeKind::None;
            for skip_same in [false, true] {
                if skip_same && !softened {
                    continue;
                }
                for derivatives in 0..=2 {
                    // Gravity alone is softened, and it has no second derivatives.
                    if softened && derivatives == 2 {
                        continue;
                    }
                    let (vector, core) = (false, Core::Singular);
                    all.push(Self {
                        vector,
                        derivatives,
                        core,
                        sizes,
                        skip_same,
                    });
                }
                for core in Core::ALL
                    .into_iter()
                    .filter(|core| softened == (*core != Core::Singular))
                {
                    for derivatives in 1..=2 {
                        let vector = true;
                        all.push(Self {
                            vector,
                            derivatives,
                            core,
                            sizes,
                            skip_same,
                        });
                    }
                }
            }
        }
        all
    }
}
