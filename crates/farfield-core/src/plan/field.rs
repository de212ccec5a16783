//! Results of a sum.

use super::units::largest_magnitude;
use crate::check::{Check, Warning};
use crate::error::Error;
use crate::kernel::Output;
use crate::pages::zeroed;
use crate::simd::Real;

/// Results in the caller's order. `O` names the outputs: those in space, or [`crate::plane::Output`].
#[derive(Debug, Clone, PartialEq)]
pub struct Field<T, O = Output> {
    outputs: Vec<O>,
    components: Vec<usize>,
    vectors: usize,
    targets: usize,
    /// One array per output: vector by vector, target by target, component by component.
    pub(crate) values: Vec<Vec<T>>,
    /// What the evaluation found out about its error.
    pub(crate) check: Option<Check>,
}

impl<T: Real> Field<T> {
    pub(super) fn of_outputs(outputs: &[Output], vectors: usize, targets: usize) -> Self {
        let components = outputs.iter().map(|output| output.components()).collect();
        Self::new(outputs, components, vectors, targets)
    }

    /// A field of values that were summed elsewhere, one array per output, laid out as [`Field::get`] returns them;
    /// `strengths` is the largest magnitude they came from.
    ///
    /// # Errors
    /// [`Error::Length`] if an array does not have `vectors * targets * components` values, [`Error::Overflow`] if some
    /// value is no number.
    pub fn from_values(
        outputs: &[Output],
        vectors: usize,
        targets: usize,
        values: Vec<Vec<T>>,
        strengths: f64,
    ) -> Result<Self, Error> {
        let components = outputs.iter().map(|output| output.components()).collect();
        Self::with_values(outputs, components, (vectors, targets), values, Output::name, strengths)
    }
}

impl<T: Real, O: Copy + PartialEq> Field<T, O> {
    /// A field of zeros, with as many numbers per target as `components` says for each output.
    pub(crate) fn new(outputs: &[O], components: Vec<usize>, vectors: usize, targets: usize) -> Self {
        let values = components
            .iter()
            .map(|components| zeroed(T::ZERO, vectors * targets * components))
            .collect();
        Self {
            outputs: outputs.to_vec(),
            components,
            vectors,
            targets,
            values,
            check: None,
        }
    }

    /// A field of values that were summed elsewhere; `size` is the number of vectors and of targets.
    pub(crate) fn with_values(
        outputs: &[O],
        components: Vec<usize>,
        (vectors, targets): (usize, usize),
        values: Vec<Vec<T>>,
        name: impl Fn(O) -> &'static str,
        strengths: f64,
    ) -> Result<Self, Error> {
        let lengths = components.iter().map(|components| vectors * targets * components);
        if !values.iter().map(Vec::len).eq(lengths.clone()) {
            return Err(Error::Length {
                array: "field",
                found: values.iter().map(Vec::len).sum(),
                expected: lengths.sum(),
                why: format!("{vectors} vectors x {targets} targets of {} outputs", outputs.len()),
            });
        }
        let field = Self {
            outputs: outputs.to_vec(),
            components,
            vectors,
            targets,
            values,
            check: None,
        };
        for output in outputs {
            field.check_fits(*output, name(*output), strengths)?;
        }
        Ok(field)
    }

    /// For engines: a field whose arrays are still empty, to be filled by [`Field::refill`]; `size` is the number of vectors
    /// and of targets, `components` the numbers per target of each output.
    pub fn unfilled(outputs: &[O], components: Vec<usize>, (vectors, targets): (usize, usize)) -> Self {
        Self {
            values: vec![Vec::new(); outputs.len()],
            check: None,
            outputs: outputs.to_vec(),
            components,
            vectors,
            targets,
        }
    }

    /// For engines: `fill` puts the values of each output into its array and returns the largest magnitude of the strengths
    /// they came from. Whatever happens, the field keeps its shape.
    ///
    /// # Errors
    /// What `fill` says, or [`Error::Overflow`] if some value is no number.
    pub fn refill(
        &mut self,
        name: impl Fn(O) -> &'static str,
        fill: impl FnOnce(&mut [Vec<T>]) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        self.check = None;
        let filled = fill(&mut self.values);
        for (values, components) in self.values.iter_mut().zip(&self.components) {
            values.resize(self.vectors * self.targets * components, T::ZERO);
        }
        let strengths = filled?;
        let mut outputs = self.outputs.iter();
        outputs.try_for_each(|output| self.check_fits(*output, name(*output), strengths))
    }

    /// Checks that the field was made for these outputs, vectors and targets.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn check_shape(&self, outputs: &[O], vectors: usize, targets: usize) -> Result<(), Error> {
        if self.has_shape(outputs, vectors, targets) {
            return Ok(());
        }
        Err(Error::Length {
            array: "field",
            found: self.targets * self.vectors,
            expected: targets * vectors,
            why: "a field made by this plan's `field`".to_owned(),
        })
    }

    /// Whether the field was made for these outputs, vectors and targets.
    pub(crate) fn has_shape(&self, outputs: &[O], vectors: usize, targets: usize) -> bool {
        self.outputs == outputs && self.vectors == vectors && self.targets == targets
    }

    /// Checks that all values of an output are numbers; `strengths` is the largest magnitude they came from.
    pub(crate) fn check_fits(&self, output: O, name: &'static str, strengths: f64) -> Result<(), Error> {
        let Some(at) = self.position(output) else {
            return Ok(());
        };
        let found = largest_magnitude(&self.values[at]);
        found.map(|_| ()).map_err(|value| Error::Overflow {
            output: name,
            target: value / self.components[at] % self.targets,
            largest: T::LARGEST,
            strengths,
            precision: T::NAME,
            hint: if T::EPSILON > 1e-10 { ", or f64" } else { "" },
        })
    }

    /// The outputs there are.
    pub fn outputs(&self) -> &[O] {
        &self.outputs
    }

    /// Numbers per target of an output; `None` if it was not asked for.
    pub fn components(&self, output: O) -> Option<usize> {
        self.position(output).map(|at| self.components[at])
    }

    fn position(&self, output: O) -> Option<usize> {
        self.outputs.iter().position(|o| *o == output)
    }

    /// All values of an output: `values[(vector * targets + target) * components + component]`.
    ///
    /// `None` if the output was not asked for.
    pub fn get(&self, output: O) -> Option<&[T]> {
        self.position(output).map(|at| &self.values[at][..])
    }

    /// The values of an output for one strength vector, target by target.
    pub fn of_vector(&self, output: O, vector: usize) -> Option<&[T]> {
        let at = self.position(output)?;
        let length = self.targets * self.components[at];
        self.values[at].get(vector * length..(vector + 1) * length)
    }

    /// The error that the evaluation measured; `None` where it was told not to.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// What the tolerance does not hold for; empty where all is well, or nothing was measured.
    pub fn warnings(&self) -> &[Warning] {
        self.check.as_ref().map_or(&[], |check| &check.warnings)
    }

    /// Hands over what was found out about the error of values that were summed elsewhere.
    pub fn set_check(&mut self, check: Option<Check>) {
        self.check = check;
    }

    /// Takes over what was found out about another field, without new memory where there is some.
    pub(crate) fn copy_check(&mut self, other: &Self) {
        match (&mut self.check, &other.check) {
            (Some(check), Some(other)) => check.copy_from(other),
            (check, other) => check.clone_from(other),
        }
    }

    /// The values alone, one array per output.
    pub fn into_values(self) -> Vec<Vec<T>> {
        self.values
    }

    /// How many targets there are.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// How many strength vectors were summed.
    pub fn vectors(&self) -> usize {
        self.vectors
    }
}

impl<T: Real> Field<T> {
    fn vectors_of<const C: usize>(&self, output: Output) -> &[[T; C]] {
        self.get(output).unwrap_or(&[]).as_chunks().0
    }

    /// The potential at each target; empty if it was not asked for.
    pub fn potential(&self) -> &[T] {
        self.get(Output::Potential).unwrap_or(&[])
    }

    /// The gradient of the potential at each target; empty if it was not asked for.
    pub fn gradient(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Gradient)
    }

    /// The Hessian xx, xy, xz, yy, yz, zz at each target; empty if it was not asked for.
    pub fn hessian(&self) -> &[[T; 6]] {
        self.vectors_of(Output::Hessian)
    }

    /// The acceleration at each target; empty if it was not asked for.
    pub fn acceleration(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Acceleration)
    }

    /// The velocity at each target; empty if it was not asked for.
    pub fn velocity(&self) -> &[[T; 3]] {
        self.vectors_of(Output::Velocity)
    }

    /// The velocity gradient at each target, row by row; empty if it was not asked for.
    pub fn velocity_gradient(&self) -> &[[T; 9]] {
        self.vectors_of(Output::VelocityGradient)
    }
}
