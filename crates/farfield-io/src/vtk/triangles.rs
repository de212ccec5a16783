//! Surfaces of triangles in `.vtp` files.

use std::path::Path;

use super::attributes::Attributes;
use super::document::{Document, Section};
use super::encoding::{Encoding, Numbers};
use crate::Error;

/// A surface of triangles, for instance an isosurface of a field.
#[derive(Clone, Debug, Default)]
pub struct Triangles<'a> {
    /// The positions of the corners, which triangles may share.
    pub points: &'a [[f64; 3]],
    /// The corners of each triangle, as indices into `points`.
    pub corners: &'a [[usize; 3]],
    /// Fields on the points.
    pub point_data: Attributes<'a>,
}

/// Writes a surface as a `.vtp` file (`PolyData`), completely or not at all.
///
/// # Errors
///
/// Before anything is written: [`Error::BadGrid`] for a triangle with a corner that does not exist,
/// [`Error::RowsDiffer`] for a field of the wrong length, [`Error::BadName`] for an
/// empty or repeated name. Afterwards [`Error::NoFolder`] and [`Error::Write`].
pub fn write_surface(
    path: impl AsRef<Path>,
    surface: &Triangles<'_>,
    encoding: impl Into<Encoding>,
) -> Result<(), Error> {
    let (path, points, count) = (path.as_ref(), surface.points.len(), surface.corners.len());
    let missing = |corners: &[usize; 3]| corners.iter().any(|&corner| corner >= points);
    if let Some(index) = surface.corners.iter().position(missing) {
        return Err(Error::BadGrid {
            path: path.to_owned(),
            expected: format!("corners below {points}, the number of points"),
            found: format!("triangle {index} with corners {:?}", surface.corners[index]),
        });
    }
    surface.point_data.check(path, "points", points)?;
    let piece = format!(
        " NumberOfPoints=\"{points}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"{count}\""
    );
    let mut document = Document::new("PolyData", String::new(), piece);
    surface.point_data.add_to(&mut document, Section::PointData);
    document.points(Numbers::Vectors(surface.points));
    document.open(Section::Polys);
    document.array("connectivity", Numbers::Corners(surface.corners.as_flattened()));
    let ends = Numbers::Sequence {
        first: 3,
        step: 3,
        count,
    };
    document.array("offsets", ends);
    document.close(Section::Polys);
    document.write(path, encoding.into())
}
