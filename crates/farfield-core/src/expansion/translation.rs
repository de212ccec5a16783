//! Translations of expansions: rotate the shift onto the z axis, shift along it, rotate back.
//!
//! Each costs O(p^3) instead of O(p^4) (Hu et al. eq. 16-21). A vector register holds the same coefficient of several
//! boxes that share the shift, so every step is a small dense matrix times a column of vectors:
//!
//! 1. gather the coefficients of the boxes and rotate them about z by the azimuth of the shift;
//! 2. for each degree n, one matrix rotates the polar angle to zero (and scales by a power of the distance);
//! 3. for each order m, one matrix shifts along z;
//! 4. for each degree, the transposed matrix rotates back;
//! 5. rotate back about z and add to the targets.
//!
//! A shift with negative z is the mirror image of one with positive z. It flips signs in step 3, and those of odd m in
//! steps 1 and 5, so only polar angles up to 90 degrees need matrices.

use super::rotation::polar_rotation;
use super::{MAX_ORDER, coefficient_count, cosine, sine};
use crate::parallel::map;
use crate::simd::{Lanes, MAX_LANES, Real};

/// The polar rotations of one shift length and angle, scaled for one kind of translation.
#[derive(Debug, Clone)]
struct PolarRotation<T> {
    /// Per degree, column-major: the cosine block then the sine block, for step 2.
    forward: Vec<T>,
    /// The transposed blocks for step 4.
    back: Vec<T>,
}

/// The start of degree `n` in a [`PolarRotation`]: the sum of `(k+1)^2 + k^2` over `k < n`.
const fn degree_start(n: usize) -> usize {
    (2 * n * n * n + n) / 3
}

/// A shift direction: its azimuth and the index of its [`PolarRotation`].
#[derive(Debug, Clone)]
struct Direction<T> {
    polar: usize,
    below: bool,
    /// `(cos m phi, sin m phi)`, with the sign of odd m flipped for shifts below the plane.
    azimuth: Vec<(T, T)>,
}

/// Shift matrices along z, one per order m: `(order-m+1)^2`, column-major, rows and columns n = m..=order.
#[derive(Debug, Clone)]
struct Coaxial<T> {
    above: Vec<Vec<T>>,
    below: Vec<Vec<T>>,
}

/// All translations of one kind (M2M, M2L or L2L), for a set of shifts.
#[derive(Debug, Clone)]
pub struct Translations<T> {
    order: usize,
    polar: Vec<PolarRotation<T>>,
    directions: Vec<Direction<T>>,
    coaxial: Coaxial<T>,
}

/// The size of the workspace of [`Translations::apply`], in vectors.
pub fn workspace_len(order: usize) -> usize {
    2 * coefficient_count(order)
}

/// The shift of child `octant` (bit 0: x, 1: y, 2: z) from its parent's centre, in units of the parent's side.
pub fn child_shift(octant: usize) -> [f64; 3] {
    std::array::from_fn(|axis| if octant >> axis & 1 == 1 { 0.25 } else { -0.25 })
}

impl<T: Real> Translations<T> {
    /// Child to parent multipoles; the direction index is the child's octant.
    pub fn m2m(order: usize) -> Self {
        let shifts: Vec<_> = (0..8).map(child_shift).collect();
        // M_n = sum_k C_nk b^(n-k) 2^-k M_k; the powers are part of the rotation matrices.
        let scale = |b: f64, n: usize| ((2.0 * b).powi(-(n as i32)), b.powi(n as i32));
        let factorials = LnFactorials::new(order);
        Self::new(order, &shifts, scale, |m, n, k| factorials.regular_shift(m, n, k))
    }

    /// Parent to child locals; the direction index is the child's octant.
    pub fn l2l(order: usize) -> Self {
        let shifts: Vec<_> = (0..8).map(child_shift).collect();
        // L_k = 1/2 2^-k sum_n C_nk b^(n-k) L_n
        let scale = |b: f64, n: usize| (b.powi(n as i32), 0.5 * (2.0 * b).powi(-(n as i32)));
        let factorials = LnFactorials::new(order);
        Self::new(order, &shifts, scale, |m, k, n| factorials.regular_shift(m, n, k))
    }

    /// Multipoles to locals between boxes of one level; `shifts` are target minus source, in box sides.
    pub fn m2l(order: usize, shifts: &[[i32; 3]]) -> Self {
        let shifts: Vec<_> = shifts.iter().map(|s| s.map(f64::from)).collect();
        let scale = |d: f64, n: usize| (d.powi(-(n as i32)), d.powi(-(n as i32) - 1));
        let factorials = LnFactorials::new(order);
        Self::new(order, &shifts, scale, |m, n, k| {
            let sign = if (n + m) % 2 == 0 { 1.0 } else { -1.0 };
            let of = |n: usize| factorials.of(n);
            sign * (of(n + k) - 0.5 * (of(n - m) + of(n + m) + of(k - m) + of(k + m))).exp()
        })
    }

    /// `scale(distance, n)` returns the factors of degree n before and after the shift; `coaxial(m, row, column)` an
    /// entry of the matrix that shifts by one along z.
    fn new(
        order: usize,
        shifts: &[[f64; 3]],
        scale: impl Fn(f64, usize) -> (f64, f64) + Sync,
        coaxial: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        assert!(order <= MAX_ORDER);
        let mut polar_keys: Vec<(f64, f64)> = Vec::new();
        let mut directions = Vec::new();
        for &[x, y, z] in shifts {
            let (distance, height) = ((x * x + y * y + z * z).sqrt(), z.abs());
            let key = (distance, height);
            let index = polar_keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                polar_keys.push(key);
                polar_keys.len() - 1
            });
            let phi = y.atan2(x);
            let below = z < 0.0;
            let azimuth = (0..=order)
                .map(|m| {
                    let (angle, sign) = (m as f64 * phi, if below && m % 2 == 1 { -1.0 } else { 1.0 });
                    (T::from_f64(sign * angle.cos()), T::from_f64(sign * angle.sin()))
                })
                .collect();
            directions.push(Direction {
                polar: index,
                below,
                azimuth,
            });
        }
        let polar = map(polar_keys.len(), 1, |k| {
            let (distance, height) = polar_keys[k];
            let cos_t = height / distance;
            PolarRotation::new(order, cos_t, (1.0 - cos_t * cos_t).max(0.0).sqrt(), |n| {
                scale(distance, n)
            })
        });
        let matrices = |below: bool| {
            (0..=order)
                .map(|m| {
                    let size = order - m + 1;
                    (0..size * size)
                        .map(|i| {
                            let (row, column) = (m + i % size, m + i / size);
                            let sign = if below && (row + column) % 2 == 1 { -1.0 } else { 1.0 };
                            T::from_f64(sign * coaxial(m, row, column))
                        })
                        .collect()
                })
                .collect()
        };
        Self {
            order,
            polar,
            directions,
            coaxial: Coaxial {
                above: matrices(false),
                below: matrices(true),
            },
        }
    }

    /// Translates several boxes by the same shift: adds to `targets[target_starts[l]..]` the translation of
    /// `sources[source_starts[l]..]` for each lane `l < count`, keeping degrees up to `order`.
    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "two strided arrays and the operation between them"
    )]
    pub fn apply<V: Lanes<Elem = T>>(
        &self,
        direction: usize,
        order: usize,
        sources: &[T],
        source_starts: &[usize],
        targets: &mut [T],
        target_starts: &[usize],
        workspace: &mut [V],
    ) {
        assert!(order <= self.order);
        let coefficients = coefficient_count(order);
        let (degrees, orders) = workspace[..2 * coefficients].split_at_mut(coefficients);
        let direction = &self.directions[direction];
        let polar = &self.polar[direction.polar];
        let coaxial = if direction.below {
            &self.coaxial.below
        } else {
            &self.coaxial.above
        };

        gather_boxes(sources, source_starts, degrees);
        turn_azimuth(order, &direction.azimuth, degrees);
        turn_polar_forward(order, &polar.forward, degrees, orders);
        shift_along_axis(order, self.order, coaxial, orders, degrees);
        turn_polar_back(order, &polar.back, degrees, orders);
        turn_azimuth_back(order, &direction.azimuth, orders);
        scatter_add(orders, targets, target_starts);
    }
}

impl<T: Real> PolarRotation<T> {
    fn new(order: usize, cos_t: f64, sin_t: f64, scale: impl Fn(usize) -> (f64, f64)) -> Self {
        let mut table = Self {
            forward: Vec::with_capacity(degree_start(order + 1)),
            back: Vec::with_capacity(degree_start(order + 1)),
        };
        for (n, (cosines, sines)) in polar_rotation(cos_t, sin_t, order).into_iter().enumerate() {
            let (before, after) = scale(n);
            for (block, size) in [(cosines, n + 1), (sines, n)] {
                // `block` is row-major. Read as column-major it is the transposed, and so the inverse, rotation.
                for column in 0..size {
                    for row in 0..size {
                        table.forward.push(T::from_f64(before * block[row * size + column]));
                        table.back.push(T::from_f64(after * block[column * size + row]));
                    }
                }
            }
        }
        table
    }
}

/// The logarithms of the factorials up to `(2 order)!`.
struct LnFactorials(Vec<f64>);

impl LnFactorials {
    fn new(order: usize) -> Self {
        let mut sum = 0.0;
        Self(
            (0..=2 * order)
                .map(|k| {
                    if k < 2 {
                        0.0
                    } else {
                        sum += (k as f64).ln();
                        sum
                    }
                })
                .collect(),
        )
    }

    fn of(&self, n: usize) -> f64 {
        self.0[n]
    }

    /// The coefficient of `R_k^m(x)` in `R_n^m(x + z)`, zero for n < k.
    fn regular_shift(&self, m: usize, n: usize, k: usize) -> f64 {
        if n < k {
            return 0.0;
        }
        let logs = self.of(n - m) + self.of(n + m) - self.of(k - m) - self.of(k + m);
        (0.5 * logs - self.of(n - k)).exp()
    }
}

/// Gathers the coefficients of the boxes that begin at `starts` into columns.
#[inline(always)]
fn gather_boxes<V: Lanes>(sources: &[V::Elem], starts: &[usize], columns: &mut [V]) {
    let count = columns.len();
    // Lanes without a box repeat the first box; their results are not used.
    gather(columns, |l| {
        &sources[starts[if l < starts.len() { l } else { 0 }]..][..count]
    });
}

/// Gathers the rows that `row` returns for each lane into columns.
#[inline(always)]
pub(super) fn gather<'a, V: Lanes>(columns: &mut [V], row: impl Fn(usize) -> &'a [V::Elem])
where
    V::Elem: 'a,
{
    let count = columns.len();
    let rows: [*const V::Elem; MAX_LANES] = std::array::from_fn(|l| row(l)[..count].as_ptr());
    // SAFETY: each row was sliced to `count` values.
    unsafe { V::gather_rows(&rows, count, columns) }
}

/// Adds columns to the boxes that begin at `starts`, which do not overlap.
#[inline(always)]
pub(super) fn scatter_add<V: Lanes>(columns: &[V], targets: &mut [V::Elem], starts: &[usize]) {
    let count = columns.len();
    if starts.len() >= V::LANES {
        let mut rows = [std::ptr::null_mut(); MAX_LANES];
        // All pointers come from one borrow: another borrow would invalidate them.
        let (base, length) = (targets.as_mut_ptr(), targets.len());
        for (row, start) in rows.iter_mut().zip(starts) {
            assert!(*start + count <= length);
            // SAFETY: within the slice, as just checked.
            *row = unsafe { base.add(*start) };
        }
        debug_assert!((1..V::LANES).all(|l| starts[l].abs_diff(starts[l - 1]) >= count));
        // SAFETY: `count` values of the slice follow each start.
        unsafe { V::scatter_add_rows(columns, count, &rows) }
        return;
    }
    for (k, column) in columns.iter().enumerate() {
        let mut lanes = [V::Elem::ZERO; MAX_LANES];
        column.write_partial(&mut lanes, V::LANES);
        for (start, lane) in starts.iter().zip(lanes) {
            targets[start + k] += lane;
        }
    }
}

/// Step 1: `c' = cos c + sin s`, `s' = cos s - sin c`.
#[inline(always)]
fn turn_azimuth<V: Lanes>(order: usize, azimuth: &[(V::Elem, V::Elem)], values: &mut [V]) {
    for n in 1..=order {
        let (cosines, sines) = values[n * n + 1..(n + 1) * (n + 1)].split_at_mut(n);
        for ((c, s), (cos, sin)) in cosines.iter_mut().zip(sines).zip(&azimuth[1..=n]) {
            let (cos, sin) = (V::splat(*cos), V::splat(*sin));
            (*c, *s) = (cos.mul_add(*c, sin * *s), sin.neg_mul_add(*c, cos * *s));
        }
    }
}

/// Step 5, the inverse of [`turn_azimuth`].
#[inline(always)]
fn turn_azimuth_back<V: Lanes>(order: usize, azimuth: &[(V::Elem, V::Elem)], values: &mut [V]) {
    for n in 1..=order {
        let (cosines, sines) = values[n * n + 1..(n + 1) * (n + 1)].split_at_mut(n);
        for ((c, s), (cos, sin)) in cosines.iter_mut().zip(sines).zip(&azimuth[1..=n]) {
            let (cos, sin) = (V::splat(*cos), V::splat(*sin));
            (*c, *s) = (sin.neg_mul_add(*s, cos * *c), sin.mul_add(*c, cos * *s));
        }
    }
}

/// The start of the cosines of order `m` in the order-major layout between steps 2 and 3; the sines follow them.
#[inline(always)]
const fn order_start(order: usize, m: usize) -> usize {
    if m == 0 {
        0
    } else {
        order + 1 + (m - 1) * (2 * order + 2 - m)
    }
}

/// Step 2: degree-major in, order-major out.
#[inline(always)]
fn turn_polar_forward<V: Lanes>(order: usize, matrices: &[V::Elem], input: &[V], output: &mut [V]) {
    for n in 0..=order {
        let (cosine_block, sine_block) = matrices[degree_start(n)..degree_start(n + 1)].split_at((n + 1) * (n + 1));
        multiply::<V>(cosine_block, n + 1, &input[n * n..][..n + 1], |m, value| {
            output[order_start(order, m) + n - m] = value;
        });
        multiply::<V>(sine_block, n, &input[sine(n, 1)..][..n], |row, value| {
            let m = row + 1;
            output[order_start(order, m) + (order + 1 - m) + n - m] = value;
        });
    }
}

/// Step 3: order-major in, degree-major out.
#[inline(always)]
fn shift_along_axis<V: Lanes>(
    order: usize,
    table_order: usize,
    matrices: &[Vec<V::Elem>],
    input: &[V],
    output: &mut [V],
) {
    for (m, matrix) in matrices.iter().enumerate().take(order + 1) {
        let size = order + 1 - m;
        let start = order_start(order, m);
        let stride = table_order + 1 - m;
        if m == 0 {
            multiply::<V>(matrix, stride, &input[..size], |row, value| {
                output[cosine(row, 0)] = value
            });
        } else {
            let (cosines, sines) = input[start..start + 2 * size].split_at(size);
            multiply_pair::<V>(matrix, stride, [cosines, sines], |row, [c, s]| {
                output[cosine(m + row, m)] = c;
                output[sine(m + row, m)] = s;
            });
        }
    }
}

/// Step 4: degree-major in and out.
#[inline(always)]
fn turn_polar_back<V: Lanes>(order: usize, matrices: &[V::Elem], input: &[V], output: &mut [V]) {
    for n in 0..=order {
        let (cosine_block, sine_block) = matrices[degree_start(n)..degree_start(n + 1)].split_at((n + 1) * (n + 1));
        let (cosines_out, sines_out) = output[n * n..(n + 1) * (n + 1)].split_at_mut(n + 1);
        multiply::<V>(cosine_block, n + 1, &input[n * n..][..n + 1], |m, value| {
            cosines_out[m] = value
        });
        multiply::<V>(sine_block, n, &input[sine(n, 1)..][..n], |row, value| {
            sines_out[row] = value
        });
    }
}

/// `emit(row, sum over k of matrix[k * stride + row] * input[k])` for as many rows as `input` has entries.
#[inline(always)]
fn multiply<V: Lanes>(matrix: &[V::Elem], stride: usize, input: &[V], mut emit: impl FnMut(usize, V)) {
    multiply_rows::<V, 1>(matrix, stride, [input], |row, [value]| emit(row, value));
}

/// [`multiply`] for two inputs that share the matrix.
#[inline(always)]
fn multiply_pair<V: Lanes>(matrix: &[V::Elem], stride: usize, inputs: [&[V]; 2], emit: impl FnMut(usize, [V; 2])) {
    multiply_rows::<V, 2>(matrix, stride, inputs, emit);
}

/// Multiplies the rows in balanced blocks whose sums stay in registers.
#[inline(always)]
fn multiply_rows<V: Lanes, const S: usize>(
    matrix: &[V::Elem],
    stride: usize,
    inputs: [&[V]; S],
    mut emit: impl FnMut(usize, [V; S]),
) {
    let rows = inputs[0].len();
    let most = (V::SUMS / S).min(8);
    let mut row = 0;
    let mut blocks = rows.div_ceil(most);
    while row < rows {
        let height = (rows - row).div_ceil(blocks);
        let block = &matrix[row..];
        match height {
            1 => multiply_block::<V, S, 1>(block, stride, inputs, row, &mut emit),
            2 => multiply_block::<V, S, 2>(block, stride, inputs, row, &mut emit),
            3 => multiply_block::<V, S, 3>(block, stride, inputs, row, &mut emit),
            4 => multiply_block::<V, S, 4>(block, stride, inputs, row, &mut emit),
            5 => multiply_block::<V, S, 5>(block, stride, inputs, row, &mut emit),
            6 => multiply_block::<V, S, 6>(block, stride, inputs, row, &mut emit),
            7 => multiply_block::<V, S, 7>(block, stride, inputs, row, &mut emit),
            _ => multiply_block::<V, S, 8>(block, stride, inputs, row, &mut emit),
        }
        row += height;
        blocks -= 1;
    }
}

#[inline(always)]
fn multiply_block<V: Lanes, const S: usize, const R: usize>(
    matrix: &[V::Elem],
    stride: usize,
    inputs: [&[V]; S],
    first_row: usize,
    emit: &mut impl FnMut(usize, [V; S]),
) {
    let mut sums = [[V::zero(); S]; R];
    for k in 0..inputs[0].len() {
        let column: &[V::Elem; R] = matrix[k * stride..].first_chunk().expect("the matrix has R more rows");
        let mut x = [V::zero(); S];
        for s in 0..S {
            x[s] = inputs[s][k];
        }
        for r in 0..R {
            let a = V::splat(column[r]);
            for s in 0..S {
                sums[r][s] = a.mul_add(x[s], sums[r][s]);
            }
        }
    }
    for (r, sum) in sums.into_iter().enumerate() {
        emit(first_row + r, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::oracle;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    #[derive(Clone, Copy, Debug)]
    enum Kind {
        M2m,
        M2l,
        L2l,
    }

    #[derive(Clone, Copy)]
    struct Check {
        kind: Kind,
        table_order: usize,
        order: usize,
    }

    const SHIFTS: [[i32; 3]; 9] = [
        [2, 0, 0],
        [0, -2, 0],
        [0, 0, 3],
        [0, 0, -2],
        [2, -1, 1],
        [-3, 2, -1],
        [1, 2, -2],
        [3, 3, 3],
        [-3, -3, -3],
    ];

    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let Check {
                kind,
                table_order,
                order,
            } = self;
            let count = coefficient_count(order);
            let tables: Translations<T> = match kind {
                Kind::M2m => Translations::m2m(table_order),
                Kind::M2l => Translations::m2l(table_order, &SHIFTS),
                Kind::L2l => Translations::l2l(table_order),
            };
            let mut workspace = vec![V::zero(); workspace_len(table_order)];
            // A full batch and one with missing lanes.
            for boxes in [V::LANES, V::LANES.div_ceil(2)] {
                let sources: Vec<T> = (0..boxes)
                    .flat_map(|b| {
                        let x = [0.3 - 0.05 * b as f64, -0.2 + 0.04 * b as f64, 0.45];
                        oracle::regular(order, x).into_iter().map(T::from_f64)
                    })
                    .collect();
                let starts: Vec<usize> = (0..boxes).map(|b| b * count).collect();
                for direction in 0..tables.directions.len() {
                    let mut targets = vec![T::ONE; boxes * count];
                    tables.apply::<V>(
                        direction,
                        order,
                        &sources,
                        &starts,
                        &mut targets,
                        &starts,
                        &mut workspace,
                    );
                    for b in 0..boxes {
                        let source: Vec<f64> = sources[b * count..][..count].iter().map(|c| c.to_f64()).collect();
                        let want = expected(kind, order, &source, direction);
                        for n in 0..=order {
                            let degree = n * n..(n + 1) * (n + 1);
                            let size = want[degree.clone()].iter().fold(1.0, |a: f64, b| a.max(b.abs()));
                            for k in degree {
                                let error = (targets[b * count + k].to_f64() - 1.0 - want[k]).abs();
                                let allowed = 300.0 * T::EPSILON * size;
                                assert!(
                                    error < allowed,
                                    "{kind:?} {order} direction {direction} box {b} coefficient {k}: {error:e} of {size:e}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    fn expected(kind: Kind, order: usize, source: &[f64], direction: usize) -> Vec<f64> {
        let scaled = |values: &[f64], factor: &dyn Fn(usize) -> f64| -> Vec<f64> {
            values.iter().enumerate().map(|(k, v)| v * factor(k.isqrt())).collect()
        };
        match kind {
            Kind::M2l => oracle::m2l(order, source, SHIFTS[direction].map(f64::from)),
            Kind::M2m => oracle::m2m(
                order,
                &scaled(source, &|n| 0.5f64.powi(n as i32)),
                child_shift(direction),
            ),
            Kind::L2l => scaled(&oracle::l2l(order, source, child_shift(direction)), &|n| {
                0.5f64.powi(n as i32 + 1)
            }),
        }
    }

    #[test]
    fn translations_match_the_plain_fourfold_sums() {
        for level in SimdLevel::available() {
            for kind in [Kind::M2m, Kind::M2l, Kind::L2l] {
                let orders = [(0, 0), (2, 1), (1, 1), (4, 4), (9, 9), (9, 6), (13, 3)];
                // Miri takes hours for high orders.
                for (table_order, order) in orders.into_iter().take(if cfg!(miri) { 2 } else { 7 }) {
                    dispatch::<f64, _>(
                        level,
                        Check {
                            kind,
                            table_order,
                            order,
                        },
                    );
                    dispatch::<f32, _>(
                        level,
                        Check {
                            kind,
                            table_order,
                            order,
                        },
                    );
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes hours under Miri and has no unsafe code of its own")]
    fn high_orders_stay_accurate() {
        for kind in [Kind::M2m, Kind::M2l, Kind::L2l] {
            dispatch::<f64, _>(
                SimdLevel::best(),
                Check {
                    kind,
                    table_order: 30,
                    order: 30,
                },
            );
        }
    }
}
