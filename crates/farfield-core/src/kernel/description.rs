//! What the engine knows of a kernel besides its loops: one value that every other module asks.
//!
//! A kernel has a [`Form`] (what a source carries, which expansions it makes, which sums come out of them) and perhaps a
//! [`Regularisation`] (what replaces $1/r$ or $1/r^3$ near a source). Tuning, units, checks, plans, the device's programs
//! and the command line read these two; none of them names a kernel.

use super::Output;

/// What strengths are, and how the far field comes from harmonic expansions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A charge or mass; one expansion of $\sum q/r$, whose derivatives are the outputs.
    Charge,
    /// A charge and a dipole moment $(q, p_x, p_y, p_z)$; one expansion of $\sum q/r + p\cdot r/r^3$, made as
    /// $\sum q/r - \nabla\cdot\sum p/r$.
    Dipole,
    /// A vector; three expansions of a vector potential $\sum\gamma/r$, whose curl is the velocity.
    Vortex,
}

impl Form {
    /// Numbers per source.
    pub const fn strengths(self) -> usize {
        match self {
            Form::Charge => 1,
            Form::Dipole => 4,
            Form::Vortex => 3,
        }
    }

    /// Expansions per box.
    pub const fn expansions(self) -> usize {
        match self {
            Form::Charge | Form::Dipole => 1,
            Form::Vortex => 3,
        }
    }

    /// Sums per target where outputs take so many derivatives of the potential.
    pub const fn sums(self, derivatives: usize) -> usize {
        match (self, derivatives) {
            (Form::Charge | Form::Dipole, 0) => 1,
            (Form::Charge | Form::Dipole, 1) => 4,
            (Form::Charge | Form::Dipole, _) => 10,
            (Form::Vortex, 0 | 1) => 3,
            (Form::Vortex, _) => 12,
        }
    }

    /// How many derivatives of the potential sum `k` takes.
    pub const fn derivatives_of_sum(self, k: usize) -> usize {
        match (self, k) {
            (Form::Charge | Form::Dipole, 0) => 0,
            (Form::Charge | Form::Dipole, 1..=3) | (Form::Vortex, 0..=2) => 1,
            _ => 2,
        }
    }

    /// How many derivatives of $1/r$ the strengths themselves take, at most: dipoles take one.
    pub const fn source_derivatives(self) -> usize {
        match self {
            Form::Charge | Form::Vortex => 0,
            Form::Dipole => 1,
        }
    }

    /// The power of length in component `component` of a strength: a dipole moment is a charge times a length.
    pub const fn length_power(self, component: usize) -> i32 {
        match (self, component) {
            (Form::Dipole, 1..=3) => 1,
            _ => 0,
        }
    }

    /// The orders of derivatives of $1/r$ whose errors outputs of the given orders have to keep.
    pub fn error_derivatives(self, outputs: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut all: Vec<usize> = outputs
            .into_iter()
            .flat_map(|output| output..=output + self.source_derivatives())
            .collect();
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { vec![0] } else { all }
    }

    /// Constants of the device's programs: `FARFIELD_VECTOR` and `FARFIELD_DIPOLES` of `pair.cuh`.
    pub const fn device_constants(self) -> [(&'static str, i32); 2] {
        let (vector, dipoles) = match self {
            Form::Charge => (0, 0),
            Form::Dipole => (0, 1),
            Form::Vortex => (1, 0),
        };
        [("FARFIELD_VECTOR", vector), ("FARFIELD_DIPOLES", dipoles)]
    }
}

/// What replaces the singular kernel near a source of a given size.
#[derive(Debug, Clone, Copy)]
pub struct Regularisation {
    /// The name used on the command line and in reports.
    pub name: &'static str,
    /// Whether a sum without sizes is refused; otherwise it is the singular one.
    pub needs_size: bool,
    /// Whether a pair at distance zero has finite sums, which count; otherwise it adds nothing.
    pub finite_centre: bool,
    /// Whether the second derivatives of the potential are unbounded at the centre.
    pub unbounded_gradient: bool,
    /// The distance, in units of the size, from which on sums of so many derivatives of the potential differ from the
    /// singular kernel's by at most the relative tolerance given.
    pub reach: fn(tolerance: f64, derivatives: usize) -> f64,
    /// The profile at squared distance `r2` of a source of size > 0: for charges $\phi$ and $-\phi'/r$, for vortices $K$
    /// and $K'/r$. Plainly written, in double precision: the truth that sums are measured against.
    pub profile: fn(r2: f64, size: f64) -> (f64, f64),
    /// What a pair costs, in units of the singular one's.
    pub cost: f64,
    /// The constant `FARFIELD_CORE` of `pair.cuh`; zero is the singular kernel.
    pub device: i32,
}

impl PartialEq for Regularisation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All that is known of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// The name used on the command line and in reports.
    pub name: &'static str,
    /// The outputs it can produce, in the order of their sums.
    pub outputs: &'static [Output],
    /// Strengths, expansions, sums.
    pub form: Form,
    /// What replaces the singular kernel near sources that have a size; `None` where sizes mean nothing.
    pub regularisation: Option<&'static Regularisation>,
    /// A factor of all outputs that is a parameter of the kernel: Newton's constant.
    pub constant: Option<f64>,
    /// What the sums are multiplied with to become outputs, besides the constant: for those of no derivatives, and for all
    /// others.
    pub scales: [f64; 2],
}

impl Description {
    /// What a sum is multiplied with to become a value of `output`.
    pub fn scale(&self, output: Output) -> f64 {
        self.scales[usize::from(output.derivatives() > 0)] * self.constant.unwrap_or(1.0)
    }

    /// Whether coincident pairs add nothing, given whether any source has a size.
    pub fn is_singular(&self, has_sizes: bool) -> bool {
        self.regularisation.is_none() || !has_sizes
    }

    /// How far from a source of core size `size` its kernel differs from the singular one by more than the relative
    /// `tolerance` in sums of so many derivatives; from there on the far field may use the singular kernel.
    pub fn core_reach(&self, size: f64, tolerance: f64, derivatives: usize) -> f64 {
        match self.regularisation {
            Some(core) if size > 0.0 => size * (core.reach)(tolerance, derivatives),
            _ => 0.0,
        }
    }

    /// What a pair costs in units of the singular one's, given whether any source has a size.
    pub fn pair_cost(&self, has_sizes: bool) -> f64 {
        match self.regularisation {
            Some(core) if has_sizes => core.cost,
            _ => 1.0,
        }
    }

    /// The constant `FARFIELD_CORE` of the device's programs, given whether any source has a size.
    pub fn device_core(&self, has_sizes: bool) -> i32 {
        match self.regularisation {
            Some(core) if has_sizes => core.device,
            _ => 0,
        }
    }
}
