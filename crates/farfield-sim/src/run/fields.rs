//! Field files: points and their attributes, for ParaView, PyVista and numpy.

use super::blocks::Series;
use crate::case::Case;
use crate::error::Error;
use crate::model::{Cloud, Snapshot};
use farfield_io::vtk::{PointSet, write_vtp};
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use std::path::{Path, PathBuf};

/// Writes the field files of a run: `elements-000100.vtp` and `.npz`, and `elements.pvd`, which lists the `.vtp` files
/// with their times.
pub struct Fields {
    folder: PathBuf,
    vtk: bool,
    npz: bool,
    /// This rank, and the number of ranks.
    rank: (usize, usize),
    series: Series,
}

impl Fields {
    /// Files in the folder of a run. Rank `rank.0` of `rank.1` writes its own points; the first lists the files of all.
    pub fn new(case: &Case, folder: &Path, rank: (usize, usize)) -> Self {
        let folder = folder.join("fields");
        Self {
            series: Series::new(&folder),
            folder,
            vtk: case.output.vtk,
            npz: case.output.npz,
            rank,
        }
    }

    /// Writes the files of one step.
    pub fn write(&mut self, step: u64, time: f64, snapshot: &Snapshot) -> Result<(), Error> {
        for cloud in &snapshot.clouds {
            let (own, ranks) = self.rank;
            let name = |rank: usize| match ranks {
                1 => format!("{}-{step:06}", cloud.name),
                _ => format!("{}-{step:06}-rank-{rank:05}", cloud.name),
            };
            if self.vtk {
                let file = |rank: usize| format!("{}.vtp", name(rank));
                self.write_vtk(cloud, &file(own))?;
                // The first rank lists the files of all ranks.
                for rank in 0..if own == 0 { ranks } else { 0 } {
                    self.series.list(cloud.name, time, file(rank))?;
                }
            }
            if self.npz {
                write_arrays(
                    self.folder.join(format!("{}.npz", name(own))),
                    &arrays_of(cloud),
                    Precision::Double,
                )?;
            }
        }
        Ok(())
    }

    fn write_vtk(&self, cloud: &Cloud, file: &str) -> Result<(), Error> {
        let points = PointSet {
            points: &cloud.points,
            scalars: cloud
                .scalars
                .iter()
                .map(|(name, values)| (*name, &values[..]))
                .collect(),
            vectors: cloud
                .vectors
                .iter()
                .map(|(name, values)| (*name, &values[..]))
                .collect(),
        };
        Ok(write_vtp(self.folder.join(file), &points, Precision::Single)?)
    }
}

fn arrays_of(cloud: &Cloud) -> Vec<NamedArray> {
    let points = NamedArray::new("points", Array::from_rows(&cloud.points));
    let vectors = cloud
        .vectors
        .iter()
        .map(|(name, values)| NamedArray::new(*name, Array::from_rows(values)));
    let scalars = cloud
        .scalars
        .iter()
        .map(|(name, values)| NamedArray::new(*name, Array::column(values.clone())));
    [points].into_iter().chain(vectors).chain(scalars).collect()
}
