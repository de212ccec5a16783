//! The costs of the operators on a machine.

use super::level_costs;
use super::{Rates, Translation, mirror};
use crate::kernel::Form;
use crate::simd::{Real, SimdLevel};

/// Nanoseconds per operation on one thread, for one precision.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct OperatorCosts {
    /// A pair of points, Coulomb or gravity: potential; with gradient; with Hessian.
    pub pair_scalar: [f64; 3],
    /// A pair of points, Biot-Savart: velocity; with gradient.
    pub pair_vector: [f64; 2],
    /// M2L of order p is `m2l[0] + m2l[1] (p+1)^2 + m2l[2] (p+1)^3`.
    pub m2l: [f64; 3],
    /// One point and one coefficient of P2M, L2P, P2L or M2P.
    pub point_coefficient: f64,
    /// The costs in the plane.
    #[cfg_attr(feature = "serde", serde(default))]
    pub plane: PlaneCosts,
}

/// Nanoseconds per operation in the plane, on one thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct PlaneCosts {
    /// A pair of points, harmonic kernel: potential; with derivative.
    pub pair_harmonic: [f64; 2],
    /// A pair of points, logarithm: potential; with derivative.
    pub pair_log: [f64; 2],
    /// M2L of order p is `m2l[0] + m2l[1] p + m2l[2] p^2`.
    pub m2l: [f64; 3],
    /// One point and one coefficient of P2M, L2P, P2L or M2P.
    pub point_coefficient: f64,
}

impl Default for PlaneCosts {
    /// Double precision with AVX-512 on the machine that the README names.
    fn default() -> Self {
        Self {
            pair_harmonic: [0.40, 0.60],
            pair_log: [1.2, 1.5],
            m2l: [20.0, 1.5, 0.10],
            point_coefficient: 0.2,
        }
    }
}

impl PlaneCosts {
    /// The cost of a pair of points for the logarithm or the harmonic kernel and outputs with `derivatives`
    /// derivatives.
    pub fn pair(&self, logarithm: bool, derivatives: usize) -> f64 {
        let pairs = if logarithm { self.pair_log } else { self.pair_harmonic };
        // After the first, each derivative is one more power of the same inverse.
        let power = (self.pair_harmonic[1] - self.pair_harmonic[0]).max(0.0);
        pairs[derivatives.min(1)] + derivatives.saturating_sub(1) as f64 * power
    }

    /// All costs times `factor`.
    pub(super) fn times(&self, factor: f64) -> Self {
        Self {
            pair_harmonic: self.pair_harmonic.map(|cost| factor * cost),
            pair_log: self.pair_log.map(|cost| factor * cost),
            m2l: self.m2l.map(|cost| factor * cost),
            point_coefficient: factor * self.point_coefficient,
        }
    }
}

impl OperatorCosts {
    /// All costs times `factor`.
    pub(super) fn times(&self, factor: f64) -> Self {
        Self {
            pair_scalar: self.pair_scalar.map(|cost| factor * cost),
            pair_vector: self.pair_vector.map(|cost| factor * cost),
            m2l: self.m2l.map(|cost| factor * cost),
            point_coefficient: factor * self.point_coefficient,
            plane: self.plane.times(factor),
        }
    }

    /// Rates of one thread in space, for strengths of form `form` and outputs with `derivatives` derivatives. A pair
    /// costs `core` times as much as a pair of the singular kernel.
    pub fn in_space(&self, form: Form, derivatives: usize, core: f64) -> Rates {
        let pair = core * self.pair(form, derivatives);
        Rates {
            pair,
            leaf_pair: pair,
            translation: Translation::InSpace(self.m2l),
            // M2M, L2L and the ends of P2M and L2P of a box cost about as much as a few translations of the highest
            // order.
            box_translations: 6.0,
            point_coefficient: self.point_coefficient,
            // Even a small tree takes this long.
            fmm_start: 5e5,
            ..Rates::NONE
        }
    }

    /// Rates of one thread in the plane, for the logarithm or the harmonic kernel and outputs with `derivatives`
    /// derivatives.
    pub fn in_plane(&self, logarithm: bool, derivatives: usize) -> Rates {
        let costs = &self.plane;
        let pair = costs.pair(logarithm, derivatives);
        Rates {
            pair,
            leaf_pair: pair,
            translation: Translation::InPlane(costs.m2l),
            point_coefficient: costs.point_coefficient,
            cut: 5.0,
            test: 12.0,
            ..Rates::NONE
        }
    }

    /// The cost of one M2L translation of a class among many, if boxes have the fraction `fill` of their possible
    /// sources.
    pub(crate) fn m2l_in_class(&self, class: usize, order: usize, fill: f64) -> f64 {
        mirror::in_class(self.m2l, class, order, fill)
    }

    /// The cost of one M2L translation of order `order`, done separately.
    pub fn m2l(&self, order: usize) -> f64 {
        Translation::InSpace(self.m2l).of(order, order)
    }

    /// The cost of a pair of the singular kernel, for strengths of form `form` and outputs with `derivatives`
    /// derivatives.
    pub fn pair(&self, form: Form, derivatives: usize) -> f64 {
        match form {
            Form::Charge => self.pair_scalar[derivatives.min(2)],
            // About as many operations as a charge with one more derivative.
            Form::Dipole if derivatives < 2 => self.pair_scalar[derivatives + 1],
            Form::Dipole => 2.0 * self.pair_scalar[2],
            Form::Vortex => self.pair_vector[derivatives.saturating_sub(1).min(1)],
        }
    }
}

/// The profile of a machine: the costs of the operators in both precisions.
///
/// The default is the profile of the instruction set ([`MachineProfile::for_level`]), measured on a Zen 4. `farfield
/// bench --calibrate` writes a profile of your machine. A profile affects the speed of a plan, never its accuracy.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct MachineProfile {
    /// Single precision.
    pub f32: OperatorCosts,
    /// Double precision.
    pub f64: OperatorCosts,
}

impl Default for MachineProfile {
    /// The profile of [`SimdLevel::best`].
    fn default() -> Self {
        Self::for_level(SimdLevel::best())
    }
}

impl MachineProfile {
    /// The costs of the operators with the instructions of `level`.
    pub fn for_level(level: SimdLevel) -> Self {
        let (f32, f64) = level_costs::of(level);
        Self { f32, f64 }
    }

    /// The costs in precision `T`.
    pub fn of<T: Real>(&self) -> &OperatorCosts {
        if T::EPSILON > 1e-10 { &self.f32 } else { &self.f64 }
    }
}
