//! What is asked for, once the options have been put together.

use crate::args::{EvaluateArgs, PrecisionName};
use crate::failure::Failure;
use crate::problem::{Data, Named, Problem, named};
use crate::profile::Profile;
use farfield::points::ChargeDistribution;
use farfield::{Options, Precision};
use std::path::{Path, PathBuf};

/// Where the sources come from.
#[derive(Debug)]
pub enum Sources<S> {
    /// Made up.
    Made {
        /// Which kind.
        set: S,
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
    /// There are none: dipoles alone.
    None,
}

/// Points and strengths to sum over, from sets of kind `S` or from files, and how to do it. Options that contradict
/// each other do not get this far.
#[derive(Debug)]
pub struct EvaluateSettings<S> {
    pub sources: Sources<S>,
    pub charges: Charges,
    /// The file of dipole moments.
    pub dipoles: Option<PathBuf>,
    pub targets: Option<PathBuf>,
    pub output: Option<PathBuf>,
    /// `None` leaves it to the file.
    pub vectors: Option<usize>,
    pub seed: u64,
    pub precision: PrecisionName,
    pub options: Options,
    /// The file of the machine profile, or that it is built in.
    pub profile: String,
    pub verify: usize,
    pub repeat: usize,
    pub reuse: usize,
    pub json: bool,
}

impl<S: Named> EvaluateSettings<S> {
    /// Puts the options together; `sets` are the point sets there are.
    pub fn new(args: EvaluateArgs, profile: Profile, sets: &[S]) -> Result<Self, Failure> {
        let sources = match args.sources {
            Some(file) => Sources::File(file),
            None => {
                let usual = sets.first().map_or("", |set| set.name());
                let name = args.points.as_deref().unwrap_or(usual);
                Sources::Made {
                    set: named("--points", name, args.kernel.name(), sets)?,
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
            options: Options {
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
            },
            verify: args.verify,
            repeat: args.repeat,
            reuse: args.reuse,
            json: args.json,
        })
    }

    /// Lets the library judge the options, before any point is made or read: it checks a sum over nothing.
    pub fn check_options<P: Problem<D>, T: Precision, const D: usize>(&self, problem: &P) -> Result<(), Failure> {
        problem.check_size::<T>()?;
        let nothing = Data::<T, D>::nothing(self.vectors.unwrap_or(1));
        Ok(problem.sum(&nothing, &self.options).validate()?)
    }

    /// The file of the sources, or the kind of point set.
    pub fn source_name(&self) -> String {
        match &self.sources {
            Sources::Made { set, .. } => set.name().to_owned(),
            Sources::File(path) => path.display().to_string(),
        }
    }
}

/// Finds out before the work, not after, that the results cannot be written.
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
