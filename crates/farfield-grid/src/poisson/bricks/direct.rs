//! Direct sums over sources (P2P).

use super::{LINES, LineTable};
use crate::poisson::kernel::Pair;
use crate::poisson::lists::{BRICK_POINTS, BRICK_SIDE, Brick, DirectRange};
use crate::poisson::sources::Sources;
use farfield::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch, rsqrt};

/// Sources whose distances along x are tabulated at a time; the table fits into the L1 cache.
const TILE: usize = 64;

const FULL: u8 = RsqrtAccuracy::Full as u8;

/// The kinds of [`Pair`] as constants.
const SINGULAR: u8 = Pair::Singular as u8;
const REGULARISED: u8 = Pair::Regularised as u8;
const CORRECTION: u8 = Pair::Correction as u8;
const VELOCITY: u8 = Pair::Velocity as u8;
const REGULARISED_VELOCITY: u8 = Pair::RegularisedVelocity as u8;

const fn is_velocity(pair: u8) -> bool {
    pair == VELOCITY || pair == REGULARISED_VELOCITY
}

const fn is_smooth(pair: u8) -> bool {
    pair == REGULARISED || pair == CORRECTION || pair == REGULARISED_VELOCITY
}

/// Adds the contributions of the sources of `ranges` to the sums at the points of a brick.
pub(crate) fn add_direct<T: Real>(
    (simd, accuracy): (SimdLevel, RsqrtAccuracy),
    pair: Pair,
    sources: &Sources<T>,
    ranges: &[DirectRange],
    brick: &Brick,
    sums: &mut [T],
) {
    let task = Direct {
        simd,
        sources,
        ranges,
        brick,
        sums,
    };
    match accuracy {
        RsqrtAccuracy::Full => task.of_pair::<{ RsqrtAccuracy::Full as u8 }>(simd, pair),
        RsqrtAccuracy::Cubic => task.of_pair::<{ RsqrtAccuracy::Cubic as u8 }>(simd, pair),
        _ => task.of_pair::<{ RsqrtAccuracy::Newton as u8 }>(simd, pair),
    }
}

struct Direct<'a, T> {
    simd: SimdLevel,
    sources: &'a Sources<T>,
    ranges: &'a [DirectRange],
    brick: &'a Brick,
    sums: &'a mut [T],
}

/// P2P with compile-time constants: accuracy, pair, components, and the number of points along x that are summed at a
/// time (small enough that their sums stay in registers).
struct DirectLoop<'a, T, const A: u8, const PAIR: u8, const C: usize, const X: usize>(Direct<'a, T>);

impl<T: Real> Direct<'_, T> {
    fn of_pair<const A: u8>(self, simd: SimdLevel, pair: Pair) {
        match pair {
            Pair::Singular => self.of_components::<A, SINGULAR>(simd),
            Pair::Regularised => self.of_components::<A, REGULARISED>(simd),
            Pair::Correction => self.of_components::<A, CORRECTION>(simd),
            Pair::Velocity => dispatch(simd, DirectLoop::<T, A, VELOCITY, 3, 4>(self)),
            Pair::RegularisedVelocity => dispatch(simd, DirectLoop::<T, A, REGULARISED_VELOCITY, 3, 4>(self)),
        }
    }

    fn of_components<const A: u8, const PAIR: u8>(self, simd: SimdLevel) {
        match self.sources.components() {
            1 => dispatch(simd, DirectLoop::<T, A, PAIR, 1, 8>(self)),
            2 => dispatch(simd, DirectLoop::<T, A, PAIR, 2, 4>(self)),
            _ => dispatch(simd, DirectLoop::<T, A, PAIR, 3, 4>(self)),
        }
    }
}

impl<T: Real, const A: u8, const PAIR: u8, const C: usize, const X: usize> Vectorized<T>
    for DirectLoop<'_, T, A, PAIR, C, X>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        if const { RsqrtAccuracy::is_never_chosen::<V, A>() } {
            // This accuracy is never chosen for `V`: reuses the loop of full accuracy, which is compiled anyway.
            return dispatch(self.0.simd, DirectLoop::<T, FULL, PAIR, C, X>(self.0));
        }
        let Direct {
            sources,
            ranges,
            brick,
            sums,
            ..
        } = self.0;
        let lines = LineTable::<T>::new();
        let mut tile = Tile::<T, PAIR, C>::new();
        for range in ranges {
            let mut start = range.start as usize;
            while start < range.end as usize {
                let count = (range.end as usize - start).min(TILE);
                tile.load(sources, brick, start, count);
                // Only a kernel with 1/r must leave out coincident points.
                if range.touching && (PAIR == CORRECTION || !is_smooth(PAIR)) {
                    tile.add::<V, A, true, X>(&lines, brick, count, sums);
                } else {
                    tile.add::<V, A, false, X>(&lines, brick, count, sums);
                }
                start += count;
            }
        }
    }
}

/// Up to [`TILE`] sources, relative to a brick's first point.
struct Tile<T, const PAIR: u8, const C: usize> {
    /// Distances along x to the eight points of a line; for potentials, their squares.
    along: [[T; BRICK_SIDE]; TILE],
    y: [T; TILE],
    z: [T; TILE],
    weights: [[T; C]; TILE],
    epsilon2: [T; TILE],
}

impl<T: Real, const PAIR: u8, const C: usize> Tile<T, PAIR, C> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            along: [[T::ZERO; BRICK_SIDE]; TILE],
            y: [T::ZERO; TILE],
            z: [T::ZERO; TILE],
            weights: [[T::ZERO; C]; TILE],
            epsilon2: [T::ZERO; TILE],
        }
    }

    #[inline(always)]
    fn load(&mut self, sources: &Sources<T>, brick: &Brick, start: usize, count: usize) {
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
                self.along[j][k] = if is_velocity(PAIR) { dx } else { dx * dx };
            }
            self.y[j] = sources.position[1][start + j] - first[1];
            self.z[j] = sources.position[2][start + j] - first[2];
            for c in 0..C {
                self.weights[j][c] = sources.weights[c][start + j];
            }
            if is_smooth(PAIR) {
                self.epsilon2[j] = sources.epsilon2[start + j];
            }
        }
    }

    #[inline(always)]
    fn add<V: Lanes<Elem = T>, const A: u8, const TOUCHING: bool, const X: usize>(
        &self,
        lines: &LineTable<T>,
        brick: &Brick,
        count: usize,
        sums: &mut [T],
    ) {
        assert!(sums.len() >= C * BRICK_POINTS);
        let h = V::splat(T::from_f64(brick.spacing));
        // A source at a point of the brick has distance zero up to round-off; any other source is much farther away.
        let same_place = V::splat(T::from_f64((0.01 * brick.spacing).powi(2)));
        let mut line = 0;
        while line < LINES {
            let y = V::from_slice(&lines.y[line..]) * h;
            let z = V::from_slice(&lines.z[line..]) * h;
            let mut first = 0;
            while first < BRICK_SIDE {
                let mut totals = [[V::zero(); X]; C];
                for j in 0..count {
                    // A loop, not `map`: a closure is compiled without the instruction set and becomes a call per
                    // source.
                    let mut weight = [V::zero(); C];
                    for c in 0..C {
                        weight[c] = V::splat(self.weights[j][c]);
                    }
                    let source = Source::<V, C> {
                        dy: y - V::splat(self.y[j]),
                        dz: z - V::splat(self.z[j]),
                        weight,
                        epsilon2: V::splat(self.epsilon2[j]),
                        same_place,
                    };
                    let along = &self.along[j][first..first + X];
                    if is_velocity(PAIR) {
                        source.add_velocity::<A, PAIR, TOUCHING, X>(along, &mut totals);
                    } else {
                        source.add_potential::<A, PAIR, TOUCHING, X>(along, &mut totals);
                    }
                }
                for c in 0..C {
                    for x in 0..X {
                        // SAFETY: c < C, first + x < 8, and LANES divides the 64 lines: all indices are below C * 512,
                        // and the assertion above checks that `sums` holds as many.
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

/// A source relative to several lines, one line per lane.
struct Source<V, const C: usize> {
    dy: V,
    dz: V,
    weight: [V; C],
    epsilon2: V,
    same_place: V,
}

impl<T: Real, V: Lanes<Elem = T>, const C: usize> Source<V, C> {
    /// 1/r from r^2; zero if the point coincides with the source.
    #[inline(always)]
    fn inverse<const A: u8, const TOUCHING: bool>(&self, r2: V) -> V {
        let mut estimate = r2.rsqrt_estimate();
        if TOUCHING {
            estimate = estimate.keep_where_positive(r2 - self.same_place);
        }
        rsqrt::<V, A>(r2, estimate)
    }

    #[inline(always)]
    fn add_potential<const A: u8, const PAIR: u8, const TOUCHING: bool, const X: usize>(
        &self,
        dx2: &[T],
        totals: &mut [[V; X]; C],
    ) {
        let across = self.dy.mul_add(self.dy, self.dz * self.dz);
        let (mut smooth, mut half_epsilon2) = (across, V::zero());
        if is_smooth(PAIR) {
            smooth = across + self.epsilon2;
            half_epsilon2 = V::splat(T::from_f64(0.5)) * self.epsilon2;
        }
        for x in 0..X {
            let dx2 = V::splat(dx2[x]);
            let mut value = if is_smooth(PAIR) {
                let r2 = smooth + dx2;
                let s = rsqrt::<V, A>(r2, r2.rsqrt_estimate());
                // (r^2 + 3/2 e^2) / (r^2 + e^2)^(3/2) = s (1 + e^2 s^2 / 2)
                ((s * s) * s).mul_add(half_epsilon2, s)
            } else {
                self.inverse::<A, TOUCHING>(across + dx2)
            };
            if PAIR == CORRECTION {
                value = value - self.inverse::<A, TOUCHING>(across + dx2);
            }
            for c in 0..C {
                totals[c][x] = self.weight[c].mul_add(value, totals[c][x]);
            }
        }
    }

    #[inline(always)]
    fn add_velocity<const A: u8, const PAIR: u8, const TOUCHING: bool, const X: usize>(
        &self,
        dx: &[T],
        totals: &mut [[V; X]; C],
    ) {
        let Self { dy, dz, weight: w, .. } = *self;
        let mut across = dy.mul_add(dy, dz * dz);
        let mut smoothing = V::zero();
        if is_smooth(PAIR) {
            across = across + self.epsilon2;
            smoothing = V::splat(T::from_f64(1.5)) * self.epsilon2;
        }
        // w x (dx, dy, dz): the first component is the same all along the line.
        let along_x = w[1] * dz - w[2] * dy;
        let (first_y, first_z) = (V::zero() - w[0] * dz, w[0] * dy);
        for x in 0..X {
            let dx = V::splat(dx[x]);
            let s = if is_smooth(PAIR) {
                let r2 = dx.mul_add(dx, across);
                rsqrt::<V, A>(r2, r2.rsqrt_estimate())
            } else {
                self.inverse::<A, TOUCHING>(dx.mul_add(dx, across))
            };
            let s2 = s * s;
            let mut value = s2 * s;
            if is_smooth(PAIR) {
                value = (value * s2).mul_add(smoothing, value);
            }
            totals[0][x] = along_x.mul_add(value, totals[0][x]);
            totals[1][x] = w[2].mul_add(dx, first_y).mul_add(value, totals[1][x]);
            totals[2][x] = w[1].neg_mul_add(dx, first_z).mul_add(value, totals[2][x]);
        }
    }
}
