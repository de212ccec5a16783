//! The `.npy` format, versions 1.0, 2.0 and 3.0.
//!
//! A file consists of a magic string and version, the length of the header, a header that is a
//! Python dictionary with the element type, the order and the shape, and the elements.

mod dtype;
mod header;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::pieces::Pieces;
use crate::rows::{width, write_floats};
use crate::{Array, Error, Part, Precision, Rows};
use dtype::Dtype;
use header::Header;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header read. Longer ones belong to structured types, which are not supported.
const LONGEST_HEADER: u32 = 1 << 20;

/// A defect in the bytes of an npy array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyProblem {
    /// The file does not start with the magic string.
    #[error("not an npy file: it does not start with \\x93NUMPY")]
    BadMagic,
    /// An unknown version of the format.
    #[error("npy format version {major}.{minor}; supported versions: 1.0, 2.0 and 3.0")]
    Version {
        /// The number before the point.
        major: u8,
        /// The number after the point.
        minor: u8,
    },
    /// The file ends too early.
    #[error("truncated {part}: expected {expected} bytes, found {found}")]
    Truncated {
        /// The incomplete part of the file.
        part: &'static str,
        /// The number of bytes expected.
        expected: u128,
        /// The number of bytes found.
        found: u64,
    },
    /// The header is not a dictionary of the required form.
    #[error("malformed npy header: {0}")]
    Header(String),
    /// The elements are not real numbers of a supported type.
    #[error("unsupported dtype {0}; supported types: floats (f2, f4, f8) and integers (i1 to i8, u1 to u8)")]
    Dtype(String),
}

/// An array as read from a file: the values, and the shape for messages.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The rows that were asked for.
    pub(crate) array: Array,
    /// The number of rows in the file.
    pub(crate) all: usize,
    pub(crate) shape: Vec<u64>,
}

impl Stored {
    /// The shape as numpy writes it: `(5, 3)`, `(5,)` or `()`.
    pub(crate) fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }
}

/// The file and name of an npy array, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) path: &'a Path,
    /// The array's name inside an npz archive.
    pub(crate) array: Option<&'a str>,
}

impl Place<'_> {
    fn problem(&self, problem: NpyProblem) -> Error {
        Error::Npy {
            path: self.path.to_owned(),
            array: self.array.map(str::to_owned),
            problem,
        }
    }

    fn truncated(&self, part: &'static str, expected: u128, found: u64) -> Error {
        self.problem(NpyProblem::Truncated { part, expected, found })
    }

    fn unreadable(&self, cause: io::Error) -> Error {
        match self.array {
            None => Error::Read {
                path: self.path.to_owned(),
                cause,
            },
            Some(name) => Error::Npz {
                path: self.path.to_owned(),
                array: Some(name.to_owned()),
                cause: cause.to_string(),
            },
        }
    }

    fn out_of_memory(&self, bytes: u128) -> Error {
        Error::OutOfMemory {
            path: self.path.to_owned(),
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        }
    }
}

/// Reads a part of the rows of one `.npy` file.
pub(crate) fn read(path: &Path, part: Part) -> Result<Stored, Error> {
    let place = Place { path, array: None };
    let mut file = File::open(path).map_err(|cause| place.unreadable(cause))?;
    let length = file.metadata().map_err(|cause| place.unreadable(cause))?.len();
    read_from(&mut file, length, place, part)
}

/// Reads a part of the rows of an npy array of at most `length` bytes; never allocates more than these can fill.
pub(crate) fn read_from(reader: &mut impl Read, length: u64, place: Place<'_>, part: Part) -> Result<Stored, Error> {
    let (header, data_start) = read_header(reader, length, place)?;
    let shape = header.shape;
    let (rows, columns) = match *shape.as_slice() {
        [] => (1, 1),
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        // Points of a grid, with one or several values each.
        [z, y, x] if !header.fortran_order => (z.saturating_mul(y).saturating_mul(x), 1),
        [z, y, x, columns] if !header.fortran_order => (z.saturating_mul(y).saturating_mul(x), columns),
        _ => {
            return Err(Error::Shape {
                path: place.path.to_owned(),
                array: place.array.map(str::to_owned),
                shape: shape_text(&shape),
                expected: "an array of one to four dimensions, in C order if more than two".to_owned(),
                hint: "",
            });
        }
    };
    let count = u128::from(rows) * u128::from(columns);
    let expected = count.saturating_mul(header.dtype.size() as u128);
    let available = length.saturating_sub(data_start);
    if expected > u128::from(available) {
        return Err(place.truncated("data", expected, available));
    }
    let (Ok(rows), Ok(columns), Ok(_)) = (usize::try_from(rows), usize::try_from(columns), usize::try_from(count))
    else {
        return Err(place.out_of_memory(count.saturating_mul(8)));
    };
    let own = part.rows(rows);
    let by_columns = header.fortran_order && rows > 1 && columns > 1;
    // Rows are contiguous within each column in Fortran order, and all together in C order.
    let (stretches, width) = if by_columns { (columns, 1) } else { (1, columns) };
    let mut values = with_capacity(own.len() * columns, place)?;
    for _ in 0..stretches {
        skip_values(reader, header.dtype, own.start * width, place)?;
        read_values(reader, header.dtype, own.len() * width, place, &mut values)?;
        skip_values(reader, header.dtype, (rows - own.end) * width, place)?;
    }
    let values = match by_columns {
        true => by_rows(&values, own.len(), place)?,
        false => values,
    };
    let array = Array {
        rows: own.len(),
        columns,
        values,
    };
    Ok(Stored {
        array,
        all: rows,
        shape,
    })
}

/// Skips `count` elements.
fn skip_values(reader: &mut impl Read, dtype: Dtype, count: usize, place: Place<'_>) -> Result<(), Error> {
    let total = (count * dtype.size()) as u64;
    let skipped = io::copy(&mut reader.take(total), &mut io::sink()).map_err(|cause| place.unreadable(cause))?;
    match skipped == total {
        true => Ok(()),
        false => Err(place.truncated("data", total.into(), skipped)),
    }
}

fn read_header(reader: &mut impl Read, length: u64, place: Place<'_>) -> Result<(Header, u64), Error> {
    let mut start = [0; 8];
    let found = read_available(reader, &mut start).map_err(|cause| place.unreadable(cause))?;
    if !start[..found].starts_with(&MAGIC[..found.min(MAGIC.len())]) {
        return Err(place.problem(NpyProblem::BadMagic));
    }
    if found < start.len() {
        return Err(place.truncated("npy file", start.len() as u128, found as u64));
    }
    let [.., major, minor] = start;
    let width = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(place.problem(NpyProblem::Version { major, minor })),
    };
    let mut size = [0; 4];
    let found = read_available(reader, &mut size[..width]).map_err(|cause| place.unreadable(cause))?;
    if found < width {
        return Err(place.truncated("header length", width as u128, found as u64));
    }
    let size = u32::from_le_bytes(size);
    let header_start = (start.len() + width) as u64;
    let available = length.saturating_sub(header_start);
    if u64::from(size) > available {
        return Err(place.truncated("header", size.into(), available));
    }
    if size > LONGEST_HEADER {
        let what = format!("{size} bytes long, more than {LONGEST_HEADER}");
        return Err(place.problem(NpyProblem::Header(what)));
    }
    let mut text = vec![0; size as usize];
    let found = read_available(reader, &mut text).map_err(|cause| place.unreadable(cause))?;
    if found < text.len() {
        return Err(place.truncated("header", size.into(), found as u64));
    }
    let header = header::parse(&text).map_err(|problem| place.problem(problem))?;
    Ok((header, header_start + u64::from(size)))
}

/// Reads `count` elements in stored order.
fn read_values(
    reader: &mut impl Read,
    dtype: Dtype,
    count: usize,
    place: Place<'_>,
    values: &mut Vec<f64>,
) -> Result<(), Error> {
    // The buffer size is a multiple of every element size.
    let mut buffer = vec![0; 1 << 16];
    let total = count * dtype.size();
    let mut done = 0;
    while done < total {
        let wanted = buffer.len().min(total - done);
        let found = read_available(reader, &mut buffer[..wanted]).map_err(|cause| place.unreadable(cause))?;
        done += found;
        if found < wanted {
            return Err(place.truncated("data", total as u128, done as u64));
        }
        dtype.decode(&buffer[..found], values);
    }
    Ok(())
}

fn with_capacity(count: usize, place: Place<'_>) -> Result<Vec<f64>, Error> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| place.out_of_memory(count as u128 * 8))?;
    Ok(values)
}

/// Converts values from column by column to row by row.
fn by_rows(by_columns: &[f64], rows: usize, place: Place<'_>) -> Result<Vec<f64>, Error> {
    let mut values = with_capacity(by_columns.len(), place)?;
    for row in 0..rows {
        values.extend(by_columns.iter().skip(row).step_by(rows));
    }
    Ok(values)
}

/// Reads until `buffer` is full or the input ends, and returns the number of bytes read.
fn read_available(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The shape as numpy writes it: `(5, 3)`, `(5,)` or `()`.
fn shape_text(shape: &[u64]) -> String {
    match shape {
        [rows] => format!("({rows},)"),
        _ => {
            let sizes: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// The number of bytes that [`write`] writes for an array of `rows` rows and `columns` columns.
pub(crate) fn written_size((rows, columns): (usize, usize), precision: Precision) -> u64 {
    let numbers = (rows as u64).saturating_mul(columns as u64);
    let bytes = numbers.saturating_mul(width(precision) as u64);
    (preamble(rows, columns, precision).len() as u64).saturating_add(bytes)
}

/// Writes rows in npy format; a single column becomes one-dimensional.
pub(crate) fn write(writer: &mut impl Write, rows: &Rows<'_>, precision: Precision) -> io::Result<()> {
    writer.write_all(&preamble(rows.rows(), rows.columns(), precision))?;
    rows.write(precision, writer)
}

/// Writes an array whose rows come in pieces.
pub(crate) fn write_pieces(
    writer: &mut impl Write,
    (rows, columns): (usize, usize),
    precision: Precision,
    pieces: &mut Pieces<'_>,
) -> io::Result<()> {
    writer.write_all(&preamble(rows, columns, precision))?;
    pieces.each((rows, columns), |piece| write_floats(&piece.values, precision, writer))
}

/// The bytes before the elements.
fn preamble(rows: usize, columns: usize, precision: Precision) -> Vec<u8> {
    let descr = match precision {
        Precision::Single => "<f4",
        Precision::Double => "<f8",
    };
    let shape = match columns {
        1 => shape_text(&[rows as u64]),
        _ => shape_text(&[rows as u64, columns as u64]),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Padded with spaces and a final line break, so that the elements start at a multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(64) - before;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    // The length always fits into 16 bits: the shape has two sizes of at most 20 digits.
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes
}
