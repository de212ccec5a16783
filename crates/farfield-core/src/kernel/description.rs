//! The description of a kernel: everything the other modules know about it except its loops over pairs.
//!
//! A kernel has a [`Form`] (the strengths of a source, their expansions, the sums that follow) and optionally a
//! [`Regularisation`] (the replacement for $1/r$ or $1/r^3$ near a source). Tuning, units, checks, plans, the device
//! programs and the command line read these two; none of them names a kernel.

use super::Output;

/// The kind of strengths, and how the far field follows from their harmonic expansions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A charge or mass; one expansion of $\sum q/r$, whose derivatives are the outputs.
    Charge,
    /// A charge and a dipole moment $(q, p_x, p_y, p_z)$; one expansion of $\sum q/r + p\cdot r/r^3$, computed as
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

    /// Sums per target for outputs with up to `derivatives` derivatives of the potential.
    pub const fn sums(self, derivatives: usize) -> usize {
        match (self, derivatives) {
            (Form::Charge | Form::Dipole, 0) => 1,
            (Form::Charge | Form::Dipole, 1) => 4,
            (Form::Charge | Form::Dipole, _) => 10,
            (Form::Vortex, 0 | 1) => 3,
            (Form::Vortex, _) => 12,
        }
    }

    /// The number of derivatives of the potential in sum `k`.
    pub const fn derivatives_of_sum(self, k: usize) -> usize {
        match (self, k) {
            (Form::Charge | Form::Dipole, 0) => 0,
            (Form::Charge | Form::Dipole, 1..=3) | (Form::Vortex, 0..=2) => 1,
            _ => 2,
        }
    }

    /// The largest number of derivatives of $1/r$ that the strengths themselves stand for: one for dipoles.
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

    /// The orders of derivatives of $1/r$ whose errors must be bounded, for outputs with the given numbers of
    /// derivatives.
    pub fn error_derivatives(self, outputs: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut all: Vec<usize> = outputs
            .into_iter()
            .flat_map(|output| output..=output + self.source_derivatives())
            .collect();
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { vec![0] } else { all }
    }
}

/// The replacement for the singular kernel near a source of a given size.
#[derive(Debug, Clone, Copy)]
pub struct Regularisation {
    /// The name used on the command line and in reports.
    pub name: &'static str,
    /// Whether a sum without sizes is an error; otherwise it uses the singular kernel.
    pub needs_size: bool,
    /// Whether a pair at distance zero has finite sums, which are added; otherwise it adds zero.
    pub finite_centre: bool,
    /// Whether the second derivatives of the potential are unbounded at the centre.
    pub unbounded_gradient: bool,
    /// The distance, in units of the size, from which on sums with `derivatives` derivatives of the potential differ
    /// from the singular kernel's by at most the relative `tolerance`.
    pub reach: fn(tolerance: f64, derivatives: usize) -> f64,
    /// The profile at squared distance `r2` of a source of size > 0: for charges $\phi$ and $-\phi'/r$, for vortices
    /// $K$ and $K'/r$. Written as its formula, in double precision: the reference that sums are compared with.
    pub profile: fn(r2: f64, size: f64) -> (f64, f64),
    /// The cost of a pair, relative to a pair of the singular kernel.
    pub cost: f64,
}

impl PartialEq for Regularisation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The properties of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// The name used on the command line and in reports.
    pub name: &'static str,
    /// The name at the head of a report.
    pub title: &'static str,
    /// One line for lists of kernels.
    pub about: &'static str,
    /// What users call its strengths: `charges`, `masses`, `strengths`.
    pub strengths: &'static str,
    /// The outputs it can produce, in the order of their sums.
    pub outputs: &'static [Output],
    /// Strengths, expansions, sums.
    pub form: Form,
    /// The replacement for the singular kernel near sources that have a size; `None` if the kernel has no sizes.
    pub regularisation: Option<&'static Regularisation>,
    /// The users' word for the choice of a regularisation: `core` or `softening_kernel`.
    pub core_word: &'static str,
    /// A parameter of the kernel that multiplies all outputs: the gravitational constant.
    pub constant: Option<f64>,
    /// The factors, besides `constant`, that turn sums into outputs: without derivatives, and with at least one.
    pub scales: [f64; 2],
}

impl Description {
    /// The factor that turns a sum into a value of `output`.
    pub fn scale(&self, output: Output) -> f64 {
        self.scales[usize::from(output.derivatives() > 0)] * self.constant.unwrap_or(1.0)
    }

    /// Whether coincident pairs are skipped, given whether any source has a size.
    pub fn is_singular(&self, has_sizes: bool) -> bool {
        self.regularisation.is_none() || !has_sizes
    }

    /// The distance from a source of core size `size` beyond which the far field may use the singular kernel: from
    /// there on, sums with `derivatives` derivatives differ by at most the relative `tolerance`.
    pub fn core_reach(&self, size: f64, tolerance: f64, derivatives: usize) -> f64 {
        match self.regularisation {
            Some(core) if size > 0.0 => size * (core.reach)(tolerance, derivatives),
            _ => 0.0,
        }
    }

    /// The cost of a pair relative to a pair of the singular kernel, given whether any source has a size.
    pub fn pair_cost(&self, has_sizes: bool) -> f64 {
        match self.regularisation {
            Some(core) if has_sizes => core.cost,
            _ => 1.0,
        }
    }
}
