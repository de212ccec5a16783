//! Values with more than one notation.

use crate::vec3::Vec3;
use serde::{Deserialize, Deserializer, de};

/// A direction: three numbers, or the name of an axis.
///
/// # Errors
/// If the value is anything else.
pub fn direction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec3, D::Error> {
    struct Direction;

    impl<'de> de::Visitor<'de> for Direction {
        type Value = Vec3;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a direction: three numbers such as [0.0, 0.0, 1.0], or \"x\", \"y\" or \"z\"")
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<Vec3, E> {
            match name {
                "x" => Ok([1.0, 0.0, 0.0]),
                "y" => Ok([0.0, 1.0, 0.0]),
                "z" => Ok([0.0, 0.0, 1.0]),
                _ => Err(E::invalid_value(de::Unexpected::Str(name), &self)),
            }
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Vec3, A::Error> {
            Deserialize::deserialize(de::value::SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(Direction)
}

/// A count: a whole number, which may be written as `1e6`.
///
/// # Errors
/// If the value is anything else.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    struct Count;

    impl de::Visitor<'_> for Count {
        type Value = usize;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a whole number that is not negative, such as 1000000 or 1e6")
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<usize, E> {
            usize::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<usize, E> {
            usize::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<usize, E> {
            if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
                Ok(value as usize)
            } else {
                Err(E::invalid_value(de::Unexpected::Float(value), &self))
            }
        }
    }

    deserializer.deserialize_any(Count)
}
