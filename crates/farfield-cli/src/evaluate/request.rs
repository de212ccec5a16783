//! What is asked for, once the options have been put together.

use super::input::check_precision;
use crate::args::{Device, EvaluateArgs, KernelName, PrecisionName};
use crate::failure::Failure;
use crate::profile::Profile;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::{Real, SimdLevel};
use farfield::{Method, Sum};
use std::path::{Path, PathBuf};

/// Where the sources come from.
#[derive(Debug)]
pub enum Sources {
    /// Made up.
    Made {
        /// Which kind.
        set: PointSet,
        /// How many.
        n: usize,
    },
    /// A file.
    File(PathBuf),
}

/// Where the strengths come from.
#[derive(Debug)]
pub enum Charges {
    /// Made up.
    Made(ChargeDistribution),
    /// The file of the sources.
    WithSources,
    /// A file of their own.
    File(PathBuf),
}

/// A sum and how to do it. Options that contradict each other do not get this far.
#[derive(Debug)]
pub struct Request {
    pub kernel: Kernel,
    /// Core size or softening length.
    pub size: Option<f64>,
    pub outputs: Vec<Output>,
    pub sources: Sources,
    pub charges: Charges,
    pub targets: Option<PathBuf>,
    pub output: Option<PathBuf>,
    /// `None` leaves it to the file.
    pub vectors: Option<usize>,
    pub seed: u64,
    pub precision: PrecisionName,
    pub tolerance: Option<f64>,
    pub method: Method,
    pub order: Option<usize>,
    pub theta: Option<f64>,
    pub leaf_capacity: Option<usize>,
    pub simd: Option<SimdLevel>,
    pub allow_unbounded_gradient: bool,
    pub profile: Profile,
    pub device: SumDevice,
    pub threads: Option<usize>,
    pub verify: usize,
    pub repeat: usize,
    pub reuse: usize,
    pub json: bool,
}

impl Request {
    /// Puts the options together.
    pub fn new(args: EvaluateArgs, profile: Profile) -> Result<Self, Failure> {
        let device = sum_device(args.device)?;
        let (kernel, size) = kernel_of(&args)?;
        let mut outputs = args.outputs;
        let mut seen = Vec::new();
        outputs.retain(|output| {
            !seen.contains(output) && {
                seen.push(*output);
                true
            }
        });
        if outputs.is_empty() {
            outputs.push(kernel.outputs()[0]);
        }
        let sources = match args.sources {
            Some(file) => Sources::File(file),
            None => Sources::Made {
                set: args.points.unwrap_or(PointSet::Cube),
                n: args.n.unwrap_or(100_000),
            },
        };
        let charges = match (args.charges, args.charge_distribution, &sources) {
            (Some(file), _, _) => Charges::File(file),
            (None, None, Sources::File(_)) => Charges::WithSources,
            (None, distribution, _) => Charges::Made(distribution.unwrap_or(ChargeDistribution::Signed)),
        };
        if let Some(output) = &args.output {
            let source_file = if let Sources::File(file) = &sources {
                Some(file)
            } else {
                None
            };
            let charge_file = if let Charges::File(file) = &charges {
                Some(file)
            } else {
                None
            };
            check_output(output, [source_file, charge_file, args.targets.as_ref()])?;
        }
        Ok(Self {
            kernel,
            size,
            outputs,
            sources,
            charges,
            targets: args.targets,
            output: args.output,
            vectors: args.charge_vectors,
            seed: args.seed,
            precision: args.precision,
            tolerance: args.tolerance,
            method: args.method,
            order: args.order,
            theta: args.theta,
            leaf_capacity: args.leaf_capacity,
            simd: args.simd,
            allow_unbounded_gradient: args.allow_unbounded_gradient,
            profile,
            device,
            threads: args.threads,
            verify: args.verify,
            repeat: args.repeat,
            reuse: args.reuse,
            json: args.json,
        })
    }

    /// Core sizes or softening lengths.
    pub fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }

    /// The sum over these points.
    pub fn sum<'a, T: Real>(&self, sources: &'a [[T; 3]], targets: Option<&'a [[T; 3]]>, vectors: usize) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, sources)
            .sizes(self.sizes())
            .outputs(&self.outputs)
            .method(self.method)
            .vectors(vectors)
            .profile(self.profile.costs.clone());
        if let Some(targets) = targets {
            sum = sum.targets(targets);
        }
        if let Some(tolerance) = self.tolerance {
            sum = sum.tolerance(tolerance);
        }
        if let Some(order) = self.order {
            sum = sum.order(order);
        }
        if let Some(theta) = self.theta {
            sum = sum.theta(theta);
        }
        if let Some(capacity) = self.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        if let Some(level) = self.simd {
            sum = sum.simd(level);
        }
        if self.allow_unbounded_gradient {
            sum = sum.allow_unbounded_gradient();
        }
        sum
    }

    /// Lets the library judge the options, before any point is made or read: it plans a sum over nothing.
    pub fn check_options<T: Real>(&self) -> Result<(), Failure> {
        let option = match self.kernel {
            Kernel::Gravity { .. } => "--softening",
            _ => "--core-size",
        };
        check_precision::<T>(self.size.as_slice(), |_| option.to_owned())?;
        self.sum::<T>(&[], None, self.vectors.unwrap_or(1)).plan()?;
        Ok(())
    }
}

/// Where a sum is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumDevice {
    /// The processor's cores.
    Cpu,
    /// The first graphics processor.
    Cuda,
}

fn sum_device(device: Device) -> Result<SumDevice, Failure> {
    match device {
        Device::Cpu | Device::Auto => Ok(SumDevice::Cpu),
        Device::Cuda => Ok(SumDevice::Cuda),
        Device::Hybrid => Err(Failure::Data(
            "--device hybrid: this build sums on the CPU or the GPU, not on both at once; use --device cpu or cuda"
                .to_owned(),
        )),
    }
}

/// The kernel with its parameters, and the core size or softening length.
fn kernel_of(args: &EvaluateArgs) -> Result<(Kernel, Option<f64>), Failure> {
    let only_for = |option: &str, given: bool, kernel: KernelName, name: &str| {
        if given && args.kernel != kernel {
            return Err(Failure::Usage(format!("{option} goes with --kernel {name} only")));
        }
        Ok(())
    };
    only_for("--core", args.core.is_some(), KernelName::BiotSavart, "biot-savart")?;
    only_for(
        "--allow-unbounded-gradient",
        args.allow_unbounded_gradient,
        KernelName::BiotSavart,
        "biot-savart",
    )?;
    only_for("--softening", args.softening.is_some(), KernelName::Gravity, "gravity")?;
    only_for(
        "--gravitational-constant",
        args.gravitational_constant.is_some(),
        KernelName::Gravity,
        "gravity",
    )?;
    match args.kernel {
        KernelName::Coulomb => Ok((Kernel::Coulomb, None)),
        KernelName::Gravity => {
            let constant = args.gravitational_constant.unwrap_or(1.0);
            // Without softening it is Newton's law, and the singular kernel is cheaper.
            Ok((Kernel::Gravity { constant }, args.softening.filter(|size| *size > 0.0)))
        }
        KernelName::BiotSavart => {
            let core = args.core.unwrap_or(Core::Singular);
            if core == Core::Singular && args.core_size.is_some() {
                return Err(Failure::Usage("--core-size: the singular core has no size".to_owned()));
            }
            Ok((Kernel::BiotSavart { core }, args.core_size))
        }
    }
}

/// Finds out before the work, not after, that the results cannot be written.
fn check_output(output: &Path, inputs: [Option<&PathBuf>; 3]) -> Result<(), Failure> {
    let extension = output
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    if !matches!(extension.as_deref(), Some("npy" | "npz" | "csv")) {
        return Err(farfield_io::Error::UnknownExtension {
            path: output.to_owned(),
        }
        .into());
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder
        && !folder.is_dir()
    {
        return Err(farfield_io::Error::NoFolder {
            path: output.to_owned(),
            folder: folder.to_owned(),
        }
        .into());
    }
    let same = |input: &&PathBuf| matches!((output.canonicalize(), input.canonicalize()), (Ok(a), Ok(b)) if a == b);
    match inputs.into_iter().flatten().find(same) {
        Some(input) => Err(Failure::Usage(format!(
            "--output: {} is also an input",
            input.display()
        ))),
        None => Ok(()),
    }
}
