//! The translation matrices of an order, computed on the device and shared by all plans.

use super::harmonics::{irregular, ln_factorials, regular};
use super::steps::{m2l_shifts, octant_centres};
use super::{BuildMatrices, Layout, stride, translate_program};
use crate::device::{Blocks, Buffers, Device, In, Out, Precision};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::expansion::coefficient_count;
use std::sync::Arc;

/// All matrices of an order, in the layout of the tensor cores.
#[derive(Debug)]
pub(crate) struct Matrices<T> {
    pub table: CudaSlice<T>,
}

impl<T: Precision> Matrices<T> {
    /// The device memory of the matrices, in bytes.
    pub fn forecast(order: usize) -> u64 {
        (count(Layout::of::<T>(order)) * stride(order) * stride(order) * std::mem::size_of::<T>()) as u64
    }

    /// The matrices of an order, computed at first use.
    pub fn of(device: &Arc<Device>, order: usize) -> Result<Arc<Self>, Error> {
        device.keep(format!("matrices {} {order}", T::NAME), || Self::build(device, order))
    }

    fn build(device: &Arc<Device>, order: usize) -> Result<Self, Error> {
        let buffers = Buffers::new(device)?;
        let mirrored = Layout::of::<T>(order).mirrored();
        let centres = octant_centres(mirrored);
        let mut harmonics: Vec<f64> = Vec::new();
        for _ in ["M2M", "L2L"] {
            harmonics.extend(centres.iter().flat_map(|centre| regular(2 * order, *centre)));
        }
        for shift in m2l_shifts(mirrored) {
            harmonics.extend(irregular(2 * order, shift.map(f64::from)));
        }
        let matrices = harmonics.len() / coefficient_count(2 * order);
        let harmonics = buffers.upload(&harmonics)?;
        let ln_factorials = buffers.upload(&ln_factorials(4 * order + 1))?;
        let entries = matrices * stride(order) * stride(order);
        let mut table = buffers.uninit::<T>(entries)?;
        let program = translate_program::<T>(order);
        device.function(&program, "build_matrices")?.launch(
            buffers.stream(),
            Blocks::row(entries.div_ceil(256) as u32, 256),
            &BuildMatrices::<T> {
                harmonics: In::of(&harmonics),
                ln_factorial: In::of(&ln_factorials),
                octants: centres.len() as u32,
                matrices: matrices as u32,
                table: Out::of(&mut table),
            },
        )?;
        // Other streams use the table.
        buffers.wait()?;
        Ok(Self { table })
    }
}

/// The number of matrices of M2M, L2L and M2L.
fn count(layout: Layout) -> usize {
    2 * octant_centres(layout.mirrored()).len() + m2l_shifts(layout.mirrored()).len()
}
