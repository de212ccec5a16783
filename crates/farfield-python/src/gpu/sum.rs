//! A sum of arrays on a GPU, planned and evaluated in one call.

use super::array::{AnyArray, GpuArray};
use super::input::{Input, PointOperands, Points, input};
use super::plan::planned;
use super::{OnGpu, wait_if_long};
use crate::failure::Failure;
use crate::numbers::AnyNumbers;
use crate::request::Description;
use crate::wait;
use farfield::Space;
use farfield::memory::{ArrayPoints, ArraySizes};
use farfield::plane::Plane;
use pyo3::prelude::*;

/// Plans and evaluates a sum. Returns one array per output, with the given shapes, which must match (vectors, targets,
/// components), and the seconds that the library itself took.
#[pyfunction]
pub fn sum_on_gpu(
    py: Python<'_>,
    request: Description,
    gpu: usize,
    points: PointOperands<'_>,
    strengths: Bound<'_, PyAny>,
    shapes: Vec<Vec<usize>>,
) -> PyResult<(Vec<GpuArray>, f64)> {
    let mut names = request.names();
    let points = Points::of(&points, &names)?;
    let strengths = input(&names.strengths, &strengths)?;
    names.sources = points.source_numbers() / request.dimension.max(1);
    let count = names.sources;
    let direct = request.options()?.method == farfield::Method::Direct;
    let work = move || match request.sources {
        AnyNumbers::Double(_) => sum::<f64>(request, gpu, &points, &strengths),
        AnyNumbers::Single(_) => sum::<f32>(request, gpu, &points, &strengths),
    };
    let done = wait_if_long(py, count, direct, work)?;
    let (arrays, seconds) = done.map_err(|failure| names.exception(&failure))?;
    let result = |(array, shape)| GpuArray::new(array, gpu, shape);
    Ok((arrays.into_iter().zip(shapes).map(result).collect(), seconds))
}

fn sum<T: OnGpu>(
    mut request: Description,
    gpu: usize,
    points: &Points,
    strengths: &Input,
) -> Result<(Vec<AnyArray>, f64), Failure> {
    let (memory, names) = (T::memory(gpu)?, request.names());
    let points = points.arrays::<T>(&names, gpu, &memory)?;
    let strengths = strengths.array(&names.strengths, gpu, &memory)?;
    if request.dimension == 2 {
        let mut plan = planned::<T, Plane>(&mut request, &memory, &points)?;
        let outputs = plan.evaluate_array(&strengths)?;
        return Ok((outputs.into_iter().map(T::any).collect(), plan.seconds().total));
    }
    let summed = memory.sum(&request.request::<Space>()?, &points.of_sum(&request)?, &strengths)?;
    Ok((summed.outputs.into_iter().map(T::any).collect(), summed.seconds))
}

/// The seconds of each of `repeats` sums called from Rust, over copies of numpy arrays on a GPU: the cost without
/// Python.
#[pyfunction]
pub fn seconds_on_gpu(
    py: Python<'_>,
    request: Description,
    gpu: usize,
    sources: AnyNumbers,
    strengths: AnyNumbers,
    repeats: usize,
) -> PyResult<Vec<f64>> {
    fn repeat<T: OnGpu>(
        request: &Description,
        gpu: usize,
        (sources, strengths): (&AnyNumbers, &AnyNumbers),
        repeats: usize,
    ) -> Result<Vec<f64>, Failure> {
        let memory = T::memory(gpu)?;
        let sources = memory.store(sources.slice::<T>("sources")?.to_vec())?;
        let strengths = memory.store(strengths.slice::<T>("strengths")?.to_vec())?;
        let mut points = ArrayPoints::of(&sources);
        if let Some(size) = request.size() {
            points.sizes = ArraySizes::Global(T::from_f64(size));
        }
        let request = request.request::<Space>()?;
        let one = |_| {
            let start = std::time::Instant::now();
            let summed = memory.sum(&request, &points, &strengths)?;
            drop(summed);
            Ok(start.elapsed().as_secs_f64())
        };
        (0..repeats).map(one).collect()
    }
    let work = move || match &sources {
        AnyNumbers::Single(_) => repeat::<f32>(&request, gpu, (&sources, &strengths), repeats),
        AnyNumbers::Double(_) => repeat::<f64>(&request, gpu, (&sources, &strengths), repeats),
    };
    Ok(wait::long(py, work)??)
}
