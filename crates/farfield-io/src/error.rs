//! The error type of this crate.

use std::io;
use std::path::PathBuf;

use crate::npy::NpyProblem;

/// An error in reading or writing a file. Every message names the file.
///
/// The message is complete: it contains the message of the operating system or the archive
/// reader, so there is no further [`source`](std::error::Error::source) to print.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or read.
    #[error("{path}: cannot read: {cause}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The file could not be written; a file that was at the path before is untouched.
    #[error("{path}: cannot write: {cause}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The folder to write into does not exist.
    #[error("{path}: cannot write: the folder {folder} does not exist")]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// The file name does not end in a supported extension.
    #[error("{path}: {found}; supported extensions: .npy, .npz and .csv", found = describe_extension(.path))]
    UnknownExtension {
        /// The file.
        path: PathBuf,
    },
    /// A `.vtp` or `.vtu` file is malformed or of an unsupported kind.
    #[error("{path}: {reason}")]
    Vtk {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
    /// The array does not fit into memory.
    #[error("{path}: not enough memory for {bytes} bytes of values")]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// The size of the array in memory.
        bytes: u64,
    },
    /// A `.npy` file, or an array inside an `.npz` file, is malformed or unsupported.
    #[error("{path}{place}: {problem}", place = inside(.array.as_deref()))]
    Npy {
        /// The file.
        path: PathBuf,
        /// The name of the array, if it is inside an `.npz` file.
        array: Option<String>,
        /// The defect.
        problem: NpyProblem,
    },
    /// An `.npz` file is not a readable zip archive.
    #[error("{path}{place}: not a readable npz (zip) archive: {cause}", place = inside(.array.as_deref()))]
    Npz {
        /// The file.
        path: PathBuf,
        /// The name of the array that was being read, if any.
        array: Option<String>,
        /// The message of the archive reader.
        cause: String,
    },
    /// A field of a `.csv` file is not a number.
    #[error("{path}: line {line}, column {column}: cannot read {text} as a number{hint}", hint = number_hint(.text))]
    CsvNumber {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// Field within the line, from 1.
        column: usize,
        /// The offending text, in quotes, shortened if long.
        text: String,
    },
    /// A line of a `.csv` file has more or fewer fields than the first one.
    #[error("{path}: line {line}, column {column}: {found} fields where line {first_line} has {expected}: {text}")]
    CsvFields {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// The first missing or surplus field, from 1.
        column: usize,
        /// Fields on this line.
        found: usize,
        /// Fields on the first line.
        expected: usize,
        /// The line that determines the number of fields.
        first_line: u64,
        /// The line's text, in quotes, shortened if long.
        text: String,
    },
    /// Two columns of a `.csv` file have the same name.
    #[error("{path}: line {line}, column {column}: a second column named {text}")]
    CsvRepeatedName {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// The second of the two columns, from 1.
        column: usize,
        /// The name, in quotes.
        text: String,
    },
    /// A `.csv` file has neither column names nor numbers.
    #[error("{path}: no numbers in this file")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The array has the wrong shape.
    #[error("{path}{place}: shape {shape}, expected {expected}{hint}", place = inside(.array.as_deref()))]
    Shape {
        /// The file.
        path: PathBuf,
        /// The name of the array, if it has one.
        array: Option<String>,
        /// The shape as numpy writes it: `(5, 3)`.
        shape: String,
        /// The expected shape.
        expected: String,
        /// A guess at the cause, starting with a separator, or an empty text.
        hint: &'static str,
    },
    /// The file has no array or column of an expected name.
    #[error("{path}: no {wanted}; the file has {found}", found = listed(.found))]
    MissingName {
        /// The file.
        path: PathBuf,
        /// The expected names.
        wanted: String,
        /// The names in the file.
        found: Vec<String>,
    },
    /// Several arrays or columns of the file could be the strengths.
    #[error("{path}: {names} could each be the strengths; keep one, or rename the others", names = listed(.names))]
    AmbiguousStrengths {
        /// The file.
        path: PathBuf,
        /// The candidates.
        names: Vec<String>,
    },
    /// Arrays that belong together have different numbers of rows.
    #[error("{path}: {first_rows} rows in {first} but {second_rows} in {second}")]
    RowsDiffer {
        /// The file.
        path: PathBuf,
        /// Name of one array.
        first: String,
        /// Its rows.
        first_rows: usize,
        /// Name of the other array.
        second: String,
        /// Its rows.
        second_rows: usize,
    },
    /// The number of values of an array to be written does not match its shape.
    #[error("{path}: cannot write {name}: {rows} x {columns} array with {values} values")]
    InconsistentArray {
        /// The file.
        path: PathBuf,
        /// The array's name.
        name: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// The number of values it holds.
        values: usize,
    },
    /// A name cannot be written because it is empty, repeated, or has characters that would not
    /// read back.
    #[error("{path}: cannot write an array named {name:?}: {reason}")]
    BadName {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The defect of the name.
        reason: &'static str,
    },
    /// A grid to be written is invalid.
    #[error("{path}: cannot write the grid: expected {expected}, found {found}")]
    BadGrid {
        /// The file.
        path: PathBuf,
        /// The condition on a grid.
        expected: String,
        /// The offending property of this grid.
        found: String,
    },
    /// The list of a time series cannot be read or written.
    #[error("{path}: not a time series: {problem}")]
    BadSeries {
        /// The file.
        path: PathBuf,
        /// The defect.
        problem: String,
    },
    /// No arrays were given to write.
    #[error("{path}: no arrays to write")]
    NothingToWrite {
        /// The file.
        path: PathBuf,
    },
}

fn describe_extension(path: &std::path::Path) -> String {
    match path.extension() {
        Some(extension) => format!("unknown extension .{}", extension.display()),
        None => "no extension".to_owned(),
    }
}

fn inside(array: Option<&str>) -> String {
    array.map_or_else(String::new, |name| format!(": array {name}"))
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return "no arrays".to_owned();
    }
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

fn number_hint(quoted: &str) -> &'static str {
    let text = quoted.trim_matches('"');
    if text.is_empty() {
        " (the field is empty)"
    } else if text.contains(',') && text.replace(',', ".").parse::<f64>().is_ok() {
        " (use a decimal point)"
    } else {
        ""
    }
}

/// Text from a file in quotes, with control characters escaped and long text shortened.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("{shown:?}")
}
