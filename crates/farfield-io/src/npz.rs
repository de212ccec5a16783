//! The `.npz` format: a zip archive of npy arrays, stored or deflated.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zip::CompressionMethod;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::npy::{self, Place, Stored};
use crate::pieces::Pieces;
use crate::{Array, Error, NamedArray, Part, Precision, Rows};

/// The largest compression ratio of deflate.
const MOST_DEFLATION: u64 = 1032;
const EXTENSION: &str = ".npy";

/// An open archive; arrays are read on demand.
pub(crate) struct Archive {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    file_length: u64,
    /// Names of the arrays without `.npy`.
    names: Vec<String>,
    /// The index of each array in the archive.
    entries: Vec<usize>,
}

impl Archive {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |cause| Error::Read {
            path: path.to_owned(),
            cause,
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        let zip =
            ZipArchive::new(BufReader::with_capacity(1 << 16, file)).map_err(|cause| broken(path, None, &cause))?;
        let (entries, names) = (0..zip.len())
            .filter_map(|entry| {
                let name = zip.name_for_index(entry)?.ok()?;
                Some((entry, name.strip_suffix(EXTENSION)?.to_owned()))
            })
            .unzip();
        Ok(Self {
            path: path.to_owned(),
            zip,
            file_length: metadata.len(),
            names,
            entries,
        })
    }

    /// The names of the arrays, in the order of the archive.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads a part of the rows of the array at `index` of [`names`](Self::names).
    pub(crate) fn read(&mut self, index: usize, part: Part) -> Result<Stored, Error> {
        let name = &self.names[index];
        let mut entry = self
            .zip
            .by_index(self.entries[index])
            .map_err(|cause| broken(&self.path, Some(name), &cause))?;
        // The archive may claim any size; the length is limited to what the file can hold.
        let possible = match entry.compression() {
            CompressionMethod::Stored => self.file_length,
            _ => self.file_length.saturating_mul(MOST_DEFLATION),
        };
        let place = Place {
            path: &self.path,
            array: Some(name),
        };
        let length = entry.size().min(possible);
        let stored = npy::read_from(&mut entry, length, place, part)?;
        // Reading to the end verifies the checksum.
        entry
            .read(&mut [0])
            .map_err(|cause| broken(&self.path, Some(name), &ZipError::Io(cause)))?;
        Ok(stored)
    }

    /// Reads a part of the rows of several arrays and joins their columns.
    pub(crate) fn read_side_by_side(&mut self, indices: &[usize], part: Part) -> Result<Stored, Error> {
        if let &[index] = indices {
            return self.read(index, part);
        }
        let mut arrays: Vec<Stored> = Vec::with_capacity(indices.len());
        for &index in indices {
            let array = self.read(index, part)?;
            if let Some(first) = arrays.first()
                && first.all != array.all
            {
                return Err(Error::RowsDiffer {
                    path: self.path.clone(),
                    first: self.names[indices[0]].clone(),
                    first_rows: first.all,
                    second: self.names[index].clone(),
                    second_rows: array.all,
                });
            }
            arrays.push(array);
        }
        let all = arrays.first().map_or(0, |first| first.all);
        let array = Array::side_by_side(&arrays.iter().map(|stored| &stored.array).collect::<Vec<_>>());
        let shape = vec![all as u64, array.columns as u64];
        Ok(Stored { array, all, shape })
    }
}

fn broken(path: &Path, array: Option<&str>, cause: &ZipError) -> Error {
    Error::Npz {
        path: path.to_owned(),
        array: array.map(str::to_owned),
        cause: cause.to_string(),
    }
}

/// Writes the arrays uncompressed, so that readers can map or stream them.
pub(crate) fn write(file: &mut BufWriter<File>, arrays: &[(&str, Rows<'_>)], precision: Precision) -> io::Result<()> {
    let shapes = arrays.iter().map(|(_, rows)| (rows.rows(), rows.columns()));
    let names = arrays.iter().map(|(name, _)| *name);
    write_each(file, names.zip(shapes), precision, |zip, k| {
        npy::write(zip, &arrays[k].1, precision)
    })
}

/// Writes arrays of `rows` rows each that come in pieces; the pieces of one array follow those of the array before it.
pub(crate) fn write_pieces(
    file: &mut BufWriter<File>,
    (arrays, rows): (&[NamedArray], usize),
    precision: Precision,
    pieces: &mut Pieces<'_>,
) -> io::Result<()> {
    let shapes = arrays.iter().map(|named| (rows, named.array.columns));
    let names = arrays.iter().map(|named| named.name.as_str());
    write_each(file, names.zip(shapes), precision, |zip, k| {
        npy::write_pieces(zip, (rows, arrays[k].array.columns), precision, pieces)
    })
}

/// Writes arrays of the given names and shapes; `write(entry, index)` writes each.
fn write_each<'a>(
    file: &mut BufWriter<File>,
    arrays: impl Iterator<Item = (&'a str, (usize, usize))>,
    precision: Precision,
    mut write: impl FnMut(&mut ZipWriter<&mut Calm<'_>>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = Calm {
        file,
        at: 0,
        failure: None,
    };
    let mut zip = ZipWriter::new(&mut out);
    for (k, (name, shape)) in arrays.enumerate() {
        let size = npy::written_size(shape, precision);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(size >= u64::from(u32::MAX));
        zip.start_file(format!("{name}{EXTENSION}"), options)?;
        write(&mut zip, k)?;
    }
    zip.finish()?;
    out.failure.map_or(Ok(()), Err)
}

/// A file that stores its first failure and pretends that all later operations succeed. Otherwise the archive's writer
/// would try to finish when it is dropped, fail again on the same full disk, and print that second error.
struct Calm<'a> {
    file: &'a mut BufWriter<File>,
    at: u64,
    failure: Option<io::Error>,
}

impl Calm<'_> {
    /// Runs `what` unless an operation failed before; returns `otherwise` on a failure, present or past.
    fn attempt<R>(&mut self, otherwise: R, what: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>) -> R {
        if self.failure.is_some() {
            return otherwise;
        }
        what(self.file).unwrap_or_else(|error| {
            self.failure = Some(error);
            otherwise
        })
    }
}

impl Write for Calm<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.attempt(bytes.len(), |file| file.write(bytes));
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), Write::flush);
        Ok(())
    }
}

impl Seek for Calm<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let otherwise = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(change) => self.at.saturating_add_signed(change),
            SeekFrom::End(_) => self.at,
        };
        self.at = self.attempt(otherwise, |file| file.seek(to));
        Ok(self.at)
    }
}
