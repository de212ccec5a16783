//! Rows of values that are written piece by piece.

use crate::{Array, Precision};
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

/// Rows of values for a file. They may be in memory, or computed while they are written.
///
/// ```
/// use farfield_io::{Precision, Rows, write_npz};
///
/// let folder = tempfile::tempdir()?;
/// let squares = |rows: std::ops::Range<usize>, out: &mut Vec<f64>| out.extend(rows.map(|k| (k * k) as f64));
/// let rows = Rows::made(1_000_000, 1, &squares);
/// write_npz(folder.path().join("squares.npz"), &[("squares", rows)], Precision::Single)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    rows: usize,
    columns: usize,
    content: Content<'a>,
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Stored(&'a [f64]),
    Made(Make<'a>),
}

/// Appends the values of a range of rows, row by row.
pub type Make<'a> = &'a dyn Fn(Range<usize>, &mut Vec<f64>);

impl<'a> Rows<'a> {
    /// The number of rows computed at a time, from the first on; the last piece may be shorter.
    pub const PIECE: usize = 1 << 12;

    /// Rows computed by `make`. It is called for the pieces in order, possibly more than once.
    #[must_use]
    pub fn made(rows: usize, columns: usize, make: Make<'a>) -> Self {
        Self {
            rows,
            columns,
            content: Content::Made(make),
        }
    }

    /// The rows of `array`.
    #[must_use]
    pub fn of(array: &'a Array) -> Self {
        Self {
            rows: array.rows,
            columns: array.columns,
            content: Content::Stored(&array.values),
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of values in a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn byte_count(&self, precision: Precision) -> usize {
        self.rows * self.columns * width(precision)
    }

    /// Writes all values, little-endian.
    pub(crate) fn write(&self, precision: Precision, writer: &mut dyn Write) -> io::Result<()> {
        match self.content {
            Content::Stored(values) => write_floats(values, precision, writer),
            Content::Made(make) => {
                let mut piece = Vec::with_capacity(self.columns * Self::PIECE.min(self.rows));
                for first in (0..self.rows).step_by(Self::PIECE) {
                    let rows = first..self.rows.min(first + Self::PIECE);
                    let wanted = rows.len() * self.columns;
                    piece.clear();
                    make(rows, &mut piece);
                    if piece.len() != wanted {
                        let why = format!("{} values were computed, expected {wanted}", piece.len());
                        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                    }
                    write_floats(&piece, precision, writer)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} values", self.rows, self.columns)
    }
}

/// Bytes of a value in a file.
pub(crate) fn width(precision: Precision) -> usize {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

/// The number of values converted to bytes at a time.
pub(crate) const NUMBERS: usize = 1 << 13;

/// Writes values as little-endian floats.
pub(crate) fn write_floats(values: &[f64], precision: Precision, writer: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(width(precision) * NUMBERS.min(values.len()));
    for piece in values.chunks(NUMBERS) {
        bytes.clear();
        match precision {
            Precision::Single => bytes.extend(piece.iter().flat_map(|&value| (value as f32).to_le_bytes())),
            Precision::Double => bytes.extend(piece.iter().flat_map(|value| value.to_le_bytes())),
        }
        writer.write_all(&bytes)?;
    }
    Ok(())
}
