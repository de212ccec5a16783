//! Sums in the plane.

use super::{Data, Facts, Problem, check_size};
use crate::failure::Failure;
use farfield::kernel::Sizes;
use farfield::plane::{Core, Kernel, Output, PlaneSet, Sum};
use farfield::simd::Real;
use farfield::{Method, Options, Precision};
use std::ops::Range;

/// A kernel in the plane.
#[derive(Debug, Clone)]
pub struct Plane {
    pub kernel: Kernel,
    pub core: Core,
    /// Core size.
    pub size: Option<f64>,
    pub outputs: Vec<Output>,
    /// Strengths are complex.
    pub complex: bool,
}

impl Plane {
    /// A kernel without cores, real strengths.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            size: None,
            outputs: outputs.to_vec(),
            complex: false,
        }
    }

    fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }
}

impl Problem<2> for Plane {
    type Geometry = farfield::plane::Plane;
    type Output = Output;
    type Set = PlaneSet;

    const SETS: &'static [PlaneSet] = &PlaneSet::ALL;

    fn facts(&self) -> Facts {
        let name = match self.kernel {
            Kernel::Harmonic => "harmonic in the plane",
            Kernel::Log => "logarithm in the plane",
        };
        let core = match (self.core, self.size) {
            (Core::Singular, _) => String::new(),
            (core, size) => format!(", {core} core of size {}", size.unwrap_or(0.0)),
        };
        let strengths = if self.complex { "complex" } else { "real" };
        Facts {
            kernel: self.kernel.name(),
            title: format!("{name} ({strengths} strengths{core})"),
            core: Some(self.core.name()),
            core_size: self.size,
            complex: Some(self.complex),
            ..Facts::default()
        }
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn strength_components(&self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    fn points<T: Real>(set: PlaneSet, part: Range<usize>, seed: u64) -> Vec<[T; 2]> {
        set.generate_part(part, seed)
    }

    fn check_size<T: Real>(&self) -> Result<(), Failure> {
        check_size::<T>("--core-size", self.size)
    }

    fn sum<'a, T: Precision>(&self, data: &Data<'a, T, 2>, options: &Options) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, data.sources)
            .core(self.core, self.sizes())
            .outputs(&self.outputs)
            .vectors(data.vectors)
            .options(options.clone());
        if let Some(targets) = data.targets {
            sum = sum.targets(targets);
        }
        if self.complex { sum.complex() } else { sum }
    }

    fn uses_theta(&self, method: Method) -> bool {
        method == Method::Fmm
    }
}
