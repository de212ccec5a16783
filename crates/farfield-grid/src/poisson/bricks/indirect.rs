//! Evaluation of expansions (M2P).

use super::{LINES, LineTable};
use crate::poisson::lists::{BRICK_POINTS, BRICK_SIDE, Brick};
use crate::poisson::multipole::{Expansions, term, term_count, unit};
use crate::poisson::tree::SourceTree;
use farfield::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch, rsqrt};

/// Adds the contributions of the expansions of `nodes` to the sums at the points of a brick.
///
/// # Panics
/// If the order of the expansions is not one of [`crate::poisson::Poisson::ORDERS`].
pub(crate) fn add_indirect<T: Real>(
    (simd, accuracy): (SimdLevel, RsqrtAccuracy),
    expansions: &Expansions<T>,
    tree: &SourceTree,
    nodes: &[u32],
    brick: &Brick,
    sums: &mut [T],
) {
    let task = Indirect {
        simd,
        expansions,
        tree,
        nodes,
        brick,
        sums,
    };
    match accuracy {
        RsqrtAccuracy::Full => task.with_order::<{ RsqrtAccuracy::Full as u8 }>(simd),
        RsqrtAccuracy::Cubic => task.with_order::<{ RsqrtAccuracy::Cubic as u8 }>(simd),
        _ => task.with_order::<{ RsqrtAccuracy::Newton as u8 }>(simd),
    }
}

struct Indirect<'a, T> {
    simd: SimdLevel,
    expansions: &'a Expansions<T>,
    tree: &'a SourceTree,
    nodes: &'a [u32],
    brick: &'a Brick,
    sums: &'a mut [T],
}

const FULL: u8 = RsqrtAccuracy::Full as u8;

/// M2P for order `P`; `PAIRS` is the number of pairs k <= n <= P, `TERMS` is P + 1.
struct IndirectLoop<'a, T, const A: u8, const P: usize, const PAIRS: usize, const TERMS: usize>(Indirect<'a, T>);

impl<T: Real> Indirect<'_, T> {
    fn with_order<const A: u8>(self, simd: SimdLevel) {
        match self.expansions.order {
            4 => dispatch(simd, IndirectLoop::<T, A, 4, 15, 5>(self)),
            6 => dispatch(simd, IndirectLoop::<T, A, 6, 28, 7>(self)),
            8 => dispatch(simd, IndirectLoop::<T, A, 8, 45, 9>(self)),
            10 => dispatch(simd, IndirectLoop::<T, A, 10, 66, 11>(self)),
            12 => dispatch(simd, IndirectLoop::<T, A, 12, 91, 13>(self)),
            order => unreachable!("order {order} passed the check of the parameters"),
        }
    }
}

/// The index of the pair k <= n.
const fn pair(n: usize, k: usize) -> usize {
    n * (n + 1) / 2 + k
}

/// Repeats a block for the numbers 0 to 12, each time with the number as a literal. Inner loops whose bounds depend on
/// the number are then unrolled, which the compiler does not do for nested loops by itself.
macro_rules! for_each_degree {
    ($n:ident => $body:block) => {
        for_each_degree!($n => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    ($n:ident => $body:block, $($number:literal)*) => {
        $({
            let $n: usize = $number;
            if $n <= P $body
        })*
    };
}

impl<T: Real, const A: u8, const P: usize, const PAIRS: usize, const TERMS: usize> Vectorized<T>
    for IndirectLoop<'_, T, A, P, PAIRS, TERMS>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        if const { RsqrtAccuracy::is_never_chosen::<V, A>() } {
            // This accuracy is never chosen for `V`: reuses the loop of full accuracy, which is compiled anyway.
            return dispatch(self.0.simd, IndirectLoop::<T, FULL, P, PAIRS, TERMS>(self.0));
        }
        let Indirect {
            expansions,
            tree,
            nodes,
            brick,
            sums,
            ..
        } = self.0;
        assert!(sums.len() >= expansions.components * BRICK_POINTS);
        let lines = LineTable::<T>::new();
        for &node in nodes {
            let node = node as usize;
            let at = &tree.nodes()[node];
            let scale = 1.0 / unit(at);
            let h = V::splat(T::from_f64(brick.spacing * scale));
            let mut first = [V::zero(); 3];
            for axis in 0..3 {
                first[axis] = V::splat(T::from_f64((brick.first[axis] - at.center[axis]) * scale));
            }
            let mut line = 0;
            while line < LINES {
                let y = V::from_slice(&lines.y[line..]).mul_add(h, first[1]);
                let z = V::from_slice(&lines.z[line..]).mul_add(h, first[2]);
                let monomials = monomials::<V, P, PAIRS>(y, z);
                let across = y.mul_add(y, z * z);
                for c in 0..expansions.components {
                    let series = Series::<V, TERMS>::of_line::<P, PAIRS>(expansions.of(node, c), &monomials);
                    let mut x = first[0];
                    for k in 0..BRICK_SIDE {
                        let r2 = x.mul_add(x, across);
                        let inverse = rsqrt::<V, A>(r2, r2.rsqrt_estimate());
                        let sum = series.at::<P>(x, inverse * inverse);
                        // SAFETY: c < components, k < 8, and LANES divides the 64 lines: all indices are below
                        // components * 512, and the assertion above checks that `sums` holds as many.
                        unsafe {
                            let target = sums.as_mut_ptr().add(c * BRICK_POINTS + k * LINES + line);
                            sum.mul_add(inverse, V::load(target)).store(target);
                        }
                        x = x + h;
                    }
                }
                line += V::LANES;
            }
        }
    }
}

/// y^l z^(d-l) at [`pair`]`(d, l)`.
#[inline(always)]
fn monomials<V: Lanes, const P: usize, const PAIRS: usize>(y: V, z: V) -> [V; PAIRS] {
    let mut monomials = [V::splat(V::Elem::ONE); PAIRS];
    for_each_degree!(d => {
        if d > 0 {
            for l in 0..d {
                monomials[pair(d, l)] = monomials[pair(d - 1, l)] * z;
            }
            monomials[pair(d, d)] = monomials[pair(d - 1, d - 1)] * y;
        }
    });
    monomials
}

/// $\sum_mA_mq^m+x\sum_mB_mq^m$ for the points of a line, $q=1/r^2$; $B_0$ is zero.
struct Series<V, const TERMS: usize> {
    a: [V; TERMS],
    b: [V; TERMS],
}

impl<V: Lanes, const TERMS: usize> Series<V, TERMS> {
    /// Computes the series of a line from the coefficients of an expansion and the monomials of y and z.
    #[inline(always)]
    fn of_line<const P: usize, const PAIRS: usize>(coefficients: &[V::Elem], monomials: &[V; PAIRS]) -> Self {
        assert!(coefficients.len() >= term_count(P));
        let mut series = Self {
            a: [V::zero(); TERMS],
            b: [V::zero(); TERMS],
        };
        // Ordered by the degree of the monomials, so that those in use stay in registers with the sums.
        for_each_degree!(d => {
            for_each_degree!(k => {
                let n = d + k;
                if n <= P {
                    let m = n - k / 2;
                    let mut sum = if k.is_multiple_of(2) { series.a[m] } else { series.b[m] };
                    for l in 0..d + 1 {
                        // SAFETY: for k + l <= n <= P the term is below term_count(P), which the slice holds.
                        let coefficient = unsafe { *coefficients.get_unchecked(term(n, k, l)) };
                        sum = V::splat(coefficient).mul_add(monomials[pair(d, l)], sum);
                    }
                    if k.is_multiple_of(2) {
                        series.a[m] = sum;
                    } else {
                        series.b[m] = sum;
                    }
                }
            });
        });
        series
    }

    /// The value at a point, by Horner's rule.
    #[inline(always)]
    fn at<const P: usize>(&self, x: V, q: V) -> V {
        let (mut even, mut odd) = (self.a[P], self.b[P]);
        for_each_degree!(i => {
            let m = P - i;
            if m > 0 && m < P {
                even = even.mul_add(q, self.a[m]);
                odd = odd.mul_add(q, self.b[m]);
            }
        });
        even = even.mul_add(q, self.a[0]);
        (odd * q).mul_add(x, even)
    }
}
