//! Sums in one call.

use crate::kernel::{Core, Kernel, Output};
use crate::{Precision, Sum};

/// The potential $\phi(x_i)=\sum_{j\ne i} q_j/|x_i-x_j|$ of `charges` at `sources`.
///
/// ```
/// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// let field = farfield::coulomb::<f64>(&sources, &[1.0, 3.0]).gradient().evaluate()?;
/// assert!((field.potential()[0] - 1.5).abs() < 1e-6);
/// assert!((field.gradient()[0][0] - 0.75).abs() < 1e-6); // towards the larger potential
/// # Ok::<(), farfield::Error>(())
/// ```
pub fn coulomb<'a, T: Precision>(sources: &'a [[T; 3]], charges: &'a [T]) -> Sum<'a, T> {
    Sum::new(Kernel::Coulomb, sources).strengths(charges)
}

/// The potential and acceleration of `masses` at `sources`, with Newton's constant `constant`.
///
/// ```
/// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// let field = farfield::gravity::<f64>(&sources, &[1.0, 4.0], 1.0).evaluate()?;
/// assert!((field.acceleration()[0][0] - 1.0).abs() < 1e-6); // towards the other mass
/// # Ok::<(), farfield::Error>(())
/// ```
pub fn gravity<'a, T: Precision>(sources: &'a [[T; 3]], masses: &'a [T], constant: f64) -> Sum<'a, T> {
    let sum = Sum::new(Kernel::gravity(constant), sources).strengths(masses);
    sum.outputs(&[Output::Potential, Output::Acceleration])
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
pub fn biot_savart<'a, T: Precision>(sources: &'a [[T; 3]], strengths: &'a [[T; 3]]) -> Sum<'a, T> {
    Sum::new(Kernel::BiotSavart { core: Core::Singular }, sources).strengths(strengths.as_flattened())
}
