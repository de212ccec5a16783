//! Expansions on the device: their layout, the matrices that translate them, the shifts they are translated by.
//!
//! The basis and the order of the coefficients are those of [`farfield::expansion`]. Translations are dense matrices:
//! on tensor cores that is faster than rotating, because all boxes of a column share their matrices.

mod harmonics;
mod matrices;
mod steps;

pub(crate) use matrices::Matrices;
pub(crate) use steps::{Step, Steps};

use crate::compile::Program;
use crate::device::Precision;
use farfield::expansion::coefficient_count;

/// Numbers of a stored expansion: `STRIDE` of `kernels/expansion.cuh`.
pub(crate) fn stride(order: usize) -> usize {
    16 * row_tiles(order)
}

/// Tiles of 16 rows of a translation matrix.
pub(crate) fn row_tiles(order: usize) -> usize {
    coefficient_count(order).div_ceil(16)
}

/// How a translation's block is cut into warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warps {
    /// Parts of the rows.
    pub row_warps: usize,
    /// Tiles of rows of each warp.
    pub rows_per_warp: usize,
    /// Blocks that share the rows.
    pub blocks: usize,
}

impl Warps {
    /// Target expansions of a block: `COLUMNS_PER_BLOCK` of `kernels/translate.cu`.
    pub(crate) const COLUMNS: usize = 64;

    /// Warps of a block: `WARPS` of `kernels/translate.cu`.
    const WARPS: usize = 8;

    /// At most two tiles of rows of a warp: with their sums, two blocks fit on a multiprocessor.
    pub fn of(order: usize) -> Self {
        let tiles = row_tiles(order);
        let row_warps = if tiles <= 2 { 2 } else { 4 };
        let rows_per_warp = tiles.div_ceil(row_warps).min(2);
        Self {
            row_warps,
            rows_per_warp,
            blocks: tiles.div_ceil(row_warps * rows_per_warp),
        }
    }

    /// Bytes of shared memory of a block that takes so many steps: `Shared` of `kernels/translate.cu`.
    pub(crate) fn shared_bytes<T>(order: usize, steps: usize) -> u32 {
        let tile = 3 * Self::COLUMNS * 36 * std::mem::size_of::<T>();
        (tile + steps * Self::COLUMNS * 4 + 4 * 192 + stride(order) + 16) as u32
    }

    pub(crate) const fn threads() -> u32 {
        (32 * Self::WARPS) as u32
    }
}

/// The program of the translations of an order.
pub fn translate_program<T: Precision>(order: usize, warps: Warps) -> Program {
    Program::new("translate", include_str!("../../kernels/translate.cu"))
        .define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_ROW_WARPS", warps.row_warps)
        .define("FARFIELD_ROWS_PER_WARP", warps.rows_per_warp)
        .define(
            "FARFIELD_SHARED(steps)",
            format!("({}+{}*steps)", Warps::shared_bytes::<T>(order, 0), Warps::COLUMNS * 4),
        )
}
