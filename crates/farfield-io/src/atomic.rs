//! Files that appear complete or not at all.
//!
//! The content goes to a new file in the same folder, which is flushed to the disk and only then
//! renamed to the wanted name. On any failure the new file is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Writes `text` to `path`, all of it or nothing. See [`write_bytes_atomically`].
///
/// # Errors
///
/// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for everything else that
/// the operating system refuses.
pub fn write_text_atomically(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    write_bytes_atomically(path, text.as_bytes())
}

/// Writes `bytes` to `path`, all of them or nothing.
///
/// A file already at `path` is replaced and lends its permissions to the new one; through a
/// symbolic link, the file it points to is replaced. If anything fails, what was at `path`
/// before is untouched and nothing else is left in the folder. A device or a pipe cannot be
/// replaced, so it is written to directly.
///
/// # Errors
///
/// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for everything else that
/// the operating system refuses.
pub fn write_bytes_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path.as_ref(), |file| file.write_all(bytes))
}

/// Lets `fill` write the content of `path`. The writer can be sought, except for devices.
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
/// Everything goes to a new file in the same folder. [`finish`](Self::finish) flushes it to the
/// disk and gives it the wanted name. Dropped before that, it is removed, and what was at the path
/// before is untouched. The other rules are those of [`write_bytes_atomically`].
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
    /// Where the file goes in the end; `path` with its links followed.
    destination: PathBuf,
    writer: BufWriter<File>,
    /// Nothing for devices and pipes, which are written to directly.
    unfinished: Option<Unfinished>,
}

impl AtomicFile {
    /// Starts a file that will be at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::NoFolder`] if the folder does not exist, [`Error::Write`] for everything else
    /// that the operating system refuses.
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
        // Through a symbolic link, replace the file and keep the link.
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

    /// The path the file will have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes everything to the disk and gives the file its name.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if the operating system refuses; then what was at the path before is
    /// untouched and nothing else is left in the folder.
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
        // The new name is in place; a folder that cannot be flushed only delays its durability.
        #[cfg(unix)]
        if let Ok(folder) = File::open(folder_of(&self.destination)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// The error for a piece that could not be written.
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

/// Removes unfinished files that killed programs left in a folder, and returns their paths. Those of a process of this
/// program that still runs on this machine are left alone.
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

/// Whether another process of this program has that number; where the system does not tell, none has.
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

/// A file under a passing name, removed unless it gets its final one.
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
            // Already failing: there is nobody left to tell about a file that cannot be removed.
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
    fn failing_halfway_keeps_the_old_file_and_leaves_nothing_else() {
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
    fn failing_rename_leaves_nothing_else() {
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
    fn missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent").join("result.json");
        let message = write_text_atomically(&path, "{}").unwrap_err().to_string();
        let absent = folder.path().join("absent");
        let expected = format!(
            "{}: cannot write: there is no folder {}",
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
    fn links_stay_permissions_stay_and_devices_stay() {
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
    fn read_only_folder_keeps_the_old_file() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.csv");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let outcome = write_text_atomically(&path, "new");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // The superuser may write anyway; then the new file must be complete.
        let expected = if outcome.is_ok() { "new" } else { "old" };
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(names_in(folder.path()), ["result.csv"]);
    }
}
