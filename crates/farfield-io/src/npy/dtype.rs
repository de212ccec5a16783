//! Element types and their conversion to `f64`.

/// A real element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dtype {
    kind: Kind,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F2,
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
}

impl Dtype {
    /// Parses types such as `<f8`, `>i4`, `|u1`, `=f4` and `f4`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let big_endian = text.starts_with('>');
        let kind = match text.strip_prefix(['<', '>', '=', '|']).unwrap_or(text) {
            "f2" => Kind::F2,
            "f4" => Kind::F4,
            "f8" => Kind::F8,
            "i1" => Kind::I1,
            "i2" => Kind::I2,
            "i4" => Kind::I4,
            "i8" => Kind::I8,
            "u1" => Kind::U1,
            "u2" => Kind::U2,
            "u4" => Kind::U4,
            "u8" => Kind::U8,
            _ => return None,
        };
        Some(Self { kind, big_endian })
    }

    /// The number of bytes of one element.
    pub(super) fn size(self) -> usize {
        match self.kind {
            Kind::I1 | Kind::U1 => 1,
            Kind::F2 | Kind::I2 | Kind::U2 => 2,
            Kind::F4 | Kind::I4 | Kind::U4 => 4,
            Kind::F8 | Kind::I8 | Kind::U8 => 8,
        }
    }

    /// Appends all complete elements in `bytes`. Integers beyond 2^53 are rounded.
    pub(super) fn decode(self, bytes: &[u8], values: &mut Vec<f64>) {
        let big = self.big_endian;
        match self.kind {
            Kind::F2 => extend(bytes, big, values, |b| half(u16::from_le_bytes(b))),
            Kind::F4 => extend(bytes, big, values, |b| f32::from_le_bytes(b).into()),
            Kind::F8 => extend(bytes, big, values, f64::from_le_bytes),
            Kind::I1 => extend(bytes, big, values, |b| i8::from_le_bytes(b).into()),
            Kind::I2 => extend(bytes, big, values, |b| i16::from_le_bytes(b).into()),
            Kind::I4 => extend(bytes, big, values, |b| i32::from_le_bytes(b).into()),
            Kind::I8 => extend(bytes, big, values, |b| i64::from_le_bytes(b) as f64),
            Kind::U1 => extend(bytes, big, values, |b| u8::from_le_bytes(b).into()),
            Kind::U2 => extend(bytes, big, values, |b| u16::from_le_bytes(b).into()),
            Kind::U4 => extend(bytes, big, values, |b| u32::from_le_bytes(b).into()),
            Kind::U8 => extend(bytes, big, values, |b| u64::from_le_bytes(b) as f64),
        }
    }
}

fn extend<const SIZE: usize>(
    bytes: &[u8],
    big_endian: bool,
    values: &mut Vec<f64>,
    convert: impl Fn([u8; SIZE]) -> f64,
) {
    let (elements, _) = bytes.as_chunks::<SIZE>();
    if big_endian {
        values.extend(elements.iter().map(|&element| {
            let mut swapped = element;
            swapped.reverse();
            convert(swapped)
        }));
    } else {
        values.extend(elements.iter().map(|&element| convert(element)));
    }
}

/// Converts an IEEE 754 half-precision number.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * f64::powi(2.0, -14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * f64::powi(2.0, exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(dtype: &str, bytes: &[u8]) -> Vec<f64> {
        let mut values = Vec::new();
        Dtype::parse(dtype).unwrap().decode(bytes, &mut values);
        values
    }

    #[test]
    fn special_values_of_half_precision_are_decoded() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x7bff), 65504.0);
        assert_eq!(half(0x0001), f64::powi(2.0, -24));
        assert_eq!(half(0x7c00), f64::INFINITY);
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
        assert!(half(0x8000).is_sign_negative());
    }

    #[test]
    fn every_integer_type_and_byte_order_is_decoded() {
        assert_eq!(decoded("|i1", &[0xff, 2]), [-1.0, 2.0]);
        assert_eq!(decoded("|u1", &[0xff, 2]), [255.0, 2.0]);
        assert_eq!(decoded("<i2", &(-3_i16).to_le_bytes()), [-3.0]);
        assert_eq!(decoded(">i2", &(-3_i16).to_be_bytes()), [-3.0]);
        assert_eq!(decoded(">u2", &65535_u16.to_be_bytes()), [65535.0]);
        assert_eq!(decoded("<i4", &(-7_i32).to_le_bytes()), [-7.0]);
        assert_eq!(decoded(">u4", &7_u32.to_be_bytes()), [7.0]);
        assert_eq!(decoded("<i8", &i64::MIN.to_le_bytes()), [i64::MIN as f64]);
        assert_eq!(decoded(">i8", &(-9_i64).to_be_bytes()), [-9.0]);
        assert_eq!(decoded("<u8", &u64::MAX.to_le_bytes()), [u64::MAX as f64]);
        assert_eq!(decoded(">f4", &0.5_f32.to_be_bytes()), [0.5]);
        assert_eq!(decoded(">f2", &0x3c00_u16.to_be_bytes()), [1.0]);
    }

    #[test]
    fn other_types_are_rejected() {
        for other in ["<c16", "|b1", "<U3", "|O", "f", "", "<f16", "<<f8", "é"] {
            assert_eq!(Dtype::parse(other), None, "{other}");
        }
    }
}
