//! The parts of a step between its sums.

use super::{Array, Resident, same_length};
use crate::device::{Precision, launch};
use crate::error::Error;
use cudarc::driver::DeviceRepr;

/// How the strengths of vortex elements change: `StrengthLaw` of `kernels/resident.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StrengthLaw<T> {
    /// The weight of the velocity gradient times the strength.
    pub classical: T,
    /// The weight of the transposed gradient times the strength.
    pub transpose: T,
    /// The rate of relaxation towards the vorticity.
    pub relaxation: T,
    /// The vorticity that an element of strength and size one has at its centre.
    pub own_vorticity: T,
    /// The size of all elements, where they do not each have their own.
    pub size: T,
}

// SAFETY: five numbers, laid out as the kernel's struct.
unsafe impl<T: DeviceRepr> DeviceRepr for StrengthLaw<T> {}

impl<T: Precision> Resident<T> {
    /// `values += h rates`
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ, [`Error::Driver`] if the device failed.
    pub fn add_scaled(&self, values: &mut Array<T>, h: f64, rates: &Array<T>) -> Result<(), Error> {
        same_length(values.len(), rates.len())?;
        self.own(values)?;
        let (h, rates, count) = (T::from_f64(h), self.own(rates)?, values.len() as u32);
        if count > 0 {
            launch!(self.buffers.stream(), self.kernels.add_scaled, (count.div_ceil(256), 1, 1), 256, 0;
                &mut values.values, &h, rates, &count);
        }
        Ok(())
    }

    /// The rates of change of strengths, from the velocity gradients at their elements, row by row. `sizes` where each
    /// element has its own.
    ///
    /// # Errors
    /// [`Error::Length`] if lengths do not fit, [`Error::Driver`] if the device failed.
    pub fn strength_rates(
        &self,
        law: &StrengthLaw<T>,
        strengths: &Array<T>,
        gradients: &Array<T>,
        sizes: Option<&Array<T>>,
    ) -> Result<Array<T>, Error> {
        let count = strengths.len() / 3;
        same_length(9 * count, gradients.len())?;
        if let Some(sizes) = sizes {
            same_length(count, sizes.len())?;
        }
        let mut rates = self.uninit(strengths.len())?;
        let (has_sizes, count) = (u32::from(sizes.is_some()), count as u32);
        let (strengths, gradients) = (self.own(strengths)?, self.own(gradients)?);
        let sizes = sizes.map_or(Ok(strengths), |sizes| self.own(sizes))?;
        if count > 0 {
            launch!(self.buffers.stream(), self.kernels.strength_rates, (count.div_ceil(128), 1, 1), 128, 0;
                strengths, gradients, sizes, &has_sizes, law, &count, &mut rates.values);
        }
        Ok(rates)
    }
}
