//! The particles of a block and its ghosts, collected on the block.

use super::RemeshKernel;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::Ghosted;
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Points before the block that a particle which still reaches the block may touch, for the widest kernel.
const BEFORE: usize = 5;
/// Points along y and z that may be touched.
const SPAN: usize = BEFORE + BLOCK_SIDE + 6;
/// The same along x, where whole registers are written.
const ROW: usize = 32;

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
    let mut sums = vec![T::ZERO; components * SPAN * SPAN * ROW];
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
        let row = ((z + BEFORE) * SPAN + y + BEFORE) * components + component;
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

impl<T: Real> Spread<'_, T> {
    /// Particle by particle; `W` is the length of a written row, at least twice the reach `R`.
    #[inline(always)]
    fn run<const R: usize, const W: usize, F: Factors>(self) {
        let (side, width) = (self.carried.side(), self.carried.width() as isize);
        for particle in 0..side * side * side {
            let mut strengths = [T::ZERO; 3];
            let mut any = false;
            for c in 0..self.components {
                strengths[c] = self.carried.values(c)[particle];
                any |= strengths[c] != T::ZERO;
            }
            if !any {
                continue;
            }
            let point = [particle % side, particle / side % side, particle / side / side];
            let (mut first, mut factors, mut reaches) = ([0usize; 3], [[T::ZERO; W]; 3], true);
            for axis in 0..3 {
                let shift = (self.scale * self.velocity.values(axis)[particle]).to_f64();
                let whole = shift.floor();
                let base = point[axis] as isize - width + whole as isize;
                // The points base - R + 1 ..= base + R.
                reaches &= base + R as isize >= 0 && base - (R as isize) < BLOCK_SIDE as isize - 1;
                if !reaches {
                    break;
                }
                first[axis] = (base - R as isize + 1 + BEFORE as isize) as usize;
                factors[axis] = F::of::<T, W>(T::from_f64(shift - whole));
            }
            if !reaches {
                continue;
            }
            for k in 0..2 * R {
                for j in 0..2 * R {
                    let weight = factors[2][k] * factors[1][j];
                    let row = ((first[2] + k) * SPAN + first[1] + j) * self.components;
                    for c in 0..self.components {
                        let strength = weight * strengths[c];
                        let at = (row + c) * ROW + first[0];
                        let target = &mut self.sums[at..at + W];
                        for x in 0..W {
                            target[x] += strength * factors[0][x];
                        }
                    }
                }
            }
        }
    }
}
