//! Space and plane: the two geometries, each with its points, kernels and outputs.

use crate::check::OutputKind;
use crate::error::Error;
use crate::kernel;
use crate::plan::Field;
use crate::plan::engine::Planned;
use crate::plane;
use crate::simd::Real;
use crate::sum::{Request, Sum};
use crate::verify::{self, Sample};
use std::fmt;
use std::ops::RangeInclusive;

/// Three dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space;

/// Two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane;

/// The geometry of a sum: [`Space`] or [`Plane`].
#[expect(private_bounds, reason = "it seals the trait, and engines are not public")]
pub trait Geometry: Planned<Self> + fmt::Debug + Copy + PartialEq + Send + Sync + 'static {
    /// The number of coordinates of a point.
    const COORDINATES: usize;
    /// The allowed orders.
    const ORDERS: Limits<usize>;
    /// The allowed opening or coupling criteria.
    const THETAS: Limits<f64>;
    /// A point.
    type Point<T: Real>: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// The interaction between two points.
    type Kernel: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// A quantity that a sum produces at every target.
    type Output: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;

    /// The points whose coordinates are stored one after the other in `numbers`.
    fn points<T: Real>(numbers: &[T]) -> &[Self::Point<T>];
    /// The name of a kernel.
    fn kernel_name(kernel: Self::Kernel) -> &'static str;
    /// The name of an output.
    fn output_name(output: Self::Output) -> &'static str;
    /// The number of values per source: the components of a strength.
    fn strength_components(kernel: Self::Kernel) -> usize;
    /// The number of values per target of an output.
    fn output_components(kernel: Self::Kernel, output: Self::Output) -> usize;
    /// The outputs of a kernel, the default one first.
    fn outputs(kernel: Self::Kernel) -> &'static [Self::Output];
    /// The column of an output's absolute contributions, and their factor.
    #[doc(hidden)]
    fn absolute_column(kernel: Self::Kernel, output: Self::Output) -> (usize, f64);
    /// The name, components and absolute contributions of an output, for measurements.
    #[doc(hidden)]
    fn output_kind(kernel: Self::Kernel, output: Self::Output) -> OutputKind {
        OutputKind {
            name: Self::output_name(output),
            components: Self::output_components(kernel, output),
            absolute: Self::absolute_column(kernel, output),
        }
    }
    /// Refuses outputs, constants and methods that do not fit the kernel.
    #[doc(hidden)]
    fn validate_kernel(request: &Request<Self>) -> Result<(), Error>;
    /// Compares a field with the exact sum at the chosen targets, for every vector and output.
    #[doc(hidden)]
    fn compare_with_truth<T: Real>(
        sum: &Sum<T, Self>,
        strengths: &[T],
        field: &Field<T, Self>,
        chosen: &[usize],
        found: &mut [Vec<Sample>],
    );
}

/// A range of values, and its text for messages.
#[derive(Debug, Clone)]
pub struct Limits<V> {
    /// The values.
    pub range: RangeInclusive<V>,
    /// The text of the range.
    pub text: &'static str,
}

impl Geometry for Space {
    const COORDINATES: usize = 3;
    const ORDERS: Limits<usize> = Limits {
        range: 0..=crate::expansion::MAX_ORDER,
        text: "0 to 52",
    };
    const THETAS: Limits<f64> = Limits {
        // The largest number below one.
        range: 0.0..=1.0 - 0.5 * f64::EPSILON,
        text: "0 <= theta < 1",
    };
    type Point<T: Real> = [T; 3];
    type Kernel = kernel::Kernel;
    type Output = kernel::Output;

    fn points<T: Real>(numbers: &[T]) -> &[[T; 3]] {
        numbers.as_chunks().0
    }

    fn kernel_name(kernel: Self::Kernel) -> &'static str {
        kernel.name()
    }

    fn output_name(output: Self::Output) -> &'static str {
        output.name()
    }

    fn strength_components(kernel: Self::Kernel) -> usize {
        kernel.strength_components()
    }

    fn output_components(_: Self::Kernel, output: Self::Output) -> usize {
        output.components()
    }

    fn outputs(kernel: Self::Kernel) -> &'static [Self::Output] {
        kernel.outputs()
    }

    fn absolute_column(kernel: Self::Kernel, output: Self::Output) -> (usize, f64) {
        (output.derivatives(), kernel.scale(output).abs())
    }

    fn validate_kernel(request: &Request<Self>) -> Result<(), Error> {
        kernel::validate(request)
    }

    fn compare_with_truth<T: Real>(
        sum: &Sum<T, Self>,
        strengths: &[T],
        field: &Field<T, Self>,
        chosen: &[usize],
        found: &mut [Vec<Sample>],
    ) {
        verify::compare(sum, strengths, field, chosen, found);
    }
}

impl Geometry for Plane {
    const COORDINATES: usize = 2;
    const ORDERS: Limits<usize> = Limits {
        range: 1..=plane::MAX_ORDER,
        text: "1 to 60",
    };
    const THETAS: Limits<f64> = Limits {
        range: 0.1..=0.8,
        text: "0.1 to 0.8",
    };
    type Point<T: Real> = [T; 2];
    type Kernel = plane::Interaction;
    type Output = plane::Output;

    fn points<T: Real>(numbers: &[T]) -> &[[T; 2]] {
        numbers.as_chunks().0
    }

    fn kernel_name(kernel: Self::Kernel) -> &'static str {
        kernel.kernel.name()
    }

    fn output_name(output: Self::Output) -> &'static str {
        output.name()
    }

    fn strength_components(kernel: Self::Kernel) -> usize {
        kernel.strength_components()
    }

    fn output_components(kernel: Self::Kernel, output: Self::Output) -> usize {
        output.components(kernel.kernel, kernel.complex)
    }

    fn outputs(kernel: Self::Kernel) -> &'static [Self::Output] {
        kernel.kernel.outputs(kernel.core)
    }

    fn absolute_column(kernel: Self::Kernel, output: Self::Output) -> (usize, f64) {
        let (_, factor) = output.of_sums(kernel.kernel);
        (output.derivatives(), factor.abs())
    }

    fn validate_kernel(request: &Request<Self>) -> Result<(), Error> {
        plane::validate(request)
    }

    fn compare_with_truth<T: Real>(
        sum: &Sum<T, Self>,
        strengths: &[T],
        field: &Field<T, Self>,
        chosen: &[usize],
        found: &mut [Vec<Sample>],
    ) {
        plane::compare(sum, strengths, field, chosen, found);
    }
}
