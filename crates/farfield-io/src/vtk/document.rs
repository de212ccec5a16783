//! The XML elements of a VTK file, and the arrays appended to them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use super::encoding::{Compression, Encoded, Encoding, Numbers};
use super::xml::escaped;
use crate::Error;
use crate::atomic::write_atomically;

/// The XML elements that group arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Points,
    Verts,
    Polys,
    Cells,
    PointData,
    CellData,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Self::Points => "Points",
            Self::Verts => "Verts",
            Self::Polys => "Polys",
            Self::Cells => "Cells",
            Self::PointData => "PointData",
            Self::CellData => "CellData",
        }
    }
}

/// A VTK file with one piece: its elements in order, and the arrays to be appended.
pub(super) struct Document<'a> {
    data_set: &'static str,
    /// Attributes of the data set's element.
    data_set_attributes: String,
    /// Attributes of the piece's element.
    piece_attributes: String,
    parts: Vec<Part<'a>>,
}

enum Part<'a> {
    Open(Section),
    Close(Section),
    Array(&'a str, Numbers<'a>),
}

impl<'a> Document<'a> {
    pub(super) fn new(data_set: &'static str, data_set_attributes: String, piece_attributes: String) -> Self {
        Self {
            data_set,
            data_set_attributes,
            piece_attributes,
            parts: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, section: Section) {
        self.parts.push(Part::Open(section));
    }

    pub(super) fn close(&mut self, section: Section) {
        self.parts.push(Part::Close(section));
    }

    pub(super) fn array(&mut self, name: &'a str, numbers: Numbers<'a>) {
        self.parts.push(Part::Array(name, numbers));
    }

    /// Adds the coordinates of points.
    pub(super) fn points(&mut self, points: Numbers<'a>) {
        self.open(Section::Points);
        self.array("Points", points);
        self.close(Section::Points);
    }

    /// Writes the file: the elements with the offset of each array, then the arrays.
    pub(super) fn write(&self, path: &Path, encoding: Encoding) -> Result<(), Error> {
        let failed = |cause| Error::Write {
            path: path.to_owned(),
            cause,
        };
        let arrays = self.parts.iter().filter_map(|part| match part {
            Part::Array(_, numbers) => Some(Encoded::new(*numbers, encoding)),
            _ => None,
        });
        let arrays: Vec<_> = arrays.collect::<Result<_, _>>().map_err(failed)?;
        let elements = self.elements(&arrays, encoding);
        write_atomically(path, |file| {
            file.write_all(elements.as_bytes())?;
            // Offsets count from the byte after the underscore.
            file.write_all(b"  <AppendedData encoding=\"raw\">\n_")?;
            for array in &arrays {
                array.write(file)?;
            }
            file.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
        })
    }

    fn elements(&self, arrays: &[Encoded<'_>], encoding: Encoding) -> String {
        let compressor = match encoding.compression {
            Compression::None => "",
            Compression::Zlib => " compressor=\"vtkZLibDataCompressor\"",
        };
        let data_set = self.data_set;
        let mut text = format!(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"{data_set}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n  \
             <{data_set}{}>\n    <Piece{}>\n",
            self.data_set_attributes, self.piece_attributes
        );
        let (mut offset, mut arrays) = (0, arrays.iter());
        for part in &self.parts {
            // Writing to a string cannot fail.
            let _ = match part {
                Part::Open(section) => writeln!(text, "      <{}>", section.name()),
                Part::Close(section) => writeln!(text, "      </{}>", section.name()),
                Part::Array(name, numbers) => {
                    let written = writeln!(
                        text,
                        "        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{offset}\"/>",
                        numbers.type_name(encoding.precision),
                        escaped(name),
                        numbers.components(),
                    );
                    offset += arrays.next().map_or(0, Encoded::size);
                    written
                }
            };
        }
        let _ = write!(text, "    </Piece>\n  </{data_set}>\n");
        text
    }
}
