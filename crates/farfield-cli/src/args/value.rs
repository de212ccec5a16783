//! Values that several commands take: counts, sizes, threads and names.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use farfield::Method;
use farfield::points::ChargeDistribution;
use farfield::simd::SimdLevel;

/// The precisions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrecisionName {
    /// Single
    F32,
    /// Double
    F64,
}

/// Defines a parser from names to the values of a type.
macro_rules! named {
    ($name:ident, $type:ident, $all:expr) => {
        pub(super) fn $name() -> impl TypedValueParser<Value = $type> {
            let names = PossibleValuesParser::new($all.map($type::name));
            names.try_map(|name| {
                $all.into_iter()
                    .find(|value| value.name() == name)
                    .ok_or("unknown name")
            })
        }
    };
}

named!(distributions, ChargeDistribution, ChargeDistribution::ALL);
named!(methods, Method, Method::ALL);

/// A parser of the instruction sets of this machine.
pub(super) fn simd_levels() -> impl TypedValueParser<Value = SimdLevel> {
    PossibleValuesParser::new(SimdLevel::NAMES).try_map(|name| SimdLevel::from_name(&name))
}

/// A whole number: `1000000`, `1_000_000` or `1e6`.
pub(super) fn whole(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    if let Ok(number) = plain.parse() {
        return Ok(number);
    }
    match plain.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64 => Ok(value as u64),
        Ok(value) if value >= u64::MAX as f64 => Err("too large to be counted".to_owned()),
        _ => Err("not a whole number".to_owned()),
    }
}

/// A count that fits into `usize`.
pub(super) fn count(text: &str) -> Result<usize, String> {
    usize::try_from(whole(text)?).map_err(|_| "too large to be counted".to_owned())
}

/// A network port.
pub(super) fn port(text: &str) -> Result<u16, String> {
    u16::try_from(whole(text)?).map_err(|_| "a port is at most 65535".to_owned())
}

/// Any finite number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("not a finite number".to_owned()),
    }
}

/// A count of at least 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match count(text)? {
        0 => Err("at least 1 is needed".to_owned()),
        number => Ok(number),
    }
}

/// From 1 to 1024 threads, enough for the largest machines.
pub fn threads(text: &str) -> Result<usize, String> {
    match count(text)? {
        number @ 1..=1024 => Ok(number),
        _ => Err("from 1 to 1024 threads".to_owned()),
    }
}

/// A tolerance within the range of every method.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (1e-12..=1e-2).contains(&value) => Ok(value),
        Ok(_) => Err("a tolerance is from 1e-12 to 1e-2".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// A length: finite and not negative.
pub fn size(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        Ok(_) => Err("a size is finite and not negative".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!(count("1_000"), Ok(1000));
        assert_eq!(count("2.5e3"), Ok(2500));
        assert_eq!(count("1e18"), Ok(1_000_000_000_000_000_000));
        for bad in ["", "-1", "1.5", "nan", "inf", "1e30", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
