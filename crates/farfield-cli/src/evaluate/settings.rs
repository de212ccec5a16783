//! The settings of a sum, from the options of the command line.

use crate::args::{EvaluateArgs, PrecisionName};
use crate::failure::Failure;
use crate::problem::{Named, Problem, check_precision, named};
use crate::profile::Profile;
use farfield::kernel::Sizes;
use farfield::points::ChargeDistribution;
use farfield::simd::Real;
use farfield::{Options, Precision, Request, SumOf};
use std::path::{Path, PathBuf};

/// Where the sources come from.
#[derive(Debug)]
pub enum Sources<S> {
    /// Generated.
    Made {
        /// The kind of point set.
        set: S,
        /// The number of points.
        n: usize,
    },
    /// A file.
    File(PathBuf),
}

/// Where the strengths come from.
#[derive(Debug)]
pub enum Charges {
    /// Generated.
    Made(ChargeDistribution),
    /// The file of the sources.
    WithSources,
    /// A file of their own.
    File(PathBuf),
    /// No charges: dipoles alone.
    None,
}

/// The points and strengths to sum over, from sets of kind `S` or from files, and the options of the sum. Contradictory
/// options have been refused.
#[derive(Debug)]
pub struct EvaluateSettings<P: Problem<D>, const D: usize> {
    /// The sum without its points.
    pub request: Request<P>,
    /// The core size or softening length.
    pub size: Option<f64>,
    pub sources: Sources<P::Set>,
    pub charges: Charges,
    /// The file of dipole moments.
    pub dipoles: Option<PathBuf>,
    pub targets: Option<PathBuf>,
    pub output: Option<PathBuf>,
    /// `None` takes the number from the file.
    pub vectors: Option<usize>,
    pub seed: u64,
    pub precision: PrecisionName,
    /// The file of the machine profile, or "built-in".
    pub profile: String,
    pub verify: usize,
    pub repeat: usize,
    pub reuse: usize,
    pub json: bool,
}

impl<P: Problem<D>, const D: usize> EvaluateSettings<P, D> {
    /// Combines the request with the other options.
    pub fn new(args: EvaluateArgs, profile: Profile, request: Request<P>) -> Result<Self, Failure> {
        let sources = match args.sources {
            Some(file) => Sources::File(file),
            None => {
                let usual = P::SETS.first().map_or("", |set| set.name());
                let name = args.points.as_deref().unwrap_or(usual);
                Sources::Made {
                    set: named("--points", name, &args.kernel, P::SETS)?,
                    n: args.n.unwrap_or(100_000),
                }
            }
        };
        let charges = match (args.charges, args.charge_distribution, &sources) {
            (Some(file), _, _) => Charges::File(file),
            (None, None, Sources::File(_)) => Charges::WithSources,
            (None, None, Sources::Made { .. }) if args.dipoles.is_some() => Charges::None,
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
            let files = [source_file, charge_file, args.dipoles.as_ref(), args.targets.as_ref()];
            check_output(output, files)?;
        }
        Ok(Self {
            sources,
            charges,
            dipoles: args.dipoles,
            targets: args.targets,
            output: args.output,
            vectors: args.charge_vectors,
            seed: args.seed,
            precision: args.precision,
            profile: profile.origin(),
            // With a softening length of zero it is Newton's law, and the singular kernel is cheaper.
            size: args.core_size.or(args.softening.filter(|size| *size > 0.0)),
            request: request.with(|options| {
                *options = Options {
                    tolerance: args.tolerance,
                    method: args.method,
                    device: args.device,
                    order: args.order,
                    theta: args.theta,
                    leaf_capacity: args.leaf_capacity,
                    simd: args.simd,
                    check: !args.no_check,
                    profile: Some(profile.costs),
                    memory_limit: None,
                    allow_unbounded_gradient: args.allow_unbounded_gradient,
                }
            }),
            verify: args.verify,
            repeat: args.repeat,
            reuse: args.reuse,
            json: args.json,
        })
    }

    /// Checks the options before any point is generated or read.
    pub fn check_options<T: Precision>(&self) -> Result<(), Failure> {
        let option = match P::facts(&self.request, self.size).softening {
            Some(_) => "--softening",
            None => "--core-size",
        };
        check_precision::<T>(self.size.as_slice(), |_| option.to_owned())?;
        Ok(self.with_vectors(self.vectors.unwrap_or(1)).validate::<T>()?)
    }

    fn with_vectors(&self, vectors: usize) -> Request<P> {
        Request {
            vectors,
            ..self.request.clone()
        }
    }

    /// The core sizes of the sum.
    pub fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }

    /// The names of the outputs.
    pub fn output_names(&self) -> Vec<&'static str> {
        let outputs = self.request.outputs.iter();
        outputs.map(|output| P::output_name(*output)).collect()
    }

    /// The sum over these points; `targets` is `None` if the sources are the targets.
    pub fn sum<'a, T: Precision>(
        &self,
        sources: &'a [[T; D]],
        targets: Option<&'a [[T; D]]>,
        vectors: usize,
    ) -> SumOf<'a, T, P> {
        let points = |points: &'a [[T; D]]| P::points(points.as_flattened());
        let sum = SumOf::of(self.with_vectors(vectors), points(sources)).sizes(self.sizes());
        match targets {
            Some(targets) => sum.targets(points(targets)),
            None => sum,
        }
    }

    /// The file of the sources, or the kind of point set.
    pub fn source_name(&self) -> String {
        match &self.sources {
            Sources::Made { set, .. } => set.name().to_owned(),
            Sources::File(path) => path.display().to_string(),
        }
    }
}

/// Checks before the work that the results can be written.
fn check_output(output: &Path, inputs: [Option<&PathBuf>; 4]) -> Result<(), Failure> {
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
