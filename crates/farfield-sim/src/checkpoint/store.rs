//! The folder of checkpoints: keeps the last two and finds the newest intact one.

use super::format::{self, Written};
use super::parts::{Parts, joined};
use super::view::StateView;
use super::{Checkpoint, Header};
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
    /// The problems of newer checkpoints, which were skipped.
    pub remarks: Vec<String>,
}

impl Store {
    /// The number of checkpoints that are kept.
    const KEPT: usize = 2;

    /// The store in `folder`, which must exist before a checkpoint is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The path of the checkpoint of a step.
    pub fn path_of(&self, step: u64) -> PathBuf {
        self.folder.join(format!("checkpoint-{step:09}.ckpt"))
    }

    /// Writes a checkpoint to a temporary file, flushes it to the disk and renames it. Then removes all but the last
    /// two checkpoints.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written; existing checkpoints are untouched.
    pub fn write(&self, header: &Header, state: &StateView<'_>) -> Result<PathBuf, Error> {
        let path = self.path_of(header.step);
        write_file(&path, header, state)?;
        self.tidy()?;
        Ok(path)
    }

    /// The size of a checkpoint in bytes.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if its header cannot be written.
    pub fn size_of(&self, header: &Header, state: &StateView<'_>) -> Result<u64, Error> {
        let written = format::write(header, state, &mut std::io::sink());
        written.map(|written| written.bytes).map_err(|error| Error::Checkpoint {
            path: self.path_of(header.step),
            why: error.to_string(),
        })
    }

    /// The path of the list of parts of a step.
    pub(super) fn list_of(&self, step: u64) -> PathBuf {
        self.folder.join(format!("checkpoint-{step:09}.parts"))
    }

    /// Removes all but the last two checkpoints, and parts that no list names.
    pub(super) fn tidy(&self) -> Result<(), Error> {
        // Failures to remove a file are harmless.
        let files = self.files()?;
        let kept = files.len().saturating_sub(Self::KEPT);
        for (_, old) in &files[..kept] {
            let _ = std::fs::remove_file(old);
        }
        let lists = files[kept..].iter().filter(|(_, path)| is_list(path));
        let named: Vec<String> = lists
            .filter_map(|(_, path)| Parts::read(path).ok())
            .map(|parts| parts.folder)
            .collect();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("step-") && !named.contains(&name) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    /// The names of all checkpoints, oldest first.
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.files()?.iter().map(|(_, path)| file_name(path)).collect())
    }

    /// The newest intact checkpoint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] or [`Error::Folder`] if it does not exist or cannot be read.
    pub fn newest(&self) -> Result<Found, Error> {
        let mut remarks = Vec::new();
        for (_, path) in self.files()?.into_iter().rev() {
            match read(&path) {
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
        Err(self.nothing_found(&remarks))
    }

    /// The error if no checkpoint can be used; `remarks` are the problems of the existing ones.
    pub(super) fn nothing_found(&self, remarks: &[String]) -> Error {
        let why = if remarks.is_empty() {
            "there is no checkpoint here: nothing to resume".to_owned()
        } else {
            format!("no intact checkpoint here: {}", remarks.join("; "))
        };
        Error::Folder {
            folder: self.folder.clone(),
            why,
        }
    }

    /// The checkpoint of `step`, or the newest intact one if that is `None`.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] or [`Error::Folder`] if it does not exist or cannot be read.
    pub fn of_step(&self, step: Option<u64>) -> Result<Found, Error> {
        let Some(step) = step else {
            return self.newest();
        };
        let found = self.files()?.into_iter().rev().find(|(of, _)| *of == step);
        let Some((_, path)) = found else {
            let steps: Vec<String> = self.steps().iter().map(u64::to_string).collect();
            return Err(Error::Folder {
                folder: self.folder.clone(),
                why: format!(
                    "there is no checkpoint of step {step}, only of steps {}",
                    steps.join(", ")
                ),
            });
        };
        match read(&path) {
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

    /// Whether there is any checkpoint, intact or not.
    pub fn holds_any(&self) -> bool {
        self.files().is_ok_and(|files| !files.is_empty())
    }

    /// Step and file of every checkpoint, oldest first.
    fn files(&self) -> Result<Vec<(u64, PathBuf)>, Error> {
        let entries = std::fs::read_dir(&self.folder).map_err(|error| Error::Folder {
            folder: self.folder.clone(),
            why: format!("cannot list the checkpoints: {error}"),
        })?;
        let mut files: Vec<(u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                let name = file_name(&path);
                let step = name.strip_prefix("checkpoint-")?;
                let step = step.strip_suffix(".ckpt").or(step.strip_suffix(".parts"))?;
                let step = step.parse().ok()?;
                Some((step, path))
            })
            .collect();
        files.sort();
        Ok(files)
    }
}

/// Writes a file, completely or not at all.
pub(super) fn write_file(path: &Path, header: &Header, state: &StateView<'_>) -> Result<Written, Error> {
    let mut file = farfield_io::AtomicFile::create(path)?;
    let written = format::write(header, state, &mut file).map_err(|cause| farfield_io::Error::Write {
        path: path.to_owned(),
        cause,
    })?;
    file.finish()?;
    Ok(written)
}

/// Whether `path` is a list of parts that ranks wrote.
pub(super) fn is_list(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parts")
}

/// Reads a checkpoint of one process, or all parts of one that ranks wrote.
pub(super) fn read(path: &Path) -> Result<Checkpoint, String> {
    if is_list(path) {
        let parts = Parts::read(path)?;
        let first = parts.part(path, 0)?;
        let rest: Result<Vec<_>, String> = (1..parts.count()).map(|rank| parts.part(path, rank)).collect();
        let all = [first.state]
            .into_iter()
            .chain(rest?.into_iter().map(|part| part.state));
        return Ok(Checkpoint {
            header: first.header,
            state: joined(all)?,
        });
    }
    let bytes = std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    Checkpoint::from_bytes(&bytes)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::sample;
    use super::*;

    fn write(store: &Store, step: u64) -> PathBuf {
        let Checkpoint { header, state } = sample(step);
        let view = StateView::from(state);
        let path = store.write(&header, &view).unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().len(),
            store.size_of(&header, &view).unwrap()
        );
        path
    }

    #[test]
    fn the_last_two_are_kept_and_the_newest_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        assert!(store.newest().unwrap_err().to_string().contains("nothing to resume"));
        assert!(!store.holds_any());
        for step in [0, 5, 10, 1_000_000_000] {
            write(&store, step);
        }
        let names: Vec<u64> = store.files().unwrap().into_iter().map(|(step, _)| step).collect();
        assert_eq!(names, [10, 1_000_000_000]);
        let found = store.newest().unwrap();
        assert_eq!(found.checkpoint, sample(1_000_000_000));
        assert!(found.remarks.is_empty());
    }

    #[test]
    fn a_damaged_checkpoint_is_skipped_for_the_previous_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        write(&store, 10);
        let newest = write(&store, 20);
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
