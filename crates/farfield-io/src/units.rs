//! Formats numbers with units for display.

/// An integer in groups of three digits: `1 234 567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number with `digits` significant digits, without an exponent between 1e-4 and 1e7.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !value.is_finite() || !(-4.0..7.0).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as f64 - 1.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A duration: `1.23 s`, `45.6 ms`, `789 us`.
pub fn seconds(value: f64) -> String {
    if value >= 1.0 {
        format!("{} s", significant(value, 4))
    } else if value >= 1e-3 {
        format!("{} ms", significant(value * 1e3, 4))
    } else {
        format!("{} us", significant(value * 1e6, 3))
    }
}

/// An amount of memory: `1.23 GiB`.
pub fn bytes(value: u64) -> String {
    scaled(value as f64, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A number with a unit prefix, to be followed by the unit: `3.41 G`.
pub fn with_prefix(value: f64) -> String {
    scaled(value, 1000.0, ["", "k", "M", "G", "T"]).trim_end().to_owned()
}

fn scaled(mut value: f64, step: f64, names: [&str; 5]) -> String {
    let mut name = 0;
    while value >= step && name + 1 < names.len() {
        value /= step;
        name += 1;
    }
    format!("{} {}", significant(value, 3), names[name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_with_units() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(seconds(1.23456), "1.235 s");
        assert_eq!(seconds(0.0123), "12.30 ms");
        assert_eq!(seconds(0.0), "0 us");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(with_prefix(3.4e9), "3.40 G");
        assert_eq!(with_prefix(12.0), "12.0");
        assert_eq!(significant(f64::INFINITY, 3), "inf");
        assert_eq!(significant(1e-9, 3), "1.00e-9");
    }
}
