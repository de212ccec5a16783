//! M2L: multipoles into the locals of boxes of the same level that do not touch.
//!
//! There are two ways: rotations, shift by shift, and one product for all sources that are mirror images of one another
//! about the target (`expansion::mirror`). Each block of target boxes takes the cheaper way for each set of mirrored
//! shifts: [`Ways`].

use super::harmonics::{Harmonics, Tables};
use super::layout::Layout;
use crate::cost::Translation;
use crate::cost::mirror::mirrored;
use crate::expansion::coefficient_count;
use crate::expansion::mirror::{self, IMAGES, Mirrored, NOTHING, SETS, image_of, set_of, shift_of_set, zeros_of_set};
use crate::expansion::translation;
use crate::parallel::{for_segments, map};
use crate::simd::{Lanes, MAX_LANES, Real, SimdLevel, Vectorized, as_lanes, dispatch, lanes_len};
use crate::tree::lists::{BLOCK, M2lBlock, SHIFTS, shift_index, shift_of};

/// Translates all sources into each block of target boxes.
pub(super) fn translate_all<T: Real>(far: &mut Harmonics<T>, layout: &Layout<T>) {
    let stride = far.box_stride();
    let mut locals = std::mem::take(&mut far.locals);
    let blocks = &layout.lists.m2l;
    let start = |k: usize| blocks[k].targets.start * stride;
    let first = blocks
        .first()
        .map_or(locals.len(), |block| block.targets.start * stride);
    clear_locals(layout, stride, 0, &mut locals[..first]);
    for_segments(&mut locals[first..], 0..blocks.len(), &start, &|k, piece| {
        far.scratch.with(|scratch| {
            dispatch::<T, _>(
                far.simd,
                M2l {
                    far,
                    layout,
                    block: &blocks[k],
                    mirrored: far.m2l_ways.mirrored[k],
                    locals: piece,
                    scratch,
                },
            );
        });
    });
    far.locals = locals;
}

/// Sets the locals of boxes from `first` on to zero. The locals of boxes without targets stay zero and are never
/// written, so that they take no memory.
fn clear_locals<T: Real>(layout: &Layout<T>, stride: usize, first: usize, locals: &mut [T]) {
    for (node, local) in layout.tree.nodes[first..].iter().zip(locals.chunks_mut(stride)) {
        if !node.targets.is_empty() {
            local.fill(T::ZERO);
        }
    }
}

/// The sets of shifts that are translated by one product, and their matrices.
#[derive(Debug)]
pub(crate) struct Ways<T> {
    /// For each block, a bit for each set.
    mirrored: Vec<u64>,
    matrices: Mirrored<T>,
}

/// The pairs and targets of one set of shifts in one block.
#[derive(Clone, Copy, Default)]
struct OfSet {
    pairs: u32,
    /// A bit for each target box.
    targets: u128,
}

/// For each shift, its set and its index among the images.
static IMAGE_OF_SHIFT: std::sync::LazyLock<[(usize, usize); SHIFTS]> =
    std::sync::LazyLock::new(|| std::array::from_fn(|k| (set_of(shift_of(k)), image_of(shift_of(k)))));

impl<T: Real> Ways<T> {
    /// Chooses for each block. `rotation` is the cost of a translation by rotations
    /// ([`crate::cost::OperatorCosts::m2l`]), and each of the `streams` expansions is translated.
    pub fn new(
        simd: SimdLevel,
        blocks: &[M2lBlock],
        orders: &[[u8; SHIFTS]],
        rotation: [f64; 3],
        streams: usize,
        tables: &Tables<T>,
    ) -> Self {
        const TOGETHER: usize = 4;
        let order_of = |level: u32, set: usize| usize::from(orders[level as usize][shift_index(shift_of_set(set))]);
        let gains = map(blocks.len(), TOGETHER, |k| {
            gains(&blocks[k], rotation, |set| order_of(blocks[k].level, set))
        });
        // The total gain of a set, and the highest order it is used with.
        let (mut total, mut highest) = ([0.0; SETS], [0; SETS]);
        for (block, gains) in blocks.iter().zip(&gains) {
            for set in (0..SETS).filter(|set| gains[*set] > 0.0) {
                total[set] += streams as f64 * gains[set];
                highest[set] = highest[set].max(order_of(block.level, set));
            }
        }
        // Making a matrix costs one translation for each of its columns, and a copy. A plan should gain more than that
        // in its first evaluation.
        let orders: [Option<usize>; SETS] = std::array::from_fn(|set| {
            let order = highest[set];
            let columns = coefficient_count(order) as f64;
            let making = columns * (Translation::InSpace(rotation).of(order, order) + columns);
            (total[set] > 2.0 * making).then_some(order)
        });
        let chosen = |gains: &[f64; SETS]| {
            (0..SETS)
                .filter(|set| gains[*set] > 0.0 && orders[*set].is_some())
                .fold(0, |bits, set| bits | 1 << set)
        };
        Self {
            mirrored: gains.iter().map(chosen).collect(),
            matrices: Mirrored::new(
                simd,
                &tables.m2l,
                |shift| usize::from(tables.m2l_direction[shift_index(shift)]),
                &orders,
            ),
        }
    }

    /// The number of floats of memory that a thread needs.
    pub fn scratch(&self) -> usize {
        lanes_len(mirror::workspace_len(self.matrices.order()))
    }
}

/// The nanoseconds that one product for all images saves over rotations, for each set of shifts of a block.
fn gains(block: &M2lBlock, rotation: [f64; 3], order: impl Fn(usize) -> usize) -> [f64; SETS] {
    let mut sets = [OfSet::default(); SETS];
    for (shift, pairs) in block.by_shift() {
        let set = &mut sets[IMAGE_OF_SHIFT[shift].0];
        set.pairs += pairs.len() as u32;
        for (target, _) in pairs {
            set.targets |= 1 << (*target as usize - block.targets.start);
        }
    }
    std::array::from_fn(|set| {
        let OfSet { pairs, targets } = sets[set];
        if pairs == 0 {
            return 0.0;
        }
        let (pairs, targets) = (f64::from(pairs), f64::from(targets.count_ones()));
        let order = order(set);
        let alone = pairs * Translation::InSpace(rotation).of(order, order);
        alone - targets * mirrored(rotation, order, zeros_of_set(set), pairs / targets)
    })
}

struct M2l<'a, T: Real> {
    far: &'a Harmonics<T>,
    layout: &'a Layout<T>,
    block: &'a M2lBlock,
    /// The sets of shifts that are translated by one product.
    mirrored: u64,
    locals: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Vectorized<T> for M2l<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self {
            far,
            layout,
            block,
            mirrored,
            locals,
            scratch,
        } = self;
        // The piece extends to the next block, so this also clears boxes without any sources.
        clear_locals(layout, far.box_stride(), block.targets.start, locals);
        for (shift, pairs) in block.by_shift() {
            if mirrored >> IMAGE_OF_SHIFT[shift].0 & 1 == 1 {
                continue;
            }
            for batch in pairs.chunks(V::Broad::LANES) {
                if batch.len() > V::LANES {
                    rotate_batch::<V::Broad>(far, block, shift, batch, locals, scratch);
                } else {
                    rotate_batch::<V>(far, block, shift, batch, locals, scratch);
                }
            }
        }
        for set in (0..SETS).filter(|set| mirrored >> set & 1 == 1) {
            let (targets, count) = sources_of_set(block, set);
            for batch in targets[..count].chunks(V::Broad::LANES) {
                if batch.len() > V::LANES {
                    mirror_batch::<V::Broad>(far, block, set, batch, locals, scratch);
                } else {
                    mirror_batch::<V>(far, block, set, batch, locals, scratch);
                }
            }
        }
    }
}

/// Translates at most `LANES` pairs of boxes that share a shift, by rotations.
#[inline(always)]
fn rotate_batch<V: Lanes>(
    far: &Harmonics<V::Elem>,
    block: &M2lBlock,
    shift: usize,
    batch: &[(u32, u32)],
    locals: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    let workspace = as_lanes::<V>(scratch, translation::workspace_len(far.orders.highest));
    let (stride, coefficients) = (far.box_stride(), coefficient_count(far.orders.highest));
    let order = far.orders.m2l[block.level as usize][shift] as usize;
    let direction = far.tables.m2l_direction[shift] as usize;
    for stream in 0..far.streams() {
        let mut starts = [[0; MAX_LANES]; 2];
        for (l, (target, source)) in batch.iter().enumerate() {
            starts[0][l] = *source as usize * stride + stream * coefficients;
            starts[1][l] = (*target as usize - block.targets.start) * stride + stream * coefficients;
        }
        let (sources, targets) = (&starts[0][..batch.len()], &starts[1][..batch.len()]);
        far.tables
            .m2l
            .apply::<V>(direction, order, &far.multipoles, sources, locals, targets, workspace);
    }
}

/// A target box, counted from the start of its block, and the sources that act on it by the shifts of a set.
#[derive(Clone, Copy)]
struct Mirrors {
    target: u32,
    /// For each image, the box, or [`NO_BOX`].
    sources: [u32; IMAGES],
}

const NO_BOX: u32 = u32::MAX;

/// The targets of a block with sources in a set of shifts, in order, and their number.
fn sources_of_set(block: &M2lBlock, set: usize) -> ([Mirrors; BLOCK], usize) {
    let mut all = [Mirrors {
        target: 0,
        sources: [NO_BOX; IMAGES],
    }; BLOCK];
    let mut there = 0u128;
    for (shift, pairs) in block.by_shift() {
        let (of, image) = IMAGE_OF_SHIFT[shift];
        if of == set {
            for (target, source) in pairs {
                let at = *target as usize - block.targets.start;
                all[at].sources[image] = *source;
                there |= 1 << at;
            }
        }
    }
    let mut count = 0;
    while there != 0 {
        let at = there.trailing_zeros() as usize;
        there &= there - 1;
        all[count] = Mirrors {
            target: at as u32,
            sources: all[at].sources,
        };
        count += 1;
    }
    (all, count)
}

/// Translates the sources of a set of mirrored shifts into at most `LANES` targets, by one product.
#[inline(always)]
fn mirror_batch<V: Lanes>(
    far: &Harmonics<V::Elem>,
    block: &M2lBlock,
    set: usize,
    batch: &[Mirrors],
    locals: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    let order = far.orders.m2l[block.level as usize][shift_index(shift_of_set(set))] as usize;
    let workspace = as_lanes::<V>(scratch, mirror::workspace_len(order));
    let (stride, coefficients) = (far.box_stride(), coefficient_count(far.orders.highest));
    for stream in 0..far.streams() {
        let (mut sources, mut targets) = ([[NOTHING; MAX_LANES]; IMAGES], [0; MAX_LANES]);
        for (l, mirrors) in batch.iter().enumerate() {
            targets[l] = mirrors.target as usize * stride + stream * coefficients;
            for (image, source) in mirrors.sources.iter().enumerate() {
                if *source != NO_BOX {
                    sources[image][l] = *source as usize * stride + stream * coefficients;
                }
            }
        }
        let targets = &targets[..batch.len()];
        far.m2l_ways
            .matrices
            .apply::<V>(set, order, &far.multipoles, &sources, locals, targets, workspace);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::MachineProfile;
    use crate::points::PointSet;
    use crate::tree::lists::Thresholds;
    use crate::tree::{Lists, Octree, TreeShape};

    fn ways(set: PointSet, n: usize) -> (Vec<M2lBlock>, Ways<f64>) {
        let points = set.generate::<f64>(n, 1);
        let shape = TreeShape {
            leaf_capacity: 30,
            root_scale: 1.2,
            min_side: 0.0,
        };
        let tree = Octree::build(&points, None, &shape);
        let all = Thresholds {
            m2p_sources: 0,
            p2l_targets: 0,
            m2l_pairs: 0,
        };
        let lists = Lists::build(&tree, &all);
        let orders = vec![[5; SHIFTS]; tree.levels.len()];
        let level = SimdLevel::best();
        let cost = MachineProfile::for_level(level).f64.m2l;
        let ways = Ways::new(level, &lists.m2l, &orders, cost, 1, &Tables::new(5));
        (lists.m2l, ways)
    }

    #[test]
    fn boxes_in_a_volume_are_translated_by_products_and_those_on_a_line_by_rotations() {
        let share = |set, n| {
            let (blocks, ways) = ways(set, n);
            let together = blocks.iter().zip(&ways.mirrored).map(|(block, mirrored)| {
                let of_sets = block
                    .by_shift()
                    .filter(|(shift, _)| mirrored >> IMAGE_OF_SHIFT[*shift].0 & 1 == 1);
                of_sets.map(|(_, pairs)| pairs.len()).sum::<usize>()
            });
            let all: usize = blocks.iter().map(|block| block.pairs.len()).sum();
            together.sum::<usize>() as f64 / all as f64
        };
        assert!(share(PointSet::Cube, 60_000) > 0.5);
        assert!(share(PointSet::Line, 20_000) < 0.2);
        // The matrices would cost more than they save.
        assert_eq!(share(PointSet::Cube, 300), 0.0);
    }

    #[test]
    fn every_pair_of_a_block_belongs_to_one_target_and_image_of_its_set() {
        let (blocks, _) = ways(PointSet::Plummer, 5_000);
        for block in &blocks {
            let mut pairs: Vec<(u32, u32)> = Vec::new();
            for set in 0..SETS {
                let (targets, count) = sources_of_set(block, set);
                for mirrors in &targets[..count] {
                    let there = mirrors.sources.iter().filter(|source| **source != NO_BOX);
                    let target = mirrors.target + block.targets.start as u32;
                    pairs.extend(there.map(|source| (target, *source)));
                }
            }
            let mut wanted = block.pairs.clone();
            wanted.sort_unstable();
            pairs.sort_unstable();
            assert_eq!(pairs, wanted);
        }
    }
}
