//! Kernels, cores, outputs and methods by their names, for callers that have texts: the C library, Python.
//!
//! ```
//! use farfield::kernel::{Kernel, Output};
//! use farfield::names;
//!
//! let gravity = names::kernel("gravity", Some("spline"), 2.5)?;
//! assert!(matches!(gravity, Kernel::Gravity { constant: 2.5, .. }));
//! assert_eq!(names::outputs(&["velocity_gradient"])?, [Output::VelocityGradient]);
//! let error = names::kernel("gravty", None, 1.0).unwrap_err();
//! assert!(error.to_string().starts_with("kernel: there is no `gravty`; there are: coulomb, "));
//! # Ok::<(), names::UnknownName>(())
//! ```

use crate::{Method, plane};
use farfield_core::kernel::{Core, Kernel, Output, Softening};
use std::fmt;

/// A name that nothing has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// What was to be named: `kernel`, `core`, `softening_kernel`, `outputs`, `method`.
    pub what: &'static str,
    /// The name that was given.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, known } = self;
        write!(f, "{what}: there is no `{name}`; there are: {}", known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// The names of the kernels in space.
pub const KERNELS: [&str; 4] = ["coulomb", "coulomb-dipoles", "gravity", "biot-savart"];

/// The kernel in space of this name. `core` names the core of vortices or the softening of masses, where it is not the usual
/// one; `constant` is the gravitational constant.
///
/// # Errors
/// [`UnknownName`].
pub fn kernel(name: &str, core: Option<&str>, constant: f64) -> Result<Kernel, UnknownName> {
    let core = |what, usual| (what, core.unwrap_or(usual));
    match name.replace('_', "-").as_str() {
        "coulomb" => Ok(Kernel::Coulomb),
        "coulomb-dipoles" => Ok(Kernel::CoulombDipoles),
        "gravity" => Ok(Kernel::Gravity {
            constant,
            softening: named(core("softening_kernel", "plummer"), &Softening::ALL, Softening::name)?,
        }),
        "biot-savart" => Ok(Kernel::BiotSavart {
            core: named(core("core", "singular"), &Core::ALL, Core::name)?,
        }),
        _ => Err(UnknownName {
            what: "kernel",
            name: name.to_owned(),
            known: KERNELS.to_vec(),
        }),
    }
}

/// The outputs in space of these names.
///
/// # Errors
/// [`UnknownName`].
pub fn outputs(names: &[impl AsRef<str>]) -> Result<Vec<Output>, UnknownName> {
    let output = |name: &str| named(("outputs", name), &Output::ALL, Output::name);
    names.iter().map(|name| output(name.as_ref())).collect()
}

/// The kernel in the plane of this name.
///
/// # Errors
/// [`UnknownName`].
pub fn kernel_in_plane(name: &str) -> Result<plane::Kernel, UnknownName> {
    named(("kernel", name), &plane::Kernel::ALL, plane::Kernel::name)
}

/// The core in the plane of this name; singular if there is no name.
///
/// # Errors
/// [`UnknownName`].
pub fn core_in_plane(name: Option<&str>) -> Result<plane::Core, UnknownName> {
    named(
        ("core", name.unwrap_or("singular")),
        &plane::Core::ALL,
        plane::Core::name,
    )
}

/// The outputs in the plane of these names.
///
/// # Errors
/// [`UnknownName`].
pub fn outputs_in_plane(names: &[impl AsRef<str>]) -> Result<Vec<plane::Output>, UnknownName> {
    let output = |name: &str| named(("outputs", name), &plane::Output::ALL, plane::Output::name);
    names.iter().map(|name| output(name.as_ref())).collect()
}

/// The method of this name.
///
/// # Errors
/// [`UnknownName`].
pub fn method(name: &str) -> Result<Method, UnknownName> {
    named(("method", name), &Method::ALL, Method::name)
}

/// The value whose name was given; `_` stands for `-`.
fn named<V: Copy>(
    (what, name): (&'static str, &str),
    all: &[V],
    name_of: impl Fn(V) -> &'static str,
) -> Result<V, UnknownName> {
    let wanted = name.replace('_', "-");
    let found = all.iter().copied().find(|value| name_of(*value) == wanted);
    found.ok_or_else(|| UnknownName {
        what,
        name: name.to_owned(),
        known: all.iter().map(|value| name_of(*value)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_name() {
        for name in KERNELS {
            assert!(kernel(name, None, 1.0).is_ok(), "{name}");
            assert_eq!(kernel(name, None, 1.0), kernel(&name.replace('-', "_"), None, 1.0));
        }
        for known in plane::Kernel::ALL {
            assert_eq!(kernel_in_plane(known.name()), Ok(known));
        }
        for core in Core::ALL {
            let made = kernel("biot-savart", Some(core.name()), 1.0);
            assert_eq!(made, Ok(Kernel::BiotSavart { core }));
        }
        assert_eq!(core_in_plane(None), Ok(plane::Core::Singular));
    }

    #[test]
    fn a_wrong_name_says_what_it_was_for_and_what_there_is() {
        let core = kernel("biot-savart", Some("apple"), 1.0).unwrap_err();
        assert!(core.what == "core" && core.known.contains(&"gaussian"), "{core}");
        let softening = kernel("gravity", Some("gaussian"), 1.0).unwrap_err();
        assert!(softening.what == "softening_kernel" && softening.known.contains(&"spline"));
        assert!(method("magic").unwrap_err().to_string().contains("fmm"));
        assert_eq!(outputs(&["potential", "gradients"]).unwrap_err().name, "gradients");
    }
}
