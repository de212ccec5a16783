//! The interaction of a source with a point.

use std::fmt;

/// The potential of a lattice cell's own charge: the regular part of $\sum_{j\ne0}1/|j|$ over the unit lattice. It
/// makes the sum over grid points with the singular kernel fourth-order accurate.
pub const LATTICE_SELF_TERM: f64 = 2.837_297_479_480_62;

/// The kernel of the sum $\psi(x)=\sum_j\omega_jh_j^3G(|x-x_j|)$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kernel {
    /// $G=\frac1{4\pi r}$; the self term of a point is $\frac{2.8373}{4\pi h}$.
    #[default]
    Singular,
    /// $G=\frac1{4\pi}\frac{r^2+\frac32\varepsilon^2}{(r^2+\varepsilon^2)^{3/2}}$ (eq. 7 of van Rees et al.).
    Regularised(Smoothing),
}

/// The length $\varepsilon$ of the regularised kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Smoothing {
    /// The spacing of the source's own block.
    #[default]
    OwnSpacing,
    /// The smallest spacing of the grid, for all sources (the paper's choice).
    FinestSpacing,
}

impl Kernel {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Singular => "singular",
            Kernel::Regularised(Smoothing::OwnSpacing) => "regularised",
            Kernel::Regularised(Smoothing::FinestSpacing) => "regularised-finest",
        }
    }

    /// $4\pi G$ at distance $r$ for a source of smoothing length $\varepsilon$: the reference without optimisation. The
    /// singular kernel is zero at $r=0$.
    pub fn at(self, r2: f64, epsilon2: f64) -> f64 {
        match self {
            Kernel::Singular if r2 == 0.0 => 0.0,
            Kernel::Singular => 1.0 / r2.sqrt(),
            Kernel::Regularised(_) => (r2 + 1.5 * epsilon2) / (r2 + epsilon2).powf(1.5),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The quantity that is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// $\sum_jw_jG(|x-x_j|)$ for each component of the weights.
    Potential,
    /// $\nabla\times\sum_jw_jG(|x-x_j|)$.
    Velocity,
}

/// The contribution of a source to the sum at a point, without the factor $1/4\pi$ that the weights $w$ contain. Here
/// $s=1/\sqrt{r^2+\varepsilon^2}$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pair {
    /// $w/r$.
    Singular,
    /// $w\\,s(1+\frac12\varepsilon^2s^2)$, eq. 7.
    Regularised,
    /// $w\\,[s(1+\frac12\varepsilon^2s^2)-1/r]$: the regularised minus the singular kernel.
    Correction,
    /// $w\times(x-x_j)/r^3$.
    Velocity,
    /// $w\times(x-x_j)\\,s^3(1+\frac32\varepsilon^2s^2)$, the curl of eq. 7.
    RegularisedVelocity,
}

impl Pair {
    /// The pair interaction of `kernel` and `quantity`.
    pub fn of(kernel: Kernel, quantity: Quantity) -> Self {
        match (kernel, quantity) {
            (Kernel::Singular, Quantity::Potential) => Pair::Singular,
            (Kernel::Singular, Quantity::Velocity) => Pair::Velocity,
            (Kernel::Regularised(_), Quantity::Potential) => Pair::Regularised,
            (Kernel::Regularised(_), Quantity::Velocity) => Pair::RegularisedVelocity,
        }
    }

    /// Whether a source contributes nothing at its own position.
    pub const fn is_singular(self) -> bool {
        matches!(self, Pair::Singular | Pair::Velocity)
    }
}
