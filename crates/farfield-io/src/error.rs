//! Everything that can go wrong when a file is read or written.

use std::io;
use std::path::PathBuf;

use crate::npy::NpyProblem;

/// Why a file could not be read or written. Every message names the file.
///
/// The message is complete in itself: what the operating system or the archive reader said is
/// part of it, so there is no further [`source`](std::error::Error::source) to print.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or read.
    #[error("{path}: cannot read: {cause}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The file could not be written; what was there before is untouched.
    #[error("{path}: cannot write: {cause}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The folder to write into does not exist.
    #[error("{path}: cannot write: there is no folder {folder}")]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder it was to go to.
        folder: PathBuf,
    },
    /// The file name does not end in a supported extension.
    #[error("{path}: {found}; supported are .npy, .npz and .csv", found = describe_extension(.path))]
    UnknownExtension {
        /// The file.
        path: PathBuf,
    },
    /// A `.vtp` file is not as the format asks, or of a kind that cannot be read.
    #[error("{path}: {reason}")]
    Vtk {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The array does not fit into memory.
    #[error("{path}: no memory for {bytes} bytes of numbers")]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// How much was asked for.
        bytes: u64,
    },
    /// A `.npy` file, or an array inside an `.npz` file, is not as the format asks.
    #[error("{path}{place}: {problem}", place = inside(.array.as_deref()))]
    Npy {
        /// The file.
        path: PathBuf,
        /// The name of the array, for one inside an `.npz` file.
        array: Option<String>,
        /// What is wrong.
        problem: NpyProblem,
    },
    /// An `.npz` file is not a readable zip archive.
    #[error("{path}{place}: not a readable npz (zip) archive: {cause}", place = inside(.array.as_deref()))]
    Npz {
        /// The file.
        path: PathBuf,
        /// The name of the array that was being read, if it came that far.
        array: Option<String>,
        /// What the archive reader said.
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
        /// The first field that is missing or too many, from 1.
        column: usize,
        /// Fields on this line.
        found: usize,
        /// Fields on the first line.
        expected: usize,
        /// The line that set the number of fields.
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
    /// The array has another shape than the one needed.
    #[error("{path}{place}: shape {shape}, expected {expected}{hint}", place = inside(.array.as_deref()))]
    Shape {
        /// The file.
        path: PathBuf,
        /// The name of the array, where it has one.
        array: Option<String>,
        /// The shape as numpy writes it: `(5, 3)`.
        shape: String,
        /// The shape that was expected.
        expected: String,
        /// A guess at the cause, starting with a separator, or nothing.
        hint: &'static str,
    },
    /// The file has no array or column of an expected name.
    #[error("{path}: no {wanted}; the file has {found}", found = listed(.found))]
    MissingName {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        wanted: String,
        /// The names that are there.
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
    #[error("{path}: {first} has {first_rows} rows but {second} has {second_rows}")]
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
    /// An array to be written holds another number of values than its shape says.
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
        /// How many values it holds.
        values: usize,
    },
    /// A name cannot be written, because it is empty, repeated or has characters that would not
    /// read back.
    #[error("{path}: cannot write an array named {name:?}: {reason}")]
    BadName {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A grid to be written has an impossible shape.
    #[error("{path}: cannot write the grid: expected {expected}, found {found}")]
    BadGrid {
        /// The file.
        path: PathBuf,
        /// What a grid needs.
        expected: String,
        /// What this one has.
        found: String,
    },
    /// The list of a time series cannot be read or written.
    #[error("{path}: not a time series: {problem}")]
    BadSeries {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing to write.
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
        return "none".to_owned();
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
        " (write decimals with a point)"
    } else {
        ""
    }
}

/// Text from a file in quotes: control characters escaped, long text cut.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("{shown:?}")
}
