//! The folder of checkpoints: the last two are kept, and the newest sound one is found.

use super::Checkpoint;
use crate::error::Error;
use std::path::{Path, PathBuf};

/// The folder of checkpoints of a run.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A checkpoint that was found.
#[derive(Debug)]
pub struct Found {
    /// Its content.
    pub checkpoint: Checkpoint,
    /// Its file.
    pub path: PathBuf,
    /// What was wrong with newer ones.
    pub remarks: Vec<String>,
}

impl Store {
    /// How many checkpoints are kept.
    const KEPT: usize = 2;

    /// The store in a folder, which must exist when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where the checkpoint of a step is.
    pub fn path_of(&self, step: u64) -> PathBuf {
        self.folder.join(format!("checkpoint-{step:09}.ckpt"))
    }

    /// Writes a checkpoint: to a temporary file, flushed to the disk, then renamed. Only then are older ones than the
    /// one before removed.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written; what was there is untouched.
    pub fn write(&self, checkpoint: &Checkpoint) -> Result<PathBuf, Error> {
        let path = self.path_of(checkpoint.header.step);
        let bytes = checkpoint.to_bytes().map_err(|why| Error::Checkpoint {
            path: path.clone(),
            why,
        })?;
        farfield_io::write_bytes_atomically(&path, &bytes)?;
        let files = self.files()?;
        for (_, old) in files.iter().rev().skip(Self::KEPT) {
            // Only tidying: a file that cannot be removed does no harm.
            let _ = std::fs::remove_file(old);
        }
        Ok(path)
    }

    /// The newest checkpoint that is sound.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] or [`Error::Folder`] if there is none.
    pub fn newest(&self) -> Result<Found, Error> {
        let mut remarks = Vec::new();
        for (_, path) in self.files()?.into_iter().rev() {
            let read = std::fs::read(&path).map_err(|error| format!("it cannot be read: {error}"));
            match read.and_then(|bytes| Checkpoint::from_bytes(&bytes)) {
                Ok(checkpoint) => {
                    if let Some(last) = remarks.last_mut() {
                        let name = file_name(&path);
                        *last = format!("{last}; using {name}");
                    }
                    return Ok(Found {
                        checkpoint,
                        path,
                        remarks,
                    });
                }
                Err(why) => remarks.push(format!("{}: {why}", file_name(&path))),
            }
        }
        let why = if remarks.is_empty() {
            "there is no checkpoint here: nothing to resume".to_owned()
        } else {
            format!("no intact checkpoint here: {}", remarks.join("; "))
        };
        Err(Error::Folder {
            folder: self.folder.clone(),
            why,
        })
    }

    /// The checkpoint of a step, or the newest that is sound.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] or [`Error::Folder`] if there is none.
    pub fn of_step(&self, step: Option<u64>) -> Result<Found, Error> {
        let Some(step) = step else {
            return self.newest();
        };
        let path = self.path_of(step);
        let read = std::fs::read(&path).map_err(|_| {
            let steps: Vec<String> = self.steps().iter().map(u64::to_string).collect();
            Error::Folder {
                folder: self.folder.clone(),
                why: format!("there is no checkpoint of step {step}, only of {}", steps.join(", ")),
            }
        })?;
        match Checkpoint::from_bytes(&read) {
            Ok(checkpoint) => Ok(Found {
                checkpoint,
                path,
                remarks: Vec::new(),
            }),
            Err(why) => Err(Error::Checkpoint { path, why }),
        }
    }

    /// The steps of all checkpoints, oldest first.
    pub fn steps(&self) -> Vec<u64> {
        let files = self.files().unwrap_or_default();
        files.into_iter().map(|(step, _)| step).collect()
    }

    /// Whether there is any checkpoint, sound or not.
    pub fn holds_any(&self) -> bool {
        self.files().is_ok_and(|files| !files.is_empty())
    }

    /// Step and file of every checkpoint, oldest first.
    fn files(&self) -> Result<Vec<(u64, PathBuf)>, Error> {
        let entries = std::fs::read_dir(&self.folder).map_err(|error| Error::Folder {
            folder: self.folder.clone(),
            why: format!("cannot look for checkpoints: {error}"),
        })?;
        let mut files: Vec<(u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                let name = file_name(&path);
                let step = name.strip_prefix("checkpoint-")?.strip_suffix(".ckpt")?.parse().ok()?;
                Some((step, path))
            })
            .collect();
        files.sort();
        Ok(files)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::sample;
    use super::*;

    #[test]
    fn two_are_kept_and_the_newest_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        assert!(store.newest().unwrap_err().to_string().contains("nothing to resume"));
        assert!(!store.holds_any());
        for step in [0, 5, 10, 1_000_000_000] {
            store.write(&sample(step)).unwrap();
        }
        let names: Vec<u64> = store.files().unwrap().into_iter().map(|(step, _)| step).collect();
        assert_eq!(names, [10, 1_000_000_000]);
        let found = store.newest().unwrap();
        assert_eq!(found.checkpoint, sample(1_000_000_000));
        assert!(found.remarks.is_empty());
    }

    #[test]
    fn a_damaged_newest_gives_way_to_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        store.write(&sample(10)).unwrap();
        let newest = store.write(&sample(20)).unwrap();
        let bytes = std::fs::read(&newest).unwrap();
        for damaged in [&bytes[..bytes.len() / 2], &[]] {
            std::fs::write(&newest, damaged).unwrap();
            let found = store.newest().unwrap();
            assert_eq!(found.checkpoint, sample(10));
            assert!(
                found.remarks[0].contains("checkpoint-000000020.ckpt"),
                "{:?}",
                found.remarks
            );
            assert!(
                found.remarks[0].contains("using checkpoint-000000010.ckpt"),
                "{:?}",
                found.remarks
            );
        }
        std::fs::write(store.path_of(10), "no").unwrap();
        assert!(store.newest().unwrap_err().to_string().contains("no intact checkpoint"));
    }
}
