//! Outputs, cores and point sets by name.

use crate::failure::Failure;
use farfield::{kernel, plane, points};
use std::fmt;

/// Something that has a name on the command line.
pub trait Named: Copy + PartialEq + fmt::Debug + 'static {
    /// The name.
    fn name(self) -> &'static str;
}

macro_rules! have_names {
    ($($type:ty),*) => {
        $(impl Named for $type {
            fn name(self) -> &'static str {
                self.name()
            }
        })*
    };
}

have_names!(
    kernel::Output,
    kernel::Core,
    points::PointSet,
    plane::Output,
    plane::Core,
    plane::PlaneSet
);

/// All names, separated by commas.
pub fn names<N: Named>(all: &[N]) -> String {
    let names: Vec<&str> = all.iter().map(|value| value.name()).collect();
    names.join(", ")
}

/// The value of the name given with an option, or an error that lists the names for this kernel.
pub fn named<N: Named>(option: &str, name: &str, kernel: &str, all: &[N]) -> Result<N, Failure> {
    all.iter().copied().find(|value| value.name() == name).ok_or_else(|| {
        Failure::Usage(format!(
            "{option}: `{name}` does not go with --kernel {kernel}; choose from: {}",
            names(all)
        ))
    })
}
