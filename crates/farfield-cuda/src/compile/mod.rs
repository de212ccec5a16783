//! Kernels are compiled when they are first needed, with order, precision and kernel as literals, and kept on disk.
//!
//! [`Program`] says what to compile, [`Nvrtc`] compiles, [`Cache`] keeps the result; [`Compiler`] joins the three.
//! [`Places`] knows where the compiler may be.

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

/// Compiles programs, or finds them compiled.
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
    /// A compiler that looks for libnvrtc in `places` when it first needs it.
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

    /// Where compiled programs are kept.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The code of a program for a GPU architecture (90 is compute capability 9.0) under a driver.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`], [`Error::BadNvrtc`] or [`Error::Compile`].
    pub fn code(&self, program: &Program, architecture: i32, driver: i32) -> Result<Vec<u8>, Error> {
        let key = program.key(architecture, driver);
        if let Some(code) = self.cache.get(&key) {
            return Ok(code);
        }
        let code = self.nvrtc()?.compile(program, architecture)?;
        // A full disk or a read-only home only costs the next start its time.
        let _ = self.cache.put(&key, &code);
        Ok(code)
    }
}
