//! A vorticity field on a grid adapted to it, and its solution.

use super::case::Case;
use super::settings::{Components, PoissonSettings, level_of};
use crate::failure::Failure;
use farfield_grid::flows::{CompactRing, GaussianRing};
use farfield_grid::poisson::{Precision, Report};
use farfield_grid::{AdaptReport, Adaptation, Domain, Error, Grid, Sampling};
use farfield_io::read_table;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where the vorticity comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum VorticitySource {
    /// The two compact rings of van Rees et al.
    TwoRings,
    /// One ring with a Gaussian core.
    GaussianRing,
    /// A box and what is in it, from a case file.
    Case(PathBuf, Case),
    /// Numbers on a uniform grid over the unit cube.
    File(PathBuf),
}

impl VorticitySource {
    /// The flow of that name, or else a file.
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

    /// The box.
    fn domain(&self) -> Domain {
        match self {
            VorticitySource::Case(_, case) => case.domain(),
            _ => Domain::unit_cube(),
        }
    }

    /// The vorticity at a point, for flows that are a formula.
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

    /// The file of numbers; an error for fields given by a formula.
    fn numbers(&self) -> Option<&Path> {
        match self {
            VorticitySource::File(path) => Some(path),
            VorticitySource::Case(_, case) => case.grid.as_deref(),
            _ => None,
        }
    }

    /// The stream function at a point, where it is known.
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

/// A vector at every point.
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
}

/// The coarsest grid adaptation starts from: 64 points along a side see every feature of the flows here.
const START_LEVEL: u8 = 2;

impl<T: Precision> FieldOnGrid<T> {
    /// Puts the field on a grid and adapts it.
    pub fn new(settings: &PoissonSettings) -> Result<Self, Failure> {
        let start = Instant::now();
        let (grid, adapted, resolution) = match (settings.field.vorticity(), settings.field.numbers()) {
            (Some(vorticity), _) => {
                let (grid, adapted) = from_function(settings, &vorticity)?;
                (grid, adapted, settings.resolution)
            }
            (None, Some(path)) => from_file(settings, path)?,
            (None, None) => return Err(Failure::Data("this field has neither formula nor numbers".to_owned())),
        };
        Ok(Self {
            grid,
            field: settings.field.clone(),
            components: settings.components,
            adapted,
            resolution,
            adaptation_seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Solves for channel `psi`.
    pub fn solve(&mut self, settings: &PoissonSettings) -> Result<Report, Failure> {
        Ok(settings.solver().solve(&mut self.grid, "omega", "psi")?)
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

/// Adapts to all components of the vorticity, then keeps the ones asked for.
fn from_function<T: Precision>(
    settings: &PoissonSettings,
    vorticity: &Formula<'_>,
) -> Result<(Grid<T>, AdaptReport), Failure> {
    let adaptation = &settings.adaptation;
    let mut grid = empty_grid(settings, START_LEVEL.min(adaptation.max_level))?;
    grid.add_channel("omega", 3)?;
    let adapted = grid.adapt_to(&["omega"], adaptation, |grid| {
        grid.fill_vector("omega", Sampling::Point, vorticity)
    })?;
    if let Components::One(axis) = settings.components {
        grid.remove_channel("omega")?;
        grid.add_channel("omega", 1)?;
        grid.fill_scalar("omega", Sampling::Point, |x| vorticity(x)[axis])?;
    }
    grid.add_channel("psi", settings.components.count())?;
    Ok((grid, adapted))
}

/// Reads numbers on a uniform grid over the box, x fastest, one or three for each point, and compresses them.
fn from_file<T: Precision>(settings: &PoissonSettings, path: &Path) -> Result<(Grid<T>, AdaptReport, usize), Failure> {
    let table = read_table(path)?;
    let found = ["vorticity", "omega", "values"].iter().find_map(|name| table.get(name));
    let data = found.ok_or_else(|| {
        let names: Vec<&str> = table.names().collect();
        Failure::Data(format!(
            "{}: no array `vorticity`, `omega` or `values` in it; there are: {}",
            path.display(),
            names.join(", ")
        ))
    })?;
    let wrong = |what: String| Failure::Data(format!("{}: {what}", path.display()));
    let roots = settings.field.domain().roots().map(|count| count as usize);
    let side = (data.rows as f64 / roots.iter().product::<usize>() as f64)
        .cbrt()
        .round() as usize;
    if roots.iter().product::<usize>() * side.pow(3) != data.rows || level_of(side).is_err() {
        let [x, y, z] = roots.map(|count| {
            if count == 1 {
                "n".to_owned()
            } else {
                format!("{count} n")
            }
        });
        return Err(wrong(format!(
            "{} points are not {x} x {y} x {z} with n = 16, 32, 64, ...",
            data.rows
        )));
    }
    let wanted: Vec<usize> = match (settings.components, data.columns) {
        (Components::All, 3) => vec![0, 1, 2],
        (Components::One(axis), 3) => vec![axis],
        (_, 1) => vec![0],
        (_, columns) => return Err(wrong(format!("{columns} numbers for each point, 1 or 3 are needed"))),
    };
    let level = level_of(side)?;
    let mut grid = empty_grid(settings, level)?;
    grid.add_channel("omega", wanted.len())?;
    let numbers: Vec<T> = wanted
        .iter()
        .flat_map(|column| data.values.iter().skip(*column).step_by(data.columns))
        .map(|value| T::from_f64(*value))
        .collect();
    grid.set_uniform("omega", &numbers)?;
    let adaptation = Adaptation {
        max_level: level,
        ..settings.adaptation
    };
    let mut report = AdaptReport::default();
    loop {
        let step = grid.adapt(&["omega"], &adaptation)?;
        report.unresolved = step.unresolved;
        if step.rounds == 0 {
            break;
        }
        report.rounds += step.rounds;
        if report.rounds > 2 * usize::from(level) + 2 {
            break;
        }
    }
    grid.add_channel("psi", wanted.len())?;
    Ok((grid, report, side))
}
