//! Kernels, cores, outputs and methods by name, for callers that have text: the command line, the C library, Python.
//!
//! ```
//! use farfield::Space;
//! use farfield::kernel::{Kernel, Output};
//! use farfield::names::{FromWords, Words};
//!
//! let outputs = ["acceleration".to_owned()];
//! let words = Words { kernel: "gravity", core: Some("spline"), constant: 2.5, outputs: &outputs, ..Words::default() };
//! let request = Space::request(&words)?;
//! assert!(matches!(request.kernel, Kernel::Gravity { constant: 2.5, .. }));
//! assert_eq!(request.outputs, [Output::Acceleration]);
//! let error = Space::request(&Words { kernel: "gravty", ..words }).unwrap_err();
//! assert!(error.to_string().starts_with("kernel: unknown name `gravty`; choose from: coulomb, "));
//! # Ok::<(), farfield::names::UnknownName>(())
//! ```

use crate::plane::Plane;
use crate::{Geometry, Method, Request, Space, plane};
use farfield_core::kernel::{Kernel, Output};
use std::fmt;

/// An unknown name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name: `kernel`, `core`, `softening_kernel`, `outputs`, `method`.
    pub what: &'static str,
    /// The given name.
    pub name: String,
    /// The known names.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, known } = self;
        write!(f, "{what}: unknown name `{name}`; choose from: {}", known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// The names of a kernel and its outputs. `_` stands for `-` in names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The core of vortices or the softening of masses; the default one if not given.
    pub core: Option<&'a str>,
    /// The gravitational constant.
    pub constant: f64,
    /// Whether strengths in the plane are complex.
    pub complex: bool,
    /// The outputs; the kernel's default output if empty.
    pub outputs: &'a [String],
}

impl Words<'_> {
    /// Whether the kernel is a plane kernel.
    pub fn is_plane(&self) -> bool {
        plane::Kernel::ALL
            .into_iter()
            .any(|kernel| is(self.kernel, kernel.name()))
    }

    fn outputs<O: Copy>(
        &self,
        usual: &[O],
        all: &[O],
        name: impl Fn(O) -> &'static str,
    ) -> Result<Vec<O>, UnknownName> {
        if self.outputs.is_empty() {
            return Ok(usual[..1].to_vec());
        }
        let output = |word: &String| find("outputs", word, all, &name);
        self.outputs.iter().map(output).collect()
    }
}

/// Makes requests from names.
pub trait FromWords: Geometry {
    /// The request that `words` describe, with default options.
    ///
    /// # Errors
    /// [`UnknownName`].
    fn request(words: &Words<'_>) -> Result<Request<Self>, UnknownName>;
}

impl FromWords for Space {
    fn request(words: &Words<'_>) -> Result<Request<Self>, UnknownName> {
        let all = Kernel::all();
        let named: Vec<Kernel> = all
            .iter()
            .copied()
            .filter(|kernel| is(words.kernel, kernel.name()))
            .collect();
        let Some(usual) = named.first() else {
            return Err(UnknownName {
                what: "kernel",
                name: words.kernel.to_owned(),
                known: kernels(),
            });
        };
        let kernel = match words.core {
            None => *usual,
            Some(core) => find(usual.description().core_word, core, &named, Kernel::core_name)?,
        };
        let request = Request::new(kernel.with_constant(words.constant));
        Ok(Request {
            outputs: words.outputs(kernel.outputs(), &Output::ALL, Output::name)?,
            ..request
        })
    }
}

impl FromWords for Plane {
    fn request(words: &Words<'_>) -> Result<Request<Self>, UnknownName> {
        let kernel = find("kernel", words.kernel, &plane::Kernel::ALL, plane::Kernel::name)?;
        let core = words.core.map_or(Ok(plane::Core::Singular), |core| {
            find("core", core, &plane::Core::ALL, plane::Core::name)
        })?;
        let request = Request::new(plane::Interaction {
            kernel,
            core,
            complex: words.complex,
        });
        Ok(Request {
            outputs: words.outputs(&plane::Output::ALL, &plane::Output::ALL, plane::Output::name)?,
            ..request
        })
    }
}

/// The names of all kernels, those in space first.
pub fn kernels() -> Vec<&'static str> {
    let mut names: Vec<&str> = Kernel::all().into_iter().map(Kernel::name).collect();
    names.dedup();
    names.extend(plane::Kernel::ALL.map(plane::Kernel::name));
    names
}

/// The method of this name.
///
/// # Errors
/// [`UnknownName`].
pub fn method(name: &str) -> Result<Method, UnknownName> {
    find("method", name, &Method::ALL, Method::name)
}

fn is(word: &str, name: &str) -> bool {
    word.replace('_', "-") == name
}

/// The value that `word` names.
fn find<V: Copy>(
    what: &'static str,
    word: &str,
    all: &[V],
    name: impl Fn(V) -> &'static str,
) -> Result<V, UnknownName> {
    let found = all.iter().copied().find(|value| is(word, name(*value)));
    found.ok_or_else(|| UnknownName {
        what,
        name: word.to_owned(),
        known: all.iter().map(|value| name(*value)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::kernel::Core;

    fn words(kernel: &str) -> Words<'_> {
        Words {
            kernel,
            constant: 1.0,
            ..Words::default()
        }
    }

    #[test]
    fn every_kernel_and_core_is_found_by_its_name() {
        for kernel in Kernel::all() {
            for core in [kernel.core_name().to_owned(), kernel.core_name().replace('-', "_")] {
                let of_core = Words {
                    core: kernel.has_sizes().then_some(&core),
                    ..words(kernel.name())
                };
                let singular = kernel == Kernel::BiotSavart { core: Core::Singular };
                assert_eq!(Space::request(&of_core).unwrap().kernel, kernel);
                assert!(singular || kernel.has_sizes() || kernel.core_name().is_empty());
            }
        }
        for kernel in plane::Kernel::ALL {
            let found = Plane::request(&words(kernel.name())).unwrap();
            assert_eq!(found.kernel, kernel.into());
            assert!(words(kernel.name()).is_plane());
        }
        assert!(!words("coulomb").is_plane());
        assert_eq!(kernels().len(), 6);
    }

    #[test]
    fn an_unknown_name_is_reported_with_its_kind_and_the_known_names() {
        let of = |kernel, core| {
            Space::request(&Words {
                core: Some(core),
                ..words(kernel)
            })
        };
        let core = of("biot-savart", "apple").unwrap_err();
        assert!(core.what == "core" && core.known.contains(&"gaussian"), "{core}");
        let softening = of("gravity", "gaussian").unwrap_err();
        assert!(softening.what == "softening_kernel" && softening.known.contains(&"spline"));
        assert!(method("magic").unwrap_err().to_string().contains("fmm"));
        let outputs = ["potential", "gradients"].map(str::to_owned);
        let wrong = Space::request(&Words {
            outputs: &outputs,
            ..words("coulomb")
        });
        assert_eq!(wrong.unwrap_err().name, "gradients");
    }
}
