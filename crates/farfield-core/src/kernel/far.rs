//! The two ends of the far field: strengths to expansions of a potential, and expansions to sums. Both differentiate
//! expansions, so that all kernels share one set of basis functions.

use super::Form;
use crate::expansion::coefficient_count;
use crate::expansion::derivative::{Derivative, of_local, of_multipole};
use crate::simd::Real;

/// The kind of expansion that is differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Local,
    Multipole,
}

/// Turns the expansions of the (scalar or vector) potential into expansions of every sum the kernel needs.
///
/// The sums are those of the [`super::Pair`] kernels, in the same order, up to `derivatives` derivatives.
#[derive(Debug, Clone)]
pub(crate) struct FarOutputs<T> {
    form: Form,
    derivatives: usize,
    order: usize,
    side: Side,
    first: [Derivative<T>; 3],
    second: [Derivative<T>; 3],
}

impl<T: Real> FarOutputs<T> {
    pub fn new(form: Form, derivatives: usize, order: usize, side: Side) -> Self {
        let (first, second) = match side {
            Side::Local => (of_local(order), of_local(order.saturating_sub(1))),
            Side::Multipole => (of_multipole(order), of_multipole(order + 1)),
        };
        Self {
            form,
            derivatives,
            order,
            side,
            first,
            second,
        }
    }

    /// The number of sums.
    pub fn sums(&self) -> usize {
        self.form.sums(self.derivatives)
    }

    /// The order of the basis functions for the derived expansions.
    pub fn basis_order(&self) -> usize {
        match self.side {
            Side::Local => self.order,
            Side::Multipole => self.order + self.derivatives,
        }
    }

    /// The order of the expansions after `derivatives` derivatives.
    fn order_after(&self, derivatives: usize) -> usize {
        match self.side {
            Side::Local => self.order.saturating_sub(derivatives),
            Side::Multipole => self.order + derivatives,
        }
    }

    /// The length of [`FarOutputs::derive`]'s result.
    pub fn derived_len(&self) -> usize {
        self.sums() * coefficient_count(self.basis_order())
    }

    /// The coefficients of sum `k` in the result `derived` of [`FarOutputs::derive`], up to the basis order.
    #[inline(always)]
    pub fn sum<'a>(&self, derived: &'a [T], k: usize) -> &'a [T] {
        let slot = coefficient_count(self.basis_order());
        &derived[k * slot..(k + 1) * slot]
    }

    /// The number of derivatives in sum `k`; each contributes a factor of one over the box side.
    pub fn derivatives_of(&self, k: usize) -> usize {
        self.form.derivatives_of_sum(k)
    }

    /// Writes the expansions of all sums to `derived`, given the expansion of the potential. The three expansions of a
    /// vector potential begin `stride` coefficients apart.
    pub fn derive(&self, potential: &[T], stride: usize, derived: &mut [T]) {
        let slot = coefficient_count(self.basis_order());
        let n0 = coefficient_count(self.order);
        let n1 = coefficient_count(self.order_after(1));
        let n2 = coefficient_count(self.order_after(2));
        // The number of coefficients of a sum depends on its derivatives: set the rest of its slot to zero.
        for (k, sum) in derived[..self.derived_len()].chunks_mut(slot).enumerate() {
            sum[coefficient_count(self.order_after(self.derivatives_of(k)))..].fill(T::ZERO);
        }
        if self.form != Form::Vortex {
            derived[..n0].copy_from_slice(&potential[..n0]);
            if self.derivatives == 0 {
                return;
            }
            let (value, rest) = derived.split_at_mut(slot);
            for (axis, out) in rest.chunks_mut(slot).take(3).enumerate() {
                self.first[axis].apply(&value[..n0], &mut out[..n1]);
            }
            if self.derivatives == 2 {
                let (gradient, hessian) = rest.split_at_mut(3 * slot);
                for (k, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
                    self.second[j].apply(&gradient[i * slot..][..n1], &mut hessian[k * slot..][..n2]);
                }
            }
            return;
        }
        // Velocity = curl of the vector potential: u_i = d_j A_k - d_k A_j with (i, j, k) cyclic
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let out = &mut derived[i * slot..][..n1];
            self.first[j].apply(&potential[k * stride..][..n0], out);
            self.first[k].subtract(&potential[j * stride..][..n0], out);
        }
        if self.derivatives == 2 {
            let (velocity, gradient) = derived.split_at_mut(3 * slot);
            for i in 0..3 {
                for j in 0..3 {
                    self.second[j].apply(&velocity[i * slot..][..n1], &mut gradient[(3 * i + j) * slot..][..n2]);
                }
            }
        }
    }
}

/// Turns the sums of basis functions over sources into expansions of the potential.
///
/// For charges and vortices, the sum over each strength component is already an expansion. A dipole is minus the
/// derivative of a charge: let $S_0$ be the expansion of the charges, and $S_a$ that of component $a$ of the moments
/// taken as charges. Then the expansion is $S_0 - \sum_a \partial_a S_a$.
#[derive(Debug, Clone)]
pub(crate) struct FarSources<T> {
    form: Form,
    order: usize,
    side: Side,
    derivative: [Derivative<T>; 3],
}

impl<T: Real> FarSources<T> {
    pub fn new(form: Form, order: usize, side: Side) -> Self {
        let derivative = match side {
            Side::Local => of_local(order + 1),
            Side::Multipole => of_multipole(order.saturating_sub(1)),
        };
        Self {
            form,
            order,
            side,
            derivative,
        }
    }

    /// Whether the sums over the strength components are the expansions themselves.
    pub fn are_expansions(&self) -> bool {
        self.form.source_derivatives() == 0
    }

    /// The order of the basis functions that are summed.
    pub fn basis_order(&self) -> usize {
        match self.side {
            Side::Local => self.order + self.form.source_derivatives(),
            Side::Multipole => self.order,
        }
    }

    /// The number of coefficients in the sums of one strength vector.
    pub fn sums_len(&self) -> usize {
        self.form.strengths() * coefficient_count(self.basis_order())
    }

    /// Adds the expansion that follows from `sums` to `expansion`; `sums` is overwritten. Lengths are in units of the
    /// box side.
    pub fn add_to(&self, expansion: &mut [T], sums: &mut [T], inverse_side: f64) {
        let slot = coefficient_count(self.basis_order());
        let (charges, moments) = sums.split_at_mut(slot);
        for (out, sum) in expansion.iter_mut().zip(charges) {
            *out += *sum;
        }
        for (derivative, moment) in self.derivative.iter().zip(moments.chunks_mut(slot)) {
            for value in moment.iter_mut() {
                *value = *value * T::from_f64(inverse_side);
            }
            derivative.subtract(moment, expansion);
        }
    }
}
