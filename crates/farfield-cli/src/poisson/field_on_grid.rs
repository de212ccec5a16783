//! A vorticity field on a grid adapted to it, and its solution.

use super::case::Case;
use super::numbers::Numbers;
use super::settings::{Components, DEFAULT_RESOLUTION, PoissonSettings, level_of};
use crate::failure::Failure;
use farfield_grid::flows::{CompactRing, GaussianRing};
use farfield_grid::poisson::{Precision, Report};
use farfield_grid::{AdaptReport, Adaptation, Domain, Error, Grid, Sampling};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where the vorticity comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum VorticitySource {
    /// The two compact rings of van Rees et al.
    TwoRings,
    /// One ring with a Gaussian core.
    GaussianRing,
    /// A box and the rings in it, from a case file.
    Case(PathBuf, Case),
    /// Numbers on a uniform grid over the unit cube.
    File(PathBuf),
}

impl VorticitySource {
    /// The flow of that name, or a file.
    pub fn named(name: &str) -> Result<Self, Failure> {
        Ok(match name {
            "two-rings" => VorticitySource::TwoRings,
            "gaussian-ring" => VorticitySource::GaussianRing,
            path if path.ends_with(".toml") => VorticitySource::Case(PathBuf::from(path), Case::read(Path::new(path))?),
            path => VorticitySource::File(PathBuf::from(path)),
        })
    }

    /// The name.
    pub fn name(&self) -> String {
        match self {
            VorticitySource::TwoRings => "two-rings".to_owned(),
            VorticitySource::GaussianRing => "gaussian-ring".to_owned(),
            VorticitySource::Case(path, _) | VorticitySource::File(path) => path.display().to_string(),
        }
    }

    /// The box of the field.
    pub fn domain(&self) -> Domain {
        match self {
            VorticitySource::Case(_, case) => case.domain(),
            _ => Domain::unit_cube(),
        }
    }

    /// The vorticity at a point, for flows given by a formula.
    fn vorticity(&self) -> Option<Formula<'_>> {
        match self {
            VorticitySource::TwoRings => Some(Box::new(
                |x| sum(CompactRing::two_rings().map(|ring| ring.vorticity(x))),
            )),
            VorticitySource::GaussianRing => Some(Box::new(|x| GaussianRing::in_unit_cube().vorticity(x))),
            VorticitySource::Case(_, case) if case.grid.is_none() => Some(Box::new(|x| case.vorticity(x))),
            VorticitySource::Case(..) | VorticitySource::File(_) => None,
        }
    }

    /// The file of the vorticity; `None` for fields given by a formula.
    pub fn numbers(&self) -> Option<&Path> {
        match self {
            VorticitySource::File(path) => Some(path),
            VorticitySource::Case(_, case) => case.grid.as_deref(),
            _ => None,
        }
    }

    /// The exact stream function at a point, if it is known.
    pub fn stream_function(&self) -> Option<Formula<'_>> {
        match self {
            VorticitySource::TwoRings => Some(Box::new(|x| {
                sum(CompactRing::two_rings().map(|ring| ring.stream_function(x)))
            })),
            VorticitySource::GaussianRing => Some(Box::new(|x| GaussianRing::in_unit_cube().stream_function(x))),
            VorticitySource::Case(_, case) if case.grid.is_none() => Some(Box::new(|x| case.stream_function(x))),
            VorticitySource::Case(..) | VorticitySource::File(_) => None,
        }
    }
}

/// A vector field given by a function.
type Formula<'a> = Box<dyn Fn([f64; 3]) -> [f64; 3] + Sync + 'a>;

fn sum([a, b]: [[f64; 3]; 2]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// A field on its grid: channels `omega` and `psi`.
#[derive(Debug, Clone)]
pub struct FieldOnGrid<T> {
    pub grid: Grid<T>,
    pub field: VorticitySource,
    pub components: Components,
    pub adapted: AdaptReport,
    /// Points along a root cube at the finest level allowed.
    pub resolution: usize,
    /// Seconds the adaptation took.
    pub adaptation_seconds: f64,
    /// The largest absolute value of a vorticity component.
    pub largest: f64,
    /// Warnings about the field for the user.
    pub warnings: Vec<String>,
}

/// The coarsest grid that adaptation starts from: 64 points along a side resolve every feature of the flows here.
const START_LEVEL: u8 = 2;

impl<T: Precision> FieldOnGrid<T> {
    /// Puts the field on a grid and adapts it.
    pub fn new(settings: &PoissonSettings) -> Result<Self, Failure> {
        let start = Instant::now();
        let mut problem = match (settings.field.vorticity(), settings.field.numbers()) {
            (Some(vorticity), _) => from_function(settings, &vorticity)?,
            (None, Some(path)) => from_file(settings, path)?,
            (None, None) => return Err(Failure::Data("this field has neither formula nor numbers".to_owned())),
        };
        problem.adaptation_seconds = start.elapsed().as_secs_f64();
        Ok(problem)
    }

    /// Solves for channel `psi`.
    pub fn solve(&mut self, settings: &PoissonSettings) -> Result<Report, Failure> {
        let solver = settings.solver(self.largest)?;
        Ok(solver.solve(&mut self.grid, "omega", "psi")?)
    }
}

fn empty_grid<T: Precision>(settings: &PoissonSettings, level: u8) -> Result<Grid<T>, Error> {
    let mut builder = Grid::builder(settings.field.domain())
        .wavelet(settings.wavelet)
        .start_level(level);
    if let Some(bytes) = settings.memory_cap {
        builder = builder.memory_cap(bytes);
    }
    builder.build()
}

/// Adapts the grid to all components of the vorticity, then keeps the requested ones.
fn from_function<T: Precision>(settings: &PoissonSettings, vorticity: &Formula<'_>) -> Result<FieldOnGrid<T>, Failure> {
    let max_level = settings.adaptation.max_level;
    let mut grid = empty_grid(settings, START_LEVEL.min(max_level))?;
    grid.add_channel("omega", 3)?;
    let fill = |grid: &mut Grid<T>| grid.fill_vector("omega", Sampling::Point, vorticity);
    fill(&mut grid)?;
    let largest = grid.largest("omega")?;
    let adaptation = settings.adaptation(largest)?;
    let mut adapted = AdaptReport::default();
    // Level by level, so that the memory of the next level is known before it is made.
    for level in START_LEVEL.min(max_level)..=max_level {
        let reach = Adaptation {
            max_level: level,
            ..adaptation
        };
        let step = grid.adapt_to(&["omega"], &reach, fill)?;
        adapted.rounds += step.rounds;
        adapted.unresolved = step.unresolved;
        if step.unresolved == 0 {
            break;
        }
        if level < max_level {
            settings.progress.say(&format!(
                "level {level}: {} blocks, {} of them to be cut",
                grid.forest().leaves().len(),
                step.unresolved
            ));
            super::forecast::check(settings, &grid, step.unresolved, largest)?;
        }
    }
    if let Components::One(axis) = settings.components {
        grid.remove_channel("omega")?;
        grid.add_channel("omega", 1)?;
        grid.fill_scalar("omega", Sampling::Point, |x| vorticity(x)[axis])?;
    }
    grid.add_channel("psi", settings.components.count())?;
    Ok(FieldOnGrid {
        grid,
        field: settings.field.clone(),
        components: settings.components,
        adapted,
        resolution: settings.resolution.unwrap_or(DEFAULT_RESOLUTION),
        adaptation_seconds: 0.0,
        largest,
        warnings: Vec::new(),
    })
}

/// Reads one or three numbers for each point of a uniform grid over the box, and compresses them.
fn from_file<T: Precision>(settings: &PoissonSettings, path: &Path) -> Result<FieldOnGrid<T>, Failure> {
    let Numbers {
        components,
        side,
        values,
        warnings,
    } = Numbers::read(settings, path)?;
    let level = level_of(side)?;
    let mut grid = empty_grid(settings, level)?;
    grid.add_channel("omega", components.count())?;
    let numbers: Vec<T> = values.iter().map(|value| T::from_f64(*value)).collect();
    grid.set_uniform("omega", &numbers)?;
    grid.check_finite("omega")?;
    let largest = grid.largest("omega")?;
    let adaptation = Adaptation {
        max_level: level,
        ..settings.adaptation(largest)?
    };
    let mut adapted = AdaptReport::default();
    loop {
        let step = grid.adapt(&["omega"], &adaptation)?;
        adapted.unresolved = step.unresolved;
        if step.rounds == 0 {
            break;
        }
        adapted.rounds += step.rounds;
        if adapted.rounds > 2 * usize::from(level) + 2 {
            break;
        }
    }
    grid.add_channel("psi", components.count())?;
    Ok(FieldOnGrid {
        grid,
        field: settings.field.clone(),
        components,
        adapted,
        resolution: side,
        adaptation_seconds: 0.0,
        largest,
        warnings,
    })
}
