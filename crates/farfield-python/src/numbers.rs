//! numpy arrays as slices.

use crate::failure::Failure;
use farfield::Precision;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ops::Deref;

/// The numbers of a numpy array, without a copy. Holds a reference to the array, on any thread.
///
/// A copy would make this safe without the caller's help, but new memory for a million strengths takes
/// milliseconds, as does their sum on a GPU.
#[derive(Debug)]
pub struct Numbers<T> {
    start: *const T,
    length: usize,
    /// Never read; keeps the memory alive.
    _array: Py<PyAny>,
}

// SAFETY: the memory is only read, and the array, which may be dropped on any thread, keeps it alive: see `deref`.
unsafe impl<T: Sync> Send for Numbers<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Numbers<T> {}

impl<T> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `of` saw `length` aligned numbers in one piece. numpy moves or frees the memory of an array that is referred to
        // only if it is resized with `refcheck=False`; the package's documentation forbids that, and writing, during a sum.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// float32 or float64: connects a precision with numpy arrays of that precision.
pub trait Scalar: Precision + Element {
    /// `numbers`, if they have this precision.
    fn of(numbers: &AnyNumbers) -> Option<&Numbers<Self>>;
    /// Wraps results of this precision.
    fn values(values: Vec<Vec<Self>>) -> Values;
}

impl Scalar for f32 {
    fn of(numbers: &AnyNumbers) -> Option<&Numbers<f32>> {
        match numbers {
            AnyNumbers::Single(numbers) => Some(numbers),
            AnyNumbers::Double(_) => None,
        }
    }
    fn values(values: Vec<Vec<f32>>) -> Values {
        Values::Single(values)
    }
}

impl Scalar for f64 {
    fn of(numbers: &AnyNumbers) -> Option<&Numbers<f64>> {
        match numbers {
            AnyNumbers::Single(_) => None,
            AnyNumbers::Double(numbers) => Some(numbers),
        }
    }
    fn values(values: Vec<Vec<f64>>) -> Values {
        Values::Double(values)
    }
}

/// A numpy array of either precision.
#[derive(Debug)]
pub enum AnyNumbers {
    /// float32
    Single(Numbers<f32>),
    /// float64
    Double(Numbers<f64>),
}

impl AnyNumbers {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            AnyNumbers::Single(numbers) => numbers.len(),
            AnyNumbers::Double(numbers) => numbers.len(),
        }
    }

    /// The numbers as a slice of `T`; an error if they have the other precision. `name` is the argument's name for the
    /// message.
    pub fn slice<T: Scalar>(&self, name: &str) -> Result<&[T], Failure> {
        let wrong = || Failure::Argument(format!("{name}: expected numbers in {}", T::NAME));
        T::of(self).map(|numbers| &numbers[..]).ok_or_else(wrong)
    }
}

fn of<T: Element>(array: &Bound<'_, PyArrayDyn<T>>) -> Result<Numbers<T>, Failure> {
    let start = array.data().cast_const();
    if !array.is_c_contiguous() || !start.is_aligned() {
        return Err(Failure::Argument("an array is not aligned and in C order".to_owned()));
    }
    Ok(Numbers {
        start,
        length: array.len(),
        _array: array.clone().into_any().unbind(),
    })
}

impl<'py> FromPyObject<'_, 'py> for AnyNumbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArrayDyn<f64>>() {
            return Ok(AnyNumbers::Double(of(&array)?));
        }
        if let Ok(array) = object.cast::<PyArrayDyn<f32>>() {
            return Ok(AnyNumbers::Single(of(&array)?));
        }
        Err(Failure::Argument("expected a numpy array of float32 or float64".to_owned()).into())
    }
}

/// Results, one array per output.
#[derive(Debug)]
pub enum Values {
    /// float32
    Single(Vec<Vec<f32>>),
    /// float64
    Double(Vec<Vec<f64>>),
}

impl Values {
    /// Converts to one-dimensional numpy arrays that take over the memory.
    pub fn into_arrays(self, py: Python<'_>) -> Vec<Py<PyAny>> {
        fn arrays<T: Element>(py: Python<'_>, values: Vec<Vec<T>>) -> Vec<Py<PyAny>> {
            let array = |values| PyArray1::from_vec(py, values).into_any().unbind();
            values.into_iter().map(array).collect()
        }
        match self {
            Values::Single(values) => arrays(py, values),
            Values::Double(values) => arrays(py, values),
        }
    }
}
