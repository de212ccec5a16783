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
    let failed = |cause| Error::Write {
        path: path.to_owned(),
        cause,
    };
    let existing = fs::metadata(path).ok();
    if let Some(existing) = &existing {
        if existing.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !existing.is_file() {
            return write_directly(path, fill).map_err(failed);
        }
    }
    // Through a symbolic link, replace the file and keep the link.
    let destination = match &existing {
        Some(_) => fs::canonicalize(path).map_err(failed)?,
        None => path.to_owned(),
    };
    let folder = match destination.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(Error::NoFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        });
    }
    let (unfinished, file) = Unfinished::create_in(folder).map_err(failed)?;
    if let Some(existing) = existing {
        file.set_permissions(existing.permissions()).map_err(failed)?;
    }
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer).map_err(failed)?;
    let file = writer.into_inner().map_err(|error| failed(error.into()))?;
    file.sync_all().map_err(failed)?;
    drop(file);
    unfinished.rename_to(&destination).map_err(failed)?;
    // The new name is in place; a folder that cannot be flushed only delays its durability.
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_directly(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    fill(&mut writer)?;
    writer.flush()
}

/// A file under a passing name, removed unless it gets its final one.
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
