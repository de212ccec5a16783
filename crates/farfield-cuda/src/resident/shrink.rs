//! Points and lengths in few bits: enough for a picture of a state, and small enough to fetch for every frame.

use super::{Array, Resident};
use crate::device::{Blocks, In, Out, Precision, device_struct, parameters};
use crate::error::Error;

device_struct! {
    /// The box in which points are quantised, and the number of steps per unit of length along each axis.
    #[derive(PartialEq)]
    pub(super) struct CountedBox = "CountedBox" { low: [f64; 3], steps: [f64; 3] }
}

parameters! {
    /// Parameters of `shrink_points`.
    pub(super) struct ShrinkPoints<T> { points: In<T>, counted: CountedBox, count: u32, numbers: Out<u16> }

    /// Parameters of `shrink_lengths`.
    pub(super) struct ShrinkLengths<T> { vectors: In<T>, steps: f64, count: u32, numbers: Out<u8> }
}

/// Points as 16-bit numbers in the box around them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShrunkPoints {
    /// The corner where the numbers are 0.
    pub low: [f64; 3],
    /// The corner where the numbers are 65535.
    pub high: [f64; 3],
    /// The numbers of each point.
    pub numbers: Vec<[u16; 3]>,
}

/// The number of steps per unit of length, if `most` steps span `extent`.
fn steps(most: f64, extent: f64) -> f64 {
    if extent > 0.0 { most / extent } else { 0.0 }
}

impl<T: Precision> Resident<T> {
    /// The points of an array, rounded to 16 bits on the device: 6 bytes per point are fetched.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn shrunk_points(&self, points: &Array<T>) -> Result<ShrunkPoints, Error> {
        let count = points.len() / 3;
        let mut numbers = vec![[0; 3]; count];
        let [low, high] = self.survey(&[points])?[0].corners();
        if count > 0 {
            let mut shrunk = self.buffers.uninit::<u16>(3 * count)?;
            let counted = CountedBox {
                low,
                steps: std::array::from_fn(|axis| steps(65535.0, high[axis] - low[axis])),
            };
            self.kernels.shrink_points.launch(
                self.buffers.stream(),
                Blocks::over(count as u32, 256),
                &ShrinkPoints {
                    points: In::of(self.own(points)?),
                    counted,
                    count: count as u32,
                    numbers: Out::of(&mut shrunk),
                },
            )?;
            self.buffers.read(&shrunk, numbers.as_flattened_mut())?;
        }
        Ok(ShrunkPoints { low, high, numbers })
    }

    /// The length of the longest vector of an array, and the lengths of all vectors as multiples of a 255th of it.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn shrunk_lengths(&self, vectors: &Array<T>) -> Result<(f64, Vec<u8>), Error> {
        let count = vectors.len() / 3;
        let mut numbers = vec![0; count];
        let (longest, _) = self.longest(vectors, 3)?;
        if count > 0 {
            let mut shrunk = self.buffers.uninit::<u8>(count)?;
            self.kernels.shrink_lengths.launch(
                self.buffers.stream(),
                Blocks::over(count as u32, 256),
                &ShrinkLengths {
                    vectors: In::of(self.own(vectors)?),
                    steps: steps(255.0, longest),
                    count: count as u32,
                    numbers: Out::of(&mut shrunk),
                },
            )?;
            self.buffers.read(&shrunk, &mut numbers)?;
        }
        Ok((longest, numbers))
    }
}
