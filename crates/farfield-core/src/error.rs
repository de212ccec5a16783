//! Errors in the input or of the device.

use crate::kernel::Output;
use crate::sum::Device;
use std::path::PathBuf;

/// The reason why a sum could not be planned or evaluated, on any device. Messages name the offending value and its
/// place, or a remedy.
///
/// The process stays usable after any of these errors, and a plan that failed can be evaluated again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A coordinate, strength or core size is NaN or infinite.
    #[error("{array}[{index}] component {component} is {value}: every number must be finite")]
    NotFinite {
        /// The name of the array.
        array: &'static str,
        /// The index of the point.
        index: usize,
        /// The component.
        component: usize,
        /// The offending value.
        value: f64,
    },
    /// An array has the wrong length.
    #[error("{array} has {found} numbers, expected {expected} ({why})")]
    Length {
        /// The name of the array.
        array: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// The reason for the expected length.
        why: String,
    },
    /// A negative core size or softening length.
    #[error("core size {value} of source {index} is negative")]
    NegativeSize {
        /// The index of the source.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// A core size or softening length whose square is too small or too large to be added to squared distances.
    #[error(
        "core size {value:e} of source {index} is outside [{lowest:e}, {highest:e}], the range (apart from 0) in \
         {precision} for points that extend over {extent:e}"
    )]
    SizeRange {
        /// The index of the source; the first if all have this size.
        index: usize,
        /// The offending value.
        value: f64,
        /// The lowest size other than zero.
        lowest: f64,
        /// The highest size.
        highest: f64,
        /// The extent of the points.
        extent: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Points in the plane so far apart, or so close together, that powers of distances overflow or underflow.
    #[error(
        "the points extend over {extent:e}, outside [{lowest:e}, {highest:e}], the range in {precision}: scale them to \
         about one"
    )]
    Extent {
        /// The extent of the points.
        extent: f64,
        /// The smallest extent other than zero.
        lowest: f64,
        /// The largest extent.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Distinct points so close that the square of their distance underflows.
    #[error(
        "{array}[{index}] component {component} is {value:e}, less than {least:e} from the same component of another \
         point: {precision} cannot resolve this distance over the extent of all points"
    )]
    TooClose {
        /// The name of the array.
        array: &'static str,
        /// The index of the point.
        index: usize,
        /// The component.
        component: usize,
        /// The offending value.
        value: f64,
        /// The smallest distance that can be resolved.
        least: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A result overflows.
    #[error(
        "the {output} at target {target}, or an intermediate result, exceeds {largest:e}, the largest number in \
         {precision}: the largest strength is {strengths:e}; use smaller strengths{hint}"
    )]
    Overflow {
        /// The name of the output.
        output: &'static str,
        /// The index of the target.
        target: usize,
        /// The largest number of the precision.
        largest: f64,
        /// The largest strength.
        strengths: f64,
        /// `f32` or `f64`.
        precision: &'static str,
        /// Another remedy, or empty.
        hint: &'static str,
    },
    /// The tolerance is outside the range of the precision.
    #[error("tolerance {value:e} is outside [{lowest:e}, {highest:e}], the range in {precision}")]
    Tolerance {
        /// The tolerance.
        value: f64,
        /// The lowest tolerance.
        lowest: f64,
        /// The highest tolerance.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is outside its range {range}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// An output that the kernel does not have.
    #[error("the {kernel} kernel has no output `{output}`; it has: {available}")]
    Output {
        /// The kernel.
        kernel: &'static str,
        /// The output asked for.
        output: Output,
        /// The outputs of the kernel.
        available: String,
    },
    /// Core sizes for a kernel that has no core.
    #[error("core sizes were given, but the {kernel} kernel has no core: leave them out, or choose a core")]
    UselessSizes {
        /// The kernel.
        kernel: &'static str,
    },
    /// The velocity gradient of a core whose gradient is unbounded.
    #[error(
        "the velocity gradient of the hu-polynomial core is unbounded at its centre; set allow_unbounded_gradient or \
         choose another core"
    )]
    UnboundedGradient,
    /// A core without the size it needs.
    #[error("the {core} core needs a core size")]
    MissingSize {
        /// The core.
        core: &'static str,
    },
    /// The derivative of a regularised planar field, which is not analytic.
    #[error(
        "the {kernel} field of the {core} core is not analytic and has no {output}; it has: {known} (the singular core \
         has all outputs)"
    )]
    NotAnalytic {
        /// The kernel.
        kernel: &'static str,
        /// The core.
        core: &'static str,
        /// The output asked for.
        output: &'static str,
        /// The outputs of this core.
        known: String,
    },
    /// A method that the plane does not have.
    #[error("the plane has no method `{method}`; its methods are auto, direct and fmm")]
    MethodInPlane {
        /// The method asked for.
        method: &'static str,
    },
    /// More points than 32-bit indices allow.
    #[error("{count} {array} exceed the limit of {limit}")]
    TooMany {
        /// The name of the array.
        array: &'static str,
        /// The number of points.
        count: usize,
        /// The largest number of points.
        limit: usize,
    },
    /// The sum does not fit into memory.
    #[error("this sum needs about {needed_gib:.1} GiB, but only {available_gib:.1} GiB of memory are available")]
    Memory {
        /// The forecast.
        needed_gib: f64,
        /// The available memory.
        available_gib: f64,
    },
    /// The name is not a SIMD level, or the machine does not have the level.
    #[error(transparent)]
    Simd(#[from] crate::simd::LevelError),
    /// The thread pool could not be created.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The system's message.
        reason: String,
    },
    /// The NVIDIA driver is not installed.
    #[error(
        "no NVIDIA driver: the library libcuda was not found. Install the driver, or mount it into the container \
         (docker run --gpus all), or sum on the CPU"
    )]
    NoDriver,
    /// The driver has no device for this process.
    #[error(
        "the NVIDIA driver offers no device ({reason}). Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or sum on the CPU"
    )]
    NoDevice {
        /// The driver's message.
        reason: String,
    },
    /// A device number that does not exist.
    #[error("there is no CUDA device {asked}: this machine has {count}, numbered from 0")]
    DeviceNumber {
        /// The number asked for.
        asked: usize,
        /// The number of devices.
        count: usize,
    },
    /// The compute capability of the device is too low.
    #[error(
        "the GPU {name} has compute capability {major}.{minor}; 8.0 (Ampere) or later is needed. Use a newer GPU, or \
         sum on the CPU"
    )]
    TooOld {
        /// The device.
        name: String,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number.
        minor: i32,
    },
    /// The run-time compiler is missing.
    #[error(
        "no libnvrtc, the CUDA run-time compiler. Install the CUDA toolkit or `pip install nvidia-cuda-nvrtc-cu12`, or \
         set FARFIELD_NVRTC to the library's path. Looked in: {searched}"
    )]
    NoNvrtc {
        /// The places searched.
        searched: String,
    },
    /// The library found is not a usable run-time compiler.
    #[error("{path} is not a usable libnvrtc: {reason}. Set FARFIELD_NVRTC to another one")]
    BadNvrtc {
        /// The library.
        path: PathBuf,
        /// The reason why it is not usable.
        reason: String,
    },
    /// A kernel did not compile: a defect of this library or of the compiler.
    #[error("the kernel {program} does not compile for {architecture}: {log}")]
    Compile {
        /// The name of the program.
        program: String,
        /// The architecture of the GPU.
        architecture: String,
        /// The compiler's message.
        log: String,
    },
    /// The sum does not fit into the device's memory.
    #[error(
        "this sum needs about {needed_gib:.2} GiB of device memory, but only {available_gib:.2} GiB are free on {device}. \
         Use fewer points or strength vectors at once, single precision, or the CPU"
    )]
    DeviceMemory {
        /// The forecast.
        needed_gib: f64,
        /// The free memory.
        available_gib: f64,
        /// The device.
        device: String,
    },
    /// The driver refused a call, or a call or a kernel failed.
    #[error("CUDA failed to {action}: {reason}. The device may need a new process; the CPU still works")]
    Driver {
        /// The action that failed.
        action: String,
        /// The driver's message.
        reason: String,
    },
    /// A feature of the CPU engine that the GPU engine does not have.
    #[error("{what} does not run on the GPU: {remedy}")]
    Unsupported {
        /// The feature.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
}

/// A setting that lets a failed sum succeed. Front ends spell it in their own words: `--device cpu`, `device="cpu"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Sum on this device.
    Device(Device),
}

impl Error {
    /// The setting that helps.
    pub fn remedy(&self) -> Option<Remedy> {
        self.is_of_the_device().then_some(Remedy::Device(Device::Cpu))
    }
}

impl Error {
    /// Whether the GPU is the cause rather than the input, so that the CPU can do the same sum.
    pub fn is_of_the_device(&self) -> bool {
        matches!(
            self,
            Error::NoDriver
                | Error::NoDevice { .. }
                | Error::DeviceNumber { .. }
                | Error::TooOld { .. }
                | Error::NoNvrtc { .. }
                | Error::BadNvrtc { .. }
                | Error::Compile { .. }
                | Error::DeviceMemory { .. }
                | Error::Driver { .. }
                | Error::Unsupported { .. }
        )
    }
}

impl Error {
    /// [`Error::Memory`] for `needed` bytes with `available` bytes free.
    pub(crate) fn memory(needed: u64, available: u64) -> Self {
        let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
        Error::Memory {
            needed_gib: gib(needed),
            available_gib: gib(available),
        }
    }
}
