//! Outputs of the far field: derivatives of expansions of the potential, evaluated with one set of basis functions.

use super::Form;
use crate::expansion::coefficient_count;
use crate::expansion::derivative::{Derivative, of_local, of_multipole};
use crate::simd::Real;

/// Which sort of expansion is differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Local,
    Multipole,
}

/// Turns the expansions of the (scalar or vector) potential into expansions of every sum the kernel needs.
///
/// The sums are those of the [`super::Pair`] kernels, in the same order; `derivatives` says how far they go.
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

    /// How many sums come out.
    pub fn sums(&self) -> usize {
        self.form.sums(self.derivatives)
    }

    /// The order of the basis functions the derived expansions need.
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

    /// The coefficients of sum `k` in the result of [`FarOutputs::derive`], up to the basis order.
    #[inline(always)]
    pub fn sum<'a>(&self, derived: &'a [T], k: usize) -> &'a [T] {
        let slot = coefficient_count(self.basis_order());
        &derived[k * slot..(k + 1) * slot]
    }

    /// How many derivatives sum `k` takes; each brings a factor one over the box's side.
    pub fn derivatives_of(&self, k: usize) -> usize {
        self.form.derivatives_of_sum(k)
    }

    /// The expansions of all sums from that of the potential (three of them, one after the other with the given
    /// stride, for a vector potential).
    pub fn derive(&self, potential: &[T], stride: usize, derived: &mut [T]) {
        let slot = coefficient_count(self.basis_order());
        let n0 = coefficient_count(self.order);
        let n1 = coefficient_count(self.order_after(1));
        let n2 = coefficient_count(self.order_after(2));
        // Sums with fewer derivatives have fewer (multipole) or more (local) coefficients: the rest is zero.
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
