//! Encodes values as the bytes of a data array.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;

use crate::rows::{NUMBERS, write_floats};
use crate::{Precision, Rows};

/// The size of the blocks of compressed arrays in bytes, as in VTK's own writers.
const BLOCK: usize = 1 << 16;

/// Whether arrays are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Raw bytes: the fastest to write and to read.
    #[default]
    None,
    /// zlib at its fastest level. Coordinates of scattered points shrink little; smooth fields and
    /// 64-bit values with few digits shrink a lot.
    Zlib,
}

/// How the values of a VTK file are stored. A [`Precision`] converts to an uncompressed encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The width of coordinates and fields.
    pub precision: Precision,
    /// Whether arrays are compressed.
    pub compression: Compression,
}

impl From<Precision> for Encoding {
    fn from(precision: Precision) -> Self {
        Self {
            precision,
            compression: Compression::None,
        }
    }
}

/// The values of one array, borrowed from the caller.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    Scalars(&'a [f64]),
    Vectors(&'a [[f64; 3]]),
    /// Values that may be computed while they are written.
    Rows(Rows<'a>),
    /// The integers `at(0)` to `at(count - 1)`.
    Indices {
        count: usize,
        at: &'a dyn Fn(usize) -> usize,
    },
    /// The point indices of cells, cell by cell.
    Corners(&'a [usize]),
    /// The `count` integers `first, first + step, ...`.
    Sequence {
        first: usize,
        step: usize,
        count: usize,
    },
    /// One byte, repeated `count` times.
    Bytes {
        value: u8,
        count: usize,
    },
}

impl Numbers<'_> {
    /// The name of the element type in the file.
    pub(super) fn type_name(&self, precision: Precision) -> &'static str {
        match (self, precision) {
            (Self::Scalars(_) | Self::Vectors(_) | Self::Rows(_), Precision::Single) => "Float32",
            (Self::Scalars(_) | Self::Vectors(_) | Self::Rows(_), Precision::Double) => "Float64",
            (Self::Corners(_) | Self::Indices { .. } | Self::Sequence { .. }, _) => "Int64",
            (Self::Bytes { .. }, _) => "UInt8",
        }
    }

    /// The number of components stated in the file.
    pub(super) fn components(&self) -> usize {
        match self {
            Self::Vectors(_) => 3,
            Self::Rows(rows) => rows.columns(),
            _ => 1,
        }
    }

    fn byte_count(&self, precision: Precision) -> usize {
        let float = match precision {
            Precision::Single => 4,
            Precision::Double => 8,
        };
        match self {
            Self::Scalars(values) => values.len() * float,
            Self::Vectors(values) => values.len() * 3 * float,
            Self::Rows(rows) => rows.byte_count(precision),
            Self::Corners(corners) => corners.len() * 8,
            Self::Sequence { count, .. } | Self::Indices { count, .. } => count * 8,
            Self::Bytes { count, .. } => *count,
        }
    }

    /// Writes the bytes in pieces of limited size.
    fn write_bytes(&self, precision: Precision, writer: &mut dyn Write) -> io::Result<()> {
        match *self {
            Self::Scalars(values) => write_floats(values, precision, writer),
            Self::Vectors(values) => write_floats(values.as_flattened(), precision, writer),
            Self::Rows(rows) => rows.write(precision, writer),
            Self::Corners(corners) => write_integers(corners.iter().copied(), writer),
            Self::Indices { count, at } => write_integers((0..count).map(at), writer),
            Self::Sequence { first, step, count } => write_integers((0..count).map(|i| first + i * step), writer),
            Self::Bytes { value, count } => {
                io::copy(&mut io::Read::take(io::repeat(value), count as u64), writer).map(drop)
            }
        }
    }
}

fn write_integers(values: impl Iterator<Item = usize>, writer: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(8 * NUMBERS);
    for value in values {
        bytes.extend((value as u64).to_le_bytes());
        if bytes.len() >= 8 * NUMBERS {
            writer.write_all(&bytes)?;
            bytes.clear();
        }
    }
    writer.write_all(&bytes)
}

/// One array in its encoding, with a known length.
pub(super) enum Encoded<'a> {
    Raw(Numbers<'a>, Precision),
    Compressed(Vec<u8>),
}

impl<'a> Encoded<'a> {
    pub(super) fn new(numbers: Numbers<'a>, encoding: Encoding) -> io::Result<Self> {
        match encoding.compression {
            Compression::None => Ok(Self::Raw(numbers, encoding.precision)),
            Compression::Zlib => compress(numbers, encoding.precision).map(Self::Compressed),
        }
    }

    /// The number of bytes in the file, including the length before the values.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Raw(numbers, precision) => 8 + numbers.byte_count(*precision),
            Self::Compressed(bytes) => bytes.len(),
        }
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Raw(numbers, precision) => {
                writer.write_all(&(numbers.byte_count(*precision) as u64).to_le_bytes())?;
                numbers.write_bytes(*precision, writer)
            }
            Self::Compressed(bytes) => writer.write_all(bytes),
        }
    }
}

/// The compressed array: the number of blocks, the size of a full block, the size of a shorter last block (0 if all are
/// full), the compressed sizes, and the compressed blocks.
fn compress(numbers: Numbers<'_>, precision: Precision) -> io::Result<Vec<u8>> {
    let length = numbers.byte_count(precision);
    let mut blocks = Blocks::default();
    numbers.write_bytes(precision, &mut blocks)?;
    blocks.close()?;
    let mut encoded = Vec::with_capacity(24 + 8 * blocks.sizes.len() + blocks.compressed.len());
    let head = [blocks.sizes.len(), BLOCK, length % BLOCK];
    for number in head.into_iter().chain(blocks.sizes) {
        encoded.extend((number as u64).to_le_bytes());
    }
    encoded.append(&mut blocks.compressed);
    Ok(encoded)
}

/// A writer that compresses bytes block by block.
#[derive(Default)]
struct Blocks {
    pending: Vec<u8>,
    sizes: Vec<usize>,
    compressed: Vec<u8>,
}

impl Blocks {
    /// Compresses the pending bytes, if any.
    fn close(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let before = self.compressed.len();
        let mut encoder = ZlibEncoder::new(&mut self.compressed, flate2::Compression::fast());
        encoder.write_all(&self.pending)?;
        encoder.finish()?;
        self.sizes.push(self.compressed.len() - before);
        self.pending.clear();
        Ok(())
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == BLOCK {
            self.close()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
