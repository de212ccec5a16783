//! The particles of a block and its ghosts, collected on the block.

use super::RemeshKernel;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, MAX_GHOSTS};
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Points before the block that a particle which still reaches the block may touch along x, for the widest kernel.
const BEFORE: usize = 5;
/// Points along x that may be touched, as whole registers are written there; along y and z only those of the block are.
const ROW: usize = 32;
/// The most particles along a line: a block and the widest ghosts.
const MOST: usize = BLOCK_SIDE + 2 * MAX_GHOSTS;

/// Sets `output` to what the particles of a block and of its ghosts spread on the block.
pub(super) fn collect<T: Real>(
    simd: SimdLevel,
    kernel: RemeshKernel,
    carried: &Ghosted<T>,
    velocity: &Ghosted<T>,
    time: f64,
    output: &mut [T],
) {
    let components = output.len() / BLOCK_POINTS;
    let mut sums = vec![T::ZERO; components * BLOCK_SIDE * BLOCK_SIDE * ROW];
    let task = Spread {
        carried,
        velocity,
        scale: T::from_f64(time / carried.spacing()),
        components,
        sums: &mut sums,
    };
    match kernel {
        RemeshKernel::M4Prime => dispatch(simd, SpreadM4(task)),
        RemeshKernel::M6Prime => dispatch(simd, SpreadM6(task)),
    }
    for (line, values) in output.chunks_exact_mut(BLOCK_SIDE).enumerate() {
        let (component, y, z) = (
            line / (BLOCK_SIDE * BLOCK_SIDE),
            line % BLOCK_SIDE,
            line / BLOCK_SIDE % BLOCK_SIDE,
        );
        let row = (z * BLOCK_SIDE + y) * components + component;
        values.copy_from_slice(&sums[row * ROW + BEFORE..][..BLOCK_SIDE]);
    }
}

struct Spread<'a, T> {
    carried: &'a Ghosted<T>,
    velocity: &'a Ghosted<T>,
    /// From velocity to displacement in spacings.
    scale: T,
    components: usize,
    /// z, y, component, x.
    sums: &'a mut [T],
}

struct SpreadM4<'a, T>(Spread<'a, T>);
struct SpreadM6<'a, T>(Spread<'a, T>);

impl<T: Real> Vectorized<T> for SpreadM4<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.0.run::<2, 4, M4>();
    }
}

impl<T: Real> Vectorized<T> for SpreadM6<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.0.run::<3, 8, M6>();
    }
}

/// The factors along an axis of a particle `fraction` of a spacing after a point, from `reach - 1` points before that
/// one on; the rest is zero.
trait Factors {
    fn of<T: Real, const W: usize>(fraction: T) -> [T; W];
}

struct M4;
struct M6;

impl Factors for M4 {
    #[inline(always)]
    fn of<T: Real, const W: usize>(f: T) -> [T; W] {
        let c = |value: f64| T::from_f64(value);
        let (one, g) = (T::ONE, T::ONE - f);
        let mut factors = [T::ZERO; W];
        // Distances 1 + f, f, 1 - f, 2 - f.
        factors[0] = c(0.5) * (one - f) * (one - f) * (-f);
        factors[1] = one - f * f * (c(2.5) - c(1.5) * f);
        factors[2] = one - g * g * (c(2.5) - c(1.5) * g);
        factors[3] = c(0.5) * (one - g) * (one - g) * (-g);
        factors
    }
}

impl M6 {
    #[inline(always)]
    fn near<T: Real>(x: T) -> T {
        let c = |value: f64| T::from_f64(value);
        (T::ONE - x) * ((((c(25.0) * x - c(38.0)) * x - c(3.0)) * x + c(12.0)) * x + c(12.0)) * c(1.0 / 12.0)
    }
    #[inline(always)]
    fn middle<T: Real>(x: T) -> T {
        let c = |value: f64| T::from_f64(value);
        (x - T::ONE) * (x - c(2.0)) * (((c(25.0) * x - c(114.0)) * x + c(153.0)) * x - c(48.0)) * c(1.0 / 24.0)
    }
    #[inline(always)]
    fn far<T: Real>(x: T) -> T {
        let c = |value: f64| T::from_f64(value);
        let y = c(3.0) - x;
        (x - c(2.0)) * y * y * y * (c(5.0) * x - c(8.0)) * c(1.0 / 24.0)
    }
}

impl Factors for M6 {
    #[inline(always)]
    fn of<T: Real, const W: usize>(f: T) -> [T; W] {
        let (one, two) = (T::ONE, T::from_f64(2.0));
        let mut factors = [T::ZERO; W];
        factors[0] = Self::far(two + f);
        factors[1] = Self::middle(one + f);
        factors[2] = Self::near(f);
        factors[3] = Self::near(one - f);
        factors[4] = Self::middle(two - f);
        factors[5] = Self::far(two + one - f);
        factors
    }
}

/// Where the particles of a line go along one axis.
struct Places<T, const W: usize> {
    /// The point at or before each.
    base: [isize; MOST],
    factors: [[T; W]; MOST],
}

impl<T: Real, const W: usize> Places<T, W> {
    fn new() -> Self {
        Self {
            base: [0; MOST],
            factors: [[T::ZERO; W]; MOST],
        }
    }

    /// For displacements of `scale` times `velocity`, from `start(particle)`.
    #[inline(always)]
    fn set<F: Factors>(&mut self, scale: T, velocity: &[T], start: impl Fn(usize) -> isize) {
        let count = velocity.len().min(MOST);
        let mut fractions = [T::ZERO; MOST];
        for x in 0..count {
            let shift = (scale * velocity[x]).to_f64();
            let whole = shift.floor();
            self.base[x] = start(x) + whole as isize;
            fractions[x] = T::from_f64(shift - whole);
        }
        for x in 0..count {
            self.factors[x] = F::of::<T, W>(fractions[x]);
        }
    }
}

impl<T: Real> Spread<'_, T> {
    /// Line by line of particles; `W` is the length of a written row, at least twice the reach `R`.
    #[inline(always)]
    fn run<const R: usize, const W: usize, F: Factors>(self) {
        let (side, width) = (self.carried.side(), self.carried.width() as isize);
        let mut places = [Places::<T, W>::new(), Places::new(), Places::new()];
        for row in 0..side * side {
            let line = row * side..(row + 1) * side;
            let mut strengths = [&[][..]; 3];
            let mut any = false;
            for c in 0..self.components {
                strengths[c] = &self.carried.values(c)[line.clone()];
                any |= strengths[c].iter().any(|strength| *strength != T::ZERO);
            }
            if !any {
                continue;
            }
            let (y, z) = ((row % side) as isize - width, (row / side) as isize - width);
            places[0].set::<F>(self.scale, &self.velocity.values(0)[line.clone()], |x| {
                x as isize - width
            });
            places[1].set::<F>(self.scale, &self.velocity.values(1)[line.clone()], |_| y);
            places[2].set::<F>(self.scale, &self.velocity.values(2)[line.clone()], |_| z);
            for x in 0..side {
                // The points base - R + 1 ..= base + R, and those of them that are in the block.
                let before = R as isize - 1;
                let first = [
                    places[0].base[x] - before,
                    places[1].base[x] - before,
                    places[2].base[x] - before,
                ];
                let within = |axis: usize| {
                    let from = (-first[axis]).clamp(0, 2 * R as isize) as usize;
                    let to = (BLOCK_SIDE as isize - first[axis]).clamp(0, 2 * R as isize) as usize;
                    from..to
                };
                if within(0).is_empty() {
                    continue;
                }
                let start = (first[0] + BEFORE as isize) as usize;
                let along = &places[0].factors[x];
                let mut strength = [T::ZERO; 3];
                for c in 0..self.components {
                    strength[c] = strengths[c][x];
                }
                for k in within(2) {
                    let z = (first[2] + k as isize) as usize;
                    for j in within(1) {
                        let y = (first[1] + j as isize) as usize;
                        let weight = places[2].factors[x][k] * places[1].factors[x][j];
                        for c in 0..self.components {
                            let part = weight * strength[c];
                            let at = ((z * BLOCK_SIDE + y) * self.components + c) * ROW + start;
                            let target = &mut self.sums[at..at + W];
                            for i in 0..W {
                                target[i] += part * along[i];
                            }
                        }
                    }
                }
            }
        }
    }
}
