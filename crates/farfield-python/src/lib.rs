//! The extension module `farfield._farfield` of the Python package.
//!
//! The package in `python/farfield` converts the caller's arguments to plain arrays and names. This module builds a sum
//! of the library from them, evaluates it with the GIL released ([`wait`]), and returns arrays.
//!
//! 1. [`numbers`]: numpy arrays as slices that keep their array alive.
//! 2. [`request`]: a dictionary of names and arrays becomes a sum in space or in the plane.
//! 3. [`plan`]: the planned sum, a Python class.
//! 4. [`gpu`] and [`dlpack`]: sums of arrays that other libraries hold on a GPU.
//! 5. [`wait`] and [`pools`]: worker threads, Ctrl-C, forked processes.
//! 6. [`failure`]: errors as Python's own exceptions, with the caller's names for the arguments.

mod dlpack;
mod failure;
mod gpu;
mod numbers;
mod plan;
mod poisson;
mod pools;
mod request;
mod simulation;
mod wait;

use farfield::kernel::{Form, Kernel};
use pyo3::prelude::*;

/// The fast sums behind the package `farfield`.
#[pymodule]
fn _farfield(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pools::remember_process();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_function(wrap_pyfunction!(simulation::run, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::cases, module)?)?;
    module.add_function(wrap_pyfunction!(poisson::poisson, module)?)?;
    module.add_class::<gpu::array::GpuArray>()?;
    module.add_class::<gpu::plan::GpuPlan>()?;
    module.add_function(wrap_pyfunction!(gpu::stream, module)?)?;
    module.add_function(wrap_pyfunction!(gpu::traffic, module)?)?;
    module.add_function(wrap_pyfunction!(gpu::sum::sum_on_gpu, module)?)?;
    module.add_function(wrap_pyfunction!(gpu::sum::seconds_on_gpu, module)?)?;
    module.add_function(wrap_pyfunction!(gpu::array::round_trip, module)?)?;
    module.add_function(wrap_pyfunction!(plan::sum_on_host, module)?)?;
    module.add_function(wrap_pyfunction!(plan::seconds_on_host, module)?)?;
    module.add_function(wrap_pyfunction!(kernels, module)?)?;
    module.add_function(wrap_pyfunction!(gpus, module)?)?;
    module.add_function(wrap_pyfunction!(simd, module)?)?;
    Ok(())
}

/// The kernels in space: name, what strengths are called, numbers per source, outputs with their components, and the argument
/// for the core size.
type KernelFacts = (
    &'static str,
    &'static str,
    usize,
    Vec<(&'static str, usize)>,
    Option<&'static str>,
);

/// One entry for each kernel in space. Charges with dipoles are left out: they are `coulomb` with an argument.
#[pyfunction]
fn kernels() -> Vec<KernelFacts> {
    let mut all: Vec<KernelFacts> = Vec::new();
    for kernel in Kernel::all().into_iter().filter(|kernel| kernel.form() != Form::Dipole) {
        let facts = kernel.description();
        let outputs = facts.outputs.iter().map(|output| (output.name(), output.components()));
        let size = match (kernel.core_name(), facts.core_word) {
            ("", _) => None,
            (_, "softening_kernel") => Some("softening"),
            _ => Some("core_size"),
        };
        // A kernel has an entry for each of its cores.
        if all.last().is_none_or(|last| last.0 != facts.name) {
            all.push((
                facts.name,
                facts.strengths,
                facts.form.strengths(),
                outputs.collect(),
                size,
            ));
        }
    }
    all
}

/// The names of the available GPUs.
#[pyfunction]
fn gpus() -> Vec<String> {
    let all = farfield::all_gpus().unwrap_or_default();
    all.into_iter().map(|gpu| gpu.name).collect()
}

/// The SIMD instruction set of sums on the CPU.
#[pyfunction]
fn simd() -> &'static str {
    farfield::simd::SimdLevel::best().name()
}
