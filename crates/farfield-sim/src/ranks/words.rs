//! Conversion between numbers and bytes, for messages between ranks.

/// Numbers to bytes.
pub fn of_numbers(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Bytes to numbers. Trailing bytes of an incomplete number are dropped.
pub fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect()
}

/// Integers to bytes.
pub fn of_integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Bytes to integers. Trailing bytes of an incomplete integer are dropped.
pub fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i64::from_le_bytes(*bytes))
        .collect()
}
