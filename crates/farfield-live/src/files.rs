//! Points and grids from files: `.npz`, `.npy`, `.csv`, `.vtp`.

use crate::Error;
use crate::still::{Still, StillCloud};
use farfield_io::vtk::read_vtu;
use farfield_io::{Array, read_particles, read_points, read_table};
use farfield_sim::model::Volume;
use farfield_sim::vec3::{Vec3, norm};
use std::path::Path;

fn failed(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::File {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// Reads the points or the grid in a file.
///
/// # Errors
/// [`Error::Read`] if it cannot be read, [`Error::File`] if its type is unknown or it holds neither points nor a grid.
pub fn read_file(path: &Path) -> Result<Still, Error> {
    let mut still = Still::default();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("npz") if is_grid(path)? => still.volumes = grid_of(path)?,
        Some("npz" | "vtp" | "csv") => still.clouds.push(read_cloud(path, "points")?),
        Some("npy") => still.clouds.push(table_of_points(path)?),
        _ => return Err(failed(path, "only .npz, .npy, .csv and .vtp can be shown")),
    }
    Ok(still)
}

/// Reads points with their attributes from an `.npz` or `.vtp` file.
///
/// # Errors
/// [`Error::Read`] if it cannot be read, [`Error::File`] if it holds no points.
pub fn read_cloud(path: &Path, name: &str) -> Result<StillCloud, Error> {
    let table = read_particles(path)?;
    let known = ["points", "sources", "positions", "targets"];
    let Some((at, points)) = known.iter().find_map(|name| Some((*name, table.get(name)?))) else {
        return table_of_points(path);
    };
    let is_coordinate = |name: &str| ["x", "y", "z"].contains(&name.to_lowercase().as_str());
    let others = table.names().filter(|name| *name != at && !is_coordinate(name));
    let others = others.filter_map(|name| Some((name.to_owned(), table.get(name)?)));
    let arrays = [("points".to_owned(), points)].into_iter().chain(others);
    cloud_of(name, arrays.collect()).map_err(|why| failed(path, why))
}

/// Reads points and strengths from any table that `farfield evaluate` accepts.
fn table_of_points(path: &Path) -> Result<StillCloud, Error> {
    let file = read_points(path)?;
    let mut cloud = StillCloud {
        name: "points".to_owned(),
        groups: vec![0; file.points.len()],
        points: file.points,
        ..StillCloud::default()
    };
    if let Some(strengths) = file.strengths {
        add(&mut cloud, "strength", &strengths);
    }
    check(cloud).map_err(|why| failed(path, why))
}

/// Makes a cloud from named arrays.
fn cloud_of(name: &str, arrays: Vec<(String, Array)>) -> Result<StillCloud, String> {
    let is_points = |name: &str| ["points", "Points", "sources", "positions", "targets"].contains(&name);
    let at = arrays
        .iter()
        .position(|(name, _)| is_points(name))
        .ok_or("the file holds no points")?;
    let points = arrays[at]
        .1
        .to_rows::<3>()
        .ok_or("the points do not have three coordinates")?;
    let mut cloud = StillCloud {
        name: name.to_owned(),
        groups: vec![0; points.len()],
        points,
        ..StillCloud::default()
    };
    for (k, (name, array)) in arrays.iter().enumerate() {
        if k != at {
            add(&mut cloud, name, array);
        }
    }
    check(cloud)
}

fn add(cloud: &mut StillCloud, name: &str, array: &Array) {
    let count = cloud.points.len();
    if let Some(vectors) = array.to_rows::<3>().filter(|vectors| vectors.len() == count) {
        cloud.vectors.push((name.to_owned(), vectors));
    } else if let Some(numbers) = array.to_rows::<1>().filter(|numbers| numbers.len() == count) {
        let numbers: Vec<f64> = numbers.into_iter().map(|[number]| number).collect();
        match name {
            "part" => cloud.groups = numbers.iter().map(|part| *part as u32).collect(),
            _ => cloud.numbers.push((name.to_owned(), numbers)),
        }
    }
}

/// Refuses an empty cloud and coordinates that are not finite.
fn check(cloud: StillCloud) -> Result<StillCloud, String> {
    match cloud
        .points
        .iter()
        .position(|point| point.iter().any(|x| !x.is_finite()))
    {
        Some(at) => Err(format!("point {at} is not finite: {:?}", cloud.points[at])),
        None if cloud.points.is_empty() => Err("the file holds no points".to_owned()),
        None => Ok(cloud),
    }
}

fn is_grid(path: &Path) -> Result<bool, Error> {
    let table = read_table(path)?;
    let names: Vec<&str> = table.names().collect();
    Ok(["origin", "spacing", "size"]
        .iter()
        .all(|needed| names.contains(needed)))
}

/// Reads fields on a regular grid, as written by flow simulations and `farfield poisson`: scalars, and magnitudes and
/// components of vectors. Blocks are read from `blocks.vtu` in the same folder, if it exists.
///
/// # Errors
/// [`Error::Read`] if it cannot be read, [`Error::File`] if the arrays do not fit together.
pub fn grid_of(path: &Path) -> Result<Vec<(String, Volume)>, Error> {
    let table = read_table(path)?;
    let numbers = |name: &str| {
        let array = table.get(name);
        array.ok_or_else(|| failed(path, format!("the array `{name}` is missing")))
    };
    let (origin, size, spacing) = (numbers("origin")?, numbers("size")?, numbers("spacing")?);
    let (&[x, y, z], &[nx, ny, nz], &[spacing]) = (&origin.values[..], &size.values[..], &spacing.values[..]) else {
        return Err(failed(path, "origin and size must have 3 numbers, spacing 1"));
    };
    let size = [nx, ny, nz].map(|n| n as usize);
    let count: usize = size.iter().try_fold(1_usize, |all, n| all.checked_mul(*n)).unwrap_or(0);
    let blocks = blocks_of(&path.with_file_name("blocks.vtu"));
    let volume = |values: Vec<f32>| Volume {
        origin: [x, y, z],
        spacing,
        size,
        values,
        blocks: blocks.clone(),
        ..Volume::default()
    };
    let mut volumes = Vec::new();
    for (name, array) in table.names().filter_map(|name| Some((name, table.get(name)?))) {
        if ["origin", "size", "spacing"].contains(&name) {
            continue;
        }
        if array.rows != count || count == 0 {
            let why = format!("`{name}` has {} rows; the grid has {count} points", array.rows);
            return Err(failed(path, why));
        }
        if let Some(vectors) = array.to_rows::<3>() {
            let lengths = vectors.iter().map(|v| norm(*v) as f32).collect();
            volumes.push((name.to_owned(), volume(lengths)));
            for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
                let component = vectors.iter().map(|v| v[axis] as f32).collect();
                volumes.push((format!("{name}_{letter}"), volume(component)));
            }
        } else if array.columns == 1 {
            volumes.push((
                name.to_owned(),
                volume(array.values.iter().map(|v| *v as f32).collect()),
            ));
        }
    }
    // Vorticity comes first, whichever of its names it has.
    volumes.sort_by_key(|(name, _)| !(name.starts_with("vorticity") || name.starts_with("omega")));
    if volumes.is_empty() {
        return Err(failed(path, "the file holds no field"));
    }
    Ok(volumes)
}

/// Reads the corner, side and level of blocks from a file of hexahedra; empty if the file cannot be read.
fn blocks_of(path: &Path) -> Vec<(Vec3, f64, u8)> {
    let boxes = read_vtu(path).unwrap_or_default();
    let points = boxes.points.get("points").and_then(|array| array.to_rows::<3>());
    let points = points.unwrap_or_default();
    let levels = boxes.cells.get("level").unwrap_or_default().values;
    let corners = points.as_chunks::<8>().0.iter().zip(&levels);
    corners
        .map(|([low, along_x, ..], level)| (*low, along_x[0] - low[0], *level as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_io::vtk::{Attributes, Hexahedra, write_vtu};
    use farfield_io::{NamedArray, Precision, write_arrays};

    #[test]
    fn a_grid_with_any_fields_and_blocks_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.npz");
        let numbers = |count: usize| (0..count).map(|k| k as f64).collect::<Vec<f64>>();
        let write = |psi: usize| {
            let arrays = [
                NamedArray::new("psi", Array::column(numbers(psi))),
                NamedArray::new("omega", Array::from_rows(&[[3.0, 0.0, 4.0]; 24])),
                NamedArray::new("size", Array::column(vec![2.0, 3.0, 4.0])),
                NamedArray::new("origin", Array::column(vec![-1.0, 0.0, 1.0])),
                NamedArray::new("spacing", Array::column(vec![0.5])),
            ];
            write_arrays(&path, &arrays, Precision::Double).unwrap();
        };
        write(24);
        let corners: Vec<[f64; 3]> = (0..8)
            .map(|k| [0, 1, 2].map(|axis| 2.0 * f64::from(k >> axis & 1)))
            .collect();
        let boxes = Hexahedra {
            points: &corners,
            cells: &[std::array::from_fn(|k| k)],
            cell_data: Attributes {
                scalars: vec![("level", &[3.0])],
                ..Attributes::default()
            },
            ..Hexahedra::default()
        };
        write_vtu(folder.path().join("blocks.vtu"), &boxes, Precision::Double).unwrap();
        let volumes = grid_of(&path).unwrap();
        let names: Vec<&str> = volumes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["omega", "omega_x", "omega_y", "omega_z", "psi"]);
        assert!(volumes[0].1.values.iter().all(|length| *length == 5.0));
        assert_eq!(volumes[4].1.values[7], 7.0);
        assert_eq!(volumes[0].1.blocks, [([0.0; 3], 2.0, 3)]);
        assert_eq!(volumes[0].1.size, [2, 3, 4]);
        write(23);
        assert!(grid_of(&path).unwrap_err().to_string().contains("`psi` has 23 rows"));
    }
}
