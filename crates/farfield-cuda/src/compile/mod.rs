//! Run-time compilation. Kernels are compiled when first needed, with order, precision and kernel as literals, and
//! cached on disk.
//!
//! [`Program`] describes what to compile, [`Nvrtc`] compiles it, [`Cache`] stores the result; [`Compiler`] joins the
//! three. [`Places`] lists the locations of the compiler.

mod cache;
mod nvrtc;
mod program;
mod search;

pub use cache::Cache;
pub use nvrtc::Nvrtc;
pub use program::Program;
pub use search::Places;

use crate::error::Error;
use std::sync::OnceLock;

/// Compiles programs, or takes them from the cache.
#[derive(Debug)]
pub struct Compiler {
    places: Places,
    cache: Cache,
    nvrtc: OnceLock<Result<Nvrtc, Error>>,
}

impl Default for Compiler {
    fn default() -> Self {
        Self::new(Places::of_environment(), Cache::of_user())
    }
}

impl Compiler {
    /// A compiler that searches `places` for libnvrtc when first needed.
    pub fn new(places: Places, cache: Cache) -> Self {
        Self {
            places,
            cache,
            nvrtc: OnceLock::new(),
        }
    }

    /// The run-time compiler.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`] or [`Error::BadNvrtc`].
    pub fn nvrtc(&self) -> Result<&Nvrtc, Error> {
        self.nvrtc
            .get_or_init(|| Nvrtc::load(&self.places))
            .as_ref()
            .map_err(Error::clone)
    }

    /// The cache of compiled programs.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The code of a program for a GPU architecture (90 is compute capability 9.0) and a driver version.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`], [`Error::BadNvrtc`] or [`Error::Compile`].
    pub fn code(&self, program: &Program, architecture: i32, driver: i32) -> Result<Vec<u8>, Error> {
        let key = program.key(architecture, driver);
        if let Some(code) = self.cache.get(&key) {
            return Ok(code);
        }
        let code = self.nvrtc()?.compile(program, architecture)?;
        // If the cache cannot be written, the next start compiles again.
        let _ = self.cache.put(&key, &code);
        Ok(code)
    }
}
