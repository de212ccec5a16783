//! The search for libnvrtc.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable with the path of the library; it takes precedence over all other places.
pub const VARIABLE: &str = "FARFIELD_NVRTC";

/// Library names for the system's loader, newest first.
#[cfg(not(windows))]
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
#[cfg(windows)]
const NAMES: [&str; 2] = ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"];

/// The places to search, taken from the environment or set by tests.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The path from the variable `FARFIELD_NVRTC`; if set, it is the only candidate.
    pub given: Option<PathBuf>,
    /// Folders of CUDA toolkits.
    pub toolkits: Vec<PathBuf>,
    /// Folders of Python environments.
    pub pythons: Vec<PathBuf>,
    /// Whether to try the system's loader first.
    pub loader: bool,
}

impl Places {
    /// The usual places, from the environment of this process.
    pub fn of_environment() -> Self {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let mut toolkits: Vec<PathBuf> = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).collect();
        toolkits.push(PathBuf::from("/usr/local/cuda"));
        toolkits.extend(children(Path::new("/usr/local"), "cuda-"));
        toolkits.push(PathBuf::from("/opt/cuda"));
        let mut pythons: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .filter_map(variable)
            .collect();
        if let Some(home) = variable("HOME") {
            pythons.push(home.join(".local"));
        }
        pythons.extend([PathBuf::from("/usr/local"), PathBuf::from("/usr")]);
        Self {
            given: variable(VARIABLE),
            toolkits,
            pythons,
            loader: true,
        }
    }

    /// The candidates, best first: names for the loader and files that exist.
    pub fn candidates(&self) -> Vec<PathBuf> {
        if let Some(given) = &self.given {
            return vec![given.clone()];
        }
        let mut found: Vec<PathBuf> = Vec::new();
        if self.loader {
            found.extend(NAMES.map(PathBuf::from));
        }
        found.extend(self.folders().iter().flat_map(|folder| libraries_in(folder)));
        found
    }

    /// The folders that are searched.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for toolkit in &self.toolkits {
            folders.extend([
                toolkit.join("lib64"),
                toolkit.join("targets/x86_64-linux/lib"),
                toolkit.join("bin"),
            ]);
        }
        for python in &self.pythons {
            for packages in site_packages(python) {
                // pip's nvidia-cuda-nvrtc-cu12, and nvidia-cuda-nvrtc for CUDA 13
                folders.extend([packages.join("nvidia/cuda_nvrtc/lib"), packages.join("nvidia/cu13/lib")]);
            }
            // conda's own libraries
            folders.push(python.join("lib"));
        }
        folders
    }
}

/// The package folders of a Python environment.
fn site_packages(python: &Path) -> Vec<PathBuf> {
    let mut found = vec![python.join("Lib/site-packages")];
    for lib in ["lib", "lib64"] {
        for version in children(&python.join(lib), "python3") {
            found.extend([version.join("site-packages"), version.join("dist-packages")]);
        }
    }
    found
}

/// The entries of a folder whose names start with `prefix`, in descending order.
fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names: BTreeSet<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .and_then(OsStr::to_str)
                .is_some_and(|name| name.starts_with(prefix))
        })
        .collect();
    names.into_iter().rev().collect()
}

/// The run-time compilers in a folder, without the companion libraries `builtins` and `alt`.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let prefix = if cfg!(windows) { "nvrtc64_" } else { "libnvrtc.so" };
    children(folder, prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"").unwrap();
    }

    #[test]
    fn a_given_path_is_the_only_candidate() {
        let places = Places {
            given: Some("/somewhere/libnvrtc.so".into()),
            loader: true,
            ..Places::default()
        };
        assert_eq!(places.candidates(), [PathBuf::from("/somewhere/libnvrtc.so")]);
    }

    #[test]
    #[cfg(unix)]
    fn libraries_of_pip_and_of_toolkits_are_found_and_companions_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let pip = folder
            .path()
            .join("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
        let toolkit = folder.path().join("cuda-12.9/lib64");
        for name in ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9", "libnvrtc.alt.so.12"] {
            touch(&pip.join(name));
        }
        touch(&toolkit.join("libnvrtc.so.12.9.86"));
        let places = Places {
            pythons: vec![folder.path().join("venv")],
            toolkits: vec![folder.path().join("cuda-12.9")],
            ..Places::default()
        };
        assert_eq!(
            places.candidates(),
            [toolkit.join("libnvrtc.so.12.9.86"), pip.join("libnvrtc.so.12")]
        );
    }

    #[test]
    fn an_empty_folder_gives_no_candidates() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
            pythons: vec![folder.path().join("none")],
            toolkits: vec![folder.path().to_owned()],
            ..Places::default()
        };
        assert!(places.candidates().is_empty());
        assert!(!places.folders().is_empty());
    }
}
