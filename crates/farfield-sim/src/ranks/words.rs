//! Numbers as bytes, for messages between ranks.

/// Numbers as bytes.
pub fn of_numbers(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The numbers that bytes are; what is left of an incomplete one is dropped.
pub fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect()
}

/// Whole numbers as bytes.
pub fn of_integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The whole numbers that bytes are.
pub fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i64::from_le_bytes(*bytes))
        .collect()
}
