//! DLPack: passes arrays on a GPU between libraries without a copy (the ABI of dlpack.h, version 0.8).

use crate::failure::Failure;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

const CAPSULE: &CStr = c"dltensor";
const USED_CAPSULE: &CStr = c"used_dltensor";
const CUDA: i32 = 2;
const FLOAT: u8 = 2;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: (i32, i32),
    dimensions: i32,
    kind: Kind,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kind {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct ManagedTensor {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
}

/// An array of another library on a GPU. The array stays valid until this value is dropped.
#[derive(Debug)]
pub struct Foreign {
    /// The device address of the numbers.
    pub address: u64,
    /// The ordinal of the GPU.
    pub gpu: usize,
    /// The shape of the array.
    pub shape: Vec<usize>,
    /// True for float64, false for float32.
    pub double: bool,
    owner: Owner,
}

#[derive(Debug)]
enum Owner {
    Capsule(NonNull<ManagedTensor>),
    /// Never read; keeps the memory alive.
    Object(#[allow(dead_code)] Py<PyAny>),
}

// SAFETY: the tensor is only read, and its deleter is called with the GIL held.
unsafe impl Send for Foreign {}
// SAFETY: as above; nothing changes it.
unsafe impl Sync for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Owner::Capsule(managed) = self.owner {
            // Deleters of Python libraries expect the GIL.
            // SAFETY: `of_capsule` took the capsule over, so that its deleter is called only here, once.
            Python::attach(|_| unsafe {
                if let Some(deleter) = managed.as_ref().deleter {
                    deleter(managed.as_ptr());
                }
            });
        }
    }
}

/// Whether an array with this shape and these strides is contiguous in C order.
fn is_in_c_order(shape: &[usize], strides: &[i64]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(side, stride)| {
        let fits = *side < 2 || *stride == expected;
        expected *= *side as i64;
        fits
    })
}

impl Foreign {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Takes over the capsule that `__dlpack__` returned; `name` is the argument's name for messages.
    pub fn of_capsule(name: &str, capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        // SAFETY: the capsule's name is checked against DLPack's, and the pointer against null.
        let managed = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), CAPSULE.as_ptr()) };
        let Some(managed) = NonNull::new(managed.cast::<ManagedTensor>()) else {
            return Err(PyErr::fetch(capsule.py()));
        };
        // SAFETY: a capsule of that name holds a `ManagedTensor`, which lives until its deleter is called.
        let tensor = unsafe { &managed.as_ref().tensor };
        let refuse = |why: String| -> PyErr { Failure::Argument(format!("{name}: {why}")).into() };
        let Kind { code, bits, lanes } = tensor.kind;
        if code != FLOAT || lanes != 1 || (bits != 32 && bits != 64) {
            return Err(refuse("numbers on a GPU must be float32 or float64".to_owned()));
        }
        let (device, gpu) = tensor.device;
        if device != CUDA {
            return Err(refuse(format!("is on a device of DLPack type {device}, not CUDA")));
        }
        let dimensions = tensor.dimensions as usize;
        // SAFETY: the shape, and the strides unless null, have one number for each dimension.
        let (shape, strides) = unsafe {
            let numbers = |at: *mut i64| (0..dimensions).map(|k| *at.add(k)).collect::<Vec<i64>>();
            let strides = (!tensor.strides.is_null()).then(|| numbers(tensor.strides));
            (numbers(tensor.shape), strides)
        };
        let shape: Vec<usize> = shape.into_iter().map(|side| side as usize).collect();
        if strides.is_some_and(|strides| !is_in_c_order(&shape, &strides)) {
            return Err(refuse("an array on a GPU must be in C order".to_owned()));
        }
        // SAFETY: the capsule is valid; a capsule with the new name is never freed by others.
        if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), USED_CAPSULE.as_ptr()) } != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        Ok(Self {
            address: tensor.data as u64 + tensor.byte_offset,
            gpu: gpu as usize,
            shape,
            double: bits == 64,
            owner: Owner::Capsule(managed),
        })
    }

    /// An array described by its `__cuda_array_interface__`, which the package has read.
    pub fn of_interface(object: Py<PyAny>, address: u64, gpu: usize, shape: Vec<usize>, double: bool) -> Self {
        Self {
            address,
            gpu,
            shape,
            double,
            owner: Owner::Object(object),
        }
    }
}

/// An exported tensor with its data; freed as a whole by its deleter.
struct HandedOut<K> {
    managed: ManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Never read; keeps the memory alive.
    _keep: K,
}

/// Makes a capsule for an array at an address in a GPU's memory. `keep` is dropped when the consumer releases the
/// array.
pub fn capsule<'py, K: Send + 'static>(
    py: Python<'py>,
    address: u64,
    gpu: usize,
    shape: &[usize],
    double: bool,
    keep: K,
) -> PyResult<Bound<'py, PyAny>> {
    let mut strides = vec![1i64; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    let mut out = Box::new(HandedOut {
        managed: ManagedTensor {
            tensor: Tensor {
                data: address as usize as *mut c_void,
                device: (CUDA, gpu as i32),
                dimensions: shape.len() as i32,
                kind: Kind {
                    code: FLOAT,
                    bits: if double { 64 } else { 32 },
                    lanes: 1,
                },
                shape: std::ptr::null_mut(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            },
            context: std::ptr::null_mut(),
            deleter: Some(free_handed_out::<K>),
        },
        shape: shape.iter().map(|side| *side as i64).collect(),
        strides,
        _keep: keep,
    });
    out.managed.tensor.shape = out.shape.as_mut_ptr();
    out.managed.tensor.strides = out.strides.as_mut_ptr();
    let raw = Box::into_raw(out);
    // SAFETY: `raw` is valid; only its deleter frees it, through the context.
    unsafe {
        (*raw).managed.context = raw.cast();
        let managed = &raw mut (*raw).managed;
        let capsule = ffi::PyCapsule_New(managed.cast(), CAPSULE.as_ptr(), Some(free_unused));
        Bound::from_owned_ptr_or_err(py, capsule).map_err(|error| {
            drop(Box::from_raw(raw));
            PyBufferError::new_err(error.to_string())
        })
    }
}

/// # Safety
/// `managed` is part of a `HandedOut<K>` that has not been freed.
unsafe extern "C" fn free_handed_out<K>(managed: *mut ManagedTensor) {
    // SAFETY: by the contract the context is the box.
    drop(unsafe { Box::from_raw((*managed).context.cast::<HandedOut<K>>()) });
}

/// Frees a tensor whose capsule was never taken over.
unsafe extern "C" fn free_unused(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with a valid capsule; a capsule that still has this name owns its tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, CAPSULE.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, CAPSULE.as_ptr()).cast::<ManagedTensor>();
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    }
}
