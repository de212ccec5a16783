//! Expansions about the centres of boxes, and their translations.
//!
//! Outside a box with centre $c$ and scale $\rho$ (its radius), and inside one,
//! $$M(z) = a_0\log(z-c) + \sum_{k=1}^p a_k\Big(\frac{\rho}{z-c}\Big)^k,\qquad
//!   L(z) = \sum_{l=0}^p b_l\Big(\frac{z-c}{\rho}\Big)^l .$$
//! In units of the box, coefficients neither overflow nor underflow, and no translation divides by a shift, which may
//! be zero.
//!
//! The coefficients of a box are a row: real parts $0..p$, then imaginary parts, padded to whole vectors. Translations
//! work on several boxes at once, one per lane, and do not depend on the kernel. P2M and P2L share [`power_sums`].

use super::complex::Complex;
use crate::simd::{Lanes, MAX_LANES, Real, ln};

/// The highest order of expansions.
pub const MAX_ORDER: usize = 60;

/// The largest number of columns in a row.
const MAX_COLUMNS: usize = (2 * (MAX_ORDER + 1)).next_multiple_of(MAX_LANES);

/// One vector for each number of a row: the coefficients of as many boxes as there are lanes.
pub(crate) struct Columns<V> {
    values: [V; MAX_COLUMNS],
    order: usize,
}

/// The number of values in a row.
pub(crate) fn row_len<T: Real>(order: usize) -> usize {
    // Whole vectors at every level.
    (2 * (order + 1)).next_multiple_of(if T::EPSILON > 1e-10 { 16 } else { 8 })
}

impl<V: Lanes> Columns<V> {
    #[inline(always)]
    pub fn new(order: usize) -> Self {
        assert!(order <= MAX_ORDER);
        Self {
            values: [V::zero(); MAX_COLUMNS],
            order,
        }
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        for k in 0..2 * (self.order + 1) {
            self.values[k] = V::zero();
        }
    }

    #[inline(always)]
    pub fn get(&self, k: usize) -> Complex<V> {
        Complex {
            re: self.values[k],
            im: self.values[self.order + 1 + k],
        }
    }

    #[inline(always)]
    pub fn set(&mut self, k: usize, value: Complex<V>) {
        self.values[k] = value.re;
        self.values[self.order + 1 + k] = value.im;
    }

    #[inline(always)]
    pub fn add(&mut self, k: usize, value: Complex<V>) {
        self.set(k, self.get(k).plus(value));
    }

    /// Multiplies every coefficient by `factor`.
    #[inline(always)]
    pub fn scale(&mut self, factor: V) {
        for k in 0..2 * (self.order + 1) {
            self.values[k] = self.values[k] * factor;
        }
    }

    /// Loads lane `l` from the row of `rows` that starts at `starts[l]`.
    #[inline(always)]
    pub fn gather(&mut self, rows: &[V::Elem], starts: &[usize; MAX_LANES]) {
        let length = row_len::<V::Elem>(self.order);
        let mut pointers = [rows.as_ptr(); MAX_LANES];
        for l in 0..V::LANES {
            pointers[l] = rows[starts[l]..][..length].as_ptr();
        }
        // SAFETY: each pointer is that of a slice of `length` values.
        unsafe { V::gather_rows(&pointers, length, &mut self.values) };
    }

    /// Adds lane `l` to the row of `rows` that starts at `starts[l]`, for the first `count` lanes. The rows must be
    /// distinct.
    #[inline(always)]
    pub fn scatter_add(&self, rows: &mut [V::Elem], starts: &[usize; MAX_LANES], count: usize) {
        let length = row_len::<V::Elem>(self.order);
        let mut unused = [V::Elem::ZERO; MAX_LANES * MAX_COLUMNS];
        // All pointers to an array come from one borrow: another borrow would invalidate them.
        let (row, spare) = (rows.as_mut_ptr(), unused.as_mut_ptr());
        let mut pointers = [spare; MAX_LANES];
        for l in 0..V::LANES {
            pointers[l] = if l < count {
                assert!(starts[l] + length <= rows.len());
                // SAFETY: within the slice, as just checked.
                unsafe { row.add(starts[l]) }
            } else {
                // SAFETY: the array holds MAX_LANES rows of MAX_COLUMNS, which is at least `length`.
                unsafe { spare.add(l * MAX_COLUMNS) }
            };
        }
        // SAFETY: `length` values follow each pointer.
        unsafe { V::scatter_add_rows(&self.values, length, &pointers) };
    }

    /// Adds the sum over the lanes of each coefficient `k`, times `factors[k]`, to a row.
    #[inline(always)]
    pub fn reduce_into(&self, factors: &[V::Elem], row: &mut [V::Elem]) {
        let count = self.order + 1;
        for k in 0..count {
            row[k] += factors[k] * self.values[k].sum();
            row[count + k] += factors[k] * self.values[count + k].sum();
        }
    }
}

/// Adds `strength * base^(m - first)` to coefficient `m`, from `first` to the order.
#[inline(always)]
pub(crate) fn power_sums<V: Lanes>(sums: &mut Columns<V>, first: usize, base: Complex<V>, strength: Complex<V>) {
    let mut power = strength;
    for m in first..=sums.order {
        sums.add(m, power);
        power = power.times(base);
    }
}

/// Multiplies coefficient `k` by `ratio^k`.
#[inline(always)]
pub(crate) fn rescale<V: Lanes>(coefficients: &mut Columns<V>, ratio: V) {
    let mut power = ratio;
    for k in 1..=coefficients.order {
        coefficients.set(k, coefficients.get(k).scaled(power));
        power = power * ratio;
    }
}

/// M2M: moves a multipole expansion to a new centre. `shift` is the old centre minus the new one, in units of the new
/// box; the coefficients must already be in these units.
#[inline(always)]
pub(crate) fn shift_multipole<V: Lanes>(a: &mut Columns<V>, shift: Complex<V>) {
    let p = a.order;
    // (z - c)^-k about the new centre, by repeated Horner steps.
    for k in (2..=p).rev() {
        let mut below = a.get(k - 1);
        for j in k..=p {
            below = shift.times_plus(below, a.get(j));
            a.set(j, below);
        }
    }
    // log(z - c)
    let charge = a.get(0);
    let mut power = charge.times(shift);
    for j in 1..=p {
        let share = V::splat(V::Elem::from_f64(-1.0 / j as f64));
        a.add(j, power.scaled(share));
        power = power.times(shift);
    }
}

/// L2L: moves a local expansion to a new centre. `shift` is the new centre minus the old one, in units of the old box.
#[inline(always)]
pub(crate) fn shift_local<V: Lanes>(b: &mut Columns<V>, shift: Complex<V>) {
    let p = b.order;
    for k in 0..p {
        let mut above = b.get(p);
        for j in (k..p).rev() {
            above = shift.times_plus(above, b.get(j));
            b.set(j, above);
        }
    }
}

/// Rows of a block of the M2L matrix.
const BLOCK: usize = 6;

/// The constants of M2L: the binomials `C(k + l - 1, l)`, in blocks of rows `l`, each stored column by column.
#[derive(Debug)]
pub(crate) struct M2lMatrix<T> {
    blocks: Vec<T>,
    order: usize,
}

impl<T: Real> M2lMatrix<T> {
    pub fn new(order: usize) -> Self {
        let rows = (order + 1).next_multiple_of(BLOCK);
        let mut blocks = vec![T::ZERO; rows * order];
        for k in 1..=order {
            let mut binomial = 1.0;
            for l in 0..=order {
                blocks[(l / BLOCK) * BLOCK * order + (k - 1) * BLOCK + l % BLOCK] = T::from_f64(binomial);
                binomial *= (k + l) as f64 / (l + 1) as f64;
            }
        }
        Self { blocks, order }
    }
}

/// M2L between boxes whose centres are `d` apart (target minus source), for the first `order` coefficients of each.
///
/// With $\alpha_k = a_k(\rho_s/d)^k$: $b_0 = a_0\log|d| + \sum_k\alpha_k$ and $b_l =
/// (-\rho_t/d)^l\\,[\sum_k\binom{k+l-1}{l}\alpha_k - a_0/l]$. With this scaling, the matrix is real and the same for
/// all pairs. Only the real part of the logarithm is kept, because strengths are real.
#[inline(always)]
pub(crate) fn multipole_to_local<V: Lanes, const LOG: bool>(
    matrix: &M2lMatrix<V::Elem>,
    order: usize,
    a: &mut Columns<V>,
    d: Complex<V>,
    scales: (V, V),
    b: &mut Columns<V>,
) {
    let inverse = d.inverse();
    let from = inverse.scaled(scales.0);
    let mut power = from;
    for k in 1..=order {
        a.set(k, a.get(k).times(power));
        power = power.times(from);
    }
    let charge = a.get(0);
    let to = inverse.scaled(V::zero() - scales.1);
    let mut power = Complex::real(V::splat(V::Elem::ONE));
    let mut first = 0;
    while first <= order {
        let rows = &matrix.blocks[first * matrix.order..][..BLOCK * order];
        let mut sums = [Complex::<V>::zero(); BLOCK];
        for k in 0..order {
            let alpha = a.get(k + 1);
            for r in 0..BLOCK {
                let binomial = V::splat(rows[k * BLOCK + r]);
                sums[r].re = binomial.mul_add(alpha.re, sums[r].re);
                sums[r].im = binomial.mul_add(alpha.im, sums[r].im);
            }
        }
        for r in 0..BLOCK {
            let l = first + r;
            if l > order {
                break;
            }
            let mut value = sums[r];
            if LOG {
                let share = if l == 0 {
                    V::splat(V::Elem::from_f64(0.5)) * ln(d.norm2())
                } else {
                    V::splat(V::Elem::from_f64(-1.0 / l as f64))
                };
                value = value.plus(charge.scaled(share));
            }
            b.add(l, value.times(power));
            power = power.times(to);
        }
        first += BLOCK;
    }
}

/// The value of an expansion and up to two derivatives.
pub(crate) type Derivatives<V> = [Complex<V>; 3];

/// The value and the first `DERIVATIVES` derivatives of `sum c_k w^k`, with the coefficients from a row. The remaining
/// derivatives are zero.
#[inline(always)]
pub(crate) fn polynomial<V: Lanes, const DERIVATIVES: usize>(
    row: &[V::Elem],
    order: usize,
    w: Complex<V>,
) -> Derivatives<V> {
    let (re, im) = (&row[..=order], &row[order + 1..][..=order]);
    let mut value = Complex {
        re: V::splat(re[order]),
        im: V::splat(im[order]),
    };
    let (mut first, mut half_second) = (Complex::zero(), Complex::zero());
    for k in (0..order).rev() {
        if DERIVATIVES > 1 {
            half_second = half_second.times_plus(w, first);
        }
        if DERIVATIVES > 0 {
            first = first.times_plus(w, value);
        }
        let coefficient = Complex {
            re: V::splat(re[k]),
            im: V::splat(im[k]),
        };
        value = value.times_plus(w, coefficient);
    }
    [value, first, half_second.plus(half_second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::points::PlaneSet;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    type C = (f64, f64);

    fn times(a: C, b: C) -> C {
        (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
    }

    fn over(a: C, b: C) -> C {
        let n = b.0 * b.0 + b.1 * b.1;
        times(a, (b.0 / n, -b.1 / n))
    }

    /// The real part of `sum gamma log(z - z_j)`, and `sum gamma/(z - z_j)`.
    fn field(sources: &[[f64; 2]], strengths: &[f64], z: C) -> (f64, C) {
        sources
            .iter()
            .zip(strengths)
            .fold((0.0, (0.0, 0.0)), |(log, g), (s, q)| {
                let d = (z.0 - s[0], z.1 - s[1]);
                let inverse = over((*q, 0.0), d);
                (log + q * d.0.hypot(d.1).ln(), (g.0 + inverse.0, g.1 + inverse.1))
            })
    }

    /// Coefficients of a logarithmic multipole expansion, the same in every lane.
    fn multipole<V: Lanes<Elem = f64>>(
        sources: &[[f64; 2]],
        strengths: &[f64],
        c: C,
        scale: f64,
        p: usize,
    ) -> Columns<V> {
        let mut a = Columns::<V>::new(p);
        for (s, q) in sources.iter().zip(strengths) {
            let unit = ((s[0] - c.0) / scale, (s[1] - c.1) / scale);
            let mut power = (*q, 0.0);
            for k in 0..=p {
                let share = if k == 0 { 1.0 } else { -1.0 / k as f64 };
                a.add(
                    k,
                    Complex {
                        re: V::splat(share * power.0),
                        im: V::splat(share * power.1),
                    },
                );
                power = times(power, unit);
            }
        }
        a
    }

    fn first<V: Lanes<Elem = f64>>(v: Complex<V>) -> C {
        let (mut re, mut im) = ([0.0], [0.0]);
        v.re.write_partial(&mut re, 1);
        v.im.write_partial(&mut im, 1);
        (re[0], im[0])
    }

    fn splat<V: Lanes<Elem = f64>>(c: C) -> Complex<V> {
        Complex {
            re: V::splat(c.0),
            im: V::splat(c.1),
        }
    }

    /// The value of a multipole expansion at `z`: the real part with the logarithm.
    fn multipole_at<V: Lanes<Elem = f64>>(a: &Columns<V>, p: usize, c: C, scale: f64, z: C) -> f64 {
        let d = (z.0 - c.0, z.1 - c.1);
        let u = over((scale, 0.0), d);
        let mut sum = first(a.get(0)).0 * d.0.hypot(d.1).ln();
        let mut power = u;
        for k in 1..=p {
            sum += times(first(a.get(k)), power).0;
            power = times(power, u);
        }
        sum
    }

    fn local_at<V: Lanes<Elem = f64>>(b: &Columns<V>, p: usize, c: C, scale: f64, z: C) -> f64 {
        let u = ((z.0 - c.0) / scale, (z.1 - c.1) / scale);
        let (mut sum, mut power) = (0.0, (1.0, 0.0));
        for k in 0..=p {
            sum += times(first(b.get(k)), power).0;
            power = times(power, u);
        }
        sum
    }

    #[derive(Clone, Copy)]
    struct Chain;

    impl Vectorized<f64> for Chain {
        type Output = ();
        /// Sources -> M2M -> M2L -> L2L, compared with the direct sum after every step.
        fn run<V: Lanes<Elem = f64>>(self) {
            let sources: Vec<[f64; 2]> = PlaneSet::Square.generate::<f64>(20, 5);
            let strengths: Vec<f64> = (0..20).map(|k| (k as f64 * 0.7).sin()).collect();
            let p = 40;
            let (child, parent) = ((0.5, 0.5), (0.7, 0.25));
            let (child_scale, parent_scale) = (0.75, 1.1);
            let mut a = multipole::<V>(&sources, &strengths, child, child_scale, p);
            let check = |what: &str, got: f64, z: C| {
                let want = field(&sources, &strengths, z).0;
                assert!(
                    (got - want).abs() < 1e-11 * (1.0 + want.abs()),
                    "{what}: {got}, not {want}"
                );
            };
            let z = (3.4, -1.9);
            check("multipole", multipole_at(&a, p, child, child_scale, z), z);
            rescale(&mut a, V::splat(child_scale / parent_scale));
            let shift = ((child.0 - parent.0) / parent_scale, (child.1 - parent.1) / parent_scale);
            shift_multipole(&mut a, splat(shift));
            check("M2M", multipole_at(&a, p, parent, parent_scale, z), z);
            let (target, target_scale) = ((4.0, -2.0), 0.9);
            let mut b = Columns::<V>::new(p);
            let d = (target.0 - parent.0, target.1 - parent.1);
            let scales = (V::splat(parent_scale), V::splat(target_scale));
            multipole_to_local::<V, true>(&M2lMatrix::new(p), p, &mut a, splat(d), scales, &mut b);
            check("M2L", local_at(&b, p, target, target_scale, z), z);
            let (grandchild, scale) = ((3.7, -1.8), 0.3);
            let shift = (
                (grandchild.0 - target.0) / target_scale,
                (grandchild.1 - target.1) / target_scale,
            );
            shift_local(&mut b, splat(shift));
            rescale(&mut b, V::splat(scale / target_scale));
            check("L2L", local_at(&b, p, grandchild, scale, z), z);
        }
    }

    #[test]
    fn every_translation_keeps_the_field() {
        for level in SimdLevel::available() {
            dispatch::<f64, _>(level, Chain);
        }
    }

    #[test]
    fn a_zero_shift_changes_nothing() {
        #[derive(Clone, Copy)]
        struct Zero;
        impl Vectorized<f64> for Zero {
            type Output = ();
            fn run<V: Lanes<Elem = f64>>(self) {
                let mut a = multipole::<V>(&[[0.3, 0.1], [-0.2, 0.4]], &[1.0, -2.5], (0.0, 0.0), 1.0, 12);
                let before: Vec<C> = (0..=12).map(|k| first(a.get(k))).collect();
                shift_multipole(&mut a, Complex::zero());
                shift_local(&mut a, Complex::zero());
                assert!((0..=12).all(|k| first(a.get(k)) == before[k]));
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f64, _>(level, Zero);
        }
    }

    #[test]
    fn polynomials_have_the_right_derivatives() {
        #[derive(Clone, Copy)]
        struct Check;
        impl Vectorized<f64> for Check {
            type Output = ();
            fn run<V: Lanes<Elem = f64>>(self) {
                // 2 + i - 3 w + (1 + i) w^3 at w = 0.5 + 0.25 i
                let row = [2.0, -3.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
                let w = (0.5, 0.25);
                let square = times(w, w);
                let cube = times(times(square, w), (1.0, 1.0));
                let slope = times(square, (3.0, 3.0));
                let want = [
                    (2.0 - 1.5 + cube.0, 1.0 - 0.75 + cube.1),
                    (slope.0 - 3.0, slope.1),
                    times(w, (6.0, 6.0)),
                ];
                let found = [
                    polynomial::<V, 0>(&row, 3, splat(w)),
                    polynomial::<V, 1>(&row, 3, splat(w)),
                    polynomial::<V, 2>(&row, 3, splat(w)),
                ];
                for (most, found) in found.into_iter().enumerate() {
                    for (k, (found, want)) in found.map(first).into_iter().zip(want).enumerate() {
                        let want = if k > most { (0.0, 0.0) } else { want };
                        assert!(
                            (found.0 - want.0).abs() < 1e-15 && (found.1 - want.1).abs() < 1e-15,
                            "derivative {k} of {most}: {found:?}, not {want:?}"
                        );
                    }
                }
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f64, _>(level, Check);
        }
    }
}
