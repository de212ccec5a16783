//! Gathers on a block the contributions of the particles of the block and of its ghosts.
//!
//! Particles are processed line by line along x. All particles of a line share one window of points along each axis,
//! wide enough for each of them; because the flow is smooth, it is rarely wider than the kernel. Sixteen points of the
//! block along x can therefore be summed at a time,
//! $$\sum_i a(x-i)\,r_i(x-i),\qquad a=w_yw_z,\quad r_i=w_{x,i}\,\omega$$
//! with the $r_i$ of a line in registers. Lines whose points are all outside the block are skipped.

use super::RemeshKernel;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, MAX_GHOSTS};
use crate::operators::line::number;
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// The capacity of a line of particles: a block, the widest ghost layers, and padding for the last SIMD vector.
const LINE: usize = BLOCK_SIDE + 2 * MAX_GHOSTS + 16;
/// The largest number of points in a window: those of the kernel plus the spread of the displacements of a line.
const MOST_TAPS: usize = 2 * MAX_GHOSTS;
/// The largest number of window points that are summed at a time.
const MOST_AT_ONCE: usize = 7;
/// The number of particles that contribute to sixteen adjacent points through [`MOST_AT_ONCE`] window points.
const SEEN: usize = BLOCK_SIDE + MOST_AT_ONCE + 1;

/// Sets `output` to the contributions of the particles of a block and of its ghosts to the block.
pub(super) fn collect<T: Real>(
    simd: SimdLevel,
    kernel: RemeshKernel,
    carried: &Ghosted<T>,
    velocity: &Ghosted<T>,
    time: f64,
    output: &mut [T],
) {
    output.fill(T::ZERO);
    let task = Collect {
        carried,
        velocity,
        scale: T::from_f64(time / carried.spacing()),
        output,
    };
    match kernel {
        RemeshKernel::M4Prime => dispatch(simd, CollectM4(task)),
        RemeshKernel::M6Prime => dispatch(simd, CollectM6(task)),
    }
}

struct Collect<'a, T> {
    carried: &'a Ghosted<T>,
    velocity: &'a Ghosted<T>,
    /// The factor from velocity to displacement in spacings.
    scale: T,
    output: &'a mut [T],
}

struct CollectM4<'a, T>(Collect<'a, T>);
struct CollectM6<'a, T>(Collect<'a, T>);

impl<T: Real> Vectorized<T> for CollectM4<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.0.run::<V, 2, 4, M4>();
    }
}

impl<T: Real> Vectorized<T> for CollectM6<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.0.run::<V, 3, 6, M6>();
    }
}

/// The kernel's factors along an axis for particles that lie `fraction` of a spacing after a point. The first factor
/// belongs to the point `reach - 1` before that one.
trait Factors<const W: usize> {
    fn of<V: Lanes>(fraction: V) -> [V; W];
}

struct M4;
struct M6;

impl M4 {
    #[inline(always)]
    fn near<V: Lanes>(x: V) -> V {
        number::<V>(1.0) - x * x * (number::<V>(2.5) - number::<V>(1.5) * x)
    }
}

impl Factors<4> for M4 {
    #[inline(always)]
    fn of<V: Lanes>(f: V) -> [V; 4] {
        let one = number::<V>(1.0);
        let g = one - f;
        // Distances 1 + f, f, 1 - f, 2 - f.
        [
            number::<V>(-0.5) * g * g * f,
            Self::near(f),
            Self::near(g),
            number::<V>(-0.5) * f * f * g,
        ]
    }
}

impl M6 {
    #[inline(always)]
    fn near<V: Lanes>(x: V) -> V {
        let inner = number::<V>(25.0).mul_add(x, number(-38.0)).mul_add(x, number(-3.0));
        let inner = inner.mul_add(x, number(12.0)).mul_add(x, number(12.0));
        (number::<V>(1.0) - x) * inner * number(1.0 / 12.0)
    }
    #[inline(always)]
    fn middle<V: Lanes>(x: V) -> V {
        let inner = number::<V>(25.0).mul_add(x, number(-114.0));
        let inner = inner.mul_add(x, number(153.0)).mul_add(x, number(-48.0));
        (x - number(1.0)) * (x - number(2.0)) * inner * number(1.0 / 24.0)
    }
    #[inline(always)]
    fn far<V: Lanes>(x: V) -> V {
        let y = number::<V>(3.0) - x;
        (x - number(2.0)) * y * y * y * number::<V>(5.0).mul_add(x, number(-8.0)) * number(1.0 / 24.0)
    }
}

impl Factors<6> for M6 {
    #[inline(always)]
    fn of<V: Lanes>(f: V) -> [V; 6] {
        let (one, two, three) = (number::<V>(1.0), number::<V>(2.0), number::<V>(3.0));
        [
            Self::far(two + f),
            Self::middle(one + f),
            Self::near(f),
            Self::near(one - f),
            Self::middle(two - f),
            Self::far(three - f),
        ]
    }
}

/// The points along one axis to which the particles of a line contribute, counted from the start of each particle.
struct Window<T> {
    /// The first point.
    first: isize,
    /// The number of points.
    taps: usize,
    /// The displacement of each particle in spacings, rounded down.
    floors: [T; LINE],
    /// The rest of each displacement.
    fractions: [T; LINE],
    /// For each point, the factor of each particle.
    factors: [[T; LINE]; MOST_TAPS],
}

impl<T: Real> Window<T> {
    fn new() -> Self {
        Self {
            first: 0,
            taps: 0,
            floors: [T::ZERO; LINE],
            fractions: [T::ZERO; LINE],
            factors: [[T::ZERO; LINE]; MOST_TAPS],
        }
    }

    /// Finds the points for displacements of `scale * velocity` and a kernel of `W` points.
    #[inline(always)]
    fn place<V: Lanes<Elem = T>, const R: usize, const W: usize>(&mut self, scale: T, velocity: &[T]) {
        let (scale, zero, one) = (V::splat(scale), V::zero(), number::<V>(1.0));
        // Adding and subtracting a number this large rounds to the nearest integer.
        let large = number::<V>(1.5 / T::EPSILON);
        let mut same = true;
        let mut x = 0;
        while x < velocity.len() {
            let shift = scale * V::from_slice_partial(&velocity[x..], velocity.len() - x, velocity[0]);
            let nearest = (shift + large) - large;
            let floor = nearest - shift.select_less(nearest, one, zero);
            floor.write_partial(&mut self.floors[x..], V::LANES);
            (shift - floor).write_partial(&mut self.fractions[x..], V::LANES);
            let first = V::splat(self.floors[0]);
            same &= !floor.any_less(first) && !first.any_less(floor);
            x += V::LANES;
        }
        let (mut least, mut most) = (self.floors[0], self.floors[0]);
        if !same {
            for floor in &self.floors[..velocity.len()] {
                least = if *floor < least { *floor } else { least };
                most = if *floor > most { *floor } else { most };
            }
        }
        self.first = least.to_f64() as isize - (R as isize - 1);
        self.taps = (W + (most - least).to_f64() as usize).min(MOST_TAPS);
    }

    /// Computes the factors of `count` particles.
    #[inline(always)]
    fn weigh<V: Lanes<Elem = T>, const R: usize, const W: usize, F: Factors<W>>(&mut self, count: usize) {
        let (zero, one, half) = (V::zero(), number::<V>(1.0), number::<V>(0.5));
        let least = self.first + (R as isize - 1);
        let mut x = 0;
        while x < count {
            let factors = F::of(V::from_slice(&self.fractions[x..]));
            if self.taps == W {
                for i in 0..W {
                    factors[i].write_partial(&mut self.factors[i][x..], V::LANES);
                }
            } else {
                for tap in 0..self.taps {
                    zero.write_partial(&mut self.factors[tap][x..], V::LANES);
                }
                let floors = V::from_slice(&self.floors[x..]);
                for later in 0..=self.taps - W {
                    // One for the particles whose first point is this one, zero for the others.
                    let from = floors - number((least + later as isize) as f64);
                    let here = (from * from).select_less(half, one, zero);
                    for i in 0..W {
                        let row = &mut self.factors[i + later][x..];
                        here.mul_add(factors[i], V::from_slice(row))
                            .write_partial(row, V::LANES);
                    }
                }
            }
            x += V::LANES;
        }
    }

    /// The range of window points that lie in the block for a particle at `place`.
    #[inline(always)]
    fn within(&self, place: isize) -> std::ops::Range<usize> {
        let first = place + self.first;
        let clamp = |point: isize| (point - first).clamp(0, self.taps as isize) as usize;
        clamp(0)..clamp(BLOCK_SIDE as isize)
    }
}

/// The contributions of a line of particles to lines of the block.
struct Spread<'a, T> {
    /// The index of the block's first point in the line of particles.
    width: usize,
    along: &'a Window<T>,
    /// For each line of the block, the factors of the particles along y and z.
    across: &'a [[&'a [T; LINE]; 2]],
    /// For each line of the block, the index of its first point in a component.
    lines: &'a [usize],
}

impl<T: Real> Spread<'_, T> {
    /// Adds the contributions of `C` components with these `strengths` through the `N` window points from `tap` on.
    #[inline(always)]
    fn add<V: Lanes<Elem = T>, const C: usize, const N: usize>(
        &self,
        tap: usize,
        strengths: &[[T; LINE]],
        products: &mut [[T; SEEN]],
        output: &mut [T],
    ) {
        // Point x receives from particle x + first + N - 1 - i through window point `tap + i`.
        let first = (self.width as isize - self.along.first) as usize + 1 - tap - N;
        for (product, [y, z]) in products.iter_mut().zip(self.across) {
            let (y, z) = (seen(y, first), seen(z, first));
            for x in 0..SEEN {
                product[x] = y[x] * z[x];
            }
        }
        let mut x = 0;
        while x < BLOCK_SIDE {
            let mut spread = [[V::zero(); N]; C];
            for c in 0..C {
                for i in 0..N {
                    let at = first + x + N - 1 - i;
                    spread[c][i] =
                        V::from_slice(&self.along.factors[tap + i][at..]) * V::from_slice(&strengths[c][at..]);
                }
            }
            for (product, line) in products.iter().zip(self.lines) {
                let product = &product[x..x + V::LANES + N - 1];
                let mut sums = [V::zero(); C];
                for c in 0..C {
                    sums[c] = V::from_slice(&output[c * BLOCK_POINTS + line + x..]);
                }
                for i in 0..N {
                    let product = V::from_slice(&product[N - 1 - i..]);
                    for c in 0..C {
                        sums[c] = product.mul_add(spread[c][i], sums[c]);
                    }
                }
                for c in 0..C {
                    sums[c].write_partial(&mut output[c * BLOCK_POINTS + line + x..], V::LANES);
                }
            }
            x += V::LANES;
        }
    }

    /// Adds the contributions of `C` components with these `strengths` through the whole window.
    #[inline(always)]
    fn add_all<V: Lanes<Elem = T>, const C: usize>(
        &self,
        strengths: &[[T; LINE]],
        products: &mut [[T; SEEN]],
        output: &mut [T],
    ) {
        let mut tap = 0;
        while tap < self.along.taps {
            tap += match self.along.taps - tap {
                MOST_AT_ONCE => {
                    self.add::<V, C, MOST_AT_ONCE>(tap, strengths, products, output);
                    MOST_AT_ONCE
                }
                6.. => {
                    self.add::<V, C, 6>(tap, strengths, products, output);
                    6
                }
                4.. => {
                    self.add::<V, C, 4>(tap, strengths, products, output);
                    4
                }
                _ => {
                    self.add::<V, C, 1>(tap, strengths, products, output);
                    1
                }
            };
        }
    }
}

/// The [`SEEN`] values of a line from `first` on.
#[inline(always)]
fn seen<T>(line: &[T; LINE], first: usize) -> &[T; SEEN] {
    &line[first..first + SEEN].as_chunks::<SEEN>().0[0]
}

impl<T: Real> Collect<'_, T> {
    /// Processes all lines of particles, for a kernel of `W` points, `R` of them after the particle.
    #[inline(always)]
    fn run<V: Lanes<Elem = T>, const R: usize, const W: usize, F: Factors<W>>(self) {
        let (side, width) = (self.carried.side(), self.carried.width());
        let components = self.output.len() / BLOCK_POINTS;
        let mut windows = [Window::new(), Window::new(), Window::new()];
        let mut strengths = [[T::ZERO; LINE]; 3];
        let mut products = [[T::ZERO; SEEN]; MOST_TAPS * MOST_TAPS];
        let mut lines = [0; MOST_TAPS * MOST_TAPS];
        for row in 0..side * side {
            let line = row * side..(row + 1) * side;
            let mut any = false;
            for c in 0..components {
                let carried = &self.carried.values(c)[line.clone()];
                any |= carried.iter().any(|strength| *strength != T::ZERO);
                strengths[c][..side].copy_from_slice(carried);
            }
            if !any {
                continue;
            }
            let place = [row % side, row / side].map(|at| at as isize - width as isize);
            for axis in [1, 2, 0] {
                windows[axis].place::<V, R, W>(self.scale, &self.velocity.values(axis)[line.clone()]);
            }
            let within = [windows[1].within(place[0]), windows[2].within(place[1])];
            if within.iter().any(|range| range.is_empty()) {
                continue;
            }
            for window in &mut windows {
                window.weigh::<V, R, W, F>(side);
            }
            let [along, wy, wz] = &windows;
            let mut across = [[&wy.factors[0]; 2]; MOST_TAPS * MOST_TAPS];
            let mut count = 0;
            for k in within[1].clone() {
                for j in within[0].clone() {
                    across[count] = [&wy.factors[j], &wz.factors[k]];
                    let point = [place[0] + wy.first + j as isize, place[1] + wz.first + k as isize];
                    lines[count] = (point[1] as usize * BLOCK_SIDE + point[0] as usize) * BLOCK_SIDE;
                    count += 1;
                }
            }
            let spread = Spread {
                width,
                along,
                across: &across[..count],
                lines: &lines[..count],
            };
            let products = &mut products[..count];
            if components == 3 {
                spread.add_all::<V, 3>(&strengths, products, self.output);
            } else {
                for c in 0..components {
                    spread.add_all::<V, 1>(&strengths[c..], products, &mut self.output[c * BLOCK_POINTS..]);
                }
            }
        }
    }
}
