//! Results of a sum.

use super::units::largest_magnitude;
use crate::check::{Check, Warning};
use crate::error::Error;
use crate::geometry::{Geometry, Space};
use crate::kernel::Output;
use crate::pages::zeroed;
use crate::simd::Real;
use crate::sum::Request;

/// Results in the caller's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<T, G: Geometry = Space> {
    outputs: Vec<G::Output>,
    components: Vec<usize>,
    vectors: usize,
    targets: usize,
    /// One array per output: vector by vector, target by target, component by component.
    pub(crate) values: Vec<Vec<T>>,
    /// The error that the evaluation measured.
    pub(crate) check: Option<Check>,
}

impl<T: Real, G: Geometry> Field<T, G> {
    /// A field of zeros for the outputs of a request at `targets` targets.
    pub fn zeros(request: &Request<G>, targets: usize) -> Self {
        let mut field = Self::unfilled(request, targets);
        for (values, components) in field.values.iter_mut().zip(&field.components) {
            *values = zeroed(T::ZERO, field.vectors * targets * components);
        }
        field
    }

    /// A field of values from another engine, one array per output in the layout of [`Field::get`]; `strengths` is the
    /// largest magnitude of the strengths.
    ///
    /// # Errors
    /// [`Error::Length`] if an array does not have `vectors * targets * components` values, [`Error::Overflow`] if a value is
    /// not finite.
    pub fn from_values(
        request: &Request<G>,
        targets: usize,
        values: Vec<Vec<T>>,
        strengths: f64,
    ) -> Result<Self, Error> {
        let mut field = Self::unfilled(request, targets);
        let vectors = field.vectors;
        let lengths = field.components.iter().map(|components| vectors * targets * components);
        if !values.iter().map(Vec::len).eq(lengths.clone()) {
            return Err(Error::Length {
                array: "field",
                found: values.iter().map(Vec::len).sum(),
                expected: lengths.sum(),
                why: format!(
                    "{vectors} vectors x {targets} targets of {} outputs",
                    field.outputs.len()
                ),
            });
        }
        field.values = values;
        field.check_finite(strengths)?;
        Ok(field)
    }

    /// For engines: a field with empty arrays, which [`Field::refill`] fills.
    pub fn unfilled(request: &Request<G>, targets: usize) -> Self {
        let components = |output: &G::Output| G::output_components(request.kernel, *output);
        Self {
            values: vec![Vec::new(); request.outputs.len()],
            check: None,
            outputs: request.outputs.clone(),
            components: request.outputs.iter().map(components).collect(),
            vectors: request.vectors,
            targets,
        }
    }

    /// For engines: fills the arrays by `fill`, which puts the values of each output into its array and returns the
    /// largest magnitude of the strengths. After an error the field keeps its shape.
    ///
    /// # Errors
    /// Any error of `fill`, or [`Error::Overflow`] if a value is not finite.
    pub fn refill(&mut self, fill: impl FnOnce(&mut [Vec<T>]) -> Result<f64, Error>) -> Result<(), Error> {
        self.check = None;
        let filled = fill(&mut self.values);
        for (values, components) in self.values.iter_mut().zip(&self.components) {
            values.resize(self.vectors * self.targets * components, T::ZERO);
        }
        self.check_finite(filled?)
    }

    /// Checks that the field was made for this request and `targets` targets.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn check_shape(&self, request: &Request<G>, targets: usize) -> Result<(), Error> {
        if self.outputs == request.outputs && self.vectors == request.vectors && self.targets == targets {
            return Ok(());
        }
        Err(Error::Length {
            array: "field",
            found: self.targets * self.vectors,
            expected: targets * request.vectors,
            why: "a field made by this plan's `field`".to_owned(),
        })
    }

    /// Checks that all values are finite; `strengths` is the largest magnitude of the strengths.
    pub(crate) fn check_finite(&self, strengths: f64) -> Result<(), Error> {
        for (at, values) in self.values.iter().enumerate() {
            largest_magnitude(values).map_err(|value| Error::Overflow {
                output: G::output_name(self.outputs[at]),
                target: value / self.components[at] % self.targets,
                largest: T::LARGEST,
                strengths,
                precision: T::NAME,
                hint: if T::EPSILON > 1e-10 { ", or f64" } else { "" },
            })?;
        }
        Ok(())
    }

    /// The outputs of the field.
    pub fn outputs(&self) -> &[G::Output] {
        &self.outputs
    }

    /// The number of values per target of an output; `None` if it was not requested.
    pub fn components(&self, output: G::Output) -> Option<usize> {
        self.position(output).map(|at| self.components[at])
    }

    fn position(&self, output: G::Output) -> Option<usize> {
        self.outputs.iter().position(|o| *o == output)
    }

    /// All values of an output: `values[(vector * targets + target) * components + component]`.
    ///
    /// `None` if the output was not requested.
    pub fn get(&self, output: G::Output) -> Option<&[T]> {
        self.position(output).map(|at| &self.values[at][..])
    }

    /// The values of an output for one strength vector, target by target.
    pub fn of_vector(&self, output: G::Output, vector: usize) -> Option<&[T]> {
        let at = self.position(output)?;
        let length = self.targets * self.components[at];
        self.values[at].get(vector * length..(vector + 1) * length)
    }

    /// The error that the evaluation measured; `None` if the check is off.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// The reasons why outputs miss the tolerance; empty if all meet it, or if no error was measured.
    pub fn warnings(&self) -> &[Warning] {
        self.check.as_ref().map_or(&[], |check| &check.warnings)
    }

    /// Sets the measured error of values that another engine summed.
    pub fn set_check(&mut self, check: Option<Check>) {
        self.check = check;
    }

    /// Copies the measured error of another field, reusing existing memory.
    pub(crate) fn copy_check(&mut self, other: &Self) {
        match (&mut self.check, &other.check) {
            (Some(check), Some(other)) => check.copy_from(other),
            (check, other) => check.clone_from(other),
        }
    }

    /// The values, one array per output.
    pub fn into_values(self) -> Vec<Vec<T>> {
        self.values
    }

    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// The number of strength vectors.
    pub fn vectors(&self) -> usize {
        self.vectors
    }
}

impl<T: Real> Field<T> {
    fn vectors_of<const C: usize>(&self, output: Output) -> &[[T; C]] {
        self.get(output).unwrap_or(&[]).as_chunks().0
    }

    /// The potential at each target; empty if it was not requested.
    pub fn potential(&self) -> &[T] {
        self.get(Output::Potential).unwrap_or(&[])
    }

    /// The gradient of the potential at each target; empty if it was not requested.
    pub fn gradient(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Gradient)
    }

    /// The Hessian xx, xy, xz, yy, yz, zz at each target; empty if it was not requested.
    pub fn hessian(&self) -> &[[T; 6]] {
        self.vectors_of(Output::Hessian)
    }

    /// The acceleration at each target; empty if it was not requested.
    pub fn acceleration(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Acceleration)
    }

    /// The velocity at each target; empty if it was not requested.
    pub fn velocity(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Velocity)
    }

    /// The velocity gradient at each target, row by row; empty if it was not requested.
    pub fn velocity_gradient(&self) -> &[[T; 9]] {
        self.vectors_of(Output::VelocityGradient)
    }
}
