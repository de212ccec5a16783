//! The folder of a run: its contents, and the lock that lets only one run write to it.
//!
//! ```text
//! case.toml        the resolved case          diagnostics.csv  a row for every measured step
//! run.toml         version, seed, machine     diagnostics.png  charts of it, with theory if available
//! run.log          log of events              checkpoints/     the last two
//! frames/          pictures, by view          fields/          .vtp, .pvd and .npz
//! ```

use crate::case::Case;
use crate::checkpoint::Store;
use crate::error::Error;
use crate::ranks::{Ranks, agree, speaks};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of a run, locked while it is open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Held while the run writes. The system releases it however the program ends. `None` on every rank but the first.
    lock: Option<File>,
}

impl Folder {
    /// Creates the folder of a new run.
    ///
    /// # Errors
    /// [`Error::Folder`] if it holds a run already, if another program writes to it, or if it cannot be written.
    pub fn create(path: &Path, case: &Case) -> Result<Self, Error> {
        // The folder of a run that was killed before its first checkpoint is reused.
        let began = path.join("checkpoints").is_dir();
        if !began && path.join("case.toml").exists() {
            return Err(refused(
                path,
                "this folder has a file case.toml, which a run would replace: choose another with -o DIR".to_owned(),
            ));
        }
        let folder = if began {
            Self::open(path)?
        } else {
            make_parts(path)?;
            Self {
                lock: Some(lock(path)?),
                path: path.to_owned(),
            }
        };
        if folder.store().holds_any() {
            return Err(refused(
                path,
                format!(
                    "this folder already holds a run: choose another with -o DIR, or continue it: farfield resume {}",
                    path.display()
                ),
            ));
        }
        folder.keep_case(case)?;
        let about = format!(
            "version = \"{}\"\nseed = {}\nsimd = \"{}\"\nthreads = {}\n",
            env!("CARGO_PKG_VERSION"),
            case.seed,
            farfield::simd::SimdLevel::best().name(),
            rayon::current_num_threads()
        );
        farfield_io::write_text_atomically(path.join("run.toml"), &about)?;
        Ok(folder)
    }

    /// Opens the folder of an earlier run.
    ///
    /// # Errors
    /// [`Error::Folder`] if the folder holds no run, or if another program writes to it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !path.join("checkpoints").is_dir() {
            return Err(refused(
                path,
                "this folder holds no run: start one with farfield run NAME -o DIR".to_owned(),
            ));
        }
        let lock = lock(path)?;
        // Subfolders that were deleted are created again.
        make_parts(path)?;
        Ok(Self {
            lock: Some(lock),
            path: path.to_owned(),
        })
    }

    /// The folder for all ranks. The first rank creates or opens it by `first`, which locks it, and only that rank
    /// writes log and case. Called by all ranks together.
    ///
    /// # Errors
    /// The errors of `first`, the same on all ranks.
    pub(super) fn of_all(
        ranks: &dyn Ranks,
        path: &Path,
        first: impl FnOnce() -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let own = if speaks(ranks) {
            first()
        } else {
            Ok(Self {
                lock: None,
                path: path.to_owned(),
            })
        };
        agree(ranks, own)
    }

    /// The saved case of a run that was killed before its first checkpoint.
    ///
    /// # Errors
    /// [`Error::Folder`] if there is no case file, [`Error::Case`] if it is invalid.
    pub(super) fn kept_case(&self) -> Result<Case, Error> {
        let path = self.path.join("case.toml");
        let text = std::fs::read_to_string(&path).map_err(|_| {
            refused(
                &self.path,
                "the run was stopped before it started: start it again with farfield run NAME -o DIR".to_owned(),
            )
        })?;
        Ok(crate::case::read(&text, &path.display().to_string(), &[])?)
    }

    /// Removes temporary files of interrupted writes from the folder and its subfolders. Returns remarks.
    pub(super) fn remove_leftovers(&self) -> Vec<String> {
        let frames = self.path.join("frames");
        let views = std::fs::read_dir(&frames).into_iter().flatten().flatten();
        let mut folders = vec![
            self.path.clone(),
            self.path.join("checkpoints"),
            self.path.join("fields"),
        ];
        folders.extend(views.map(|entry| entry.path()).filter(|path| path.is_dir()));
        folders.push(frames);
        let _ = std::fs::remove_file(self.path.join(PROBE));
        let removed = folders.iter().flat_map(farfield_io::remove_leftovers);
        removed
            .map(|path| {
                let name = path.strip_prefix(&self.path).unwrap_or(&path).display().to_string();
                format!("removed {name}, left behind by an interrupted write")
            })
            .collect()
    }

    /// Whether the folder still has a checkpoint: not if the folder was removed.
    pub(super) fn holds_a_checkpoint(&self) -> bool {
        self.store().holds_any()
    }

    /// Writes the resolved case. Does nothing on ranks other than the first.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written.
    pub fn keep_case(&self, case: &Case) -> Result<(), Error> {
        if self.lock.is_none() {
            return Ok(());
        }
        let text = case_text(case, &self.path)?;
        Ok(farfield_io::write_text_atomically(self.path.join("case.toml"), &text)?)
    }

    /// Checks that `bytes` more bytes can be written, by writing them.
    ///
    /// # Errors
    /// [`Error::Folder`] if they cannot be written.
    pub fn probe(&self, bytes: usize) -> Result<(), Error> {
        let path = self.path.join(PROBE);
        let written = File::create(&path).and_then(|mut file| {
            let block = vec![0x5a; (1 << 20).min(bytes)];
            let mut left = bytes;
            while left > 0 {
                let now = left.min(block.len());
                file.write_all(&block[..now])?;
                left -= now;
            }
            file.sync_all()
        });
        let _ = std::fs::remove_file(&path);
        written.map_err(|error| {
            let megabytes = bytes as f64 / 1e6;
            refused(
                &self.path,
                format!("there is no space for checkpoints of {megabytes:.1} MB: {error}"),
            )
        })
    }

    /// Appends a line to the log. Failures to write the log are ignored.
    pub fn log(&self, line: &str) {
        if self.lock.is_none() {
            return;
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path.join("run.log"));
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{line}");
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the table of diagnostics.
    pub fn diagnostics(&self) -> PathBuf {
        self.path.join("diagnostics.csv")
    }

    /// The store of checkpoints.
    pub fn store(&self) -> Store {
        Store::new(self.path.join("checkpoints"))
    }
}

/// A case as TOML.
///
/// # Errors
/// [`Error::Folder`] if it cannot be written as TOML.
pub fn case_text(case: &Case, folder: &Path) -> Result<String, Error> {
    toml::to_string(case).map_err(|error| refused(folder, format!("cannot write the case: {error}")))
}

/// The name of the file that [`Folder::probe`] writes.
const PROBE: &str = ".probe";

fn make_parts(path: &Path) -> Result<(), Error> {
    for part in ["checkpoints", "frames", "fields"] {
        std::fs::create_dir_all(path.join(part)).map_err(|error| {
            refused(
                path,
                format!("cannot create the folder {part}: {error}; choose another with -o DIR"),
            )
        })?;
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File, Error> {
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path.join(".lock"))
        .map_err(|error| {
            refused(
                path,
                format!("cannot write here: {error}; choose another folder with -o DIR"),
            )
        })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(refused(path, "another run is writing to this folder".to_owned())),
        // The file system has no locks: continue without one.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn refused(folder: &Path, why: String) -> Error {
    Error::Folder {
        folder: folder.to_owned(),
        why,
    }
}
