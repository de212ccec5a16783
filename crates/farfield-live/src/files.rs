//! Points and grids out of files: `.npz`, `.npy`, `.csv`, `.vtp`.

use crate::Error;
use crate::still::{Still, StillCloud};
use crate::vtp;
use farfield_io::{Array, read_points, read_table};
use farfield_sim::model::Volume;
use farfield_sim::vec3::norm;
use std::path::Path;

fn failed(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::File {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// What a file holds that can be shown.
///
/// # Errors
/// [`Error::File`] if it is of an unknown kind, cannot be read, or holds neither points nor a grid.
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

/// Points with what is known about them, from an `.npz` or `.vtp`.
///
/// # Errors
/// [`Error::File`] if there are none.
pub fn read_cloud(path: &Path, name: &str) -> Result<StillCloud, Error> {
    if path.extension().is_some_and(|extension| extension == "vtp") {
        let arrays = vtp::read(path)?;
        return cloud_of(name, arrays).map_err(|why| failed(path, why));
    }
    let table = read_table(path).map_err(|error| failed(path, error))?;
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

/// Points and strengths from any table that `farfield evaluate` reads.
fn table_of_points(path: &Path) -> Result<StillCloud, Error> {
    let file = read_points(path).map_err(|error| failed(path, error))?;
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

/// Sorts arrays by name and shape into a cloud.
fn cloud_of(name: &str, arrays: Vec<(String, Array)>) -> Result<StillCloud, String> {
    let is_points = |name: &str| ["points", "Points", "sources", "positions", "targets"].contains(&name);
    let at = arrays
        .iter()
        .position(|(name, _)| is_points(name))
        .ok_or("it holds no points")?;
    let points = arrays[at]
        .1
        .to_rows::<3>()
        .ok_or("its points have not three coordinates")?;
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

/// Refuses coordinates that are none.
fn check(cloud: StillCloud) -> Result<StillCloud, String> {
    match cloud
        .points
        .iter()
        .position(|point| point.iter().any(|x| !x.is_finite()))
    {
        Some(at) => Err(format!("point {at} is {:?}", cloud.points[at])),
        None if cloud.points.is_empty() => Err("it holds no points".to_owned()),
        None => Ok(cloud),
    }
}

fn is_grid(path: &Path) -> Result<bool, Error> {
    let table = read_table(path).map_err(|error| failed(path, error))?;
    let names: Vec<&str> = table.names().collect();
    Ok(["origin", "spacing", "size"]
        .iter()
        .all(|needed| names.contains(needed)))
}

/// The fields of a flow on one level, as runs write them: lengths and components of its vectors, and its numbers.
///
/// # Errors
/// [`Error::File`] if the arrays do not fit together.
pub fn grid_of(path: &Path) -> Result<Vec<(String, Volume)>, Error> {
    let table = read_table(path).map_err(|error| failed(path, error))?;
    let get = |name: &str| {
        table
            .get(name)
            .ok_or_else(|| failed(path, format!("there is no array `{name}`")))
    };
    let origin = get("origin")?.to_rows::<3>().and_then(|rows| rows.first().copied());
    let size = get("size")?.to_rows::<3>().and_then(|rows| rows.first().copied());
    let spacing = get("spacing")?.to_rows::<1>().and_then(|rows| rows.first().copied());
    let (Some(origin), Some(size), Some([spacing])) = (origin, size, spacing) else {
        return Err(failed(path, "origin, size or spacing have another shape"));
    };
    let size = size.map(|n| n as usize);
    let count: usize = size.iter().product();
    let volume = |values: Vec<f32>| Volume {
        origin,
        spacing,
        size,
        values,
        ..Volume::default()
    };
    let mut volumes = Vec::new();
    for name in ["vorticity", "velocity"] {
        let Some(vectors) = table.get(name).and_then(|array| array.to_rows::<3>()) else {
            continue;
        };
        if vectors.len() != count {
            return Err(failed(
                path,
                format!("`{name}` has {} rows; the grid has {count} points", vectors.len()),
            ));
        }
        volumes.push((
            name.to_owned(),
            volume(vectors.iter().map(|v| norm(*v) as f32).collect()),
        ));
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let component = vectors.iter().map(|v| v[axis] as f32).collect();
            volumes.push((format!("{name}_{letter}"), volume(component)));
        }
    }
    if volumes.is_empty() {
        return Err(failed(path, "neither `vorticity` nor `velocity` is in it"));
    }
    Ok(volumes)
}
