//! The sums over a brick's points: from sources directly (P2P) and from expansions (M2P).
//!
//! The points of a brick form 64 lines along x. A register holds the same x of several lines, so y and z differ from
//! lane to lane while x, and everything that depends on it alone, is one number for all lanes. For each group of lines
//! what depends on y and z is computed once and used for the eight points along x.

use super::kernel::Kernel;
use super::multipole::{Expansions, term, term_count, unit};
use super::plan::{BRICK_POINTS, BRICK_SIDE, Brick, DirectRange};
use super::sources::Sources;
use super::tree::SourceTree;
use farfield::simd::{Lanes, MAX_LANES, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch, rsqrt};

/// Lines along x.
const LINES: usize = BRICK_SIDE * BRICK_SIDE;

/// Sources whose distances along x are tabulated at a time; the table stays in the first cache.
const TILE: usize = 64;

/// Where point (x, y, z) of a component is among the sums over the points of a brick: component by component, then x,
/// then line by line (y fastest).
#[inline(always)]
pub(crate) fn sum_index(component: usize, [x, y, z]: [usize; 3]) -> usize {
    component * BRICK_POINTS + x * LINES + z * BRICK_SIDE + y
}

/// Adds what the sources of `ranges` do to the points of a brick.
pub(crate) fn add_direct<T: Real>(
    (simd, accuracy): (SimdLevel, RsqrtAccuracy),
    kernel: Kernel,
    sources: &Sources<T>,
    ranges: &[DirectRange],
    brick: &Brick,
    sums: &mut [T],
) {
    let task = Direct {
        sources,
        ranges,
        brick,
        sums,
    };
    match (kernel, accuracy) {
        (Kernel::Singular, RsqrtAccuracy::Full) => task.with::<{ RsqrtAccuracy::Full as u8 }, false>(simd),
        (Kernel::Singular, RsqrtAccuracy::Cubic) => task.with::<{ RsqrtAccuracy::Cubic as u8 }, false>(simd),
        (Kernel::Singular, _) => task.with::<{ RsqrtAccuracy::Newton as u8 }, false>(simd),
        (Kernel::Regularised(_), RsqrtAccuracy::Full) => task.with::<{ RsqrtAccuracy::Full as u8 }, true>(simd),
        (Kernel::Regularised(_), RsqrtAccuracy::Cubic) => task.with::<{ RsqrtAccuracy::Cubic as u8 }, true>(simd),
        (Kernel::Regularised(_), _) => task.with::<{ RsqrtAccuracy::Newton as u8 }, true>(simd),
    }
}

struct Direct<'a, T> {
    sources: &'a Sources<T>,
    ranges: &'a [DirectRange],
    brick: &'a Brick,
    sums: &'a mut [T],
}

/// P2P with everything that shapes the loop as a constant: accuracy, kernel, components, and how many points along x
/// are summed at a time (so that their sums stay in registers).
struct DirectLoop<'a, T, const A: u8, const REGULARISED: bool, const C: usize, const X: usize>(Direct<'a, T>);

impl<T: Real> Direct<'_, T> {
    fn with<const A: u8, const REGULARISED: bool>(self, simd: SimdLevel) {
        match self.sources.components() {
            1 => dispatch(simd, DirectLoop::<T, A, REGULARISED, 1, 8>(self)),
            2 => dispatch(simd, DirectLoop::<T, A, REGULARISED, 2, 4>(self)),
            _ => dispatch(simd, DirectLoop::<T, A, REGULARISED, 3, 4>(self)),
        }
    }
}

/// The y and z of each line, in spacings from the brick's first point.
struct LineTable<T> {
    y: [T; LINES],
    z: [T; LINES],
}

impl<T: Real> LineTable<T> {
    #[inline(always)]
    fn new() -> Self {
        let mut table = Self {
            y: [T::ZERO; LINES],
            z: [T::ZERO; LINES],
        };
        for line in 0..LINES {
            table.y[line] = T::from_f64((line % BRICK_SIDE) as f64);
            table.z[line] = T::from_f64((line / BRICK_SIDE) as f64);
        }
        table
    }
}

impl<T: Real, const A: u8, const REGULARISED: bool, const C: usize, const X: usize> Vectorized<T>
    for DirectLoop<'_, T, A, REGULARISED, C, X>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Direct {
            sources,
            ranges,
            brick,
            sums,
        } = self.0;
        let lines = LineTable::<T>::new();
        let mut tile = Tile::<T, C>::new();
        for range in ranges {
            let mut start = range.start as usize;
            while start < range.end as usize {
                let count = (range.end as usize - start).min(TILE);
                tile.load::<REGULARISED>(sources, brick, start, count);
                if range.touching && !REGULARISED {
                    tile.add::<V, A, REGULARISED, true, X>(&lines, brick, count, sums);
                } else {
                    tile.add::<V, A, REGULARISED, false, X>(&lines, brick, count, sums);
                }
                start += count;
            }
        }
    }
}

/// Some sources, relative to a brick's first point.
struct Tile<T, const C: usize> {
    /// Squared distances along x to the eight points of a line.
    dx2: [[T; BRICK_SIDE]; TILE],
    y: [T; TILE],
    z: [T; TILE],
    weights: [[T; C]; TILE],
    epsilon2: [T; TILE],
}

impl<T: Real, const C: usize> Tile<T, C> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            dx2: [[T::ZERO; BRICK_SIDE]; TILE],
            y: [T::ZERO; TILE],
            z: [T::ZERO; TILE],
            weights: [[T::ZERO; C]; TILE],
            epsilon2: [T::ZERO; TILE],
        }
    }

    #[inline(always)]
    fn load<const REGULARISED: bool>(&mut self, sources: &Sources<T>, brick: &Brick, start: usize, count: usize) {
        let first = [
            T::from_f64(brick.first[0]),
            T::from_f64(brick.first[1]),
            T::from_f64(brick.first[2]),
        ];
        let h = T::from_f64(brick.spacing);
        for j in 0..count {
            let x = sources.position[0][start + j];
            for k in 0..BRICK_SIDE {
                let dx = first[0] + h * T::from_f64(k as f64) - x;
                self.dx2[j][k] = dx * dx;
            }
            self.y[j] = sources.position[1][start + j] - first[1];
            self.z[j] = sources.position[2][start + j] - first[2];
            for c in 0..C {
                self.weights[j][c] = sources.weights[c][start + j];
            }
            if REGULARISED {
                self.epsilon2[j] = sources.epsilon2[start + j];
            }
        }
    }

    #[inline(always)]
    fn add<V: Lanes<Elem = T>, const A: u8, const REGULARISED: bool, const TOUCHING: bool, const X: usize>(
        &self,
        lines: &LineTable<T>,
        brick: &Brick,
        count: usize,
        sums: &mut [T],
    ) {
        assert!(sums.len() >= C * BRICK_POINTS);
        let h = V::splat(T::from_f64(brick.spacing));
        let half = V::splat(T::from_f64(0.5));
        // A source at a point of the brick is at distance zero but for rounding; any other is much further away.
        let same_place = V::splat(T::from_f64((0.01 * brick.spacing).powi(2)));
        let mut line = 0;
        while line < LINES {
            let y = V::from_slice(&lines.y[line..]) * h;
            let z = V::from_slice(&lines.z[line..]) * h;
            let mut first = 0;
            while first < BRICK_SIDE {
                let mut totals = [[V::zero(); X]; C];
                for j in 0..count {
                    let (dy, dz) = (y - V::splat(self.y[j]), z - V::splat(self.z[j]));
                    let mut across = dy.mul_add(dy, dz * dz);
                    let mut weight = [V::zero(); C];
                    for c in 0..C {
                        weight[c] = V::splat(self.weights[j][c]);
                    }
                    let mut half_epsilon2 = V::zero();
                    if REGULARISED {
                        let epsilon2 = V::splat(self.epsilon2[j]);
                        across = across + epsilon2;
                        half_epsilon2 = half * epsilon2;
                    }
                    for x in 0..X {
                        let r2 = across + V::splat(self.dx2[j][first + x]);
                        let mut estimate = r2.rsqrt_estimate();
                        if TOUCHING {
                            estimate = estimate.keep_where_positive(r2 - same_place);
                        }
                        let mut inverse = rsqrt::<V, A>(r2, estimate);
                        if REGULARISED {
                            // (r^2 + 3/2 e^2) / (r^2 + e^2)^(3/2) = s (1 + e^2 s^2 / 2) with s = 1/sqrt(r^2 + e^2)
                            let cube = (inverse * inverse) * inverse;
                            inverse = cube.mul_add(half_epsilon2, inverse);
                        }
                        for c in 0..C {
                            totals[c][x] = weight[c].mul_add(inverse, totals[c][x]);
                        }
                    }
                }
                for c in 0..C {
                    for x in 0..X {
                        // SAFETY: c < C, first + x < 8, and LANES divides the 64 lines: all below C * 512, which
                        // `sums` holds.
                        unsafe {
                            let target = sums.as_mut_ptr().add(c * BRICK_POINTS + (first + x) * LINES + line);
                            (V::load(target) + totals[c][x]).store(target);
                        }
                    }
                }
                first += X;
            }
            line += V::LANES;
        }
    }
}

/// Adds what the expansions of `nodes` give at the points of a brick.
///
/// # Panics
/// If the order of the expansions is none of 4 to 13.
pub(crate) fn add_indirect<T: Real>(
    (simd, accuracy): (SimdLevel, RsqrtAccuracy),
    expansions: &Expansions<T>,
    tree: &SourceTree,
    nodes: &[u32],
    brick: &Brick,
    sums: &mut [T],
) {
    let task = Indirect {
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
    expansions: &'a Expansions<T>,
    tree: &'a SourceTree,
    nodes: &'a [u32],
    brick: &'a Brick,
    sums: &'a mut [T],
}

/// M2P for order `P`; `PAIRS` is the number of pairs k <= n <= P.
struct IndirectLoop<'a, T, const A: u8, const P: usize, const PAIRS: usize>(Indirect<'a, T>);

impl<T: Real> Indirect<'_, T> {
    fn with_order<const A: u8>(self, simd: SimdLevel) {
        match self.expansions.order {
            4 => dispatch(simd, IndirectLoop::<T, A, 4, 15>(self)),
            6 => dispatch(simd, IndirectLoop::<T, A, 6, 28>(self)),
            8 => dispatch(simd, IndirectLoop::<T, A, 8, 45>(self)),
            10 => dispatch(simd, IndirectLoop::<T, A, 10, 66>(self)),
            12 => dispatch(simd, IndirectLoop::<T, A, 12, 91>(self)),
            order => unreachable!("orders are checked when a solver is made, {order} was not"),
        }
    }
}

/// Where the pair k <= n is.
const fn pair(n: usize, k: usize) -> usize {
    n * (n + 1) / 2 + k
}

/// Repeats a block for the numbers 0 to 12, each time with the number as a literal: loops inside whose bounds depend on
/// it are then unrolled, which the compiler does not do for nested loops by itself.
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

impl<T: Real, const A: u8, const P: usize, const PAIRS: usize> Vectorized<T> for IndirectLoop<'_, T, A, P, PAIRS> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Indirect {
            expansions,
            tree,
            nodes,
            brick,
            sums,
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
                    let in_x = polynomials_in_x::<V, P, PAIRS>(expansions.of(node, c), &monomials);
                    let mut x = first[0];
                    for k in 0..BRICK_SIDE {
                        let r2 = x.mul_add(x, across);
                        let inverse = rsqrt::<V, A>(r2, r2.rsqrt_estimate());
                        let sum = over_degrees::<V, P, PAIRS>(x, inverse * inverse, &in_x);
                        // SAFETY: c < components, k < 8, and LANES divides the 64 lines: all below components * 512,
                        // which `sums` holds.
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

/// For each degree n the coefficients of the polynomial in x that fixed y and z leave: that of x^k at
/// [`pair`]`(n, k)`.
#[inline(always)]
fn polynomials_in_x<V: Lanes, const P: usize, const PAIRS: usize>(
    coefficients: &[V::Elem],
    monomials: &[V; PAIRS],
) -> [V; PAIRS] {
    assert!(coefficients.len() >= term_count(P));
    let mut in_x = [V::zero(); PAIRS];
    for_each_degree!(n => {
        for_each_degree!(k => {
            if k <= n {
                let mut sum = V::zero();
                for l in 0..n - k + 1 {
                    // SAFETY: for k + l <= n <= P the term is below term_count(P), which the slice holds.
                    let coefficient = unsafe { *coefficients.get_unchecked(term(n, k, l)) };
                    sum = V::splat(coefficient).mul_add(monomials[pair(n - k, l)], sum);
                }
                in_x[pair(n, k)] = sum;
            }
        });
    });
    in_x
}

/// The sum over the degrees n of the polynomial in x times 1/r^2n.
#[inline(always)]
fn over_degrees<V: Lanes, const P: usize, const PAIRS: usize>(x: V, inverse2: V, in_x: &[V; PAIRS]) -> V {
    let mut sum = V::zero();
    for_each_degree!(m => {
        // From the highest degree down, by Horner's rule in 1/r^2.
        let n = P - m;
        let mut value = in_x[pair(n, n)];
        for i in 0..n {
            value = value.mul_add(x, in_x[pair(n, n - 1 - i)]);
        }
        sum = if m == 0 { value } else { sum.mul_add(inverse2, value) };
    });
    sum
}

/// The cheapest reciprocal square root that is exact enough.
pub(crate) fn rsqrt_accuracy<T: Real>(simd: SimdLevel, error: f64) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_error::<V>(self.0)
        }
    }
    dispatch::<T, _>(simd, Choose(error))
}

const _: () = assert!(LINES.is_multiple_of(MAX_LANES));
