//! Field files: points with velocities and strengths, for ParaView, PyVista and numpy.

use super::blocks;
use crate::case::Case;
use crate::error::Error;
use crate::model::{Cloud, Snapshot};
use farfield_io::vtk::{PointSet, PvdSeries, write_vtp};
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use std::path::{Path, PathBuf};

/// Writes the field files of a run: `elements-000100.vtp` and `.npz`, and `elements.pvd` that lists the former with
/// their times.
pub struct Fields {
    folder: PathBuf,
    vtk: bool,
    npz: bool,
    /// Which rank writes, of how many.
    rank: (usize, usize),
    /// The lists, by cloud; opened at the first file.
    series: Vec<(&'static str, PvdSeries)>,
}

impl Fields {
    /// Into the folder of a run; rank `rank.0` of `rank.1` writes its own points, and the first lists those of all.
    pub fn new(case: &Case, folder: &Path, rank: (usize, usize)) -> Self {
        Self {
            folder: folder.join("fields"),
            vtk: case.output.vtk,
            npz: case.output.npz,
            rank,
            series: Vec::new(),
        }
    }

    /// Writes one moment.
    pub fn write(&mut self, step: u64, time: f64, snapshot: &Snapshot) -> Result<(), Error> {
        if let Some(blocks) = &snapshot.blocks
            && self.vtk
        {
            let file = format!("blocks-{step:06}.vtu");
            blocks::write(&self.folder.join(&file), blocks)?;
            self.list("blocks", time, file)?;
        }
        if let Some(cut) = &snapshot.cut {
            if self.vtk {
                let file = format!("cut-{step:06}.vti");
                blocks::write_cut(&self.folder.join(&file), cut)?;
                self.list("cut", time, file)?;
                let file = format!("vortices-{step:06}.vtp");
                blocks::write_vortices(&self.folder.join(&file), cut)?;
                self.list("vortices", time, file)?;
            }
            if self.npz {
                let arrays = blocks::arrays_of_cut(cut);
                write_arrays(
                    self.folder.join(format!("cut-{step:06}.npz")),
                    &arrays,
                    Precision::Single,
                )?;
            }
        }
        for cloud in &snapshot.clouds {
            let (own, ranks) = self.rank;
            let name = |rank: usize| match ranks {
                1 => format!("{}-{step:06}", cloud.name),
                _ => format!("{}-{step:06}-rank-{rank:05}", cloud.name),
            };
            if self.vtk {
                let file = |rank: usize| format!("{}.vtp", name(rank));
                self.write_vtk(cloud, &file(own))?;
                // The first rank lists the parts of all.
                for rank in 0..if own == 0 { ranks } else { 0 } {
                    self.list(cloud.name, time, file(rank))?;
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

    /// Adds a file to the list of its kind.
    fn list(&mut self, kind: &'static str, time: f64, file: String) -> Result<(), Error> {
        let at = match self.series.iter().position(|(known, _)| *known == kind) {
            Some(at) => at,
            None => {
                // A resumed run goes on with the list, from this time on.
                let path = self.folder.join(format!("{kind}.pvd"));
                let list = PvdSeries::resume(path, time.next_down())?;
                self.series.push((kind, list));
                self.series.len() - 1
            }
        };
        Ok(self.series[at].1.push(time, file)?)
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
