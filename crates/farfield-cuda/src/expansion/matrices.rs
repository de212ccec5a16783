//! The translation matrices of an order, made on the device and shared by all plans.

use super::harmonics::{irregular, ln_factorials, regular};
use super::steps::m2l_shifts;
use super::{Warps, stride, translate_program};
use crate::device::{Buffers, Device, Precision, launch};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield::expansion::coefficient_count;
use std::sync::Arc;

/// All matrices of an order, laid out as tensor cores read them.
#[derive(Debug)]
pub(crate) struct Matrices<T> {
    pub table: CudaSlice<T>,
}

/// M2M, L2L and 56 of M2L.
const COUNT: usize = 58;

impl<T: Precision> Matrices<T> {
    /// Bytes of device memory.
    pub fn forecast(order: usize) -> u64 {
        (COUNT * stride(order) * stride(order) * std::mem::size_of::<T>()) as u64
    }

    /// The matrices of an order: those that are there, or new ones.
    pub fn of(device: &Arc<Device>, order: usize) -> Result<Arc<Self>, Error> {
        device.keep(format!("matrices {} {order}", T::NAME), || Self::build(device, order))
    }

    fn build(device: &Arc<Device>, order: usize) -> Result<Self, Error> {
        let buffers = Buffers::new(device)?;
        let slot = coefficient_count(2 * order);
        let mut harmonics = Vec::with_capacity(COUNT * slot);
        for _ in 0..2 {
            harmonics.extend(regular(2 * order, [0.25; 3]));
        }
        for shift in m2l_shifts() {
            harmonics.extend(irregular(2 * order, shift.map(f64::from)));
        }
        let harmonics = buffers.upload(&harmonics)?;
        let ln_factorials = buffers.upload(&ln_factorials(4 * order + 1))?;
        let entries = COUNT * stride(order) * stride(order);
        let mut table = buffers.uninit::<T>(entries)?;
        let program = translate_program::<T>(order, Warps::of(order));
        let [build] = device.functions(&program, ["build_matrices"])?;
        let (grid, count) = ((entries.div_ceil(256) as u32, 1, 1), COUNT as u32);
        launch!(buffers.stream(), build, grid, 256, 0; &harmonics, &ln_factorials, &count, &mut table);
        // Other streams use it.
        buffers.wait()?;
        Ok(Self { table })
    }
}
