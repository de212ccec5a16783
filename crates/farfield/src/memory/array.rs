//! An array, and the arithmetic of simulation steps on it.

use super::{GpuMemory, Memory};
use crate::{Error, Precision};
use farfield_cuda::resident::{self, ShrunkPoints};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// The number of values that a thread handles at once.
const TOGETHER: usize = 1 << 14;

/// Values in the memory of the host or of a GPU, freed when this is dropped.
#[derive(Debug)]
pub struct Array<T: Precision> {
    pub(super) place: Place<T>,
}

#[derive(Debug)]
pub(super) enum Place<T: Precision> {
    Host(Vec<T>),
    Gpu {
        memory: Arc<GpuMemory<T>>,
        array: resident::Array<T>,
        /// The host's copy, once it has been fetched. Cleared when the array changes.
        copy: OnceLock<Vec<T>>,
    },
}

impl<T: Precision> Place<T> {
    pub fn gpu(memory: &Arc<GpuMemory<T>>, array: resident::Array<T>) -> Self {
        Place::Gpu {
            memory: memory.clone(),
            array,
            copy: OnceLock::new(),
        }
    }
}

impl<T: Precision> Default for Array<T> {
    /// An empty array on the host.
    fn default() -> Self {
        Self {
            place: Place::Host(Vec::new()),
        }
    }
}

impl<T: Precision> Array<T> {
    /// An array of these values on the host.
    pub fn of(values: Vec<T>) -> Self {
        Self {
            place: Place::Host(values),
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match &self.place {
            Place::Host(values) => values.len(),
            Place::Gpu { array, .. } => array.len(),
        }
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that holds the array.
    pub fn memory(&self) -> Memory<T> {
        Memory {
            gpu: match &self.place {
                Place::Host(_) => None,
                Place::Gpu { memory, .. } => Some(memory.clone()),
            },
        }
    }

    /// The values on the host. Values on a GPU are fetched once, until the array changes.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn values(&self) -> Result<&[T], Error> {
        match &self.place {
            Place::Host(values) => Ok(values),
            Place::Gpu { memory, array, copy } => {
                if let Some(copy) = copy.get() {
                    return Ok(copy);
                }
                let mut fetched = vec![T::ZERO; array.len()];
                memory.timed(|resident| resident.download(array, &mut fetched))?;
                Ok(copy.get_or_init(|| fetched))
            }
        }
    }

    /// [`values`](Self::values) as vectors of `N` components.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn vectors<const N: usize>(&self) -> Result<&[[T; N]], Error> {
        Ok(self.values()?.as_chunks().0)
    }

    /// Points in a GPU's memory, rounded there to 16 bits, so that a quarter of the bytes is transferred. `None` for
    /// points on the host, and for values that the host has already fetched.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn shrunk_points(&self) -> Result<Option<ShrunkPoints>, Error> {
        match &self.place {
            Place::Gpu { memory, array, copy } if copy.get().is_none() => {
                memory.timed(|resident| resident.shrunk_points(array)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The largest length of the three-component vectors in a GPU's memory, and the lengths of all vectors as multiples
    /// of a 255th of it, rounded there. `None` as for [`shrunk_points`](Self::shrunk_points).
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn shrunk_lengths(&self) -> Result<Option<(f64, Vec<u8>)>, Error> {
        match &self.place {
            Place::Gpu { memory, array, copy } if copy.get().is_none() => {
                memory.timed(|resident| resident.shrunk_lengths(array)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A second array with the same values, in the same memory.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`]; never on the host.
    pub fn copy(&self) -> Result<Self, Error> {
        let place = match &self.place {
            Place::Host(values) => Place::Host(values.clone()),
            Place::Gpu { memory, array, .. } => Place::gpu(memory, memory.resident.copy(array)?),
        };
        Ok(Self { place })
    }

    /// A copy of the array in another memory.
    ///
    /// # Errors
    /// As [`Memory::store`] and [`values`](Self::values).
    pub fn moved_to(&self, memory: &Memory<T>) -> Result<Self, Error> {
        memory.store(self.values()?.to_vec())
    }

    /// `self += h rates`
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ, [`Error::Unsupported`] if the two lie in different memories,
    /// [`Error::Driver`] if the device failed.
    pub fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        same_length(self.len(), rates.len())?;
        match &mut self.place {
            Place::Host(values) => {
                let (h, rates) = (T::from_f64(h), rates.on_host()?);
                let pieces = values.par_chunks_mut(TOGETHER).zip(rates.par_chunks(TOGETHER));
                pieces.for_each(|(values, rates)| {
                    for (value, rate) in values.iter_mut().zip(rates) {
                        *value += h * *rate;
                    }
                });
                Ok(())
            }
            Place::Gpu { memory, array, copy } => {
                copy.take();
                memory.resident.add_scaled(array, h, rates.on(memory)?)
            }
        }
    }

    /// `factor (y, x)` of every `(x, y)`, in the same memory: turns a harmonic field in the plane into velocities.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`]; never on the host.
    pub fn turned(&self, factor: f64) -> Result<Self, Error> {
        let place = match &self.place {
            Place::Host(values) => {
                let factor = T::from_f64(factor);
                let mut turned = vec![T::ZERO; values.len()];
                let pieces = turned.par_chunks_mut(TOGETHER).zip(values.par_chunks(TOGETHER));
                pieces.for_each(|(turned, values)| {
                    for (turned, [x, y]) in turned.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
                        *turned = [factor * *y, factor * *x];
                    }
                });
                Place::Host(turned)
            }
            Place::Gpu { memory, array, .. } => Place::gpu(memory, memory.resident.turned(array, factor)?),
        };
        Ok(Self { place })
    }

    /// The length of the longest vector of `components` components, and its index, the last of several equal ones.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn longest(&self, components: usize) -> Result<(f64, usize), Error> {
        match &self.place {
            Place::Host(values) => {
                let square = |vector: &[T]| vector.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
                let squares = values.chunks_exact(components.max(1)).map(square).enumerate();
                let longest = squares.max_by(|a, b| a.1.total_cmp(&b.1));
                Ok(longest.map_or((0.0, 0), |(at, square)| (square.sqrt(), at)))
            }
            Place::Gpu { memory, array, .. } => memory.resident.longest(array, components),
        }
    }

    /// The values of an array on the host.
    pub(super) fn on_host(&self) -> Result<&[T], Error> {
        match &self.place {
            Place::Host(values) => Ok(values),
            Place::Gpu { .. } => Err(elsewhere()),
        }
    }

    /// The array on the GPU of `memory`.
    pub(super) fn on(&self, memory: &Arc<GpuMemory<T>>) -> Result<&resident::Array<T>, Error> {
        match &self.place {
            Place::Gpu { memory: own, array, .. } if Arc::ptr_eq(own, memory) => Ok(array),
            _ => Err(elsewhere()),
        }
    }
}

fn elsewhere() -> Error {
    Error::Unsupported {
        what: "arithmetic between arrays in different memories".to_owned(),
        remedy: "move one of them with `moved_to`",
    }
}

pub(super) fn same_length(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Length {
        array: "array",
        found,
        expected,
        why: "both belong together".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(values: &[f64]) -> Array<f64> {
        Memory::host().store(values.to_vec()).unwrap()
    }

    #[test]
    fn arrays_on_the_host_are_stepped() {
        let mut values = array(&[1.0, 2.0]);
        let before = values.copy().unwrap();
        values.add_scaled(0.5, &array(&[4.0, -2.0])).unwrap();
        assert_eq!(values.values(), Ok(&[3.0, 1.0][..]));
        assert_eq!(before.values(), Ok(&[1.0, 2.0][..]));
        let wrong = values.add_scaled(1.0, &array(&[1.0]));
        assert!(matches!(
            wrong,
            Err(Error::Length {
                found: 1,
                expected: 2,
                ..
            })
        ));
    }

    #[test]
    fn pairs_are_turned() {
        let turned = array(&[1.0, 2.0, 3.0, 4.0]).turned(-2.0).unwrap();
        assert_eq!(turned.values(), Ok(&[-4.0, -2.0, -8.0, -6.0][..]));
    }

    #[test]
    fn the_longest_vector_is_the_last_of_equal_ones() {
        let vectors = array(&[3.0, 4.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0]);
        assert_eq!(vectors.longest(3), Ok((5.0, 2)));
        assert_eq!(array(&[]).longest(3), Ok((0.0, 0)));
    }

    #[test]
    fn values_that_are_not_finite_are_found() {
        let memory = Memory::host();
        let (fine, wrong) = (array(&[1.0]), array(&[0.0, f64::NAN]));
        assert_eq!(memory.all_finite(&[&fine, &fine]), Ok(true));
        assert_eq!(memory.all_finite(&[&fine, &wrong]), Ok(false));
    }
}
