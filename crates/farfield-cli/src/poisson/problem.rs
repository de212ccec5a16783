//! A vorticity field on a grid adapted to it, and its solution.

use super::case::Case;
use super::request::{Components, Request, level_of};
use crate::failure::Failure;
use farfield_grid::flows::{CompactRing, GaussianRing};
use farfield_grid::poisson::{Precision, Report};
use farfield_grid::{AdaptReport, Adaptation, Domain, Error, Grid, Sampling};
use farfield_io::read_table;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where the vorticity comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// The two compact rings of van Rees et al.
    TwoRings,
    /// One ring with a Gaussian core.
    GaussianRing,
    /// A box and what is in it, from a case file.
    Case(PathBuf, Case),
    /// Numbers on a uniform grid over the unit cube.
    File(PathBuf),
}

impl Field {
    /// The flow of that name, or else a file.
    pub fn named(name: &str) -> Result<Self, Failure> {
        Ok(match name {
            "two-rings" => Field::TwoRings,
            "gaussian-ring" => Field::GaussianRing,
            path if path.ends_with(".toml") => Field::Case(PathBuf::from(path), Case::read(Path::new(path))?),
            path => Field::File(PathBuf::from(path)),
        })
    }

    /// The name.
    pub fn name(&self) -> String {
        match self {
            Field::TwoRings => "two-rings".to_owned(),
            Field::GaussianRing => "gaussian-ring".to_owned(),
            Field::Case(path, _) | Field::File(path) => path.display().to_string(),
        }
    }

    /// The box.
    fn domain(&self) -> Domain {
        match self {
            Field::Case(_, case) => case.domain(),
            _ => Domain::unit_cube(),
        }
    }

    /// The vorticity at a point, for flows that are a formula.
    fn vorticity(&self) -> Option<Formula<'_>> {
        match self {
            Field::TwoRings => Some(Box::new(
                |x| sum(CompactRing::two_rings().map(|ring| ring.vorticity(x))),
            )),
            Field::GaussianRing => Some(Box::new(|x| GaussianRing::in_unit_cube().vorticity(x))),
            Field::Case(_, case) if case.grid.is_none() => Some(Box::new(|x| case.vorticity(x))),
            Field::Case(..) | Field::File(_) => None,
        }
    }

    /// The file of numbers; an error for fields given by a formula.
    fn numbers(&self) -> Option<&Path> {
        match self {
            Field::File(path) => Some(path),
            Field::Case(_, case) => case.grid.as_deref(),
            _ => None,
        }
    }

    /// The stream function at a point, where it is known.
    pub fn stream_function(&self) -> Option<Formula<'_>> {
        match self {
            Field::TwoRings => Some(Box::new(|x| {
                sum(CompactRing::two_rings().map(|ring| ring.stream_function(x)))
            })),
            Field::GaussianRing => Some(Box::new(|x| GaussianRing::in_unit_cube().stream_function(x))),
            Field::Case(_, case) if case.grid.is_none() => Some(Box::new(|x| case.stream_function(x))),
            Field::Case(..) | Field::File(_) => None,
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
pub struct Problem<T> {
    pub grid: Grid<T>,
    pub field: Field,
    pub components: Components,
    pub adapted: AdaptReport,
    /// Points along a root cube at the finest level allowed.
    pub resolution: usize,
    /// Seconds the adaptation took.
    pub adaptation_seconds: f64,
}

/// The coarsest grid adaptation starts from: 64 points along a side see every feature of the flows here.
const START_LEVEL: u8 = 2;

impl<T: Precision> Problem<T> {
    /// Puts the field on a grid and adapts it.
    pub fn new(request: &Request) -> Result<Self, Failure> {
        let start = Instant::now();
        let (grid, adapted, resolution) = match (request.field.vorticity(), request.field.numbers()) {
            (Some(vorticity), _) => {
                let (grid, adapted) = from_function(request, &vorticity)?;
                (grid, adapted, request.resolution)
            }
            (None, Some(path)) => from_file(request, path)?,
            (None, None) => return Err(Failure::Data("this field has neither formula nor numbers".to_owned())),
        };
        Ok(Self {
            grid,
            field: request.field.clone(),
            components: request.components,
            adapted,
            resolution,
            adaptation_seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Solves for channel `psi`.
    pub fn solve(&mut self, request: &Request) -> Result<Report, Failure> {
        Ok(request.solver().solve(&mut self.grid, "omega", "psi")?)
    }
}

fn empty_grid<T: Precision>(request: &Request, level: u8) -> Result<Grid<T>, Error> {
    let mut builder = Grid::builder(request.field.domain())
        .wavelet(request.wavelet)
        .start_level(level);
    if let Some(bytes) = request.memory_cap {
        builder = builder.memory_cap(bytes);
    }
    builder.build()
}

/// Adapts to all components of the vorticity, then keeps the ones asked for.
fn from_function<T: Precision>(request: &Request, vorticity: &Formula<'_>) -> Result<(Grid<T>, AdaptReport), Failure> {
    let adaptation = &request.adaptation;
    let mut grid = empty_grid(request, START_LEVEL.min(adaptation.max_level))?;
    grid.add_channel("omega", 3)?;
    let adapted = grid.adapt_to(&["omega"], adaptation, |grid| {
        grid.fill_vector("omega", Sampling::Point, vorticity)
    })?;
    if let Components::One(axis) = request.components {
        grid.remove_channel("omega")?;
        grid.add_channel("omega", 1)?;
        grid.fill_scalar("omega", Sampling::Point, |x| vorticity(x)[axis])?;
    }
    grid.add_channel("psi", request.components.count())?;
    Ok((grid, adapted))
}

/// Reads numbers on a uniform grid over the box, x fastest, one or three for each point, and compresses them.
fn from_file<T: Precision>(request: &Request, path: &Path) -> Result<(Grid<T>, AdaptReport, usize), Failure> {
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
    let roots = request.field.domain().roots().map(|count| count as usize);
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
    let wanted: Vec<usize> = match (request.components, data.columns) {
        (Components::All, 3) => vec![0, 1, 2],
        (Components::One(axis), 3) => vec![axis],
        (_, 1) => vec![0],
        (_, columns) => return Err(wrong(format!("{columns} numbers for each point, 1 or 3 are needed"))),
    };
    let level = level_of(side)?;
    let mut grid = empty_grid(request, level)?;
    grid.add_channel("omega", wanted.len())?;
    let numbers: Vec<T> = wanted
        .iter()
        .flat_map(|column| data.values.iter().skip(*column).step_by(data.columns))
        .map(|value| T::from_f64(*value))
        .collect();
    grid.set_uniform("omega", &numbers)?;
    let adaptation = Adaptation {
        max_level: level,
        ..request.adaptation
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
