//! Sums in one call.

use crate::kernel::{Core, Kernel, Output, Sizes, Softening};
use crate::{Device, Error, Field, Method, Precision, Sum};
use std::borrow::Cow;

/// The potential $\phi(x_i)=\sum_{j\ne i} q_j/|x_i-x_j|$ of `charges` at `sources`.
///
/// ```
/// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// let field = farfield::coulomb::<f64>(&sources, &[1.0, 3.0]).gradient().evaluate()?;
/// assert!((field.potential()[0] - 1.5).abs() < 1e-6);
/// assert!((field.gradient()[0][0] - 0.75).abs() < 1e-6); // towards the larger potential
/// # Ok::<(), farfield::Error>(())
/// ```
pub fn coulomb<'a, T: Precision>(sources: &'a [[T; 3]], charges: &'a [T]) -> CoulombSum<'a, T> {
    CoulombSum {
        sum: Sum::new(Kernel::Coulomb, sources),
        outputs: vec![Output::Potential],
        strengths: charges.into(),
        refused: None,
    }
}

/// The potential and acceleration of `masses` at `sources`, with Newton's constant `constant`.
///
/// ```
/// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// let field = farfield::gravity::<f64>(&sources, &[1.0, 4.0], 1.0).evaluate()?;
/// assert!((field.acceleration()[0][0] - 1.0).abs() < 1e-6); // towards the other mass
/// # Ok::<(), farfield::Error>(())
/// ```
pub fn gravity<'a, T: Precision>(sources: &'a [[T; 3]], masses: &'a [T], constant: f64) -> GravitySum<'a, T> {
    GravitySum {
        sum: Sum::new(Kernel::gravity(constant), sources),
        outputs: vec![Output::Potential, Output::Acceleration],
        strengths: masses.into(),
        refused: None,
    }
}

/// The velocity that vortex elements of the given strengths induce.
///
/// ```
/// use farfield::kernel::{Core, Sizes};
/// let sources = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
/// let strengths = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];
/// let field = farfield::biot_savart(&sources, &strengths).core(Core::Gaussian, Sizes::Global(0.1)).evaluate()?;
/// assert!((field.velocity()[1][1] - 0.25 / std::f64::consts::PI).abs() < 1e-6);
/// # Ok::<(), farfield::Error>(())
/// ```
pub fn biot_savart<'a, T: Precision>(sources: &'a [[T; 3]], strengths: &'a [[T; 3]]) -> BiotSavartSum<'a, T> {
    let kernel = Kernel::BiotSavart { core: Core::Singular };
    BiotSavartSum {
        sum: Sum::new(kernel, sources),
        outputs: vec![Output::Velocity],
        strengths: strengths.as_flattened().into(),
        refused: None,
    }
}

macro_rules! one_call {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[must_use = "nothing is summed before `evaluate`"]
        pub struct $name<'a, T: Precision> {
            sum: Sum<'a, T>,
            outputs: Vec<Output>,
            strengths: Cow<'a, [T]>,
            /// What is wrong with the strengths, for `evaluate` to say.
            refused: Option<Error>,
        }

        impl<'a, T: Precision> $name<'a, T> {
            /// Evaluate at other points than the sources.
            pub fn targets(mut self, targets: &'a [[T; 3]]) -> Self {
                self.sum = self.sum.targets(targets);
                self
            }

            /// The relative error allowed in each output; see [`Sum::tolerance`].
            pub fn tolerance(mut self, tolerance: f64) -> Self {
                self.sum = self.sum.tolerance(tolerance);
                self
            }

            /// The method; by default the fastest.
            pub fn method(mut self, method: Method) -> Self {
                self.sum = self.sum.method(method);
                self
            }

            /// Where to sum; on the CPU if not said.
            pub fn device(mut self, device: Device) -> Self {
                self.sum = self.sum.device(device);
                self
            }

            /// Sums.
            ///
            /// # Errors
            /// Any of [`Error`], naming the value that is wrong and where it is, or what is wrong with the device.
            pub fn evaluate(self) -> Result<Field<T>, Error> {
                match self.refused {
                    Some(error) => Err(error),
                    None => self.sum.outputs(&self.outputs).plan()?.evaluate(&self.strengths),
                }
            }
        }
    };
}

one_call! {
    /// A Coulomb sum; made by [`coulomb`].
    CoulombSum
}
one_call! {
    /// A gravity sum; made by [`gravity`].
    GravitySum
}
one_call! {
    /// A Biot-Savart sum; made by [`biot_savart`].
    BiotSavartSum
}

impl<T: Precision> CoulombSum<'_, T> {
    /// Also dipoles at the sources, one moment each: $\phi$ grows by $\sum p_j\cdot r/r^3$, $r = x_i-x_j$. Where there are
    /// dipoles alone, the charges may be left empty.
    ///
    /// ```
    /// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    /// let moments = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    /// let field = farfield::coulomb::<f64>(&sources, &[]).dipoles(&moments).evaluate()?;
    /// assert!((field.potential()[1] - 0.25).abs() < 1e-6);
    /// # Ok::<(), farfield::Error>(())
    /// ```
    pub fn dipoles(mut self, moments: &[[T; 3]]) -> Self {
        let charges = &self.strengths;
        if !charges.is_empty() && charges.len() != moments.len() {
            self.refused = Some(Error::Length {
                array: "dipoles",
                found: 3 * moments.len(),
                expected: 3 * charges.len(),
                why: format!("3 numbers for each of {} charges", charges.len()),
            });
            return self;
        }
        let source = |(k, p): (usize, &[T; 3])| [charges.get(k).copied().unwrap_or(T::ZERO), p[0], p[1], p[2]];
        self.strengths = moments.iter().enumerate().flat_map(source).collect();
        self.sum = self.sum.kernel(Kernel::CoulombDipoles);
        self
    }

    /// Also the gradient of the potential.
    pub fn gradient(mut self) -> Self {
        self.outputs.push(Output::Gradient);
        self
    }

    /// Also the second derivatives of the potential.
    pub fn hessian(mut self) -> Self {
        self.outputs.push(Output::Hessian);
        self
    }
}

impl<T: Precision> GravitySum<'_, T> {
    /// Softening, one length or one per source; by Plummer's spheres, or as [`GravitySum::softening_kernel`] says.
    pub fn softening(mut self, softening: Sizes<T>) -> Self {
        self.sum = self.sum.sizes(softening);
        self
    }

    /// What softened masses attract like.
    pub fn softening_kernel(mut self, softening: Softening) -> Self {
        if let Kernel::Gravity { constant, .. } = self.sum.present_kernel() {
            self.sum = self.sum.kernel(Kernel::Gravity { constant, softening });
        }
        self
    }
}

impl<T: Precision> BiotSavartSum<'_, T> {
    /// A regularised core, one size or one per source.
    pub fn core(mut self, core: Core, sizes: Sizes<T>) -> Self {
        self.sum = self.sum.kernel(Kernel::BiotSavart { core }).sizes(sizes);
        self
    }

    /// Also the velocity gradient.
    pub fn velocity_gradient(mut self) -> Self {
        self.outputs.push(Output::VelocityGradient);
        self
    }
}
