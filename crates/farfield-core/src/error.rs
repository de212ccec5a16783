//! What can be wrong with the input, or with the device that was to sum.

use crate::kernel::Output;
use std::path::PathBuf;

/// Why a sum could not be planned or evaluated, on any device. Every message names the value and the place, or the remedy.
///
/// After any of these the process stays usable, and a plan that failed can be evaluated again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A coordinate, strength or core size is NaN or infinite.
    #[error("{array}[{index}] component {component} is {value}: every number must be finite")]
    NotFinite {
        /// Which array.
        array: &'static str,
        /// Which point.
        index: usize,
        /// Which component of it.
        component: usize,
        /// The offending value.
        value: f64,
    },
    /// Two arrays that belong together have different lengths.
    #[error("{array} has {found} numbers, expected {expected} ({why})")]
    Length {
        /// Which array.
        array: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// Where the expectation comes from.
        why: String,
    },
    /// A negative core size or softening length.
    #[error("core size {value} of source {index} is negative")]
    NegativeSize {
        /// Which source.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// A core size or softening length whose square cannot be added to squared distances.
    #[error(
        "core size {value:e} of source {index} is outside [{lowest:e}, {highest:e}], the range (apart from 0) in \
         {precision} for points that extend over {extent:e}"
    )]
    SizeRange {
        /// Which source; the first if all have this size.
        index: usize,
        /// The offending value.
        value: f64,
        /// The lowest size other than zero.
        lowest: f64,
        /// The highest.
        highest: f64,
        /// What the points extend over.
        extent: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Points in the plane so far apart, or so close together, that powers of distances are lost.
    #[error(
        "the points extend over {extent:e}, outside [{lowest:e}, {highest:e}], the range in {precision}: scale them to \
         about one"
    )]
    Extent {
        /// What the points extend over.
        extent: f64,
        /// The least extent other than zero.
        lowest: f64,
        /// The largest.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Distinct points so close that the square of their distance is lost.
    #[error(
        "{array}[{index}] component {component} is {value:e}, less than {least:e} from that of another point: where \
         points extend over so much, {precision} cannot tell them apart"
    )]
    TooClose {
        /// Which array.
        array: &'static str,
        /// Which point.
        index: usize,
        /// Which component of it.
        component: usize,
        /// The offending value.
        value: f64,
        /// The least distance.
        least: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A result beyond the largest number.
    #[error(
        "the {output} at target {target} is beyond {largest:e}, the largest number in {precision}, or was on the way \
         to it: strengths reach {strengths:e}; use smaller ones{hint}"
    )]
    Overflow {
        /// Which output.
        output: &'static str,
        /// Which target.
        target: usize,
        /// The largest number there is.
        largest: f64,
        /// The largest strength.
        strengths: f64,
        /// `f32` or `f64`.
        precision: &'static str,
        /// What else may help.
        hint: &'static str,
    },
    /// The tolerance is outside what the precision can honour.
    #[error("tolerance {value:e} is outside [{lowest:e}, {highest:e}], the range honoured in {precision}")]
    Tolerance {
        /// The tolerance asked for.
        value: f64,
        /// The lowest that can be honoured.
        lowest: f64,
        /// The highest.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is outside its range {range}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// An output the kernel does not have.
    #[error("the {kernel} kernel has no output `{output}`; it has: {available}")]
    Output {
        /// The kernel.
        kernel: &'static str,
        /// The output asked for.
        output: Output,
        /// The outputs there are.
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
        "the gradient of the hu-polynomial core is unbounded at its centre; ask for it explicitly \
         (allow_unbounded_gradient) or choose another core"
    )]
    UnboundedGradient,
    /// A core that needs a size was given none.
    #[error("the {core} core needs a core size")]
    MissingSize {
        /// The core.
        core: &'static str,
    },
    /// The derivative of a regularised planar field, which is not analytic.
    #[error(
        "the {kernel} field of the {core} core is not analytic and has no {output}; it has: {known} (the singular core has all)"
    )]
    NotAnalytic {
        /// The kernel.
        kernel: &'static str,
        /// The core.
        core: &'static str,
        /// The output that was asked for.
        output: &'static str,
        /// Those there are.
        known: String,
    },
    /// A method the plane does not have.
    #[error("in the plane there is no method `{method}`; there are: auto, direct, fmm")]
    MethodInPlane {
        /// The method asked for.
        method: &'static str,
    },
    /// More points than indices of 32 bits can number.
    #[error("{count} {array} are more than the {limit} this version can number")]
    TooMany {
        /// Which array.
        array: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The problem does not fit into memory.
    #[error("this sum needs about {needed_gib:.1} GiB, but only {available_gib:.1} GiB of memory are available")]
    Memory {
        /// The forecast.
        needed_gib: f64,
        /// What the machine has.
        available_gib: f64,
    },
    /// The machine cannot run the instruction set asked for by name.
    #[error(transparent)]
    Simd(#[from] crate::simd::LevelError),
    /// The thread pool could not be made.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The NVIDIA driver is not installed.
    #[error(
        "no NVIDIA driver: the library libcuda was not found. Install the driver, or mount it into the container \
         (docker run --gpus all), or sum on the CPU (--device cpu)"
    )]
    NoDriver,
    /// The driver is there but has no device for this process.
    #[error(
        "the NVIDIA driver offers no device ({reason}). Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use --device cpu"
    )]
    NoDevice {
        /// What the driver said.
        reason: String,
    },
    /// A device number beyond those there are.
    #[error("there is no CUDA device {asked}: this machine has {count}, numbered from 0")]
    DeviceNumber {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// The device's instruction set is older than the kernels need.
    #[error(
        "the GPU {name} has compute capability {major}.{minor}; 8.0 (Ampere) or later is needed. Use --device cpu, or a \
         newer GPU"
    )]
    TooOld {
        /// The device.
        name: String,
        /// Its compute capability.
        major: i32,
        /// The part after the dot.
        minor: i32,
    },
    /// The run-time compiler is missing.
    #[error(
        "no libnvrtc, the CUDA run-time compiler. Install the CUDA toolkit or `pip install nvidia-cuda-nvrtc-cu12`, or \
         set FARFIELD_NVRTC to the library's path. Looked in: {searched}"
    )]
    NoNvrtc {
        /// Where it was looked for.
        searched: String,
    },
    /// The library found is not a usable run-time compiler.
    #[error("{path} is not a usable libnvrtc: {reason}. Set FARFIELD_NVRTC to another one")]
    BadNvrtc {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A kernel did not compile: a defect of this library or of the compiler.
    #[error("the kernel {program} does not compile for {architecture}: {log}")]
    Compile {
        /// Which program.
        program: String,
        /// For which GPU.
        architecture: String,
        /// What the compiler said.
        log: String,
    },
    /// The sum does not fit into the device's memory.
    #[error(
        "this sum needs about {needed_gib:.2} GiB of device memory, but only {available_gib:.2} GiB are free on {device}. \
         Use fewer points or charge vectors at once, single precision, or --device cpu"
    )]
    DeviceMemory {
        /// The forecast.
        needed_gib: f64,
        /// What is free.
        available_gib: f64,
        /// The device.
        device: String,
    },
    /// The driver refused or failed a call; a failed kernel shows up here.
    #[error("CUDA failed to {action}: {reason}. The device may need a new process; the CPU still works (--device cpu)")]
    Driver {
        /// What was tried.
        action: String,
        /// The driver's own words.
        reason: String,
    },
    /// Something the CPU engine can do and this one cannot.
    #[error("{what} does not run on the GPU yet: {remedy}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead.
        remedy: &'static str,
    },
}

impl Error {
    /// Whether a graphics processor is the cause, not the input: the same sum can be done on the CPU.
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
    /// So many bytes are needed, and so many there.
    pub(crate) fn memory(needed: u64, available: u64) -> Self {
        let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
        Error::Memory {
            needed_gib: gib(needed),
            available_gib: gib(available),
        }
    }
}
