//! Fields on points or cells.

use std::path::Path;

use super::document::{Document, Section};
use super::encoding::Numbers;
use super::xml;
use crate::{Error, Rows};

/// Named fields with one value per point or per cell.
#[derive(Clone, Debug, Default)]
pub struct Attributes<'a> {
    /// Scalar fields.
    pub scalars: Vec<(&'a str, &'a [f64])>,
    /// Vector fields.
    pub vectors: Vec<(&'a str, &'a [[f64; 3]])>,
    /// Fields of any number of components that may be computed while they are written.
    pub made: Vec<(&'a str, Rows<'a>)>,
}

impl<'a> Attributes<'a> {
    /// The fields with their names and lengths.
    fn fields(&self) -> impl Iterator<Item = (&'a str, Numbers<'a>, usize)> {
        let scalars = self.scalars.iter().map(|&(n, v)| (n, Numbers::Scalars(v), v.len()));
        let vectors = self.vectors.iter().map(|&(n, v)| (n, Numbers::Vectors(v), v.len()));
        let made = self.made.iter().map(|&(n, r)| (n, Numbers::Rows(r), r.rows()));
        scalars.chain(vectors).chain(made)
    }

    /// Checks that the names are valid and that each field has `count` values, one for each of `owner`.
    pub(super) fn check(&self, path: &Path, owner: &str, count: usize) -> Result<(), Error> {
        let mut seen: Vec<&str> = Vec::new();
        for (name, _, length) in self.fields() {
            let reason = if name.is_empty() {
                "a name must have at least one character"
            } else if !name.chars().all(xml::is_allowed) {
                "XML cannot hold control characters"
            } else if seen.contains(&name) {
                "the name is used twice"
            } else {
                seen.push(name);
                if length == count {
                    continue;
                }
                return Err(Error::RowsDiffer {
                    path: path.to_owned(),
                    first: owner.to_owned(),
                    first_rows: count,
                    second: name.to_owned(),
                    second_rows: length,
                });
            };
            return Err(Error::BadName {
                path: path.to_owned(),
                name: name.to_owned(),
                reason,
            });
        }
        Ok(())
    }

    /// Adds the section `PointData` or `CellData` to a document.
    pub(super) fn add_to(&self, document: &mut Document<'a>, section: Section) {
        document.open(section);
        for (name, numbers, _) in self.fields() {
            document.array(name, numbers);
        }
        document.close(section);
    }
}
