//! A sum before it is planned: what to sum, how well, and where.

use crate::device::open;
use crate::engine::Engine;
use crate::geometry::{Geometry, Plane, Space, tolerance_range};
use crate::verify::OutputError;
use crate::{Device, Error, Field, Method, Options, PlanOf};
use farfield_core::kernel::{Kernel, Sizes};
use farfield_core::plane;
use farfield_core::simd::SimdLevel;
use farfield_core::tuning::MachineProfile;
use farfield_cuda::device::Precision;

/// A sum to be planned: which kernel between which points, which outputs, how exact, and where. In space it is called
/// [`crate::Sum`], in the plane [`crate::plane::Sum`].
#[derive(Debug, Clone)]
#[must_use = "nothing is summed before `plan`"]
pub struct SumOf<'a, T: Precision, G: Geometry> {
    sum: G::Sum<'a, T>,
    options: Options,
}

impl<'a, T: Precision> SumOf<'a, T, Space> {
    /// A sum over `sources`, at the sources themselves, of the kernel's first output, to a tolerance of 1e-6 (1e-4 in
    /// single precision), on the CPU.
    pub fn new(kernel: Kernel, sources: &'a [[T; 3]]) -> Self {
        Self::of(farfield_core::Sum::new(kernel, sources))
    }

    pub(crate) fn present_kernel(&self) -> Kernel {
        self.sum.checked().kernel
    }

    /// Another kernel between the same points.
    pub fn kernel(self, kernel: Kernel) -> Self {
        self.map(|sum| sum.kernel(kernel))
    }

    /// Core sizes or softening lengths.
    pub fn sizes(self, sizes: Sizes<T>) -> Self {
        self.map(|sum| sum.sizes(sizes))
    }

    /// Count, at sources that are the targets, each source's action on itself, where it is finite: for softened kernels
    /// the value at the centre of the core, as if the sources had been given as targets of their own.
    pub fn count_self(self) -> Self {
        self.map(farfield_core::Sum::count_self)
    }

    /// Accept the velocity gradient of [`crate::kernel::Core::HuPolynomial`], unbounded at the centre.
    pub fn allow_unbounded_gradient(self) -> Self {
        self.map(farfield_core::Sum::allow_unbounded_gradient)
    }
}

impl<'a, T: Precision> SumOf<'a, T, Plane> {
    /// A sum over `sources`, at the sources themselves, of the potential of real strengths, to a tolerance of 1e-6 (1e-4
    /// in single precision), on the CPU.
    pub fn new(kernel: plane::Kernel, sources: &'a [[T; 2]]) -> Self {
        Self::of(plane::Sum::new(kernel, sources))
    }

    /// A regularised core, one size or one per source.
    pub fn core(self, core: plane::Core, sizes: Sizes<T>) -> Self {
        self.map(|sum| sum.core(core, sizes))
    }

    /// The CPU engine's own plan, whose mesh can be looked at ([`farfield_core::plane::Plan::mesh`]).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_with_mesh(&self) -> Result<plane::Plan<T>, Error> {
        self.checked().plan()
    }

    /// Strengths are complex: two numbers for each source.
    pub fn complex(self) -> Self {
        self.map(plane::Sum::complex)
    }
}

impl<'a, T: Precision, G: Geometry> SumOf<'a, T, G> {
    fn of(sum: G::Sum<'a, T>) -> Self {
        Self {
            sum,
            options: Options::default(),
        }
    }

    pub(crate) fn map(self, change: impl FnOnce(G::Sum<'a, T>) -> G::Sum<'a, T>) -> Self {
        Self {
            sum: change(self.sum),
            options: self.options,
        }
    }

    /// Evaluate at other points than the sources.
    pub fn targets(self, targets: &'a [G::Point<T>]) -> Self {
        self.map(|sum| G::with_targets(sum, targets))
    }

    /// What to compute.
    pub fn outputs(self, outputs: &[G::Output]) -> Self {
        self.map(|sum| G::with_outputs(sum, outputs))
    }

    /// How many vectors of strengths are summed at once.
    pub fn vectors(self, vectors: usize) -> Self {
        self.map(|sum| G::with_vectors(sum, vectors))
    }

    /// All options at once.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Where to sum; on the CPU if not said.
    pub fn device(mut self, device: Device) -> Self {
        self.options.device = device;
        self
    }

    /// The relative error allowed in each output: the root of the summed squared errors over that of the values, over
    /// all targets. From 1e-2 to 1e-12 in double, to 1e-5 in single precision.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = Some(tolerance);
        self
    }

    /// The method; the fastest if not said.
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = method;
        self
    }

    /// For experts: one order for all expansions instead of the tolerance.
    pub fn order(mut self, order: usize) -> Self {
        self.options.order = Some(order);
        self
    }

    /// For experts: the treecode's opening criterion, a/r < theta; in the plane the theta of the couplings.
    pub fn theta(mut self, theta: f64) -> Self {
        self.options.theta = Some(theta);
        self
    }

    /// For experts: how many points a box may hold before it is cut; in the plane the desired number of points in a leaf,
    /// from which the number of levels follows (Goude and Engblom, eq. 5.2).
    pub fn leaf_capacity(mut self, capacity: usize) -> Self {
        self.options.leaf_capacity = Some(capacity);
        self
    }

    /// The instruction set of the cores; the machine's best if not said.
    pub fn simd(mut self, level: SimdLevel) -> Self {
        self.options.simd = Some(level);
        self
    }

    /// What the cost model believes about the machine.
    pub fn profile(mut self, profile: MachineProfile) -> Self {
        self.options.profile = Some(profile);
        self
    }

    /// Whether every evaluation on the cores computes the true sum at a few dozen targets, compares, and sums again more
    /// exactly where the tolerance is exceeded; it does by default. [`Field::check`] then holds the measured errors.
    pub fn check_errors(mut self, check: bool) -> Self {
        self.options.no_check = !check;
        self
    }

    /// Refuse plans that need more than this many bytes of the host's memory; what is available if not said.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.options.memory_limit = Some(bytes);
        self
    }

    /// The range of tolerances that can be honoured in this precision.
    pub fn tolerance_range() -> (f64, f64) {
        tolerance_range::<T>()
    }

    /// The sum as the engines take it.
    pub(crate) fn checked(&self) -> G::Sum<'a, T> {
        G::with_options(self.sum.clone(), &self.options)
    }

    /// Checks everything, as [`plan`](Self::plan) does first. No device is opened.
    ///
    /// # Errors
    /// Any of [`Error`], naming the value that is wrong and where it is.
    pub fn check(&self) -> Result<(), Error> {
        G::check(&self.checked())
    }

    /// Checks the input, chooses device, method and parameters, and builds everything that does not depend on the
    /// strengths.
    ///
    /// # Errors
    /// Any of [`Error`], naming the value that is wrong and where it is, or what is wrong with the device.
    pub fn plan(self) -> Result<PlanOf<T, G>, Error> {
        let (sum, options) = (self.checked(), self.options);
        let counts = G::counts(&sum);
        let (engine, note) = match options.device {
            Device::Cpu => (G::on_cpu(sum)?, None),
            Device::Cuda(number) => (G::on_gpu(open(number)?, &sum)?, None),
            Device::Auto => on_the_fastest::<T, G>(sum, &options)?,
        };
        Ok(PlanOf::new(engine, counts, note))
    }

    /// The bytes that a sum over so many points takes, whatever points it has now: of the graphics processor's memory if
    /// it sums alone and is open, else of the host's. `targets` is `None` if they are the sources.
    pub fn memory_forecast(&self, sources: usize, targets: Option<usize>) -> u64 {
        let device = match self.options.device {
            Device::Cuda(number) => open(number).ok(),
            _ => None,
        };
        G::memory_forecast(&self.checked(), device.as_deref(), sources, targets)
    }

    /// The true error of a field that this sum gave for `strengths`, measured at random targets.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if strengths or field do not fit the sum.
    pub fn verify(
        &self,
        strengths: &[T],
        field: &Field<T, G::Output>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        G::verify(&self.checked(), strengths, field, samples, seed)
    }
}

/// A plan and, where the choice deserves it, a remark.
type Chosen<T, G> = (Box<dyn Engine<T, <G as Geometry>::Output>>, Option<String>);

/// A plan on the graphics processor if there is one and it is expected to be faster, else on the cores. What is wrong with
/// the device is no error here: the cores can do every sum.
fn on_the_fastest<T: Precision, G: Geometry>(sum: G::Sum<'_, T>, options: &Options) -> Result<Chosen<T, G>, Error> {
    let gpu = Device::all_gpus().ok().and_then(|gpus| gpus.into_iter().next());
    let pays = gpu.filter(|gpu| G::gpu_pays(gpu, &sum, options));
    let Some(gpu) = pays else {
        return Ok((G::on_cpu(sum)?, None));
    };
    match open(gpu.ordinal).and_then(|device| G::on_gpu(device, &sum)) {
        Err(error) if error.is_of_the_device() => {
            let note = format!("on the CPU, because the GPU could not: {error}");
            Ok((G::on_cpu(sum)?, Some(note)))
        }
        plan => Ok((plan?, None)),
    }
}
