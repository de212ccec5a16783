//! The operators between points and expansions of one box: P2M, P2L, M2P, L2P.
//!
//! Points are transformed into the frame of their leaf as they are read ([`Frame`]), relative to its centre and in
//! units of its side; [`Placement`] moves them to another box's frame. A register holds several points.

use crate::expansion::coefficient_count;
use crate::expansion::harmonics::{PointLanes, Recurrence};
use crate::kernel::{FarOutputs, FarSources};
use crate::simd::{Lanes, Real, RsqrtAccuracy, as_lanes, lanes_len, rsqrt};
use crate::tree::Octree;
use crate::tree::octree::Node;

/// The map from leaf coordinates `u` to another box's: `u * ratio + offset`.
#[derive(Debug, Clone, Copy)]
pub struct Placement {
    pub ratio: f64,
    pub offset: [f64; 3],
}

impl Placement {
    /// The leaf's own frame.
    pub const SAME: Placement = Placement {
        ratio: 1.0,
        offset: [0.0; 3],
    };
}

/// The frame of a leaf.
#[derive(Debug, Clone, Copy)]
pub struct Frame<T> {
    /// Its centre along each axis, in two parts, so that points far from the origin keep all their digits.
    centre: [[T; 2]; 3],
    inverse_side: f64,
}

impl<T: Real> Frame<T> {
    /// The frame of points that are given relative to the centre, in units of the side.
    pub const UNIT: Self = Self {
        centre: [[T::ZERO; 2]; 3],
        inverse_side: 1.0,
    };

    /// The frame of a box of a tree.
    pub fn of(tree: &Octree, node: &Node) -> Self {
        let middle = tree.centre_from_corner(node);
        let centre = std::array::from_fn(|axis| {
            let [sum, rest] = exact_sum(tree.corner[axis], middle[axis]);
            let first = T::from_f64(sum);
            [first, T::from_f64((sum - first.to_f64()) + rest)]
        });
        Self {
            centre,
            inverse_side: 1.0 / tree.side_of(node.level),
        }
    }

    /// A point in this frame.
    pub fn local(&self, point: [T; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let [first, second] = self.centre[axis];
            ((point[axis] - first) - second).to_f64() * self.inverse_side
        })
    }
}

/// `a + b` as the rounded sum and its exact round-off error.
fn exact_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let from_b = sum - a;
    [sum, (a - (sum - from_b)) + (b - from_b)]
}

/// Points of one leaf.
#[derive(Clone, Copy)]
pub struct LeafPoints<'a, T> {
    /// Coordinates as given, axis by axis.
    pub position: [&'a [T]; 3],
    /// The leaf's frame.
    pub frame: Frame<T>,
}

impl<'a, T: Real> LeafPoints<'a, T> {
    pub fn len(&self) -> usize {
        self.position[0].len()
    }

    /// `B` registers of points from `first` on, in the other box's frame; missing lanes repeat the first point.
    #[inline(always)]
    fn load<V: Lanes<Elem = T>, const B: usize, const IRREGULAR: bool>(
        &self,
        first: usize,
        placement: &Placement,
    ) -> PointLanes<V, B> {
        let ratio = V::splat(T::from_f64(placement.ratio * self.frame.inverse_side));
        let zero = [V::zero(); B];
        let mut points = PointLanes {
            x: zero,
            y: zero,
            z: zero,
            r2: zero,
            first: [V::splat(T::ONE); B],
        };
        for b in 0..B {
            let at = (first + b * V::LANES).min(self.len() - 1);
            let count = (self.len() - at).min(V::LANES);
            let mut u = [V::zero(); 3];
            for axis in 0..3 {
                let column = &self.position[axis][at..];
                let offset = V::splat(T::from_f64(placement.offset[axis]));
                // The first difference is exact if the centre is farther from the origin than the leaf is wide.
                let [first, second] = self.frame.centre[axis];
                let position = V::from_slice_partial(column, count, column[0]);
                let from_centre = position - V::splat(first) - V::splat(second);
                u[axis] = from_centre.mul_add(ratio, offset);
            }
            let r2 = u[0].mul_add(u[0], u[1].mul_add(u[1], u[2] * u[2]));
            if IRREGULAR {
                let inverse_r = rsqrt::<V, { RsqrtAccuracy::Full as u8 }>(r2, r2.rsqrt_estimate());
                let inverse_r2 = inverse_r * inverse_r;
                (points.x[b], points.y[b], points.z[b]) = (u[0] * inverse_r2, u[1] * inverse_r2, u[2] * inverse_r2);
                (points.r2[b], points.first[b]) = (inverse_r2, inverse_r);
            } else {
                (points.x[b], points.y[b], points.z[b], points.r2[b]) = (u[0], u[1], u[2], r2);
            }
        }
        points
    }
}

/// The length of the memory for [`add_sources`], in vectors.
pub fn workspace_len(order: usize, streams: usize) -> usize {
    streams * coefficient_count(order)
}

/// The largest number of expansions that one sweep over the points accumulates.
const STREAMS: usize = 4;

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
    let sums = &mut workspace[..streams * coefficients];
    sums.fill(V::zero());
    for stream in (0..streams).step_by(STREAMS) {
        let together = (streams - stream).min(STREAMS);
        let sums = &mut sums[stream * coefficients..(stream + together) * coefficients];
        let strengths = &strengths[stream * stride..];
        let mut first = 0;
        while first < points.len() {
            let batch = Batch {
                recurrence,
                order,
                points,
                placement,
                strengths,
                stride,
                first,
            };
            if points.len() - first > V::LANES {
                batch.add::<V, 3, IRREGULAR>(together, sums);
                first += 3 * V::LANES;
            } else {
                batch.add::<V, 1, IRREGULAR>(together, sums);
                first += V::LANES;
            }
        }
    }
    for (out, sum) in expansions.iter_mut().zip(sums) {
        *out += sum.sum();
    }
}

/// [`add_sources`] for strengths of any form: adds to the expansions of all strength vectors.
///
/// `scratch` has [`strengths_scratch`] floats; `inverse_side` is one over the side of the box of the expansions.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "one call per box, all plainly different")]
pub fn add_strengths<V: Lanes, const IRREGULAR: bool>(
    recurrence: &Recurrence<V::Elem>,
    far: &FarSources<V::Elem>,
    order: usize,
    points: LeafPoints<V::Elem>,
    placement: &Placement,
    strengths: &[V::Elem],
    stride: usize,
    inverse_side: f64,
    expansions: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    // Streams are either expansions themselves, all made at once, or combined into the expansion of a vector. There is
    // one call, so that it is compiled once.
    let direct = far.are_expansions();
    let (basis_order, sums_len) = if direct {
        (order, 0)
    } else {
        (far.basis_order(), far.sums_len())
    };
    let (sums, scratch) = scratch.split_at_mut(sums_len);
    let at_once = if direct {
        expansions.len()
    } else {
        coefficient_count(order)
    };
    let streams = if direct { at_once } else { sums_len } / coefficient_count(basis_order);
    let workspace = as_lanes::<V>(scratch, workspace_len(basis_order, streams));
    for (vector, expansion) in expansions.chunks_mut(at_once.max(1)).enumerate() {
        sums.fill(V::Elem::ZERO);
        add_sources::<V, IRREGULAR>(
            recurrence,
            basis_order,
            points,
            placement,
            &strengths[vector * streams * stride..],
            stride,
            if direct { &mut *expansion } else { &mut *sums },
            workspace,
        );
        if !direct {
            far.add_to(expansion, sums, inverse_side);
        }
    }
}

/// The number of floats that [`add_strengths`] needs to make `expansions` expansions.
pub fn strengths_scratch<T: Real>(far: &FarSources<T>, order: usize, expansions: usize) -> usize {
    if far.are_expansions() {
        lanes_len(workspace_len(order, expansions))
    } else {
        far.sums_len() + lanes_len(far.sums_len())
    }
}

/// A few registers of points that are added to expansions.
struct Batch<'a, T> {
    recurrence: &'a Recurrence<T>,
    order: usize,
    points: LeafPoints<'a, T>,
    placement: &'a Placement,
    strengths: &'a [T],
    stride: usize,
    first: usize,
}

impl<T: Real> Batch<'_, T> {
    #[inline(always)]
    fn add<V: Lanes<Elem = T>, const B: usize, const IRREGULAR: bool>(&self, streams: usize, sums: &mut [V]) {
        let points = self.points.load::<V, B, IRREGULAR>(self.first, self.placement);
        let mut weights = [[V::zero(); B]; STREAMS];
        for (s, weights) in weights.iter_mut().enumerate().take(streams) {
            for (b, weight) in weights.iter_mut().enumerate() {
                let at = (self.first + b * V::LANES).min(self.points.len());
                let count = (self.points.len() - at).min(V::LANES);
                *weight = V::from_slice_partial(&self.strengths[s * self.stride + at..], count, T::ZERO);
            }
        }
        self.recurrence
            .accumulate(self.order, &points, &weights[..streams], sums);
    }
}

/// L2P (regular basis) or M2P (irregular basis): adds the expansions' values to the sums of a leaf's targets.
///
/// `derived` comes from [`FarOutputs::derive`]; `inverse_side` is one over the side of the box of the expansion. Sum
/// `k` of target `i` is `sums[k * targets + i]`.
#[inline(always)]
pub fn add_values<V: Lanes, const IRREGULAR: bool>(
    recurrence: &Recurrence<V::Elem>,
    outputs: &FarOutputs<V::Elem>,
    derived: &[V::Elem],
    inverse_side: f64,
    targets: LeafPoints<V::Elem>,
    placement: &Placement,
    sums: &mut [V::Elem],
) {
    let values = Values {
        recurrence,
        outputs,
        derived,
        inverse_side,
        targets,
        placement,
    };
    let all = outputs.sums();
    if all == 1 {
        return values.add::<V, 1, 4, IRREGULAR>(0, sums);
    }
    // Three at a time, after the first four if that leaves no remainder: 3, 4, 10 and 12 sums. It is a loop, so that
    // each case is compiled once, and not a closure, which would be compiled without the instruction set.
    let mut k = 0;
    if all % 3 == 1 {
        values.add::<V, 4, 2, IRREGULAR>(0, sums);
        k = 4;
    }
    while k < all {
        values.add::<V, 3, 2, IRREGULAR>(k, sums);
        k += 3;
    }
}

/// Expansions that are evaluated at a leaf's targets.
struct Values<'a, T> {
    recurrence: &'a Recurrence<T>,
    outputs: &'a FarOutputs<T>,
    derived: &'a [T],
    inverse_side: f64,
    targets: LeafPoints<'a, T>,
    placement: &'a Placement,
}

impl<T: Real> Values<'_, T> {
    /// Adds the sums `k..k + S`, `B` registers of targets at a time.
    #[inline(always)]
    fn add<V: Lanes<Elem = T>, const S: usize, const B: usize, const IRREGULAR: bool>(&self, k: usize, sums: &mut [T]) {
        let n = self.targets.len();
        // Each derivative brings a factor of one over the side of the box.
        let mut scales = [V::zero(); S];
        for (e, scale) in scales.iter_mut().enumerate() {
            let power = 1 + self.outputs.derivatives_of(k + e) as i32;
            *scale = V::splat(T::from_f64(self.inverse_side.powi(power)));
        }
        let mut first = 0;
        while first < n {
            if n - first > V::LANES {
                self.add_at::<V, S, B, IRREGULAR>(k, first, &scales, sums);
                first += B * V::LANES;
            } else {
                self.add_at::<V, S, 1, IRREGULAR>(k, first, &scales, sums);
                first += V::LANES;
            }
        }
    }

    #[inline(always)]
    fn add_at<V: Lanes<Elem = T>, const S: usize, const B: usize, const IRREGULAR: bool>(
        &self,
        k: usize,
        first: usize,
        scales: &[V; S],
        sums: &mut [T],
    ) {
        let n = self.targets.len();
        let order = self.outputs.basis_order();
        let points = self.targets.load::<V, B, IRREGULAR>(first, self.placement);
        let mut expansions = [self.derived; S];
        for (e, expansion) in expansions.iter_mut().enumerate() {
            *expansion = self.outputs.sum(self.derived, k + e);
        }
        let values = self.recurrence.evaluate::<V, S, B>(order, expansions, &points);
        for (e, values) in values.iter().enumerate() {
            for (b, value) in values.iter().enumerate() {
                let at = (first + b * V::LANES).min(n);
                let count = (n - at).min(V::LANES);
                let out = &mut sums[(k + e) * n + at..][..count];
                let sum = value.mul_add(scales[e], V::from_slice_partial(out, count, T::ZERO));
                sum.write_partial(out, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Core, Kernel, Side, reference};
    use crate::points::Random;
    use crate::simd::{SimdLevel, Vectorized, dispatch};
    use crate::tree::TreeShape;

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
            let strengths: Vec<T> = (0..19 * components)
                .map(|k| T::from_f64(((k * 7) % 11) as f64 - 4.0))
                .collect();
            let shift = [4.0, -3.0, 5.0];
            let derivatives = kernel.outputs().last().map_or(0, |output| output.derivatives());
            let to_targets = Placement {
                ratio: 1.0,
                offset: shift.map(|c: f64| -c),
            };
            let to_sources = Placement {
                ratio: 1.0,
                offset: shift,
            };
            let (source_points, target_points) = (
                LeafPoints {
                    position: [&sources[0], &sources[1], &sources[2]],
                    frame: Frame::UNIT,
                },
                LeafPoints {
                    position: [&targets[0], &targets[1], &targets[2]],
                    frame: Frame::UNIT,
                },
            );
            let recurrence = Recurrence::<T>::new(order + 2);
            let count = coefficient_count(order);
            for side in [Side::Local, Side::Multipole] {
                let outputs = FarOutputs::<T>::new(kernel.form(), derivatives, order, side);
                let far = FarSources::<T>::new(kernel.form(), order, side);
                let expansions = kernel.form().expansions();
                let mut scratch = vec![T::ZERO; strengths_scratch(&far, order, expansions)];
                let mut expansion = vec![T::ZERO; expansions * count];
                let mut derived = vec![T::ZERO; outputs.derived_len()];
                let mut sums = vec![T::ZERO; outputs.sums() * 21];
                if side == Side::Multipole {
                    add_strengths::<V, false>(
                        &recurrence,
                        &far,
                        order,
                        source_points,
                        &Placement::SAME,
                        &strengths,
                        19,
                        1.0,
                        &mut expansion,
                        &mut scratch,
                    );
                    outputs.derive(&expansion, count, &mut derived);
                    add_values::<V, true>(
                        &recurrence,
                        &outputs,
                        &derived,
                        1.0,
                        target_points,
                        &to_sources,
                        &mut sums,
                    );
                } else {
                    add_strengths::<V, true>(
                        &recurrence,
                        &far,
                        order,
                        source_points,
                        &to_targets,
                        &strengths,
                        19,
                        1.0,
                        &mut expansion,
                        &mut scratch,
                    );
                    outputs.derive(&expansion, count, &mut derived);
                    add_values::<V, false>(
                        &recurrence,
                        &outputs,
                        &derived,
                        1.0,
                        target_points,
                        &Placement::SAME,
                        &mut sums,
                    );
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
                    // The error of a dipole is that of a derivative.
                    let more = 1 + order * kernel.form().source_derivatives();
                    let allowed = more as f64 * 0.3f64.powi(order as i32) + 40.0 * T::EPSILON;
                    assert!(error < allowed, "{kernel:?} {side:?} {output} order {order}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn point_operators_match_pairs_for_every_kernel_level_and_precision() {
        let kernels = [
            Kernel::Coulomb,
            Kernel::CoulombDipoles,
            Kernel::gravity(3.0),
            Kernel::BiotSavart { core: Core::Singular },
        ];
        for level in SimdLevel::available() {
            for kernel in kernels {
                for order in [3, 8, 12] {
                    dispatch::<f64, _>(level, Check { kernel, order });
                    // Miri takes hours for high orders.
                    if cfg!(miri) {
                        break;
                    }
                    dispatch::<f32, _>(level, Check { kernel, order });
                }
                if cfg!(miri) {
                    continue;
                }
                dispatch::<f64, _>(level, Check { kernel, order: 24 });
            }
        }
    }

    /// Compares points in the frame of their leaf with a computation that keeps all round-off errors. The points are
    /// far from the origin, some of them in a cluster `width` wide.
    fn check_frames<T: Real>(width: f64) {
        let mut random = Random::new(11);
        let mut place = |width: f64| -> [T; 3] {
            std::array::from_fn(|axis| {
                let offset = [1000.0, -0.37, 0.0][axis];
                T::from_f64(offset + width * (random.uniform() - 0.5))
            })
        };
        let mut points: Vec<[T; 3]> = (0..500).map(|_| place(1.0)).collect();
        points.extend((0..500).map(|_| place(width)));
        let shape = TreeShape {
            leaf_capacity: 8,
            root_scale: 1.3,
            min_side: 0.0,
        };
        let tree = Octree::build(&points, None, &shape);
        for node in tree.nodes.iter().filter(|node| node.is_leaf()) {
            let (frame, middle, side) = (
                Frame::<T>::of(&tree, node),
                tree.centre_from_corner(node),
                tree.side_of(node.level),
            );
            for k in node.sources.clone() {
                let point = points[tree.source_permutation[k as usize] as usize];
                let local = frame.local(point);
                for axis in 0..3 {
                    let [far, rest] = exact_sum(point[axis].to_f64(), -tree.corner[axis]);
                    let expected = ((far - middle[axis]) + rest) / side;
                    let error = (local[axis] - expected).abs();
                    assert!(error <= 4.0 * T::EPSILON, "level {}: {error:e}", node.level);
                }
            }
        }
    }

    #[test]
    fn points_keep_all_their_digits_in_the_frame_of_their_leaf() {
        for width in [1.0, 1e-2, 1e-4] {
            check_frames::<f32>(width);
        }
        for width in [1.0, 1e-4, 1e-8, 1e-12] {
            check_frames::<f64>(width);
        }
    }
}
