//! The engines of each geometry.

use crate::Error;
use crate::engine::{Engine, OnDevice};
use farfield_core::Sum;
use farfield_cuda::device::{Precision, Properties};
use farfield_cuda::resident::{Array, DevicePoints, Resident, Results};
use farfield_cuda::{Device, auto};
use std::sync::Arc;

pub use farfield_core::{Plane, Space};

/// The geometry of a sum, [`Space`] or [`Plane`], and its engines.
pub trait Geometry: farfield_core::Geometry {
    #[doc(hidden)]
    fn validate<T: Precision>(sum: &Sum<'_, T, Self>) -> Result<(), Error>;
    /// A plan on the CPU.
    #[doc(hidden)]
    fn on_cpu<T: Precision>(sum: Sum<'_, T, Self>) -> Result<Box<dyn Engine<T, Self>>, Error>;
    /// A plan on a GPU.
    #[doc(hidden)]
    fn on_gpu<T: Precision>(device: Arc<Device>, sum: &Sum<'_, T, Self>) -> Result<Box<dyn Engine<T, Self>>, Error>;
    /// A plan on a GPU for points in its memory.
    #[doc(hidden)]
    fn on_arrays<T: Precision>(
        device: &Arc<Device>,
        resident: &Resident<T>,
        request: &crate::Request<Self>,
        points: &DevicePoints<'_, T>,
    ) -> Result<Box<dyn Engine<T, Self>>, Error>;
    /// Sums between points and strengths on a GPU.
    #[doc(hidden)]
    fn sum_arrays<T: Precision>(
        resident: &Resident<T>,
        request: &crate::Request<Self>,
        points: &DevicePoints<'_, T>,
        strengths: &Array<T>,
    ) -> Result<Results<T>, Error>;
    /// Whether a GPU is expected to be so much faster that opening it pays off.
    #[doc(hidden)]
    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Sum<'_, T, Self>) -> bool;
    /// Bytes that a sum over `sources` sources takes: on the GPU, or else on the host.
    #[doc(hidden)]
    fn memory_forecast<T: Precision>(
        sum: &Sum<'_, T, Self>,
        device: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64;
}

/// The methods that both geometries have under the same names.
macro_rules! same_methods {
    ($Cuda:path, $plan:ident, $sum:ident) => {
        fn validate<T: Precision>(sum: &Sum<'_, T, Self>) -> Result<(), Error> {
            sum.validate().map(|_| ())
        }
        fn on_cpu<T: Precision>(sum: Sum<'_, T, Self>) -> Result<Box<dyn Engine<T, Self>>, Error> {
            Ok(Box::new(sum.plan()?))
        }
        fn on_gpu<T: Precision>(
            device: Arc<Device>,
            sum: &Sum<'_, T, Self>,
        ) -> Result<Box<dyn Engine<T, Self>>, Error> {
            use $Cuda as OnGpu;
            let plan = OnGpu::new(&device, sum)?;
            Ok(Box::new(OnDevice { plan, device }))
        }
        fn on_arrays<T: Precision>(
            device: &Arc<Device>,
            resident: &Resident<T>,
            request: &crate::Request<Self>,
            points: &DevicePoints<'_, T>,
        ) -> Result<Box<dyn Engine<T, Self>>, Error> {
            let (plan, device) = (resident.$plan(request, points)?, device.clone());
            Ok(Box::new(OnDevice { plan, device }))
        }
        fn sum_arrays<T: Precision>(
            resident: &Resident<T>,
            request: &crate::Request<Self>,
            points: &DevicePoints<'_, T>,
            strengths: &Array<T>,
        ) -> Result<Results<T>, Error> {
            resident.$sum(request, points, strengths)
        }
    };
}

impl Geometry for Space {
    same_methods!(farfield_cuda::Plan, plan, sum);

    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Sum<'_, T, Self>) -> bool {
        auto::pays(gpu, sum.options().profile(), rayon::current_num_threads(), sum)
    }

    fn memory_forecast<T: Precision>(
        sum: &Sum<'_, T, Self>,
        device: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64 {
        let on_cpu = || sum.memory_forecast(sources, targets).total();
        device.map_or_else(on_cpu, |device| {
            farfield_cuda::Plan::memory_forecast(device, sum, sources, targets).unwrap_or_else(|_| on_cpu())
        })
    }
}

impl Geometry for Plane {
    same_methods!(farfield_cuda::plane::Plan, plan_in_plane, sum_in_plane);

    fn gpu_pays<T: Precision>(gpu: &Properties, sum: &Sum<'_, T, Self>) -> bool {
        auto::pays_in_plane(gpu, rayon::current_num_threads(), sum)
    }

    fn memory_forecast<T: Precision>(
        sum: &Sum<'_, T, Self>,
        _: Option<&Device>,
        sources: usize,
        targets: Option<usize>,
    ) -> u64 {
        sum.memory_forecast(sources, targets).total()
    }
}
