//! Detection of the machine's instruction sets. A [`SimdLevel`] proves that the machine has one of them.

use super::{Lanes, Real, Vectorized, dispatch};
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that lowers [`SimdLevel::best`]: `scalar`, `neon`, `avx2` or `avx512`.
pub const LEVEL_VARIABLE: &str = "FARFIELD_SIMD";

/// An instruction set that this machine has and that the hot loops are compiled for.
///
/// Only detection makes one ([`best`](SimdLevel::best), [`available`](SimdLevel::available),
/// [`from_name`](SimdLevel::from_name)), so code that holds a level may run its instructions. Wider levels compare
/// greater.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct SimdLevel(InstructionSet);

/// The supported instruction sets, narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum InstructionSet {
    Scalar,
    Neon,
    Avx2,
    Avx512,
}

impl InstructionSet {
    const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this machine has the instruction set, that is, every feature that `dispatch` enables for it.
    fn is_here(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("lzcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && Self::Avx2.is_here()
            }
            #[allow(unreachable_patterns, reason = "which levels exist depends on the architecture")]
            _ => false,
        }
    }
}

/// The reason why a name does not give a [`SimdLevel`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// No instruction set has this name.
    #[error("`{name}` is not a SIMD level; the levels are scalar, neon, avx2 and avx512")]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// This machine lacks the instruction set.
    #[error("this machine does not have the SIMD level {level}")]
    NotHere {
        /// The name of the level.
        level: &'static str,
    },
}

impl LevelError {
    /// The name that was asked for.
    pub fn name(&self) -> &str {
        match self {
            LevelError::Unknown { name } => name,
            LevelError::NotHere { level } => level,
        }
    }
}

impl SimdLevel {
    /// One number at a time; every machine has this level.
    pub const SCALAR: SimdLevel = SimdLevel(InstructionSet::Scalar);

    /// The names of all levels, whether this machine has them or not; narrowest first.
    pub const NAMES: [&'static str; 4] = [
        InstructionSet::Scalar.name(),
        InstructionSet::Neon.name(),
        InstructionSet::Avx2.name(),
        InstructionSet::Avx512.name(),
    ];

    /// The widest level this machine has, or the level that the environment variable [`LEVEL_VARIABLE`] names.
    /// An unknown name or a level the machine lacks is ignored; [`SimdLevel::asked_for`] returns the error.
    pub fn best() -> Self {
        static BEST: OnceLock<SimdLevel> = OnceLock::new();
        *BEST.get_or_init(|| match Self::asked_for() {
            Some(Ok(level)) => level,
            _ => *Self::available().last().unwrap_or(&Self::SCALAR),
        })
    }

    /// The level that the environment variable [`LEVEL_VARIABLE`] names, or why it cannot be had; `None` if the
    /// variable is not set.
    pub fn asked_for() -> Option<Result<Self, LevelError>> {
        let name = std::env::var_os(LEVEL_VARIABLE)?;
        Some(Self::from_name(&name.to_string_lossy()))
    }

    /// Every level this machine has, narrowest first.
    pub fn available() -> Vec<Self> {
        let here = |set: &InstructionSet| set.is_here();
        InstructionSet::ALL.into_iter().filter(here).map(Self).collect()
    }

    /// The level called `name`.
    ///
    /// # Errors
    /// [`LevelError`] if no level has this name, or this machine lacks it.
    pub fn from_name(name: &str) -> Result<Self, LevelError> {
        let set = InstructionSet::ALL.into_iter().find(|set| set.name() == name);
        match set {
            None => Err(LevelError::Unknown { name: name.to_owned() }),
            Some(set) if !set.is_here() => Err(LevelError::NotHere { level: set.name() }),
            Some(set) => Ok(Self(set)),
        }
    }

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The number of values of type `T` in one vector of this level.
    pub fn lanes<T: Real>(self) -> usize {
        struct Count;
        impl<T: Real> Vectorized<T> for Count {
            type Output = usize;
            fn run<V: Lanes<Elem = T>>(self) -> usize {
                V::LANES
            }
        }
        dispatch::<T, _>(self, Count)
    }

    pub(super) fn set(self) -> InstructionSet {
        self.0
    }
}

impl TryFrom<String> for SimdLevel {
    type Error = LevelError;

    fn try_from(name: String) -> Result<Self, LevelError> {
        Self::from_name(&name)
    }
}

impl From<SimdLevel> for String {
    fn from(level: SimdLevel) -> Self {
        level.name().to_owned()
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimdLevel({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_levels_the_machine_has_are_accepted() {
        for (set, name) in InstructionSet::ALL.into_iter().zip(SimdLevel::NAMES) {
            match SimdLevel::from_name(name) {
                Ok(level) => {
                    assert!(SimdLevel::available().contains(&level) && level.name() == name);
                    assert!(set.is_here());
                }
                Err(error) => {
                    assert_eq!(error, LevelError::NotHere { level: name });
                    assert!(SimdLevel::available().iter().all(|level| level.name() != name));
                }
            }
        }
        let name = "mmx".to_owned();
        assert_eq!(SimdLevel::from_name("mmx"), Err(LevelError::Unknown { name }));
    }

    #[test]
    fn no_machine_has_levels_of_two_architectures() {
        let has = |name: &str| SimdLevel::from_name(name).is_ok();
        assert!(has("scalar") && !(has("neon") && has("avx2")));
    }
}
