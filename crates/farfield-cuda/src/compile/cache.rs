//! Compiled programs on disk, so that the second start of a program compiles nothing.
//!
//! An entry is a file named by the key of its program ([`super::Program::key`]). It holds a line with the format, the
//! checksum of the code, and the code. It is written to a temporary file and renamed, so readers never see a partial
//! entry. An entry that does not match its checksum is removed and compiled again.

use super::program::hex;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"farfield kernel 1\n";

/// A folder of compiled programs, or no cache at all.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The folder `farfield/kernels` in the user's cache folder, or the folder in `FARFIELD_CACHE`. If that variable
    /// is empty, nothing is cached.
    pub fn of_user() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let filled = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
        let folder = match variable("FARFIELD_CACHE") {
            Some(folder) if folder.as_os_str().is_empty() => None,
            Some(folder) => Some(folder),
            None => filled("XDG_CACHE_HOME")
                .or_else(|| filled("LOCALAPPDATA"))
                .or_else(|| filled("HOME").map(|home| home.join(".cache")))
                .map(|folder| folder.join("farfield").join("kernels")),
        };
        Self { folder }
    }

    /// A cache in the given folder, which is created when the first entry is stored.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
        }
    }

    /// A cache that stores nothing.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// The folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The code stored under `key`, if it exists and matches its checksum.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let bytes = fs::read(&path).ok()?;
        let code = check(&bytes);
        if code.is_none() {
            // A damaged entry. Another process may have removed it already.
            let _ = fs::remove_file(&path);
        }
        code.map(<[u8]>::to_vec)
    }

    /// Stores code under `key`.
    ///
    /// # Errors
    /// Errors of the file system, which callers may ignore.
    pub fn put(&self, key: &str, code: &[u8]) -> io::Result<()> {
        let (Some(folder), Some(path)) = (&self.folder, self.path(key)) else {
            return Ok(());
        };
        fs::create_dir_all(folder)?;
        let beside = folder.join(format!(
            "{key}.{}.{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let write = || -> io::Result<()> {
            let mut file = fs::File::create_new(&beside)?;
            file.write_all(MAGIC)?;
            file.write_all(checksum(code).as_bytes())?;
            file.write_all(b"\n")?;
            file.write_all(code)?;
            file.sync_all()?;
            fs::rename(&beside, &path)
        };
        write().inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(key))
    }
}

fn checksum(code: &[u8]) -> String {
    hex(&Sha256::digest(code))
}

/// The code of an entry, if its checksum is right.
fn check(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, code) = rest.split_at_checked(64)?;
    let code = code.strip_prefix(b"\n")?;
    (!code.is_empty() && checksum(code).as_bytes() == sum).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_code_is_returned() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("new"));
        assert_eq!(cache.get("a"), None);
        cache.put("a", b"code").unwrap();
        cache.put("b", b"other").unwrap();
        assert_eq!(cache.get("a").unwrap(), b"code");
        cache.put("a", b"newer").unwrap();
        assert_eq!(cache.get("a").unwrap(), b"newer");
        assert_eq!(cache.get("b").unwrap(), b"other");
        // No temporary files are left.
        assert_eq!(fs::read_dir(cache.folder().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn an_entry_with_any_byte_changed_or_cut_is_removed_and_never_returned() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.put("a", b"machine code").unwrap();
        let path = folder.path().join("a");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 0x20;
            fs::write(&path, &bad).unwrap();
            assert_eq!(cache.get("a"), None, "byte {at}");
            assert!(!path.exists(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.get("a"), None, "{at} bytes");
        }
        fs::write(&path, &whole).unwrap();
        assert_eq!(cache.get("a").unwrap(), b"machine code");
    }

    #[test]
    fn a_disabled_cache_stores_nothing_and_does_not_fail() {
        let cache = Cache::none();
        cache.put("a", b"code").unwrap();
        assert_eq!(cache.get("a"), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(Cache::at(file.join("below")).put("a", b"code").is_err());
    }
}
