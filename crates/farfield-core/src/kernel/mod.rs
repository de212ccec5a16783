//! The interactions (kernels), with their signs, normalisations and self terms.
//!
//! With $r = x_i - y_j$ (target minus source):
//!
//! | kernel | strengths | outputs |
//! |---|---|---|
//! | [`Kernel::Coulomb`] | charge $q_j$ | potential $\sum q_j/r$, its gradient and Hessian |
//! | [`Kernel::CoulombDipoles`] | $q_j$ and moment $p_j$ | potential $\sum q_j/r + p_j\cdot r/r^3$, its gradient and Hessian |
//! | [`Kernel::Gravity`] | mass $m_j$ | potential $-G\sum m_j/r$, softened, and acceleration |
//! | [`Kernel::BiotSavart`] | vector $\gamma_j$ | velocity $\frac1{4\pi}\sum \gamma_j\times r\\,K(r)$, its gradient |
//!
//! When the sources are the targets, every kernel skips $i=j$. For two distinct points at the same place, the singular
//! kernels (Coulomb, dipoles, gravity without softening, Biot-Savart with [`Core::Singular`]) skip the pair, and the
//! others add the kernel's finite value.
//!
//! # A kernel is one description
//!
//! [`Kernel::description`] returns everything that the engine knows about a kernel except its loops over pairs
//! ([`Description`]): the meaning of the strengths and how the far field follows from their harmonic expansions
//! ([`Form`]), the regularisation near a source ([`Regularisation`]: reach, cost, formula), the outputs, the factors
//! and the constants of the device programs. It is used as follows:
//!
//! 1. plans, tuning, units, checks and the device programs read the description, never the kernel's name;
//! 2. P2M and P2L pass strengths to `far::FarSources`, which turns them into the expansions of the form;
//! 3. L2P and M2P call `far::FarOutputs`, which turns expansions into the sums of the form;
//! 4. P2P calls the kernel's own loops by `PairSums::add_vectors`;
//! 5. the true sums (`reference`) follow from the form and the plain formula of the regularisation.
//!
//! Only this module distinguishes kernels; expansions and translations do not. `docs/notes/adding-a-kernel.md` lists
//! the files to change for a new kernel.

mod at_once;
mod biot_savart;
mod coulomb;
mod description;
mod dipole;
mod far;
mod gaussian;
mod gravity;
mod pair;
pub(crate) mod reference;
#[cfg(test)]
mod tests;

pub use biot_savart::Core;
pub use description::{Description, Form, Regularisation};
pub(crate) use far::{FarOutputs, FarSources, Side};
pub use gravity::Softening;
pub(crate) use pair::Pair;

use crate::error::Error;
use crate::geometry::Space;
use crate::p2p::{Block, MutualBlock, PairSums, Pairs, Skip};
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};
use crate::sum::{Request, parameter};
use std::fmt;

/// An interaction between points in three dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Kernel {
    /// $\phi(x) = \sum_j q_j/|x-y_j|$, no factor $4\pi$; $\nabla\phi$ and $\nabla\nabla\phi$.
    Coulomb,
    /// $\phi(x) = \sum_j q_j/|r| + p_j\cdot r/|r|^3$, $r = x-y_j$; $\nabla\phi$ and $\nabla\nabla\phi$.
    ///
    /// A source has four numbers: its charge and the three components of its dipole moment, any of which may be zero.
    CoulombDipoles,
    /// $\phi(x) = -G\sum_j m_j/|x-y_j|$ and the acceleration $-\nabla\phi$, softened near the masses.
    ///
    /// The softening length $\epsilon$ is one number or one per source ([`Sizes`]). Without it, or with a length of
    /// zero, the kernel is Newton's law.
    Gravity {
        /// The gravitational constant $G$.
        constant: f64,
        /// The shape of a mass of softening length $\epsilon$.
        softening: Softening,
    },
    /// $u(x) = \frac{1}{4\pi}\sum_j \gamma_j\times r\\, K(|r|)$ and the gradient $\partial u_i/\partial x_j$.
    BiotSavart {
        /// The form of $K$ near the vortex element.
        core: Core,
    },
}

/// Core sizes or softening lengths.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Sizes<T> {
    /// No sizes: the kernel is singular.
    #[default]
    None,
    /// One size for all sources.
    Global(T),
    /// One size per source, in the order of the sources.
    PerSource(Vec<T>),
}

impl<T: Real> Sizes<T> {
    /// The largest size; zero without sizes.
    pub fn largest(&self) -> f64 {
        match self {
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes.iter().map(|size| size.to_f64()).fold(0.0, f64::max),
        }
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

    /// The number of derivatives of the (scalar or vector) potential in this output.
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
    /// Gravity with the gravitational constant `constant`, with Plummer softening where sizes are given.
    pub const fn gravity(constant: f64) -> Self {
        Kernel::Gravity {
            constant,
            softening: Softening::Plummer,
        }
    }

    /// Every kernel, with every core and softening.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Kernel::Coulomb, Kernel::CoulombDipoles];
        all.extend(Softening::ALL.map(|softening| Kernel::Gravity {
            constant: 1.0,
            softening,
        }));
        all.extend(Core::ALL.map(|core| Kernel::BiotSavart { core }));
        all
    }

    /// The description of this kernel.
    pub fn description(self) -> Description {
        match self {
            Kernel::Coulomb => coulomb::DESCRIPTION,
            Kernel::CoulombDipoles => dipole::DESCRIPTION,
            Kernel::Gravity { constant, softening } => gravity::description(constant, softening),
            Kernel::BiotSavart { core } => biot_savart::description(core),
        }
    }

    /// The cost of a pair in the loop that evaluates it once for both of its points, relative to evaluating it once
    /// for each. `None` if there is no such loop or it is never faster.
    pub(crate) fn mutual_cost<T: Real>(pairs: &Pairs, simd: SimdLevel) -> Option<f64> {
        match pairs.kernel {
            Kernel::Coulomb => coulomb::mutual_cost::<T>(simd, pairs.derivatives),
            Kernel::Gravity { .. } if !pairs.softened => coulomb::mutual_cost::<T>(simd, pairs.derivatives),
            _ => None,
        }
    }

    /// Adds the sums over pairs of points that act on each other; only where [`Kernel::mutual_cost`] is `Some`.
    pub(crate) fn add_mutual<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &MutualBlock<T, 3>, sums: [&mut [T]; 2]) {
        coulomb::add_mutual(pairs, simd, block, sums);
    }

    /// The cost of a pair for `vectors` strength vectors, relative to its cost for one vector.
    pub(crate) fn cost_of_vectors(pairs: &Pairs, vectors: usize) -> f64 {
        let (mut left, mut cost) = (vectors, 0.0);
        while left > 0 {
            let at_once = pairs.vectors_at_once(left);
            cost += if at_once == 1 {
                1.0
            } else {
                at_once::cost(pairs.derivatives, at_once)
            };
            left -= at_once;
        }
        cost
    }

    /// The kernel with its constant replaced, if it has one.
    pub fn with_constant(self, constant: f64) -> Self {
        match self {
            Kernel::Gravity { softening, .. } => Kernel::Gravity { constant, softening },
            other => other,
        }
    }

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// The name of its core or softening; empty if the kernel has only one.
    pub fn core_name(self) -> &'static str {
        match self {
            Kernel::Coulomb | Kernel::CoulombDipoles => "",
            Kernel::Gravity { softening, .. } => softening.name(),
            Kernel::BiotSavart { core } => core.name(),
        }
    }

    /// The outputs this kernel can produce.
    pub fn outputs(self) -> &'static [Output] {
        self.description().outputs
    }

    /// The kind of strengths, expansions and sums.
    pub fn form(self) -> Form {
        self.description().form
    }

    /// Numbers per source: one charge or mass, a charge with a dipole moment, or a vector.
    pub fn strength_components(self) -> usize {
        self.form().strengths()
    }

    /// The factor that turns sums over unit-normalised pairs into values of `output`.
    pub fn scale(self, output: Output) -> f64 {
        self.description().scale(output)
    }

    /// The distance from a source of core size `size` beyond which the far field may use the singular kernel: from
    /// there on, outputs with `derivatives` derivatives differ by at most the relative `tolerance`.
    pub fn core_reach(self, size: f64, tolerance: f64, derivatives: usize) -> f64 {
        self.description().core_reach(size, tolerance, derivatives)
    }

    /// Whether the kernel uses core sizes or softening lengths.
    pub fn has_sizes(self) -> bool {
        self.description().regularisation.is_some()
    }

    /// Whether coincident pairs are skipped, given whether any source has a size.
    pub fn is_singular(self, has_sizes: bool) -> bool {
        self.description().is_singular(has_sizes)
    }
}

impl PairSums<3> for Pairs {
    fn strengths(&self) -> usize {
        self.kernel.strength_components()
    }

    fn sums(&self) -> usize {
        Pairs::sums(self)
    }

    fn own_skip(&self, same: bool) -> Skip {
        if same && !self.kernel.is_singular(self.softened) {
            Skip::SameIndex
        } else {
            Skip::Coincident
        }
    }

    fn make_exact(&mut self) -> bool {
        std::mem::replace(&mut self.accuracy, RsqrtAccuracy::Full) != RsqrtAccuracy::Full
    }

    fn vectors_at_once(&self, vectors: usize) -> usize {
        if self.kernel.form() == Form::Charge && self.kernel.is_singular(self.softened) {
            at_once::at_once(self.derivatives, vectors)
        } else {
            1
        }
    }

    fn add_vectors<T: Real>(&self, simd: SimdLevel, block: &Block<T, 3>, vectors: usize, sums: &mut [T]) {
        match self.kernel {
            _ if vectors > 1 => at_once::add_pairs(self, simd, block, vectors, sums),
            Kernel::Gravity { softening, .. } if self.softened => {
                gravity::add_pairs(softening, self, simd, block, sums)
            }
            Kernel::Coulomb | Kernel::Gravity { .. } => coulomb::add_pairs(self, simd, block, sums),
            Kernel::CoulombDipoles => dipole::add_pairs(self, simd, block, sums),
            Kernel::BiotSavart { core } => biot_savart::add_pairs(core, self, simd, block, sums),
        }
    }
}

/// Checks that the outputs and constants fit the kernel.
pub(crate) fn validate(request: &Request<Space>) -> Result<(), Error> {
    let kernel = request.kernel.description();
    for output in &request.outputs {
        if !kernel.outputs.contains(output) {
            let names: Vec<&str> = kernel.outputs.iter().map(|output| output.name()).collect();
            return Err(Error::Output {
                kernel: kernel.name,
                output: *output,
                available: names.join(", "),
            });
        }
    }
    let unbounded = kernel.regularisation.is_some_and(|core| core.unbounded_gradient);
    let accepted = request.options.allow_unbounded_gradient || !request.outputs.contains(&Output::VelocityGradient);
    if unbounded && !accepted {
        return Err(Error::UnboundedGradient);
    }
    kernel.constant.map_or(Ok(()), |constant| {
        parameter(
            "gravitational constant",
            constant,
            "a finite number",
            constant.is_finite(),
        )
    })
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
