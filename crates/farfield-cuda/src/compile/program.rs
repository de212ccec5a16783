//! A program to compile: one source file of `kernels/` with its constants as literals.

use crate::device::ASSERTIONS;
use sha2::{Digest, Sha256};
use std::fmt::{Display, Write};
use std::hash::{Hash, Hasher};

/// Headers that programs may include.
const HEADERS: &[(&str, &str)] = &[
    ("real.cuh", include_str!("../../kernels/real.cuh")),
    ("copy.cuh", include_str!("../../kernels/copy.cuh")),
    ("pair.cuh", include_str!("../../kernels/pair.cuh")),
    ("all_pairs.cuh", include_str!("../../kernels/all_pairs.cuh")),
    ("truth.cuh", include_str!("../../kernels/truth.cuh")),
    ("permute.cuh", include_str!("../../kernels/permute.cuh")),
    ("sortable.cuh", include_str!("../../kernels/sortable.cuh")),
    ("sort.cuh", include_str!("../../kernels/sort.cuh")),
    ("plane.cuh", include_str!("../../kernels/plane.cuh")),
    ("plane_pair.cuh", include_str!("../../kernels/plane_pair.cuh")),
    ("tree.cuh", include_str!("../../kernels/tree.cuh")),
    ("meet.cuh", include_str!("../../kernels/meet.cuh")),
    ("expansion.cuh", include_str!("../../kernels/expansion.cuh")),
    ("basis.cuh", include_str!("../../kernels/basis.cuh")),
    ("opening.cuh", include_str!("../../kernels/opening.cuh")),
    ("neighbours.cuh", include_str!("../../kernels/neighbours.cuh")),
    ("matrices.cuh", include_str!("../../kernels/matrices.cuh")),
    ("steps.cuh", include_str!("../../kernels/steps.cuh")),
    ("tensor.cuh", include_str!("../../kernels/tensor.cuh")),
];

/// One source file and its constants.
#[derive(Debug, Clone)]
pub struct Program {
    name: &'static str,
    source: &'static str,
    defines: Vec<(&'static str, String)>,
    /// Assertions on its kernels, compiled after it.
    checks: Vec<Check>,
}

/// A kernel and the function that generates its assertions. It is called only when the program is compiled.
type Check = (&'static str, fn(&str) -> String);

/// Compares source and constants, from which the assertions follow.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.source, &self.defines) == (other.name, other.source, &other.defines)
    }
}

impl Eq for Program {}

/// Hashes name and constants only, which nearly always differ between programs; sources are long.
impl Hash for Program {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, &self.defines).hash(state);
    }
}

impl Program {
    /// A program with source `source` and no constants.
    pub fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            source,
            defines: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// Defines the macro `name` as `value`.
    pub fn define(mut self, name: &'static str, value: impl Display) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }

    /// Adds assertions on the parameters of a kernel.
    pub(crate) fn check(mut self, kernel: &'static str, assertions: fn(&str) -> String) -> Self {
        self.checks.push((kernel, assertions));
        self
    }

    /// The assertions on the kernels.
    pub fn checks(&self) -> String {
        let assertions = self.checks.iter().map(|(kernel, assertions)| assertions(kernel));
        std::iter::once(ASSERTIONS.to_owned()).chain(assertions).collect()
    }

    /// The name of the source file.
    pub fn name(&self) -> &str {
        self.name
    }

    pub(super) fn source(&self) -> String {
        format!("{}{}", self.source, self.checks())
    }

    pub(super) fn headers(&self) -> &[(&str, &str)] {
        HEADERS
    }

    /// The compiler's options, without the architecture.
    pub(super) fn options(&self) -> Vec<String> {
        // Flushing denormals to zero: they would cost a third of the rate of single-precision reciprocal square roots.
        let mut options = vec![
            "--std=c++17".to_owned(),
            "--ftz=true".to_owned(),
            "--extra-device-vectorization".to_owned(),
        ];
        options.extend(self.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        options
    }

    /// A key for everything that the code depends on: sources, options, GPU and driver. It does not include the
    /// compiler version, so that a second start need not load the compiler.
    pub fn key(&self, architecture: i32, driver: i32) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        part(env!("CARGO_PKG_VERSION"));
        part(self.name);
        part(self.source);
        part(&self.checks());
        for (name, source) in HEADERS {
            part(name);
            part(source);
        }
        for option in self.options() {
            part(&option);
        }
        part(&format!("sm_{architecture}, driver {driver}"));
        hex(&hash.finalize())
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_covers_everything_that_the_code_depends_on() {
        let program = Program::new("direct", "void f() {}").define("ORDER", 4);
        let key = program.key(90, 13000);
        assert_eq!(key, program.clone().key(90, 13000));
        let others = [
            program.clone().define("MORE", 1).key(90, 13000),
            Program::new("direct", "void f() {}").define("ORDER", 5).key(90, 13000),
            Program::new("direct", "void g() {}").define("ORDER", 4).key(90, 13000),
            program.key(80, 13000),
            program.key(90, 12080),
        ];
        assert!(others.iter().all(|other| *other != key));
    }
}
