//! Atomic writing: a file appears complete or not at all.
//!
//! The content goes to a temporary file in the same folder, which is flushed to the disk and only
//! then renamed to its final name. On any failure the temporary file is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Writes `text` to `path`, completely or not at all. See [`write_bytes_atomically`].
///
/// # Errors
///
/// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for any other failure.
pub fn write_text_atomically(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    write_bytes_atomically(path, text.as_bytes())
}

/// Writes `bytes` to `path`, completely or not at all.
///
/// An existing file at `path` is replaced, and the new file keeps its permissions; if `path` is a
/// symbolic link, the file it points to is replaced. On a failure an existing file is untouched
/// and no temporary file is left in the folder. A device or a pipe cannot be replaced, so it is
/// written directly.
///
/// # Errors
///
/// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for any other failure.
pub fn write_bytes_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path.as_ref(), |file| file.write_all(bytes))
}

/// Writes the content of `path` with `fill`. The writer can seek, except for devices.
pub(crate) fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    fill(&mut file.writer).map_err(|cause| file.failed(cause))?;
    file.finish()
}

/// A file that is written piece by piece and appears complete or not at all.
///
/// The content goes to a temporary file in the same folder. [`finish`](Self::finish) flushes it to
/// the disk and gives it its final name. If it is dropped before that, the temporary file is removed
/// and an existing file at the path is untouched. Otherwise as [`write_bytes_atomically`].
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("frames.bin");
/// let mut file = farfield_io::AtomicFile::create(&path)?;
/// file.write_all(b"first ")?;
/// assert!(!path.exists());
/// file.write_all(b"second")?;
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"first second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    /// The final path of the file: `path` with symbolic links resolved.
    destination: PathBuf,
    writer: BufWriter<File>,
    /// The temporary file; `None` for devices and pipes, which are written directly.
    unfinished: Option<Unfinished>,
}

impl AtomicFile {
    /// Starts a file whose final path is `path`.
    ///
    /// # Errors
    ///
    /// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for any other failure.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let failed = |cause| Error::Write {
            path: path.clone(),
            cause,
        };
        let existing = fs::metadata(&path).ok();
        if let Some(existing) = &existing {
            if existing.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            if !existing.is_file() {
                let device = OpenOptions::new().write(true).open(&path).map_err(failed)?;
                return Ok(Self {
                    destination: path.clone(),
                    path,
                    writer: BufWriter::new(device),
                    unfinished: None,
                });
            }
        }
        // Keeps a symbolic link and replaces the file it points to.
        let destination = match &existing {
            Some(_) => fs::canonicalize(&path).map_err(failed)?,
            None => path.clone(),
        };
        let folder = folder_of(&destination);
        if !folder.is_dir() {
            return Err(Error::NoFolder {
                folder: folder.to_owned(),
                path,
            });
        }
        let (unfinished, file) = Unfinished::create_in(folder).map_err(failed)?;
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions()).map_err(failed)?;
        }
        Ok(Self {
            path,
            destination,
            writer: BufWriter::with_capacity(1 << 16, file),
            unfinished: Some(unfinished),
        })
    }

    /// The final path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the content to the disk and gives the file its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] on any failure; an existing file at the path is then untouched and no
    /// temporary file is left in the folder.
    pub fn finish(self) -> Result<(), Error> {
        let failed = |cause| Error::Write {
            path: self.path.clone(),
            cause,
        };
        let file = self.writer.into_inner().map_err(|error| failed(error.into()))?;
        let Some(unfinished) = self.unfinished else {
            return Ok(());
        };
        file.sync_all().map_err(failed)?;
        drop(file);
        unfinished.rename_to(&self.destination).map_err(failed)?;
        // The new name is in place; a folder that cannot be flushed only delays durability.
        #[cfg(unix)]
        if let Ok(folder) = File::open(folder_of(&self.destination)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// The error for a failed write.
    fn failed(&self, cause: io::Error) -> Error {
        Error::Write {
            path: self.path.clone(),
            cause,
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Removes the temporary files that killed processes left in a folder, and returns their paths. Files of processes of
/// this program that still run on this machine are kept.
pub fn remove_leftovers(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let unfinished = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let middle = name
            .strip_prefix(".farfield-")
            .and_then(|rest| rest.strip_suffix(".tmp"));
        middle
            .and_then(|middle| middle.split_once('-')?.0.parse::<u32>().ok())
            .is_some_and(|process| !is_running(process))
    });
    unfinished.filter(|path| fs::remove_file(path).is_ok()).collect()
}

/// Whether `process` is the id of another running process of this program; false on systems without `/proc`.
fn is_running(process: u32) -> bool {
    let name = |process: &str| fs::read(Path::new("/proc").join(process).join("comm")).ok();
    process != process::id() && name(&process.to_string()).is_some_and(|other| Some(other) == name("self"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A temporary file, removed on drop unless it has been renamed.
#[derive(Debug)]
struct Unfinished {
    path: Option<PathBuf>,
}

impl Unfinished {
    fn create_in(folder: &Path) -> io::Result<(Self, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        const ATTEMPTS: usize = 1000;
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".farfield-{}-{number}.tmp", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self { path: Some(path) }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    fn rename_to(mut self, destination: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, destination)?;
        }
        self.path = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // An error is already being reported; a failure to remove the file cannot be.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.csv");
        fs::write(&path, "old").unwrap();
        let outcome = write_atomically(&path, |file| {
            file.write_all(&[b'x'; 200_000])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("result.csv: cannot write: "), "{message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(folder.path()), ["result.csv"]);
    }

    #[test]
    fn a_failed_rename_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken.csv");
        let outcome = write_atomically(&path, |file| {
            fs::create_dir(&path)?;
            file.write_all(b"new")
        });
        assert!(matches!(outcome, Err(Error::Write { .. })), "{outcome:?}");
        assert_eq!(names_in(folder.path()), ["taken.csv"]);
    }

    #[test]
    fn the_message_names_a_missing_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent").join("result.json");
        let message = write_text_atomically(&path, "{}").unwrap_err().to_string();
        let absent = folder.path().join("absent");
        let expected = format!(
            "{}: cannot write: the folder {} does not exist",
            path.display(),
            absent.display()
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn a_folder_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = write_text_atomically(folder.path(), "new");
        assert!(matches!(outcome, Err(Error::Write { .. })), "{outcome:?}");
        assert!(folder.path().is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_are_kept() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_text_atomically(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);

        write_text_atomically("/dev/null", "gone").unwrap();
        let null = fs::metadata("/dev/null").unwrap();
        assert!(null.file_type().is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_folder_keeps_the_old_file() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.csv");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let outcome = write_text_atomically(&path, "new");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // The superuser may write nevertheless; then the new file must be complete.
        let expected = if outcome.is_ok() { "new" } else { "old" };
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(names_in(folder.path()), ["result.csv"]);
    }
}
