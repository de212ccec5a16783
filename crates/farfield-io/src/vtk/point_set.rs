//! Points with fields in `.vtp` files.

use std::path::Path;

use super::attributes::Attributes;
use super::document::{Document, Section};
use super::encoding::{Encoding, Numbers};
use crate::Error;

/// Points with fields, such as tracers, vortex elements or stars.
#[derive(Clone, Debug, Default)]
pub struct PointSet<'a> {
    /// The positions of the points.
    pub points: &'a [[f64; 3]],
    /// Scalar fields, one value per point.
    pub scalars: Vec<(&'a str, &'a [f64])>,
    /// Vector fields, one vector per point.
    pub vectors: Vec<(&'a str, &'a [[f64; 3]])>,
}

/// Writes points as a `.vtp` file (`PolyData`), with one vertex cell per point so that viewers
/// show them without a filter. The file is written completely or not at all.
///
/// # Errors
///
/// Before anything is written: [`Error::RowsDiffer`] for a field of the wrong length,
/// [`Error::BadName`] for an empty or repeated name. Afterwards [`Error::NoFolder`] and
/// [`Error::Write`].
pub fn write_vtp(path: impl AsRef<Path>, set: &PointSet<'_>, encoding: impl Into<Encoding>) -> Result<(), Error> {
    let (path, count) = (path.as_ref(), set.points.len());
    let fields = Attributes {
        scalars: set.scalars.clone(),
        vectors: set.vectors.clone(),
        ..Attributes::default()
    };
    fields.check(path, "points", count)?;

    let piece = format!(
        " NumberOfPoints=\"{count}\" NumberOfVerts=\"{count}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\""
    );
    let mut document = Document::new("PolyData", String::new(), piece);
    fields.add_to(&mut document, Section::PointData);
    document.points(Numbers::Vectors(set.points));
    document.open(Section::Verts);
    let sequence = |first| Numbers::Sequence { first, step: 1, count };
    document.array("connectivity", sequence(0));
    document.array("offsets", sequence(1));
    document.close(Section::Verts);
    document.write(path, encoding.into())
}
