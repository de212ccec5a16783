//! A sum before it is planned: a request and its points.

use crate::device::{all_gpus, open};
use crate::engine::Engine;
use crate::geometry::{Geometry, Plane, Space};
use crate::verify::OutputError;
use crate::{Device, Error, Field, Method, Options, PlanOf, Request};
use farfield_core::kernel::{Core, Kernel, Output, Sizes, Softening};
use farfield_core::simd::SimdLevel;
use farfield_core::sum::{Points, tolerance_range};
use farfield_core::tuning::MachineProfile;
use farfield_core::{plane, verify};
use farfield_cuda::device::Precision;
use std::borrow::Cow;

/// A sum that can be planned: its kernel, points, outputs, tolerance and device. In space it is called [`crate::Sum`],
/// in the plane [`crate::plane::Sum`].
#[derive(Debug, Clone)]
#[must_use = "nothing is summed before `plan` or `evaluate`"]
pub struct SumOf<'a, T: Precision, G: Geometry> {
    request: Request<G>,
    sources: &'a [G::Point<T>],
    targets: Option<&'a [G::Point<T>]>,
    sizes: Sizes<T>,
    /// The strengths of [`evaluate`](Self::evaluate), or the error in them.
    strengths: Result<Cow<'a, [T]>, Error>,
}

impl<'a, T: Precision> SumOf<'a, T, Space> {
    /// A sum over `sources`, at the sources themselves, of the kernel's first output, to a tolerance of 1e-6 (1e-4 in
    /// single precision), on the CPU.
    pub fn new(kernel: Kernel, sources: &'a [[T; 3]]) -> Self {
        Self::of(Request::new(kernel), sources)
    }

    /// Replaces the kernel.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.request.kernel = kernel;
        self
    }

    /// Adds dipoles at the sources, one moment each: the Coulomb potential grows by $\sum p_j\cdot r/r^3$, $r =
    /// x_i-x_j$. For dipoles alone, the charges may be left empty.
    ///
    /// ```
    /// let sources = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    /// let moments = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    /// let field = farfield::coulomb::<f64>(&sources, &[]).dipoles(&moments).evaluate()?;
    /// assert!((field.potential()[1] - 0.25).abs() < 1e-6);
    /// # Ok::<(), farfield::Error>(())
    /// ```
    pub fn dipoles(mut self, moments: &[[T; 3]]) -> Self {
        self.strengths = self.strengths.and_then(|charges| {
            if !charges.is_empty() && charges.len() != moments.len() {
                return Err(Error::Length {
                    array: "dipoles",
                    found: 3 * moments.len(),
                    expected: 3 * charges.len(),
                    why: format!("3 numbers for each of {} charges", charges.len()),
                });
            }
            let source = |(k, p): (usize, &[T; 3])| [charges.get(k).copied().unwrap_or(T::ZERO), p[0], p[1], p[2]];
            Ok(moments.iter().enumerate().flat_map(source).collect())
        });
        self.kernel(Kernel::CoulombDipoles)
    }

    /// Softening lengths of masses, one for all or one per source. In gravity this is another name for
    /// [`sizes`](Self::sizes).
    pub fn softening(self, lengths: Sizes<T>) -> Self {
        self.sizes(lengths)
    }

    /// The density of softened masses, for gravity.
    pub fn softening_kernel(mut self, kernel: Softening) -> Self {
        if let Kernel::Gravity { softening, .. } = &mut self.request.kernel {
            *softening = kernel;
        }
        self
    }

    /// A regularised core for vortex elements, with one size for all or one per source.
    pub fn core(self, core: Core, sizes: Sizes<T>) -> Self {
        self.kernel(Kernel::BiotSavart { core }).sizes(sizes)
    }

    /// Adds the gradient of the potential to the outputs.
    pub fn gradient(self) -> Self {
        self.and(Output::Gradient)
    }

    /// Adds the second derivatives of the potential to the outputs.
    pub fn hessian(self) -> Self {
        self.and(Output::Hessian)
    }

    /// Adds the velocity gradient to the outputs.
    pub fn velocity_gradient(self) -> Self {
        self.and(Output::VelocityGradient)
    }

    /// Accepts the velocity gradient of [`Core::HuPolynomial`], which is unbounded at the centre.
    pub fn allow_unbounded_gradient(mut self) -> Self {
        self.request.options.allow_unbounded_gradient = true;
        self
    }
}

impl<'a, T: Precision> SumOf<'a, T, Plane> {
    /// A sum over `sources`, at the sources themselves, of the potential of real strengths, to a tolerance of 1e-6 (1e-4
    /// in single precision), on the CPU.
    pub fn new(kernel: plane::Kernel, sources: &'a [[T; 2]]) -> Self {
        Self::of(Request::new(kernel), sources)
    }

    /// A regularised core, with one size for all or one per source.
    pub fn core(mut self, core: plane::Core, sizes: Sizes<T>) -> Self {
        self.request.kernel.core = core;
        self.sizes(sizes)
    }

    /// Makes strengths complex: two numbers for each source.
    pub fn complex(mut self) -> Self {
        self.request.kernel.complex = true;
        self
    }

    /// The CPU engine's own plan, whose mesh can be inspected ([`farfield_core::plane::Plan::mesh`]).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_with_mesh(&self) -> Result<plane::Plan<T>, Error> {
        self.between().plan()
    }
}

impl<'a, T: Precision, G: Geometry> SumOf<'a, T, G> {
    /// The sum that `request` describes, over `sources`, at the sources themselves.
    pub fn of(request: Request<G>, sources: &'a [G::Point<T>]) -> Self {
        Self {
            request,
            sources,
            targets: None,
            sizes: Sizes::None,
            strengths: Ok(Cow::Borrowed(&[])),
        }
    }

    /// Evaluates at `targets` instead of the sources. Targets are distinct from sources even at the same position: a
    /// softened kernel then counts the source at a target's own position, which it skips if no targets are given.
    pub fn targets(mut self, targets: &'a [G::Point<T>]) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Counts each source's action on itself where it is finite: for softened kernels, the value at the centre of the
    /// core. Equivalent to `targets(sources)`.
    pub fn count_self(mut self) -> Self {
        self.targets = Some(self.sources);
        self
    }

    /// Core sizes or softening lengths.
    pub fn sizes(mut self, sizes: Sizes<T>) -> Self {
        self.sizes = sizes;
        self
    }

    /// The strengths of [`evaluate`](Self::evaluate): vector by vector, source by source, component by component.
    pub fn strengths(mut self, strengths: &'a [T]) -> Self {
        self.strengths = Ok(strengths.into());
        self
    }

    /// The outputs to compute.
    pub fn outputs(mut self, outputs: &[G::Output]) -> Self {
        self.request.outputs = outputs.to_vec();
        self
    }

    /// Adds an output.
    pub fn and(mut self, output: G::Output) -> Self {
        self.request.outputs.push(output);
        self
    }

    /// The number of strength vectors that one evaluation sums.
    pub fn vectors(mut self, vectors: usize) -> Self {
        self.request.vectors = vectors;
        self
    }

    /// All options at once.
    pub fn options(mut self, options: Options) -> Self {
        self.request.options = options;
        self
    }

    /// The device; the CPU by default.
    pub fn device(mut self, device: Device) -> Self {
        self.request.options.device = device;
        self
    }

    /// The relative error allowed in each output; see [`Options::tolerance`].
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.request.options.tolerance = Some(tolerance);
        self
    }

    /// The method; the fastest by default.
    pub fn method(mut self, method: Method) -> Self {
        self.request.options.method = method;
        self
    }

    /// For experts: one order for all expansions instead of the tolerance.
    pub fn order(mut self, order: usize) -> Self {
        self.request.options.order = Some(order);
        self
    }

    /// For experts: the opening or coupling criterion; see [`Options::theta`].
    pub fn theta(mut self, theta: f64) -> Self {
        self.request.options.theta = Some(theta);
        self
    }

    /// For experts: the largest number of points in a box that is not divided; see [`Options::leaf_capacity`].
    pub fn leaf_capacity(mut self, capacity: usize) -> Self {
        self.request.options.leaf_capacity = Some(capacity);
        self
    }

    /// The instruction set of the CPU; the best one available by default.
    pub fn simd(mut self, level: SimdLevel) -> Self {
        self.request.options.simd = Some(level);
        self
    }

    /// The machine profile of the cost model.
    pub fn profile(mut self, profile: MachineProfile) -> Self {
        self.request.options.profile = Some(profile);
        self
    }

    /// Whether every evaluation measures its error, and corrects it if it exceeds the tolerance; on by default.
    /// [`Field::check`] then has the measured errors.
    pub fn check_errors(mut self, check: bool) -> Self {
        self.request.options.check = check;
        self
    }

    /// The largest number of bytes of host memory that a plan may take; the available memory by default.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.request.options.memory_limit = Some(bytes);
        self
    }

    /// The description of this sum.
    pub fn request(&self) -> &Request<G> {
        &self.request
    }

    /// The range of tolerances in this precision.
    pub fn tolerance_range() -> (f64, f64) {
        tolerance_range::<T>()
    }

    /// The sum in the form that the engines take; unstable, for tests of engines.
    #[doc(hidden)]
    pub fn between(&self) -> farfield_core::Sum<'_, T, G> {
        self.request.over(Points::new(self.sources, self.targets, &self.sizes))
    }

    /// Makes all checks of [`plan`](Self::plan). Opens no device.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value and its place.
    pub fn validate(&self) -> Result<(), Error> {
        G::validate(&self.between())
    }

    /// Checks the input, chooses device, method and parameters, and builds everything that is independent of the
    /// strengths.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value and its place, or an error of the device.
    pub fn plan(&self) -> Result<PlanOf<T, G>, Error> {
        let sum = self.between();
        let counts = sum.points.counts();
        let (engine, note) = match self.request.options.device {
            Device::Cpu => (G::on_cpu(sum)?, None),
            Device::Cuda(number) => (G::on_gpu(open(number)?, &sum)?, None),
            Device::Auto => on_the_fastest::<T, G>(sum)?,
        };
        Ok(PlanOf::new(engine, (counts.sources, counts.targets()), note))
    }

    /// Plans, and sums for the [`strengths`](Self::strengths).
    ///
    /// # Errors
    /// As [`plan`](Self::plan) and [`PlanOf::evaluate`].
    pub fn evaluate(self) -> Result<Field<T, G>, Error> {
        let mut plan = self.plan()?;
        plan.evaluate(&self.strengths?)
    }

    /// The bytes that a sum over `sources` sources takes, independent of its present points: of the GPU's memory if the
    /// GPU sums and is open, else of the host's. `targets` is `None` if the sources are the targets.
    pub fn memory_forecast(&self, sources: usize, targets: Option<usize>) -> u64 {
        let device = match self.request.options.device {
            Device::Cuda(number) => open(number).ok(),
            _ => None,
        };
        G::memory_forecast(&self.between(), device.as_deref(), sources, targets)
    }

    /// The true error of a field of this sum for `strengths`, measured at `samples` random targets.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if strengths or field do not fit the sum.
    pub fn verify(
        &self,
        strengths: &[T],
        field: &Field<T, G>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        verify::verify(&self.between(), strengths, field, samples, seed)
    }
}

/// A plan and an optional remark on its choice.
type Chosen<T, G> = (Box<dyn Engine<T, G>>, Option<String>);

/// A plan on the GPU if there is one and it is expected to be faster, else on the CPU. An error of the device is not
/// returned, because the CPU can do every sum.
fn on_the_fastest<T: Precision, G: Geometry>(sum: farfield_core::Sum<'_, T, G>) -> Result<Chosen<T, G>, Error> {
    let gpu = all_gpus().ok().and_then(|gpus| gpus.into_iter().next());
    let pays = gpu.filter(|gpu| G::gpu_pays(gpu, &sum));
    let Some(gpu) = pays else {
        return Ok((G::on_cpu(sum)?, None));
    };
    match open(gpu.ordinal).and_then(|device| G::on_gpu(device, &sum)) {
        Err(error) if error.is_of_the_device() => {
            let note = format!("on the CPU, because the GPU failed: {error}");
            Ok((G::on_cpu(sum)?, Some(note)))
        }
        plan => Ok((plan?, None)),
    }
}
