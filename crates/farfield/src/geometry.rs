//! What differs between sums in space and in the plane: points, kernels, outputs, and the engines for them.

use crate::engine::{Engine, OnDevice};
use crate::options::{Options, apply};
use crate::verify::OutputError;
use crate::{Error, Field};
use farfield_core::simd::Real;
use farfield_core::{kernel, plane, verify};
use farfield_cuda::device::{Precision, Properties};
use farfield_cuda::resident::{DevicePoints, Resident};
use farfield_cuda::{Device, auto};
use std::fmt;
use std::sync::Arc;

/// Three dimensions: [`crate::Sum`] and [`crate::Plan`].
#[derive(Debug, Clone, Copy)]
pub struct Space;

/// The plane: [`crate::plane::Sum`] and [`crate::plane::Plan`].
#[derive(Debug, Clone, Copy)]
pub struct Plane;

mod sealed {
    /// Nobody else can add a geometry.
    pub trait Sealed {}
    impl Sealed for super::Space {}
    impl Sealed for super::Plane {}
}

/// How many points a sum has.
pub type PointCounts = (usize, usize);

/// Three dimensions, or the plane. Implemented by [`Space`] and [`Plane`] alone.
pub trait Geometry: sealed::Sealed + fmt::Debug + Copy + Send + Sync + 'static {
    /// Numbers of a point.
    const COORDINATES: usize;
    /// A point.
    type Point<T: Precision>: Copy + fmt::Debug + Send + Sync;
    /// What can be computed.
    type Output: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// The sum as the engines take it.
    type Sum<'a, T: Precision>: Clone + fmt::Debug;

    #[doc(hidden)]
    fn with_targets<'a, T: Precision>(sum: Self::Sum<'a, T>, targets: &'a [Self::Point<T>]) -> Self::Sum<'a, T>;
    #[doc(hidden)]
    fn with_outputs<'a, T: Precision>(sum: Self::Sum<'a, T>, outputs: &[Self::Output]) -> Self::Sum<'a, T>;
    #[doc(hidden)]
    fn with_vectors<T: Precision>(sum: Self::Sum<'_, T>, vectors: usize) -> Self::Sum<'_, T>;
    #[doc(hidden)]
    fn with_options<'a, T: Precision>(sum: Self::Sum<'a, T>, options: &Options) -> Self::Sum<'a, T>;
    #[doc(hidden)]
    fn check<T: Precision>(sum: &Self::Sum<'_, T>) -> Result<(), Error>;
    #[doc(hidden)]
    fn counts<T: Precision>(sum: &Self::Sum<'_, T>) -> PointCounts;

    /// A plan on the processor's cores.
    #[doc(hidden)]
    fn on_cpu<T: Precision>(sum: Self::Sum<'_, T>) -> Result<Box<dyn Engine<T, Self::Output>>, Error>;
    /// A plan on a graphics processor.
    #[doc(hidden)]
    fn on_gpu<T: Precision>(
        device: Arc<Device>,
        sum: &Self::Sum<'_, T>,
    ) -> Result<Box<dyn Engine<T, Self::Output>>, Error>;
    /// A plan on a graphics processor for points that are there.
    #[doc(hidden)]
    fn on_arrays<T: Precision>(
        device: &Arc<Device>,
        resident: &Resident<T>,
        sum: &Self::Sum<'_, T>,
        points: &DevicePoints<'_, T>,
    ) -> Result<Box<dyn Engine<T, Self::Output>>, Error>;
    /// Whether a graphics processor is expected to be so much faster that opening it pays.
    #[doc(hidden)]
    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Self::Sum<'_, T>, options: &Options) -> bool;
    /// Bytes that a sum over so many points takes: on the graphics processor, or else on the host.
    #[doc(hidden)]
    fn memory_forecast<T: Precision>(
        sum: &Self::Sum<'_, T>,
        device: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64;
    /// The true error at sampled targets.
    #[doc(hidden)]
    fn verify<T: Precision>(
        sum: &Self::Sum<'_, T>,
        strengths: &[T],
        field: &Field<T, Self::Output>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error>;
}

/// What both geometries do by the same words.
macro_rules! same_words {
    ($Cuda:path, $plan:ident) => {
        fn with_targets<'a, T: Precision>(sum: Self::Sum<'a, T>, targets: &'a [Self::Point<T>]) -> Self::Sum<'a, T> {
            sum.targets(targets)
        }
        fn with_outputs<'a, T: Precision>(sum: Self::Sum<'a, T>, outputs: &[Self::Output]) -> Self::Sum<'a, T> {
            sum.outputs(outputs)
        }
        fn with_vectors<T: Precision>(sum: Self::Sum<'_, T>, vectors: usize) -> Self::Sum<'_, T> {
            sum.vectors(vectors)
        }
        fn with_options<'a, T: Precision>(sum: Self::Sum<'a, T>, options: &Options) -> Self::Sum<'a, T> {
            apply!(sum, options)
        }
        fn check<T: Precision>(sum: &Self::Sum<'_, T>) -> Result<(), Error> {
            sum.check().map(|_| ())
        }
        fn counts<T: Precision>(sum: &Self::Sum<'_, T>) -> PointCounts {
            let checked = sum.checked();
            (checked.sources.len(), checked.target_count())
        }
        fn on_cpu<T: Precision>(sum: Self::Sum<'_, T>) -> Result<Box<dyn Engine<T, Self::Output>>, Error> {
            Ok(Box::new(sum.plan()?))
        }
        fn on_gpu<T: Precision>(
            device: Arc<Device>,
            sum: &Self::Sum<'_, T>,
        ) -> Result<Box<dyn Engine<T, Self::Output>>, Error> {
            use $Cuda as OnGpu;
            let plan = OnGpu::new(&device, sum)?;
            Ok(Box::new(OnDevice { plan, device }))
        }
        fn on_arrays<T: Precision>(
            device: &Arc<Device>,
            resident: &Resident<T>,
            sum: &Self::Sum<'_, T>,
            points: &DevicePoints<'_, T>,
        ) -> Result<Box<dyn Engine<T, Self::Output>>, Error> {
            let (plan, device) = (resident.$plan(sum, points)?, device.clone());
            Ok(Box::new(OnDevice { plan, device }))
        }
    };
}

impl Geometry for Space {
    const COORDINATES: usize = 3;
    type Point<T: Precision> = [T; 3];
    type Output = kernel::Output;
    type Sum<'a, T: Precision> = farfield_core::Sum<'a, T>;

    same_words!(farfield_cuda::Plan, plan);

    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Self::Sum<'_, T>, options: &Options) -> bool {
        auto::pays(gpu, &options.machine_profile(), rayon::current_num_threads(), sum)
    }

    fn memory_forecast<T: Precision>(
        sum: &Self::Sum<'_, T>,
        device: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64 {
        let on_cpu = || sum.memory_forecast(sources, targets).total();
        device.map_or_else(on_cpu, |device| {
            farfield_cuda::Plan::memory_forecast(device, sum, sources, targets).unwrap_or_else(|_| on_cpu())
        })
    }

    fn verify<T: Precision>(
        sum: &Self::Sum<'_, T>,
        strengths: &[T],
        field: &Field<T, Self::Output>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        let checked = sum.checked();
        let problem = verify::Inputs {
            kernel: checked.kernel,
            sources: checked.sources,
            targets: checked.targets,
            sizes: checked.sizes,
            strengths,
        };
        let of = |error: verify::OutputError| OutputError {
            output: error.output.name(),
            relative_l2: error.relative_l2,
            maximum: None,
        };
        let measured = verify::verify(&problem, field, samples, seed)?;
        Ok(measured.into_iter().map(of).collect())
    }
}

impl Geometry for Plane {
    const COORDINATES: usize = 2;
    type Point<T: Precision> = [T; 2];
    type Output = plane::Output;
    type Sum<'a, T: Precision> = plane::Sum<'a, T>;

    same_words!(farfield_cuda::plane::Plan, plan_in_plane);

    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Self::Sum<'_, T>, _: &Options) -> bool {
        auto::pays_in_plane(gpu, rayon::current_num_threads(), sum)
    }

    fn memory_forecast<T: Precision>(
        sum: &Self::Sum<'_, T>,
        _: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64 {
        sum.memory_forecast(sources, targets).total()
    }

    fn verify<T: Precision>(
        sum: &Self::Sum<'_, T>,
        strengths: &[T],
        field: &Field<T, Self::Output>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        let checked = sum.checked();
        let problem = plane::Inputs {
            kernel: checked.kernel,
            core: checked.core,
            sources: checked.sources,
            targets: checked.targets,
            sizes: checked.sizes,
            complex: checked.complex,
            strengths,
        };
        let of = |error: plane::OutputError| OutputError {
            output: error.output.name(),
            relative_l2: error.relative_l2,
            maximum: Some(error.maximum),
        };
        let measured = plane::verify(&problem, field, samples, seed)?;
        Ok(measured.into_iter().map(of).collect())
    }
}

/// The tolerances that a precision can honour, lowest first.
pub(crate) fn tolerance_range<T: Real>() -> (f64, f64) {
    farfield_core::Sum::<T>::tolerance_range()
}
