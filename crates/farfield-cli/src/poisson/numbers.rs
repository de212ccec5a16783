//! Vorticity on a uniform grid, from a file.

use super::settings::{Components, PoissonSettings, level_of};
use crate::args::AxesOrder;
use crate::failure::Failure;
use farfield_io::{Array, read_table};
use std::path::Path;

/// The values of a file, component by component, x fastest.
pub struct Numbers {
    pub components: Components,
    /// Points along a side of a root cube.
    pub side: usize,
    pub values: Vec<f64>,
    /// Warnings about the values for the user.
    pub warnings: Vec<String>,
}

impl Numbers {
    /// Reads and checks a file.
    pub fn read(settings: &PoissonSettings, path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Data(format!("{}: {what}", path.display()));
        let table = read_table(path)?;
        let found = ["vorticity", "omega", "values"].iter().find_map(|name| table.get(name));
        let data = found.ok_or_else(|| {
            let names: Vec<&str> = table.names().collect();
            wrong(format!(
                "no array `vorticity`, `omega` or `values` among its arrays: {}",
                names.join(", ")
            ))
        })?;
        let roots = settings.field.domain().roots().map(|count| count as usize);
        let side = side_of(&data, roots).map_err(wrong)?;
        if let Some(asked) = settings.resolution.filter(|asked| *asked != side) {
            return Err(Failure::Usage(format!(
                "--resolution {asked}: {} has {side} points along a side, which is its resolution; leave the option out",
                path.display()
            )));
        }
        let (components, wanted): (Components, Vec<usize>) = match (settings.components, data.columns) {
            (Components::One(axis), 3) => (Components::One(axis), vec![axis]),
            (_, 3) => (Components::All, vec![0, 1, 2]),
            (Components::One(_), 1) => {
                return Err(wrong(
                    "it has one number for each point: leave --component out".to_owned(),
                ));
            }
            (_, 1) => (Components::Scalar, vec![0]),
            (_, columns) => return Err(wrong(format!("{columns} numbers for each point, 1 or 3 are needed"))),
        };
        let size = roots.map(|count| count * side);
        let warnings = match data.columns {
            3 => order_warning(&data, size, settings.axes, path),
            _ => Vec::new(),
        };
        let values = wanted
            .iter()
            .flat_map(|column| component(&data, *column, size, settings.axes))
            .collect();
        Ok(Self {
            components,
            side,
            values,
            warnings,
        })
    }
}

/// The number of points along a side of a root cube.
fn side_of(data: &Array, roots: [usize; 3]) -> Result<usize, String> {
    let cubes = roots.iter().product::<usize>();
    let side = (data.rows as f64 / cubes as f64).cbrt().round() as usize;
    let fits = side.checked_pow(3).and_then(|points| points.checked_mul(cubes)) == Some(data.rows);
    if fits && level_of(side).is_ok() {
        return Ok(side);
    }
    let [x, y, z] = roots.map(|count| {
        if count == 1 {
            "n".to_owned()
        } else {
            format!("{count} n")
        }
    });
    Err(format!(
        "{} points are not {x} x {y} x {z} with n = 16, 32, 64, ...",
        data.rows
    ))
}

/// The row of a point in the file.
fn row(axes: AxesOrder, [nx, ny, nz]: [usize; 3], [i, j, k]: [usize; 3]) -> usize {
    match axes {
        AxesOrder::Zyx => (k * ny + j) * nx + i,
        AxesOrder::Xyz => (i * ny + j) * nz + k,
    }
}

/// One component at all points, x fastest.
fn component(data: &Array, column: usize, size: [usize; 3], axes: AxesOrder) -> impl Iterator<Item = f64> {
    let [nx, ny, nz] = size;
    (0..nx * ny * nz).map(move |at| {
        let point = [at % nx, at / nx % ny, at / nx / ny];
        data.values[row(axes, size, point) * data.columns + column]
    })
}

/// Warns if the vorticity has a large divergence, as it must have none. Names the other order of indices if that has
/// little.
fn order_warning(data: &Array, size: [usize; 3], axes: AxesOrder, path: &Path) -> Vec<String> {
    let other = match axes {
        AxesOrder::Zyx => AxesOrder::Xyz,
        AxesOrder::Xyz => AxesOrder::Zyx,
    };
    let name = |axes: AxesOrder| match axes {
        AxesOrder::Zyx => "zyx",
        AxesOrder::Xyz => "xyz",
    };
    let found = divergence(data, size, axes);
    if found < MUCH {
        return Vec::new();
    }
    let otherwise = divergence(data, size, other);
    let hint = if otherwise < 0.3 * found {
        format!(
            "; in the other order of indices it would be {otherwise:.2}: did you mean --axes {}?",
            name(other)
        )
    } else {
        ": a vorticity must have none, so the curl of the velocity will differ from it".to_owned()
    };
    vec![format!(
        "{}: the divergence of the vorticity is {found:.2} of its gradient{hint}",
        path.display()
    )]
}

/// A share of the gradient larger than finite differences alone cause.
const MUCH: f64 = 0.2;

/// The root mean square of the divergence over that of the gradient, by central differences at interior points.
fn divergence(data: &Array, size: [usize; 3], axes: AxesOrder) -> f64 {
    let value = |point: [usize; 3], column: usize| data.values[row(axes, size, point) * 3 + column];
    let (mut divergence, mut gradient) = (0.0, 0.0);
    for k in 1..size[2] - 1 {
        for j in 1..size[1] - 1 {
            for i in 1..size[0] - 1 {
                let slope = |column: usize, along: usize| {
                    let (mut after, mut before) = ([i, j, k], [i, j, k]);
                    after[along] += 1;
                    before[along] -= 1;
                    value(after, column) - value(before, column)
                };
                divergence += (slope(0, 0) + slope(1, 1) + slope(2, 2)).powi(2);
                for column in 0..3 {
                    for along in 0..3 {
                        gradient += slope(column, along).powi(2);
                    }
                }
            }
        }
    }
    if gradient > 0.0 {
        (divergence / gradient).sqrt()
    } else {
        0.0
    }
}
