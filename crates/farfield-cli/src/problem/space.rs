//! Sums in three dimensions.

use super::{Data, Facts, Problem, check_size};
use crate::failure::Failure;
use farfield::kernel::{Kernel, Output, Sizes, Softening};
use farfield::points::PointSet;
use farfield::simd::Real;
use farfield::{Method, Options, Precision, Sum};
use std::ops::Range;

/// A kernel in space.
#[derive(Debug, Clone)]
pub struct Space {
    pub kernel: Kernel,
    /// Core size or softening length.
    pub size: Option<f64>,
    pub outputs: Vec<Output>,
}

impl Space {
    /// A kernel without cores or softening.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            size: None,
            outputs: outputs.to_vec(),
        }
    }

    fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }
}

impl Problem<3> for Space {
    type Geometry = farfield::Space;
    type Output = Output;
    type Set = PointSet;

    const SETS: &'static [PointSet] = &PointSet::ALL;

    fn facts(&self) -> Facts {
        let facts = Facts {
            kernel: self.kernel.name(),
            ..Facts::default()
        };
        match self.kernel {
            Kernel::Coulomb => Facts {
                title: "Coulomb".to_owned(),
                ..facts
            },
            Kernel::CoulombDipoles => Facts {
                title: "Coulomb with dipoles".to_owned(),
                ..facts
            },
            Kernel::Gravity { constant, softening } => {
                let of = match softening {
                    Softening::Plummer => String::new(),
                    other => format!(" {}", other.name()),
                };
                let softening = self
                    .size
                    .map_or_else(String::new, |size| format!(",{of} softening {size}"));
                Facts {
                    title: format!("gravity (G = {constant}{softening})"),
                    softening: self.size,
                    gravitational_constant: Some(constant),
                    ..facts
                }
            }
            Kernel::BiotSavart { core } => {
                let size = self.size.map_or_else(String::new, |size| format!(" of size {size}"));
                Facts {
                    title: format!("Biot-Savart ({} core{size})", core.name()),
                    core: Some(core.name()),
                    core_size: self.size,
                    ..facts
                }
            }
        }
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn strength_components(&self) -> usize {
        self.kernel.strength_components()
    }

    fn points<T: Real>(set: PointSet, part: Range<usize>, seed: u64) -> Vec<[T; 3]> {
        set.generate_part(part, seed)
    }

    fn check_size<T: Real>(&self) -> Result<(), Failure> {
        let option = match self.kernel {
            Kernel::Gravity { .. } => "--softening",
            _ => "--core-size",
        };
        check_size::<T>(option, self.size)
    }

    fn sum<'a, T: Precision>(&self, data: &Data<'a, T, 3>, options: &Options) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, data.sources)
            .sizes(self.sizes())
            .outputs(&self.outputs)
            .vectors(data.vectors)
            .options(options.clone());
        if let Some(targets) = data.targets {
            sum = sum.targets(targets);
        }
        sum
    }

    fn uses_theta(&self, method: Method) -> bool {
        method == Method::Treecode
    }
}
