//! M2L into a box from up to eight source boxes that are mirror images of one another about it.
//!
//! Every harmonic is even or odd in x, in y and in z: one of eight parities, stored as three bits. The M2L matrix $K$
//! of a mirrored shift differs only in the signs of odd coefficients. Let $M_\sigma$ be the multipoles of the sources
//! at the shifts $\sigma s$, where $\sigma$ is a choice of signs. The part of parity $a$ of their sum is $$ L_a =
//! \sum_b K_{ab} \sum_\sigma \chi_{a\oplus b}(\sigma)\\, M_{\sigma,b} $$ where $\chi_c(\sigma)$ is the product of the
//! signs along the axes in $c$. This takes eight sums and differences of the sources and one matrix product instead of
//! eight translations. If a component of the shift is zero, half of the blocks $K_{ab}$ vanish.
//!
//! The product takes $(p+1)^4$ operations; rotations take about $2(p+1)^3$ for each source. The product is faster at
//! low orders when most of the mirror images exist.

use super::coefficient_count;
use super::translation::{Translations, gather, scatter_add, workspace_len as translation_workspace};
use crate::parallel::map;
use crate::simd::{Lanes, MAX_LANES, Real, SimdLevel, Vectorized, as_lanes, dispatch, lanes_len};

/// The number of sets of mirrored shifts: one for each triple of absolute components from 0 to 3.
pub const SETS: usize = 64;
/// The number of mirror images in a set, and of parities: one for each choice of three signs.
pub const IMAGES: usize = 8;

/// The set that contains `shift`.
pub fn set_of(shift: [i32; 3]) -> usize {
    shift
        .iter()
        .fold(0, |set, component| 4 * set + component.unsigned_abs() as usize)
}

/// The index of `shift` among the images of its set: bit `axis` is set if that component is negative.
pub fn image_of(shift: [i32; 3]) -> usize {
    (0..3).fold(0, |image, axis| image | usize::from(shift[axis] < 0) << axis)
}

/// The shift of a set that has no negative components.
pub fn shift_of_set(set: usize) -> [i32; 3] {
    [set / 16, set / 4 % 4, set % 4].map(|component| component as i32)
}

/// The number of zero components in the shifts of a set.
pub fn zeros_of_set(set: usize) -> usize {
    shift_of_set(set).iter().filter(|component| **component == 0).count()
}

/// The matrices of the sets that are translated by mirror images.
#[derive(Debug)]
pub struct Mirrored<T> {
    parities: Parities,
    sets: [Option<Blocks<T>>; SETS],
    /// The multipole of a missing source: zeros.
    nothing: Vec<T>,
}

/// The coefficients of each parity.
#[derive(Debug)]
struct Parities {
    /// For each parity, the indices of its coefficients, lower degrees first.
    members: [Vec<usize>; IMAGES],
    /// For each order and parity, the number of members with a degree up to that order.
    counts: Vec<[usize; IMAGES]>,
}

/// The matrix of one shift, parity by parity.
#[derive(Debug)]
struct Blocks<T> {
    /// The highest order of the matrix.
    order: usize,
    /// For each parity of locals: the parities of multipoles that act on it, each with the start of its columns.
    acting: [Vec<(usize, usize)>; IMAGES],
    /// The columns, each with one entry per local of the parity.
    matrix: Vec<T>,
}

/// The size of the workspace of [`Mirrored::apply`], in vectors.
pub fn workspace_len(order: usize) -> usize {
    2 * IMAGES * row_len(order) + coefficient_count(order)
}

/// The distance in memory from one image to the next, in vectors: odd, because eight columns that are whole pages
/// apart would share cache sets.
const fn row_len(order: usize) -> usize {
    coefficient_count(order) | 1
}

impl Parities {
    fn new(order: usize) -> Self {
        let mut members: [Vec<usize>; IMAGES] = Default::default();
        let mut counts = Vec::with_capacity(order + 1);
        for n in 0..=order {
            for m in 0..=n {
                // P_n^m has the parity of n + m in z. cos(m phi) has the parity of m in x and is even in y; sin(m phi)
                // has the opposite parity in both.
                let [x, z] = [m % 2, (n + m) % 2];
                members[x | z << 2].push(super::cosine(n, m));
                if m > 0 {
                    members[(x ^ 1) | 1 << 1 | z << 2].push(super::sine(n, m));
                }
            }
            counts.push(std::array::from_fn(|parity| members[parity].len()));
        }
        Self { members, counts }
    }
}

impl<T: Real> Blocks<T> {
    /// The matrix of direction `direction` of `translations`, which has the shift of the set.
    fn new(
        level: SimdLevel,
        translations: &Translations<T>,
        direction: usize,
        set: usize,
        order: usize,
        parities: &Parities,
    ) -> Self {
        let whole = dispatch::<T, _>(
            level,
            UnitMultipoles {
                translations,
                direction,
                order,
            },
        );
        let n = coefficient_count(order);
        let counts = parities.counts[order];
        let shift = shift_of_set(set);
        let acts = |to: usize, from: usize| (0..3).all(|axis| shift[axis] != 0 || (to ^ from) >> axis & 1 == 0);
        let mut matrix = Vec::with_capacity((n * n) >> zeros_of_set(set));
        let acting = std::array::from_fn(|to| {
            let mut blocks = Vec::new();
            for from in (0..IMAGES).filter(|from| acts(to, *from)) {
                blocks.push((from, matrix.len()));
                for column in &parities.members[from][..counts[from]] {
                    let rows = &parities.members[to][..counts[to]];
                    matrix.extend(rows.iter().map(|row| whole[column * n + row]));
                }
            }
            blocks
        });
        Self { order, acting, matrix }
    }
}

/// Computes the matrix of a translation by translating the unit multipoles one after another.
struct UnitMultipoles<'a, T> {
    translations: &'a Translations<T>,
    direction: usize,
    order: usize,
}

impl<T: Real> Vectorized<T> for UnitMultipoles<'_, T> {
    type Output = Vec<T>;
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> Vec<T> {
        let n = coefficient_count(self.order);
        let mut units = vec![T::ZERO; n * n];
        for k in 0..n {
            units[k * n + k] = T::ONE;
        }
        let mut matrix = vec![T::ZERO; n * n];
        let mut memory = vec![T::ZERO; lanes_len(translation_workspace(self.order))];
        let workspace = as_lanes::<V>(&mut memory, translation_workspace(self.order));
        for first in (0..n).step_by(V::LANES) {
            let mut starts = [0; MAX_LANES];
            let count = V::LANES.min(n - first);
            for (l, start) in starts.iter_mut().enumerate().take(count) {
                *start = (first + l) * n;
            }
            let starts = &starts[..count];
            self.translations.apply::<V>(
                self.direction,
                self.order,
                &units,
                starts,
                &mut matrix,
                starts,
                workspace,
            );
        }
        matrix
    }
}

impl<T: Real> Mirrored<T> {
    /// Builds the matrix of each set up to its order in `orders`; `None` means that a set is not translated this way.
    /// `direction` returns the index of a shift in `translations`.
    pub fn new(
        level: SimdLevel,
        translations: &Translations<T>,
        direction: impl Fn([i32; 3]) -> usize + Sync,
        orders: &[Option<usize>; SETS],
    ) -> Self {
        let highest = orders.iter().flatten().copied().max().unwrap_or(0);
        let parities = Parities::new(highest);
        let made = map(SETS, 1, |set| {
            orders[set].map(|order| {
                let direction = direction(shift_of_set(set));
                Blocks::new(level, translations, direction, set, order, &parities)
            })
        });
        let mut made = made.into_iter();
        Self {
            sets: std::array::from_fn(|_| made.next().flatten()),
            parities,
            nothing: vec![T::ZERO; coefficient_count(highest)],
        }
    }

    /// The highest order of any set.
    pub fn order(&self) -> usize {
        self.parities.counts.len() - 1
    }

    /// For each lane `l`, adds to `targets[target_starts[l]..]` the translations from the images of a set. The source
    /// of an image is `sources[source_starts[image][l]..]`; the start is [`NOTHING`] if it is missing. Keeps degrees
    /// up to `order`.
    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "two strided arrays and the operation between them"
    )]
    pub fn apply<V: Lanes<Elem = T>>(
        &self,
        set: usize,
        order: usize,
        sources: &[T],
        source_starts: &[[usize; MAX_LANES]; IMAGES],
        targets: &mut [T],
        target_starts: &[usize],
        workspace: &mut [V],
    ) {
        let blocks = self.sets[set].as_ref().expect("only sets with a matrix are applied");
        assert!(order <= blocks.order);
        let (images, rest) = workspace[..workspace_len(order)].split_at_mut(IMAGES * row_len(order));
        let (waves, locals) = rest.split_at_mut(IMAGES * row_len(order));
        let lanes = target_starts.len();
        let there = self.gather_images(sources, source_starts, lanes, order, images);
        self.sum_images(set, order, there, images, waves);
        self.multiply(blocks, order, waves, locals);
        scatter_add(locals, targets, target_starts);
    }

    /// Gathers the multipoles of each image, and returns the images that exist in any lane.
    #[inline(always)]
    fn gather_images<V: Lanes<Elem = T>>(
        &self,
        sources: &[T],
        starts: &[[usize; MAX_LANES]; IMAGES],
        lanes: usize,
        order: usize,
        images: &mut [V],
    ) -> [bool; IMAGES] {
        let n = coefficient_count(order);
        let mut there = [false; IMAGES];
        for (image, starts) in starts.iter().enumerate() {
            there[image] = starts[..lanes].iter().any(|start| *start != NOTHING);
            if !there[image] {
                continue;
            }
            gather(&mut images[image * row_len(order)..][..n], |lane| {
                if lane < lanes && starts[lane] != NOTHING {
                    &sources[starts[lane]..]
                } else {
                    &self.nothing
                }
            });
        }
        there
    }

    /// Sums and differences of the images: one row of `waves` for each choice of axes, with the coefficients ordered
    /// by parity.
    #[inline(always)]
    fn sum_images<V: Lanes<Elem = T>>(
        &self,
        set: usize,
        order: usize,
        there: [bool; IMAGES],
        images: &[V],
        waves: &mut [V],
    ) {
        let row = row_len(order);
        let counts = &self.parities.counts[order];
        let shift = shift_of_set(set);
        let mut k = 0;
        for (members, count) in self.parities.members.iter().zip(counts) {
            for at in &members[..*count] {
                let mut v = [V::zero(); IMAGES];
                for image in 0..IMAGES {
                    if there[image] {
                        v[image] = images[image * row + at];
                    }
                }
                for axis in 0..3 {
                    if shift[axis] == 0 {
                        continue;
                    }
                    for image in 0..IMAGES {
                        let mirrored = image | 1 << axis;
                        if image != mirrored {
                            (v[image], v[mirrored]) = (v[image] + v[mirrored], v[image] - v[mirrored]);
                        }
                    }
                }
                for (c, v) in v.into_iter().enumerate() {
                    waves[c * row + k] = v;
                }
                k += 1;
            }
        }
    }

    /// Multiplies all blocks with `waves`.
    #[inline(always)]
    fn multiply<V: Lanes<Elem = T>>(&self, blocks: &Blocks<T>, order: usize, waves: &[V], locals: &mut [V]) {
        let counts = &self.parities.counts[order];
        for to in 0..IMAGES {
            let product = Product {
                blocks,
                to,
                counts,
                stride: self.parities.counts[blocks.order][to],
                waves,
                row_len: row_len(order),
            };
            let rows = counts[to];
            let mut row = 0;
            let mut left = rows.div_ceil(V::SUMS);
            while row < rows {
                let height = (rows - row).div_ceil(left);
                let out = &self.parities.members[to][row..row + height];
                match height {
                    1 => product.rows::<1>(row, out, locals),
                    2 => product.rows::<2>(row, out, locals),
                    3 => product.rows::<3>(row, out, locals),
                    4 => product.rows::<4>(row, out, locals),
                    5 => product.rows::<5>(row, out, locals),
                    6 => product.rows::<6>(row, out, locals),
                    7 => product.rows::<7>(row, out, locals),
                    8 => product.rows::<8>(row, out, locals),
                    9 => product.rows::<9>(row, out, locals),
                    10 => product.rows::<10>(row, out, locals),
                    11 => product.rows::<11>(row, out, locals),
                    _ => product.rows::<12>(row, out, locals),
                }
                row += height;
                left -= 1;
            }
        }
    }
}

/// Marks a missing source in the starts of [`Mirrored::apply`].
pub const NOTHING: usize = usize::MAX;

/// The product of all blocks that act on locals of one parity.
struct Product<'a, V: Lanes> {
    blocks: &'a Blocks<V::Elem>,
    to: usize,
    counts: &'a [usize; IMAGES],
    /// Rows of the matrix.
    stride: usize,
    waves: &'a [V],
    row_len: usize,
}

impl<V: Lanes> Product<'_, V> {
    /// Computes `R` rows from `row` on, with their sums in registers.
    #[inline(always)]
    fn rows<const R: usize>(&self, row: usize, members: &[usize], locals: &mut [V]) {
        let mut sums = [V::zero(); R];
        let mut starts = [0; IMAGES];
        for parity in 1..IMAGES {
            starts[parity] = starts[parity - 1] + self.counts[parity - 1];
        }
        for (from, first) in &self.blocks.acting[self.to] {
            let waves = &self.waves[(self.to ^ from) * self.row_len + starts[*from]..][..self.counts[*from]];
            let matrix = &self.blocks.matrix[first + row..];
            for (k, wave) in waves.iter().enumerate() {
                let column: &[V::Elem; R] = matrix[k * self.stride..].first_chunk().expect("R rows more");
                for r in 0..R {
                    sums[r] = V::splat(column[r]).mul_add(*wave, sums[r]);
                }
            }
        }
        for (at, sum) in members.iter().zip(sums) {
            locals[*at] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Random;

    /// Compares one product with translations one by one, for targets that have some of the images of a set.
    #[derive(Clone, Copy)]
    struct Check {
        level: SimdLevel,
        set: usize,
        table_order: usize,
        order: usize,
    }

    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            check::<V>(self);
            check::<V::Broad>(self);
        }
    }

    fn check<V: Lanes>(check: Check) {
        let Check {
            level,
            set,
            table_order,
            order,
        } = check;
        let first = shift_of_set(set);
        let shifts: Vec<[i32; 3]> = (0..IMAGES)
            .map(|image| {
                std::array::from_fn(|axis| {
                    if image >> axis & 1 == 1 {
                        -first[axis]
                    } else {
                        first[axis]
                    }
                })
            })
            .collect();
        let translations = Translations::<V::Elem>::m2l(table_order, &shifts);
        let mut orders = [None; SETS];
        orders[set] = Some(table_order);
        let mirrored = Mirrored::new(
            level,
            &translations,
            |shift| {
                assert_eq!(shift, first);
                0
            },
            &orders,
        );
        let n = coefficient_count(order);
        let mut random = Random::new(set as u64);
        // A full batch and one with missing lanes.
        for boxes in [V::LANES, V::LANES.div_ceil(2)] {
            let sources: Vec<V::Elem> = (0..boxes * IMAGES * n)
                .map(|_| V::Elem::from_f64(random.uniform() - 0.5))
                .collect();
            let [mut alone, mut together] = [0; 2].map(|_| vec![V::Elem::ONE; boxes * n]);
            let mut workspace = vec![V::zero(); workspace_len(order)];
            let mut starts = [[NOTHING; MAX_LANES]; IMAGES];
            let targets: Vec<usize> = (0..boxes).map(|target| target * n).collect();
            for (image, shift) in shifts.iter().enumerate() {
                // Mirroring along an axis without a shift gives the same box. Some of the other images are missing.
                if image_of(*shift) != image {
                    continue;
                }
                for target in (0..boxes).filter(|target| (target + image) % 3 != 0) {
                    let start = (target * IMAGES + image) * n;
                    starts[image][target] = start;
                    translations.apply::<V>(
                        image,
                        order,
                        &sources,
                        &[start],
                        &mut alone,
                        &[targets[target]],
                        &mut workspace,
                    );
                }
            }
            mirrored.apply::<V>(set, order, &sources, &starts, &mut together, &targets, &mut workspace);
            let norm = alone.iter().map(|a| a.to_f64().powi(2)).sum::<f64>().sqrt();
            let error = alone
                .iter()
                .zip(&together)
                .map(|(a, b)| (a.to_f64() - b.to_f64()).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(
                error < 20.0 * V::Elem::EPSILON * norm,
                "{first:?} order {order}: {error:e} of {norm:e}"
            );
        }
    }

    #[test]
    fn one_product_for_mirrored_sources_matches_rotations() {
        for level in SimdLevel::available() {
            for set in (0..SETS).filter(|set| shift_of_set(*set).iter().any(|c| *c > 1)) {
                for (table_order, order) in [(4, 4), (7, 3)] {
                    let check = Check {
                        level,
                        set,
                        table_order,
                        order,
                    };
                    dispatch::<f64, _>(level, check);
                    dispatch::<f32, _>(level, check);
                    // Miri takes hours for all sets.
                    if cfg!(miri) {
                        return;
                    }
                }
            }
            let high = Check {
                level,
                set: set_of([2, -1, 3]),
                table_order: 15,
                order: 15,
            };
            dispatch::<f64, _>(level, high);
        }
    }

    #[test]
    fn every_shift_has_exactly_one_set_and_image() {
        for set in 0..SETS {
            for image in 0..IMAGES {
                let shift: [i32; 3] =
                    std::array::from_fn(|axis| shift_of_set(set)[axis] * if image >> axis & 1 == 1 { -1 } else { 1 });
                assert_eq!(set_of(shift), set);
                let zero = |axis: usize| shift[axis] == 0 && image >> axis & 1 == 1;
                assert_eq!(image_of(shift) == image, !(0..3).any(zero));
            }
        }
    }
}
