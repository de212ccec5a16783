//! The specialisation of the device code in the plane: the constants of `kernels/plane_pair.cuh`.

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::SizeKind;
use farfield_core::kernel::Sizes;
use farfield_core::plane::{Core, Kernel, Output};
use farfield_core::simd::Real;
use farfield_core::{Plane, Sum};

/// A kernel with its outputs and sizes, as literals of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PairKind {
    /// The kernel.
    pub kernel: Kernel,
    /// The core; singular if no source has a size.
    pub core: Core,
    /// The origin of core sizes.
    pub sizes: SizeKind,
    /// The highest derivative of an output.
    pub derivatives: usize,
    /// Whether both parts of complex strengths are summed in one run.
    pub complex: bool,
    /// Whether the pair of a point with itself is skipped by its index.
    pub skip_same: bool,
}

impl PairKind {
    /// The kind of pair of a sum.
    pub fn of<T: Real>(asked: &Sum<T, Plane>) -> Self {
        let singular = asked.core() == Core::Singular;
        let sizes = match asked.points.sizes() {
            _ if singular => SizeKind::None,
            Sizes::None => SizeKind::None,
            Sizes::Global(_) => SizeKind::Global,
            Sizes::PerSource(_) => SizeKind::PerSource,
        };
        Self {
            kernel: asked.request.kernel.kernel,
            core: asked.core(),
            sizes,
            derivatives: Output::most_derivatives(&asked.request.outputs),
            // The logarithm of complex strengths, or a regularised field, is summed part by part.
            complex: asked.request.kernel.complex && asked.request.kernel.kernel == Kernel::Harmonic && singular,
            skip_same: asked.points.targets.is_none() && !singular,
        }
    }

    /// The part of the kind that expansions depend on.
    pub fn far(&self) -> Self {
        Self {
            core: Core::Singular,
            sizes: SizeKind::None,
            derivatives: 0,
            skip_same: false,
            ..*self
        }
    }

    /// The number of sums per target.
    pub fn sums(&self) -> usize {
        self.kernel.sums(self.derivatives)
    }

    /// The program with this kind's constants.
    pub fn define<T: Precision>(&self, program: Program) -> Program {
        let core = match self.core {
            Core::Singular => 0,
            Core::Gaussian => 1,
            Core::Algebraic => 2,
        };
        program
            .define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
            .define("FARFIELD_LOG", i32::from(self.kernel == Kernel::Log))
            .define("FARFIELD_DERIVATIVES", self.derivatives)
            .define("FARFIELD_COMPLEX", i32::from(self.complex))
            .define("FARFIELD_CORE", core)
            .define("FARFIELD_SIZES", self.sizes as i32)
            .define("FARFIELD_SKIP_SAME", i32::from(self.skip_same))
    }

    /// All kinds: kernels, derivatives, complex strengths, cores, sizes, skipping.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for kernel in Kernel::ALL {
            for output in Output::ALL {
                let kind = Self {
                    kernel,
                    core: Core::Singular,
                    sizes: SizeKind::None,
                    derivatives: output.derivatives(),
                    complex: false,
                    skip_same: false,
                };
                all.push(kind);
                if kernel == Kernel::Harmonic {
                    all.push(Self { complex: true, ..kind });
                }
                let cores = [Core::Gaussian, Core::Algebraic];
                for core in cores.into_iter().filter(|core| kernel.outputs(*core).contains(&output)) {
                    for sizes in [SizeKind::Global, SizeKind::PerSource] {
                        for skip_same in [false, true] {
                            all.push(Self {
                                core,
                                sizes,
                                skip_same,
                                ..kind
                            });
                        }
                    }
                }
            }
        }
        all
    }
}
