//! Fields on regular grids in `.vti` files.

use std::path::Path;

use super::attributes::Attributes;
use super::document::{Document, Section};
use super::encoding::Encoding;
use crate::Error;

/// A regular grid of points and the cells between them. In fields x runs fastest, then y, then z.
#[derive(Clone, Debug)]
pub struct RegularGrid<'a> {
    /// The first point.
    pub origin: [f64; 3],
    /// The distance between neighbouring points along each axis.
    pub spacing: [f64; 3],
    /// The number of points along each axis; there is one cell fewer.
    pub points: [usize; 3],
    /// Fields on the points.
    pub point_data: Attributes<'a>,
    /// Fields on the cells.
    pub cell_data: Attributes<'a>,
}

impl RegularGrid<'_> {
    /// Checks the shape of the grid and the lengths of its fields.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let bad = |expected: &str, found: String| Error::BadGrid {
            path: path.to_owned(),
            expected: expected.to_owned(),
            found,
        };
        if self.points.contains(&0) {
            return Err(bad(
                "at least one point along each axis",
                format!("{:?} points", self.points),
            ));
        }
        if !self.spacing.iter().all(|&h| h.is_finite() && h > 0.0) {
            return Err(bad("a positive spacing", format!("spacing {:?}", self.spacing)));
        }
        if !self.origin.iter().all(|x| x.is_finite()) {
            return Err(bad("a finite origin", format!("origin {:?}", self.origin)));
        }
        let product = |sizes: [usize; 3]| sizes.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let Some(points) = product(self.points) else {
            return Err(bad(
                "a number of points that fits in memory",
                format!("{:?} points", self.points),
            ));
        };
        // Along an axis with a single point the grid is flat and has one layer of cells.
        let cells = product(self.points.map(|n| (n - 1).max(1))).unwrap_or(points);
        self.point_data.check(path, "the grid's points", points)?;
        self.cell_data.check(path, "the grid's cells", cells)
    }
}

/// Writes fields on a regular grid as a `.vti` file (`ImageData`), completely or not at all.
///
/// # Errors
///
/// Before anything is written: [`Error::BadGrid`] for a grid without points or with a spacing that
/// is not positive, [`Error::RowsDiffer`] for a field of the wrong length,
/// [`Error::BadName`] for an empty or repeated name. Afterwards [`Error::NoFolder`] and
/// [`Error::Write`].
pub fn write_vti(path: impl AsRef<Path>, grid: &RegularGrid<'_>, encoding: impl Into<Encoding>) -> Result<(), Error> {
    let path = path.as_ref();
    grid.check(path)?;

    let [nx, ny, nz] = grid.points.map(|n| n - 1);
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    let listed = |[x, y, z]: [f64; 3]| format!("{x} {y} {z}");
    let whole = format!(
        " WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\"",
        listed(grid.origin),
        listed(grid.spacing)
    );
    let mut document = Document::new("ImageData", whole, format!(" Extent=\"{extent}\""));
    grid.point_data.add_to(&mut document, Section::PointData);
    grid.cell_data.add_to(&mut document, Section::CellData);
    document.write(path, encoding.into())
}
