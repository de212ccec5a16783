//! The interactions: what is summed, with its sign, its normalisation and its self term.
//!
//! With $r = x_i - y_j$ (target minus source):
//!
//! | kernel | strengths | outputs |
//! |---|---|---|
//! | [`Kernel::Coulomb`] | charge $q_j$ | potential $\sum q_j/r$, its gradient and Hessian |
//! | [`Kernel::Gravity`] | mass $m_j$ | potential $-G\sum m_j/\sqrt{r^2+\epsilon_j^2}$, acceleration |
//! | [`Kernel::BiotSavart`] | vector $\gamma_j$ | velocity $\frac1{4\pi}\sum \gamma_j\times r\\,K(r)$, its gradient |
//!
//! When the sources are the targets, $i=j$ is skipped for every kernel. A distinct pair at the same place is skipped
//! by the singular kernels (Coulomb, gravity without softening, Biot-Savart with [`Core::Singular`]) and counted with
//! the kernel's finite value by the others.
//!
//! Only this module, and P2M, L2P, M2P, P2L through it, know the kernel; expansions and translations do not.

mod biot_savart;
mod coulomb;
mod far;
mod pair;
pub(crate) mod reference;

pub(crate) use biot_savart::{
    Gaussian, HuPolynomial, SingularVortex, VortexGradient, VortexVelocity, WinckelmansLeonard,
};
pub(crate) use coulomb::{CoulombGradient, CoulombHessian, CoulombPotential, PlummerGradient, PlummerPotential};
pub use far::sums_of;
pub(crate) use far::{FarOutputs, Side};
pub(crate) use pair::Pair;

use std::fmt;

/// An interaction between points in three dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// $\phi(x) = \sum_j q_j/|x-y_j|$, no factor $4\pi$; $\nabla\phi$ and $\nabla\nabla\phi$.
    Coulomb,
    /// $\phi(x) = -G\sum_j m_j/\sqrt{|x-y_j|^2+\epsilon_j^2}$ and the acceleration $-\nabla\phi$.
    ///
    /// The softening length $\epsilon$ is one number or one per source ([`Sizes`]); zero or none is Newton's law.
    Gravity {
        /// $G$.
        constant: f64,
    },
    /// $u(x) = \frac{1}{4\pi}\sum_j \gamma_j\times r\\, K(|r|)$ and the gradient $\partial u_i/\partial x_j$.
    BiotSavart {
        /// What $K$ is near the vortex element.
        core: Core,
    },
}

/// The regularisation of a vortex element of core size $\sigma$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Core {
    /// $K = 1/r^3$; coincident pairs are skipped.
    Singular,
    /// Winckelmans and Leonard's algebraic core $K = (r^2+\frac52\sigma^2)/(r^2+\sigma^2)^{5/2}$, which approaches
    /// $1/r^3$ slowly, with relative error $\frac{15}{8}\sigma^4/r^4$.
    WinckelmansLeonard,
    /// A Gaussian blob $e^{-r^2/2\sigma^2}$: $K = [\mathrm{erf}(s)-\frac{2}{\sqrt\pi}s e^{-s^2}]/r^3$,
    /// $s=r/\sqrt2\sigma$.
    Gaussian,
    /// Hu, Gumerov and Duraiswami (eq. 29 with c = 1): $K = 1/(\sigma^2 r)$ for $r\le\sigma$, else $1/r^3$.
    /// Continuous, but its velocity gradient is unbounded at the centre.
    HuPolynomial,
}

impl Core {
    /// All cores.
    pub const ALL: [Core; 4] = [
        Core::Singular,
        Core::WinckelmansLeonard,
        Core::Gaussian,
        Core::HuPolynomial,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Core::Singular => "singular",
            Core::WinckelmansLeonard => "winckelmans-leonard",
            Core::Gaussian => "gaussian",
            Core::HuPolynomial => "hu-polynomial",
        }
    }
}

/// Core sizes or softening lengths.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Sizes<T> {
    /// None: the kernel is singular.
    #[default]
    None,
    /// The same for every source.
    Global(T),
    /// One for each source, in the sources' order.
    PerSource(Vec<T>),
}

/// A quantity the sum can produce at every target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Output {
    /// The potential (Coulomb, gravity): one component.
    Potential,
    /// The gradient of the Coulomb potential: x, y, z.
    Gradient,
    /// The second derivatives of the Coulomb potential: xx, xy, xz, yy, yz, zz.
    Hessian,
    /// The gravitational acceleration: x, y, z.
    Acceleration,
    /// The velocity induced by vortices: x, y, z.
    Velocity,
    /// The velocity gradient, row by row: component `3 i + j` is $\partial u_i/\partial x_j$.
    VelocityGradient,
}

impl Output {
    /// All outputs.
    pub const ALL: [Output; 6] = [
        Output::Potential,
        Output::Gradient,
        Output::Hessian,
        Output::Acceleration,
        Output::Velocity,
        Output::VelocityGradient,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Output::Potential => "potential",
            Output::Gradient => "gradient",
            Output::Hessian => "hessian",
            Output::Acceleration => "acceleration",
            Output::Velocity => "velocity",
            Output::VelocityGradient => "velocity-gradient",
        }
    }

    /// Numbers per target.
    pub fn components(self) -> usize {
        match self {
            Output::Potential => 1,
            Output::Gradient | Output::Acceleration | Output::Velocity => 3,
            Output::Hessian => 6,
            Output::VelocityGradient => 9,
        }
    }

    /// How many derivatives of the (scalar or vector) potential it takes.
    pub fn derivatives(self) -> usize {
        match self {
            Output::Potential => 0,
            Output::Gradient | Output::Acceleration | Output::Velocity => 1,
            Output::Hessian | Output::VelocityGradient => 2,
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Kernel {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Coulomb => "coulomb",
            Kernel::Gravity { .. } => "gravity",
            Kernel::BiotSavart { .. } => "biot-savart",
        }
    }

    /// The outputs this kernel can produce.
    pub fn outputs(self) -> &'static [Output] {
        match self {
            Kernel::Coulomb => &[Output::Potential, Output::Gradient, Output::Hessian],
            Kernel::Gravity { .. } => &[Output::Potential, Output::Acceleration],
            Kernel::BiotSavart { .. } => &[Output::Velocity, Output::VelocityGradient],
        }
    }

    /// Numbers per source: one charge or mass, or a vector.
    pub fn strength_components(self) -> usize {
        match self {
            Kernel::Coulomb | Kernel::Gravity { .. } => 1,
            Kernel::BiotSavart { .. } => 3,
        }
    }

    /// What the sums over unit-normalised pairs are multiplied with to become an output.
    pub fn scale(self, output: Output) -> f64 {
        match (self, output) {
            (Kernel::Gravity { constant }, Output::Potential) => -constant,
            (Kernel::Gravity { constant }, _) => constant,
            (Kernel::BiotSavart { .. }, _) => 0.25 * std::f64::consts::FRAC_1_PI,
            (Kernel::Coulomb, _) => 1.0,
        }
    }

    /// How far from a source of core size `size` its kernel differs from the singular one by more than the relative
    /// `tolerance`; from there on the far field may use the singular kernel.
    pub fn core_reach(self, size: f64, tolerance: f64) -> f64 {
        match self {
            Kernel::Coulomb | Kernel::BiotSavart { core: Core::Singular } => 0.0,
            // 1/sqrt(r^2 + e^2) = 1/r (1 - e^2/2r^2 + ...), and 3 e^2/2r^2 for the acceleration
            Kernel::Gravity { .. } => size * (1.5 / tolerance).sqrt(),
            Kernel::BiotSavart {
                core: Core::WinckelmansLeonard,
            } => size * (1.875 / tolerance).powf(0.25),
            // 2/sqrt(pi) s exp(-s^2) < tolerance, s = r / (sqrt 2 size)
            Kernel::BiotSavart { core: Core::Gaussian } => {
                let mut s = 1.0f64;
                while s < 7.0 && std::f64::consts::FRAC_2_SQRT_PI * (s + 1.0 / s) * (-s * s).exp() > tolerance {
                    s += 0.05;
                }
                s * std::f64::consts::SQRT_2 * size
            }
            Kernel::BiotSavart {
                core: Core::HuPolynomial,
            } => size,
        }
    }

    /// Whether core sizes or softening lengths mean anything to it.
    pub(crate) fn has_sizes(self) -> bool {
        !matches!(self, Kernel::Coulomb | Kernel::BiotSavart { core: Core::Singular })
    }

    /// Whether coincident pairs are skipped (given whether any core size is in play).
    pub fn is_singular(self, has_sizes: bool) -> bool {
        match self {
            Kernel::Coulomb => true,
            Kernel::Gravity { .. } => !has_sizes,
            Kernel::BiotSavart { core } => core == Core::Singular || !has_sizes,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
