//! Tables of numbers as text.
//!
//! Fields are separated by commas, semicolons, tabs or blanks; the first line decides which. An optional
//! first line names the columns; `#` starts a comment; blank lines are ignored.

mod fields;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;

use crate::column_names;
use crate::error::quoted;
use crate::pieces::Pieces;
use crate::{Array, Error, NamedArray, Part, Precision};
use fields::{Separator, number, without_comment};

/// The number of comments before the data that are kept, in case one of them names the columns.
const COMMENTS_KEPT: usize = 32;

/// The names of the columns, if any, and the values.
#[derive(Debug)]
pub(crate) struct CsvTable {
    pub(crate) names: Option<Names>,
    /// The rows that were asked for.
    pub(crate) array: Array,
    /// The number of rows in the file.
    pub(crate) all: usize,
}

/// Names of all columns.
#[derive(Debug)]
pub(crate) enum Names {
    /// From a header line.
    Header(Vec<String>),
    /// From a comment before the data with as many words as columns; these may not be names.
    Comment(Vec<String>),
}

/// Reads a part of the rows of one `.csv` file. The number of rows is known only at the end of the file, so a part of
/// them takes two passes.
pub(crate) fn read(path: &Path, part: Part) -> Result<CsvTable, Error> {
    if part == Part::ALL {
        return read_rows(path, 0..usize::MAX);
    }
    let all = read_rows(path, 0..0)?.all;
    read_rows(path, part.rows(all))
}

fn read_rows(path: &Path, keep: Range<usize>) -> Result<CsvTable, Error> {
    let unreadable = |cause| Error::Read {
        path: path.to_owned(),
        cause,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut table = Reading::new(path, keep);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).map_err(unreadable)? > 0 {
        table.add_line(&String::from_utf8_lossy(&bytes))?;
        bytes.clear();
    }
    table.finish()
}

/// A table while its lines are read.
struct Reading<'a> {
    path: &'a Path,
    line: u64,
    separator: Option<Separator>,
    /// The line that determines the number of columns.
    first_line: u64,
    columns: usize,
    header: Option<Vec<String>>,
    comments: Vec<String>,
    rows: usize,
    /// The rows whose values are kept.
    keep: Range<usize>,
    values: Vec<f64>,
}

impl<'a> Reading<'a> {
    fn new(path: &'a Path, keep: Range<usize>) -> Self {
        Self {
            path,
            keep,
            line: 0,
            separator: None,
            first_line: 0,
            columns: 0,
            header: None,
            comments: Vec::new(),
            rows: 0,
            values: Vec::new(),
        }
    }

    fn add_line(&mut self, text: &str) -> Result<(), Error> {
        self.line += 1;
        let text = match self.line {
            1 => text.strip_prefix('\u{feff}').unwrap_or(text),
            _ => text,
        };
        let (content, comment) = without_comment(text.trim_end_matches(['\n', '\r']));
        if content.trim().is_empty() {
            if let Some(comment) = comment
                && self.separator.is_none()
                && self.comments.len() < COMMENTS_KEPT
            {
                self.comments.push(comment.to_owned());
            }
            return Ok(());
        }
        match self.separator {
            Some(separator) => self.add_numbers(content, separator),
            None => self.add_first(content),
        }
    }

    /// Adds the first line with content, which holds names or numbers.
    fn add_first(&mut self, content: &str) -> Result<(), Error> {
        let separator = Separator::of(content);
        let fields: Vec<_> = separator.split(content).collect();
        self.separator = Some(separator);
        self.first_line = self.line;
        self.columns = fields.len();
        if !fields::are_names(&fields) {
            return self.add_numbers(content, separator);
        }
        for (index, name) in fields.iter().enumerate() {
            if !name.is_empty() && fields[..index].contains(name) {
                return Err(Error::CsvRepeatedName {
                    path: self.path.to_owned(),
                    line: self.line,
                    column: index + 1,
                    text: quoted(name),
                });
            }
        }
        self.header = Some(fields.into_iter().map(str::to_owned).collect());
        Ok(())
    }

    fn add_numbers(&mut self, content: &str, separator: Separator) -> Result<(), Error> {
        let found = separator.split(content).count();
        if found != self.columns {
            return Err(Error::CsvFields {
                path: self.path.to_owned(),
                line: self.line,
                column: found.min(self.columns) + 1,
                found,
                expected: self.columns,
                first_line: self.first_line,
                text: quoted(content.trim()),
            });
        }
        for (index, field) in separator.split(content).enumerate() {
            let value = number(field).ok_or_else(|| Error::CsvNumber {
                path: self.path.to_owned(),
                line: self.line,
                column: index + 1,
                text: quoted(field),
            })?;
            if self.keep.contains(&self.rows) {
                self.values.push(value);
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(self) -> Result<CsvTable, Error> {
        let Some(separator) = self.separator else {
            return Err(Error::Empty {
                path: self.path.to_owned(),
            });
        };
        let names = match self.header {
            Some(names) => Some(Names::Header(names)),
            None => names_in_comments(&self.comments, separator, self.columns).map(Names::Comment),
        };
        let array = Array {
            rows: self.keep.end.min(self.rows).saturating_sub(self.keep.start),
            columns: self.columns,
            values: self.values,
        };
        Ok(CsvTable {
            names,
            array,
            all: self.rows,
        })
    }
}

/// The last comment that could hold the names of `columns` columns.
fn names_in_comments(comments: &[String], separator: Separator, columns: usize) -> Option<Vec<String>> {
    comments.iter().rev().find_map(|comment| {
        [separator, Separator::Blanks].into_iter().find_map(|separator| {
            let fields: Vec<_> = separator.split(comment).collect();
            let usable = fields.len() == columns && fields::are_names(&fields);
            usable.then(|| fields.into_iter().map(str::to_owned).collect())
        })
    })
}

/// Writes a header and one line for each row, every value with the fewest digits that read back
/// to the same value. The arrays must have the same number of rows.
pub(crate) fn write(writer: &mut impl Write, arrays: &[NamedArray], precision: Precision) -> io::Result<()> {
    write_header(writer, arrays)?;
    let arrays: Vec<_> = arrays.iter().map(|named| &named.array).collect();
    write_lines(writer, &arrays, precision)
}

/// [`write`] for rows that come in pieces with the columns of all arrays side by side; of `arrays` only the names and
/// the numbers of columns are used.
pub(crate) fn write_pieces(
    writer: &mut impl Write,
    (arrays, rows): (&[NamedArray], usize),
    precision: Precision,
    pieces: &mut Pieces<'_>,
) -> io::Result<()> {
    write_header(writer, arrays)?;
    let columns = arrays.iter().map(|named| named.array.columns).sum();
    pieces.each((rows, columns), |piece| write_lines(writer, &[piece], precision))
}

fn write_header(writer: &mut impl Write, arrays: &[NamedArray]) -> io::Result<()> {
    let header: Vec<_> = arrays
        .iter()
        .flat_map(|named| column_names::of_array(&named.name, named.array.columns))
        .collect();
    writeln!(writer, "{}", header.join(","))
}

fn write_lines(writer: &mut impl Write, arrays: &[&Array], precision: Precision) -> io::Result<()> {
    let rows = arrays.first().map_or(0, |array| array.rows);
    for row in 0..rows {
        let mut separator = "";
        for array in arrays {
            let start = row * array.columns;
            for &value in &array.values[start..start + array.columns] {
                match precision {
                    Precision::Single => write!(writer, "{separator}{:?}", value as f32)?,
                    Precision::Double => write!(writer, "{separator}{value:?}")?,
                }
                separator = ",";
            }
        }
        writeln!(writer)?;
    }
    Ok(())
}
