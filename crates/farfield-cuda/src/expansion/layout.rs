//! The division of translations into blocks and warps: two programs, one for any order and one for low orders.

use super::parameters::{AddSlices, Translate, check};
use super::{row_tiles, stride};
use crate::compile::Program;
use crate::device::{Parameters, Precision};

/// A kind of translation: `Kind` of `kernels/steps.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Children into parents.
    M2m,
    /// Multipoles into locals.
    M2l,
    /// Parents into children.
    L2l,
}

impl Kind {
    /// The number of shifts into a box.
    pub(crate) fn shifts(self) -> usize {
        match self {
            Kind::M2m => 8,
            Kind::M2l => 189,
            Kind::L2l => 1,
        }
    }
}

/// The program that translates, and how it divides its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `kernels/translate.cu`: the warps of a block share a shift.
    Blocks(Warps),
    /// `kernels/translate_low.cu`: each warp has its own shifts.
    LowOrder,
}

/// The division of a block of `kernels/translate.cu` into warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warps {
    /// The number of warps that divide the rows among them.
    pub row_warps: usize,
    /// Tiles of rows per warp.
    pub rows_per_warp: usize,
    /// The number of blocks that divide the rows among them.
    pub blocks: usize,
}

impl Warps {
    /// Target expansions per block: `COLUMNS_PER_BLOCK` of `kernels/translate.cu`.
    const COLUMNS: usize = 64;

    /// Warps per block: `WARPS` of `kernels/translate.cu`.
    const WARPS: usize = 8;

    /// At most two tiles of rows per warp: the registers for their sums allow two blocks per multiprocessor.
    fn of(order: usize) -> Self {
        let tiles = row_tiles(order);
        let row_warps = if tiles <= 2 { 2 } else { 4 };
        let rows_per_warp = tiles.div_ceil(row_warps).min(2);
        Self {
            row_warps,
            rows_per_warp,
            blocks: tiles.div_ceil(row_warps * rows_per_warp),
        }
    }

    /// The shared memory of a block with `steps` steps, in bytes: `Shared` of `kernels/translate.cu`.
    fn shared_bytes<T>(order: usize, steps: usize) -> u32 {
        let tile = 3 * Self::COLUMNS * 36 * std::mem::size_of::<T>();
        (tile + steps * Self::COLUMNS * 4 + 4 * 192 + stride(order) + 16) as u32
    }
}

/// Constants of `kernels/translate_low.cu`: tiles of 8 expansions per warp, and warps per block of M2L if there are
/// many targets and if there are few.
const LOW_TILES: usize = 4;
const LOW_GROUPS: usize = 4;
const LOW_MANY_GROUPS: usize = 12;

/// The number of M2L blocks per multiprocessor below which more warps divide the shifts of a block among them.
const FEW_BLOCKS: usize = 2;

/// The largest number of blocks that divide the shifts of a task among them; each then has six.
const MOST_SLICES: usize = 32;

/// The highest order whose sums, four tiles of rows, fit the registers of a warp.
pub(crate) const LOW_ORDER: usize = 7;

impl Layout {
    /// The faster layout for an order.
    pub fn of<T: Precision>(order: usize) -> Self {
        if !T::DOUBLE && order <= LOW_ORDER {
            Layout::LowOrder
        } else {
            Layout::Blocks(Warps::of(order))
        }
    }

    /// Target expansions per block.
    pub(crate) fn columns(self) -> usize {
        match self {
            Layout::Blocks(_) => Warps::COLUMNS,
            Layout::LowOrder => 8 * LOW_TILES,
        }
    }

    /// The number of blocks that divide the rows among them.
    pub(crate) fn row_blocks(self) -> usize {
        match self {
            Layout::Blocks(warps) => warps.blocks,
            Layout::LowOrder => 1,
        }
    }

    /// Whether `blocks` blocks are too few to fill a device with `multiprocessors` multiprocessors.
    pub(crate) fn has_few(self, blocks: usize, multiprocessors: usize) -> bool {
        self == Layout::LowOrder && blocks < FEW_BLOCKS * multiprocessors
    }

    /// Threads per block, if there are few blocks or many.
    pub(crate) fn threads(self, kind: Kind, few: bool) -> u32 {
        let warps = match (self, kind) {
            (Layout::Blocks(_), _) => Warps::WARPS,
            (Layout::LowOrder, Kind::M2m) => 8,
            (Layout::LowOrder, Kind::M2l) if few => LOW_MANY_GROUPS,
            (Layout::LowOrder, Kind::M2l) => LOW_GROUPS,
            (Layout::LowOrder, Kind::L2l) => 1,
        };
        (32 * warps) as u32
    }

    /// The kernel of M2L for few blocks.
    pub(crate) fn m2l_few(self) -> &'static str {
        match self {
            Layout::Blocks(_) => "m2l",
            Layout::LowOrder => "m2l_few",
        }
    }

    /// The dynamic shared memory of a block, in bytes.
    pub(crate) fn shared_bytes<T>(self, order: usize, kind: Kind) -> u32 {
        match self {
            Layout::Blocks(_) => Warps::shared_bytes::<T>(order, kind.shifts()),
            Layout::LowOrder => 0,
        }
    }

    /// The number of blocks that divide the shifts of each of `tasks` M2L tasks among them: enough to fill a device.
    pub(crate) fn m2l_slices(self, tasks: usize, multiprocessors: usize) -> usize {
        match self {
            // In this layout, the warps of a block divide the shifts among them.
            Layout::LowOrder => 1,
            Layout::Blocks(warps) => {
                (FEW_BLOCKS * multiprocessors / (tasks * warps.blocks).max(1)).clamp(1, MOST_SLICES)
            }
        }
    }

    /// The largest number of partial expansions that blocks sharing shifts leave for `expansions` expansions: as many
    /// blocks as fill a large device.
    pub(crate) fn most_in_slices(self, expansions: usize) -> usize {
        match self {
            Layout::LowOrder => 0,
            Layout::Blocks(_) => (MOST_SLICES * expansions).min(FEW_BLOCKS * 200 * Warps::COLUMNS),
        }
    }

    /// Whether mirror images of a shift share a matrix.
    pub(crate) fn mirrored(self) -> bool {
        matches!(self, Layout::Blocks(_))
    }
}

/// The program of the translations of an order.
pub fn translate_program<T: Precision>(order: usize) -> Program {
    let program = match Layout::of::<T>(order) {
        Layout::Blocks(warps) => Program::new("translate", include_str!("../../kernels/translate.cu"))
            .check("add_slices", AddSlices::<T>::checks)
            .define("FARFIELD_ROW_WARPS", warps.row_warps)
            .define("FARFIELD_ROWS_PER_WARP", warps.rows_per_warp)
            .define(
                "FARFIELD_SHARED(steps)",
                format!("({}+{}*steps)", Warps::shared_bytes::<T>(order, 0), Warps::COLUMNS * 4),
            ),
        Layout::LowOrder => Program::new("translate_low", include_str!("../../kernels/translate_low.cu"))
            .check("m2l_few", Translate::<T>::checks)
            .define("FARFIELD_TILES", LOW_TILES)
            .define("FARFIELD_GROUPS", LOW_GROUPS)
            .define("FARFIELD_MANY_GROUPS", LOW_MANY_GROUPS),
    };
    check::<T>(program)
        .define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
        .define("FARFIELD_ORDER", order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_blocks_share_their_shifts_and_many_do_not() {
        let layout = Layout::of::<f64>(11);
        let shared = |tasks: usize| layout.m2l_slices(tasks, 132);
        assert_eq!([0, 1, 8, 100, 264, 10_000].map(shared), [32, 32, 16, 1, 1, 1]);
        assert_eq!(Layout::of::<f32>(LOW_ORDER).m2l_slices(1, 132), 1);
    }
}
