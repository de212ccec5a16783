//! The operators between points and expansions of one box: P2M, P2L, M2P, L2P.
//!
//! Points come relative to the centre of their leaf, in units of its side ([`Placement`] moves them to another box's
//! frame); a register holds several points.

use crate::expansion::coefficient_count;
use crate::expansion::harmonics::{Recurrence, dot};
use crate::kernel::FarOutputs;
use crate::simd::{Lanes, Real, RsqrtAccuracy, rsqrt};

/// From leaf coordinates `u` to another box's: `u * ratio + offset`.
#[derive(Debug, Clone, Copy)]
pub struct Placement {
    pub ratio: f64,
    pub offset: [f64; 3],
}

impl Placement {
    /// Stay in the leaf's own frame.
    pub const SAME: Placement = Placement { ratio: 1.0, offset: [0.0; 3] };
}

/// Points of one leaf: coordinates relative to it.
#[derive(Clone, Copy)]
pub struct LeafPoints<'a, T> {
    pub local: [&'a [T]; 3],
}

impl<'a, T: Real> LeafPoints<'a, T> {
    pub fn len(&self) -> usize {
        self.local[0].len()
    }

    /// The registerful of points from `first` on; missing lanes repeat the first point.
    #[inline(always)]
    fn load<V: Lanes<Elem = T>>(&self, first: usize, placement: &Placement) -> [V; 3] {
        let count = (self.len() - first).min(V::LANES);
        let ratio = V::splat(T::from_f64(placement.ratio));
        let mut out = [V::zero(); 3];
        for axis in 0..3 {
            let u = V::from_slice_partial(&self.local[axis][first..], count, self.local[axis][first]);
            out[axis] = u.mul_add(ratio, V::splat(T::from_f64(placement.offset[axis])));
        }
        out
    }
}

/// Memory for [`add_sources`] and [`add_values`], in vectors: the basis and the sums of every stream.
pub fn workspace_len(order: usize, streams: usize) -> usize {
    (1 + streams) * coefficient_count(order)
}

/// P2M (regular basis) or P2L (irregular basis): adds the points' strengths to the expansions of all streams.
///
/// `strengths[s * stride..]` are those of stream `s`, starting with the leaf's first point; `expansions` holds the
/// streams one after the other.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "one call per box, all plainly different")]
pub fn add_sources<V: Lanes, const IRREGULAR: bool>(
    recurrence: &Recurrence<V::Elem>,
    order: usize,
    points: LeafPoints<V::Elem>,
    placement: &Placement,
    strengths: &[V::Elem],
    stride: usize,
    expansions: &mut [V::Elem],
    workspace: &mut [V],
) {
    let coefficients = coefficient_count(order);
    let streams = expansions.len() / coefficients;
    let (basis, sums) = workspace.split_at_mut(coefficients);
    let sums = &mut sums[..streams * coefficients];
    sums.fill(V::zero());
    let mut first = 0;
    while first < points.len() {
        let count = (points.len() - first).min(V::LANES);
        let [x, y, z] = points.load::<V>(first, placement);
        if IRREGULAR {
            recurrence.irregular(order, x, y, z, inverse_norm(x, y, z), basis);
        } else {
            recurrence.regular(order, x, y, z, basis);
        }
        for s in 0..streams {
            let w = V::from_slice_partial(&strengths[s * stride + first..], count, V::Elem::ZERO);
            let sums = &mut sums[s * coefficients..][..coefficients];
            for k in 0..coefficients {
                sums[k] = w.mul_add(basis[k], sums[k]);
            }
        }
        first += V::LANES;
    }
    for (out, sum) in expansions.iter_mut().zip(sums) {
        *out += sum.sum();
    }
}

/// L2P (regular basis) or M2P (irregular basis): adds the expansions' values to the sums of a leaf's targets.
///
/// `derived` comes from [`FarOutputs::derive`]; `inverse_side` is that of the box the expansion belongs to. Sum `k` of
/// target `i` is `sums[k * targets + i]`.
#[inline(always)]
pub fn add_values<V: Lanes, const IRREGULAR: bool>(
    recurrence: &Recurrence<V::Elem>,
    outputs: &FarOutputs<V::Elem>,
    derived: &[V::Elem],
    inverse_side: f64,
    targets: LeafPoints<V::Elem>,
    placement: &Placement,
    sums: &mut [V::Elem],
    workspace: &mut [V],
) {
    let order = outputs.basis_order();
    let basis = &mut workspace[..coefficient_count(order)];
    let n = targets.len();
    let mut first = 0;
    while first < n {
        let count = (n - first).min(V::LANES);
        let [x, y, z] = targets.load::<V>(first, placement);
        if IRREGULAR {
            recurrence.irregular(order, x, y, z, inverse_norm(x, y, z), basis);
        } else {
            recurrence.regular(order, x, y, z, basis);
        }
        for k in 0..outputs.sums() {
            let (coefficients, derivatives) = outputs.sum(derived, k);
            let scale = V::splat(V::Elem::from_f64(inverse_side.powi(1 + derivatives as i32)));
            let out = &mut sums[k * n + first..][..count];
            let value = dot(coefficients, basis).mul_add(scale, V::from_slice_partial(out, count, V::Elem::ZERO));
            value.write_partial(out, count);
        }
        first += V::LANES;
    }
}

#[inline(always)]
fn inverse_norm<V: Lanes>(x: V, y: V, z: V) -> V {
    let r2 = x.mul_add(x, y.mul_add(y, z * z));
    rsqrt::<V, { RsqrtAccuracy::Full as u8 }>(r2, r2.rsqrt_estimate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Core, Kernel, Side, reference};
    use crate::points::Random;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    /// Sources in a unit box at the origin act on targets in a unit box at `shift`, through every pair of operators.
    #[derive(Clone, Copy)]
    struct Check {
        kernel: Kernel,
        order: usize,
    }

    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let Check { kernel, order } = self;
            let components = kernel.strength_components();
            let mut random = Random::new(7);
            let mut cube = |n: usize| -> [Vec<T>; 3] {
                std::array::from_fn(|_| (0..n).map(|_| T::from_f64(random.uniform() - 0.5)).collect())
            };
            let (sources, targets) = (cube(19), cube(21));
            let strengths: Vec<T> = (0..19 * components).map(|k| T::from_f64(((k * 7) % 11) as f64 - 4.0)).collect();
            let shift = [4.0, -3.0, 5.0];
            let derivatives = kernel.outputs().last().map_or(0, |output| output.derivatives());
            let to_targets = Placement { ratio: 1.0, offset: shift.map(|c: f64| -c) };
            let to_sources = Placement { ratio: 1.0, offset: shift };
            let (source_points, target_points) = (
                LeafPoints { local: [&sources[0], &sources[1], &sources[2]] },
                LeafPoints { local: [&targets[0], &targets[1], &targets[2]] },
            );
            let recurrence = Recurrence::<T>::new(order + 2);
            let count = coefficient_count(order);
            for side in [Side::Local, Side::Multipole] {
                let outputs = FarOutputs::<T>::new(kernel, derivatives, order, side);
                let mut workspace = vec![V::zero(); workspace_len(order + 2, components)];
                let mut expansion = vec![T::ZERO; components * count];
                let mut derived = vec![T::ZERO; outputs.derived_len()];
                let mut sums = vec![T::ZERO; outputs.sums() * 21];
                if side == Side::Multipole {
                    add_sources::<V, false>(&recurrence, order, source_points, &Placement::SAME, &strengths, 19, &mut expansion, &mut workspace);
                    outputs.derive(&expansion, count, &mut derived);
                    add_values::<V, true>(&recurrence, &outputs, &derived, 1.0, target_points, &to_sources, &mut sums, &mut workspace);
                } else {
                    add_sources::<V, true>(&recurrence, order, source_points, &to_targets, &strengths, 19, &mut expansion, &mut workspace);
                    outputs.derive(&expansion, count, &mut derived);
                    add_values::<V, false>(&recurrence, &outputs, &derived, 1.0, target_points, &Placement::SAME, &mut sums, &mut workspace);
                }
                let mut at = 0;
                for output in kernel.outputs() {
                    let (mut difference, mut size) = (0.0, 0.0);
                    for i in 0..21 {
                        let mut want = vec![0.0; output.components()];
                        for j in 0..19 {
                            let d = std::array::from_fn(|a| shift[a] + targets[a][i].to_f64() - sources[a][j].to_f64());
                            let strength: Vec<f64> = (0..components).map(|c| strengths[c * 19 + j].to_f64()).collect();
                            reference::add_pair(kernel, *output, d, &strength, 0.0, &mut want);
                        }
                        for (c, want) in want.iter().enumerate() {
                            let got = sums[(at + c) * 21 + i].to_f64() * kernel.scale(*output);
                            difference += (got - want) * (got - want);
                            size += want * want;
                        }
                    }
                    at += output.components();
                    let error = f64::sqrt(difference / size);
                    let allowed = 0.3f64.powi(order as i32) + 40.0 * T::EPSILON;
                    assert!(error < allowed, "{kernel:?} {side:?} {output} order {order}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn point_operators_match_pairs_for_every_kernel_level_and_precision() {
        let kernels = [Kernel::Coulomb, Kernel::Gravity { constant: 3.0 }, Kernel::BiotSavart { core: Core::Singular }];
        for level in SimdLevel::available() {
            for kernel in kernels {
                for order in [3, 8, 12] {
                    dispatch::<f32, _>(level, Check { kernel, order });
                    dispatch::<f64, _>(level, Check { kernel, order });
                }
                dispatch::<f64, _>(level, Check { kernel, order: 24 });
            }
        }
    }
}
