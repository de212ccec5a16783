//! The fast multipole method on the device: `evaluate` is the algorithm on one screen, `passes` launches each of its
//! steps, `setup` makes tables and memory.

pub(crate) mod evaluate;
mod parameters;
mod passes;
mod setup;
mod tasks;

pub(crate) use setup::{Counter, FarField, Fmm, FmmInput};

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::{PairKind, SizeKind};
use farfield_core::expansion::coefficient_count;
use parameters::{PairKernels, PointKernels};

/// The program of P2M and L2P.
///
/// L2P evaluates `vectors` strength vectors at once.
pub fn points_program<T: Precision>(kind: &PairKind, order: usize, vectors: usize) -> Program {
    let program = Program::new("points", include_str!("../../kernels/points.cu"));
    let program = PointKernels::<T>::check(program)
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_P2M_WARPS", p2m_warps(order))
        .define("FARFIELD_L2P_VECTORS", vectors);
    kind.define::<T>(program)
}

/// The number of strength vectors that L2P evaluates at once, with a common basis: as many as fit registers and shared
/// memory well.
pub fn l2p_vectors<T: Precision>(kind: &PairKind, order: usize, vectors: usize) -> usize {
    let bytes = kind.sums() * coefficient_count(order) * std::mem::size_of::<T>();
    let most = (32 / kind.sums()).min(24 * 1024 / bytes).clamp(1, 8);
    vectors.next_power_of_two().min(1 << most.ilog2())
}

/// The number of leaves of a P2M block; fewer if their expansions would fill its shared memory.
fn p2m_warps(order: usize) -> usize {
    match order {
        0..=20 => 4,
        21..=30 => 2,
        _ => 1,
    }
}

/// The program of P2P: between neighbours, or by a treecode's opening criterion.
pub fn p2p_program<T: Precision>(kind: &PairKind, treecode: bool, blocking: P2pBlocking) -> Program {
    let program = PairKernels::<T>::check(Program::new("p2p", include_str!("../../kernels/p2p.cu")));
    let program = blocking.define(program);
    kind.define::<T>(program.define("FARFIELD_TREECODE", i32::from(treecode)))
}

/// The division of a leaf's P2P among threads: the constants of `kernels/meet.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct P2pBlocking {
    pub(crate) threads: u32,
    /// The number of targets of a thread.
    pub(crate) targets: u32,
    /// The number of sources in shared memory at once.
    pub(crate) tile: u32,
    /// The number of blocks that a multiprocessor should have room for; 0 leaves it to the compiler.
    blocks: u32,
    /// The number of strength vectors summed at once, which share the distances.
    pub(crate) vectors: u32,
}

impl P2pBlocking {
    /// The program with these constants.
    pub(crate) fn define(self, program: Program) -> Program {
        program
            .define("FARFIELD_THREADS", self.threads)
            .define("FARFIELD_TARGETS", self.targets)
            .define("FARFIELD_TILE", self.tile)
            .define("FARFIELD_BLOCKS", self.blocks)
            .define("FARFIELD_VECTORS", self.vectors)
    }

    /// The number of strengths stored side by side for each source: `vectors`, rounded up to whole groups that are
    /// summed at once.
    pub(crate) fn charges(&self, vectors: usize) -> usize {
        match self.vectors as usize {
            1 => 0,
            at_once => vectors.next_multiple_of(at_once),
        }
    }

    /// The largest number of scalar vectors whose sums fit into registers, as a multiple of 16 bytes of strengths.
    fn vectors_at_once<T: Precision>(kind: &PairKind, vectors: usize) -> u32 {
        let (least, most) = (if T::DOUBLE { 2 } else { 4 }, 32 / kind.sums());
        if kind.strengths() > 1 || vectors < 2 || most < least {
            return 1;
        }
        let most = 1usize << most.ilog2();
        vectors.next_power_of_two().clamp(least, most.min(8)) as u32
    }

    /// The blocking for several vectors at once: fewer targets per thread.
    fn of_vectors(kind: &PairKind, vectors: u32) -> Self {
        Self {
            threads: 128,
            targets: if kind.sums() as u32 * vectors <= 8 { 2 } else { 1 },
            tile: 256,
            blocks: 0,
            vectors,
        }
    }

    /// The fastest blocking for leaves of `leaf_mean` points and `vectors` strength vectors, as measured for one
    /// vector. More targets per thread save loads from shared memory, until too few threads of a leaf's block have any.
    pub fn of<T: Precision>(kind: &PairKind, leaf_mean: f64, vectors: usize) -> Self {
        let at_once = Self::vectors_at_once::<T>(kind, vectors);
        if at_once > 1 {
            return Self::of_vectors(kind, at_once);
        }
        let (large, wide) = (leaf_mean >= LARGE_LEAF, kind.source_len() == 8);
        let softened = kind.sizes != SizeKind::None;
        let (threads, targets, blocks) = match kind.sums() {
            0..=4 if large && !wide && (T::DOUBLE || softened) => (128, 4, 4),
            0..=4 if large => (128, 4, 0),
            0..=4 if wide => (128, 2, 0),
            0..=4 => (64, 3, 0),
            _ => (128, 1, 0),
        };
        let tile = match (T::DOUBLE, wide) {
            (true, true) => 256,
            (false, false) if threads < 128 => 384,
            (false, false) => 768,
            _ => 512,
        };
        Self {
            threads,
            targets,
            tile,
            blocks,
            vectors: 1,
        }
    }
}

/// The number of points in a leaf from which on a thread takes four targets.
pub(crate) const LARGE_LEAF: f64 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_summed_at_once_fit_registers_and_copies() {
        for kind in PairKind::all() {
            for vectors in 1..=20 {
                let single = P2pBlocking::of::<f32>(&kind, LARGE_LEAF, vectors);
                let double = P2pBlocking::of::<f64>(&kind, LARGE_LEAF, vectors);
                for (blocking, number) in [(single, 4), (double, 8)] {
                    let at_once = blocking.vectors as usize;
                    assert!(
                        at_once == 1 || (at_once * number).is_multiple_of(16),
                        "{kind:?} {vectors}"
                    );
                    assert!(at_once == 1 || at_once * kind.sums() <= 32, "{kind:?} {vectors}");
                    assert!(
                        at_once == 1 || vectors > 1 && kind.strengths() == 1,
                        "{kind:?} {vectors}"
                    );
                    // The sums of all threads are in a block's static memory, beside the ranges.
                    let sums = (blocking.threads * blocking.targets) as usize * kind.sums() * at_once;
                    assert!(at_once == 1 || sums * number <= 40 * 1024, "{kind:?} {vectors}");
                    assert!(blocking.charges(vectors) >= vectors || at_once == 1);
                }
            }
        }
        let potential = PairKind::all().into_iter().find(|kind| kind.sums() == 1).unwrap();
        assert_eq!(P2pBlocking::of::<f64>(&potential, 20.0, 8).vectors, 8);
        assert_eq!(P2pBlocking::of::<f64>(&potential, 20.0, 2).vectors, 2);
        assert_eq!(P2pBlocking::of::<f32>(&potential, 20.0, 2).vectors, 4);
    }
}
