//! The interactions of the plane: formulas, signs, self terms.
//!
//! Points are complex numbers $z = x + iy$, strengths $\gamma_j$ real or complex:
//!
//! | kernel | potential | derivative | second derivative |
//! |---|---|---|---|
//! | [`Kernel::Harmonic`] | $\sum_j \gamma_j/(z_j-z_i)$ | $\sum_j \gamma_j/(z_j-z_i)^2$ | $\sum_j 2\gamma_j/(z_j-z_i)^3$ |
//! | [`Kernel::Log`] | $\sum_j \gamma_j\log\lvert z_i-z_j\rvert$ | $\sum_j \gamma_j/(z_i-z_j)$ | $-\sum_j \gamma_j/(z_i-z_j)^2$ |
//!
//! Derivatives are $d/dz_i$. The first derivative of the logarithm for real strengths is $\phi_x - i\phi_y$, so a
//! point vortex of circulation $\Gamma$ has the velocity $u - iv = \frac{1}{2\pi i}\phi'$ with $\gamma=\Gamma$. A
//! regularised field is not analytic: [`Kernel::outputs`] lists its outputs.
//!
//! When the sources are the targets, $i=j$ is skipped. For two distinct points at the same place, the singular core
//! skips the pair, and the other cores add their finite value.

use super::special::exponential_integral;
use crate::error::Error;
use crate::geometry::Plane;
use crate::sum::{Method, Request};
use std::fmt;

/// An interaction between points of the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Kernel {
    /// $\phi(z_i) = \sum_j \gamma_j f(r)/(z_j-z_i)$, complex (Goude and Engblom, eq. 5.1).
    #[cfg_attr(feature = "serde", serde(rename = "harmonic2d"))]
    Harmonic,
    /// $\phi(z_i) = \sum_j \gamma_j g(r)$, with $g = \log r$ away from the core.
    #[cfg_attr(feature = "serde", serde(rename = "log2d"))]
    Log,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 2] = [Kernel::Harmonic, Kernel::Log];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Harmonic => "harmonic2d",
            Kernel::Log => "log2d",
        }
    }

    /// One line for lists of kernels.
    pub fn about(self) -> &'static str {
        match self {
            Kernel::Harmonic => "In the plane: the complex potential sum of gamma_j/(z_j - z_i)",
            Kernel::Log => "In the plane: the potential sum of gamma_j log|z_i - z_j|",
        }
    }

    /// The outputs for a core: [`Output::ALL`] for the singular core. The field of the others is not analytic and has
    /// no complex derivative, so they have the outputs up to the field itself.
    ///
    /// ```
    /// use farfield_core::plane::{Core, Kernel, Output};
    /// assert_eq!(Kernel::Harmonic.outputs(Core::Singular), Output::ALL);
    /// assert_eq!(Kernel::Harmonic.outputs(Core::Gaussian), [Output::Potential]);
    /// assert_eq!(Kernel::Log.outputs(Core::Gaussian), [Output::Potential, Output::Derivative]);
    /// ```
    pub fn outputs(self, core: Core) -> &'static [Output] {
        const ALL: &[Output] = &Output::ALL;
        match (self, core) {
            (_, Core::Singular) => ALL,
            (Kernel::Harmonic, _) => &ALL[..1],
            (Kernel::Log, _) => &ALL[..2],
        }
    }

    /// The number of sums per target for all outputs with up to `derivatives` derivatives. With $w = 1/(z_i-z_j)$,
    /// they are the real and imaginary parts of $\sum\gamma w$, $\sum\gamma w^2$ and so on; for the logarithm,
    /// $\sum\gamma\log r$ comes before them.
    pub fn sums(self, derivatives: usize) -> usize {
        match self {
            Kernel::Harmonic => 2 * (derivatives + 1),
            Kernel::Log => 1 + 2 * derivatives,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The regularisation of a source of core size $\sigma$: the field $1/r$ becomes $f(r)/r$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Core {
    /// $f = 1$; coincident pairs are skipped.
    #[default]
    Singular,
    /// A Gaussian blob (Lamb-Oseen vortex): $f = 1-e^{-r^2/\sigma^2}$, $g = \log r + \frac12 E_1(r^2/\sigma^2)$.
    Gaussian,
    /// An algebraic blob: $f = r^2/(r^2+\sigma^2)$, $g = \frac12\log(r^2+\sigma^2)$. It approaches the singular field
    /// slowly, with relative error $\sigma^2/r^2$.
    Algebraic,
}

impl Core {
    /// All cores.
    pub const ALL: [Core; 3] = [Core::Singular, Core::Gaussian, Core::Algebraic];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Core::Singular => "singular",
            Core::Gaussian => "gaussian",
            Core::Algebraic => "algebraic",
        }
    }

    /// The distance from a source of core size `size` up to which its field differs from the singular one by more than
    /// the relative `tolerance`.
    pub fn reach(self, size: f64, tolerance: f64) -> f64 {
        match self {
            Core::Singular => 0.0,
            Core::Gaussian => size * (1.0 / tolerance).ln().sqrt(),
            Core::Algebraic => size / tolerance.sqrt(),
        }
    }
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kernel, the core of its sources, and whether their strengths are complex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interaction {
    /// The kernel.
    pub kernel: Kernel,
    /// The core of the sources.
    pub core: Core,
    /// Whether strengths are complex: two numbers for each source.
    pub complex: bool,
}

impl From<Kernel> for Interaction {
    /// Singular sources of real strength.
    fn from(kernel: Kernel) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            complex: false,
        }
    }
}

impl Interaction {
    /// Numbers per source.
    pub fn strength_components(self) -> usize {
        1 + usize::from(self.complex)
    }
}

/// Checks that the outputs and the method fit the kernel.
pub(crate) fn validate(request: &Request<Plane>) -> Result<(), Error> {
    let Interaction { kernel, core, .. } = request.kernel;
    let known = kernel.outputs(core);
    if let Some(output) = request.outputs.iter().find(|output| !known.contains(output)) {
        let names: Vec<&str> = known.iter().map(|known| known.name()).collect();
        return Err(Error::NotAnalytic {
            kernel: kernel.name(),
            core: core.name(),
            output: output.name(),
            known: names.join(", "),
        });
    }
    match request.options.method {
        method @ Method::Treecode => Err(Error::MethodInPlane { method: method.name() }),
        _ => Ok(()),
    }
}

/// A quantity the sum can produce at every target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Output {
    /// The potential: real and imaginary part; one number for the logarithm of real strengths.
    Potential,
    /// Its derivative $d/dz$: real and imaginary part.
    Derivative,
    /// Its second derivative $d^2/dz^2$: real and imaginary part.
    SecondDerivative,
}

impl Output {
    /// All outputs, in the order of their derivatives.
    pub const ALL: [Output; 3] = [Output::Potential, Output::Derivative, Output::SecondDerivative];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Output::Potential => "potential",
            Output::Derivative => "derivative",
            Output::SecondDerivative => "second-derivative",
        }
    }

    /// The number of derivatives of the potential in this output.
    pub fn derivatives(self) -> usize {
        self as usize
    }

    /// The index of the output's first sum among the sums of a target ([`Kernel::sums`]), and the factor of its sums.
    /// The potential of the logarithm is one sum for each part of the strengths; every other output is a complex
    /// number in two sums.
    pub fn of_sums(self, kernel: Kernel) -> (usize, f64) {
        match (kernel, self) {
            (Kernel::Harmonic, Output::Potential) => (0, -1.0),
            (Kernel::Harmonic, Output::Derivative) => (2, 1.0),
            (Kernel::Harmonic, Output::SecondDerivative) => (4, -2.0),
            (Kernel::Log, Output::Potential) => (0, 1.0),
            (Kernel::Log, Output::Derivative) => (1, 1.0),
            (Kernel::Log, Output::SecondDerivative) => (3, -1.0),
        }
    }

    /// The largest number of derivatives in any of `outputs`.
    pub fn most_derivatives(outputs: &[Output]) -> usize {
        outputs.iter().map(|output| output.derivatives()).max().unwrap_or(0)
    }

    /// Numbers per target, for complex or real strengths.
    pub fn components(self, kernel: Kernel, complex: bool) -> usize {
        match (kernel, self) {
            (Kernel::Log, Output::Potential) => 1 + usize::from(complex),
            _ => 2,
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The contribution of one source to an output, in double precision: the definition that sums are tested against. `d`
/// is target minus source.
pub(crate) fn pair(kernel: Kernel, core: Core, output: Output, d: [f64; 2], strength: [f64; 2], size: f64) -> [f64; 2] {
    let r2 = d[0] * d[0] + d[1] * d[1];
    let core = if size > 0.0 { core } else { Core::Singular };
    if core == Core::Singular && r2 == 0.0 {
        return [0.0; 2];
    }
    let [gr, gi] = strength;
    // f/r^2
    let weight = match core {
        Core::Singular => 1.0 / r2,
        Core::Gaussian if r2 == 0.0 => 1.0 / (size * size),
        Core::Gaussian => -(-r2 / (size * size)).exp_m1() / r2,
        Core::Algebraic => 1.0 / (r2 + size * size),
    };
    // 1/(z_i - z_j) = (dx - i dy)/r^2
    let inverse = [d[0] * weight, -d[1] * weight];
    let product = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c - b * d, a * d + b * c];
    let square = product(inverse, inverse);
    let times = |factor: f64, power: [f64; 2]| product([factor * gr, factor * gi], power);
    match (kernel, output) {
        (Kernel::Harmonic, Output::Potential) => times(-1.0, inverse),
        (Kernel::Harmonic, Output::Derivative) => times(1.0, square),
        (Kernel::Harmonic, Output::SecondDerivative) => times(-2.0, product(square, inverse)),
        (Kernel::Log, Output::Derivative) => times(1.0, inverse),
        (Kernel::Log, Output::SecondDerivative) => times(-1.0, square),
        (Kernel::Log, Output::Potential) => {
            let log = match core {
                Core::Singular => 0.5 * r2.ln(),
                Core::Gaussian => smooth_log(r2, size),
                Core::Algebraic => 0.5 * (r2 + size * size).ln(),
            };
            [gr * log, gi * log]
        }
    }
}

/// $\log r + \frac12 E_1(r^2/\sigma^2)$, finite at $r=0$.
pub(crate) fn smooth_log(r2: f64, size: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let x = r2 / (size * size);
    if x < 1e-300 {
        return size.ln() - 0.5 * EULER;
    }
    0.5 * (r2.ln() + exponential_integral(x))
}
