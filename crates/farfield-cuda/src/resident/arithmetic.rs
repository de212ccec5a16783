//! The parts of a simulation step between its sums.

use super::{Array, Resident, same_length};
use crate::device::{Blocks, In, Out, Precision, device_struct, parameters};
use crate::error::Error;

device_struct! {
    /// The rates of change of vortex strengths.
    #[derive(PartialEq, Default)]
    pub struct StrengthLaw<T> = "StrengthLaw" {
        /// The weight of the velocity gradient times the strength.
        pub classical: T,
        /// The weight of the transposed gradient times the strength.
        pub transpose: T,
        /// The rate of relaxation towards the vorticity.
        pub relaxation: T,
        /// The vorticity at the centre of an element of strength one and size one.
        pub own_vorticity: T,
        /// The size of all elements, unless each has its own.
        pub size: T,
    }
}

parameters! {
    /// Parameters of `add_scaled`.
    pub(super) struct AddScaled<T> { values: Out<T>, h: T, rates: In<T>, count: u32 }

    /// Parameters of `turn`.
    pub(super) struct Turn<T> { values: In<T>, factor: T, count: u32, turned: Out<T> }

    /// Parameters of `strength_rates`.
    pub(super) struct StrengthRates<T> {
        strengths: In<T>,
        gradients: In<T>,
        sizes: In<T>,
        has_sizes: u32,
        law: StrengthLaw<T>,
        count: u32,
        rates: Out<T>,
    }
}

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
            self.kernels.add_scaled.launch(
                self.buffers.stream(),
                Blocks::over(count, 256),
                &AddScaled {
                    values: Out::of(&mut values.values),
                    h,
                    rates: In::of(rates),
                    count,
                },
            )?;
        }
        Ok(())
    }

    /// `factor (y, x)` of every `(x, y)`: turns a harmonic field in the plane into velocities.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn turned(&self, values: &Array<T>, factor: f64) -> Result<Array<T>, Error> {
        let (from, count) = (self.own(values)?, (values.len() / 2) as u32);
        let mut turned = self.uninit(values.len())?;
        if count > 0 {
            self.kernels.turn.launch(
                self.buffers.stream(),
                Blocks::over(count, 256),
                &Turn {
                    values: In::of(from),
                    factor: T::from_f64(factor),
                    count,
                    turned: Out::of(&mut turned.values),
                },
            )?;
        }
        Ok(turned)
    }

    /// The rates of change of strengths, from the velocity gradients at the elements, row by row; `sizes` if each
    /// element has its own.
    ///
    /// # Errors
    /// [`Error::Length`] if lengths do not match, [`Error::Driver`] if the device failed.
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
            self.kernels.strength_rates.launch(
                self.buffers.stream(),
                Blocks::over(count, 128),
                &StrengthRates {
                    strengths: In::of(strengths),
                    gradients: In::of(gradients),
                    sizes: In::of(sizes),
                    has_sizes,
                    law: *law,
                    count,
                    rates: Out::of(&mut rates.values),
                },
            )?;
        }
        Ok(rates)
    }
}
