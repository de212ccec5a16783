//! The positions and labels of the ticks of an axis.

/// A labelled tick. On a logarithmic axis `at` is the logarithm of the value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

#[derive(Debug, Default)]
pub(crate) struct Ticks {
    pub(crate) major: Vec<Tick>,
    pub(crate) minor: Vec<f64>,
}

/// Ticks between two logarithms, labelled at powers of ten; on short axes also at 2 and 5 times a
/// power of ten, and on very short ones at round values. `room` is the number of labels that fit.
pub(crate) fn log(lo: f64, hi: f64, room: usize) -> Ticks {
    let decades = (lo - 1e-9).ceil() as i32..=(hi + 1e-9).floor() as i32;
    let inside = |at: &f64| (lo..=hi).contains(at);
    let multiples = |digits: &[u8]| -> Vec<(u8, i32, f64)> {
        let all = lo.floor() as i32..=hi.floor() as i32;
        all.flat_map(|k| digits.iter().map(move |&d| (d, k, f64::from(d).log10() + f64::from(k))))
            .filter(|(_, _, at)| inside(at))
            .collect()
    };
    let count = decades.clone().count();
    if count > 2 {
        let step = count.div_ceil(room.max(2)) as i32;
        let (major, other): (Vec<i32>, Vec<i32>) = decades.partition(|k| k.rem_euclid(step) == 0);
        let minor = if step == 1 {
            multiples(&[2, 3, 4, 5, 6, 7, 8, 9])
                .into_iter()
                .map(|(_, _, at)| at)
                .collect()
        } else {
            other.into_iter().map(f64::from).collect()
        };
        let tick = |k: i32| Tick {
            at: f64::from(k),
            label: power_of_ten(1, k),
        };
        return Ticks {
            major: major.into_iter().map(tick).collect(),
            minor,
        };
    }
    let labelled = multiples(&[1, 2, 5]);
    if labelled.len() > 2 {
        let tick = |&(d, k, at): &(u8, i32, f64)| Tick {
            at,
            label: power_of_ten(d, k),
        };
        let minor = multiples(&[3, 4, 6, 7, 8, 9])
            .into_iter()
            .map(|(_, _, at)| at)
            .collect();
        return Ticks {
            major: labelled.iter().map(tick).collect(),
            minor,
        };
    }
    let (from, to) = (10f64.powf(lo), 10f64.powf(hi));
    let round = linear(from.max(f64::MIN_POSITIVE), to.min(f64::MAX / 4.0), room);
    let to_log = |tick: Tick| Tick {
        at: tick.at.log10(),
        ..tick
    };
    Ticks {
        major: round.major.into_iter().map(to_log).collect(),
        minor: Vec::new(),
    }
}

/// Ticks between two values at multiples of 1, 2 or 5 times a power of ten; about `room` labels fit.
pub(crate) fn linear(lo: f64, hi: f64, room: usize) -> Ticks {
    let rough = (hi - lo) / room.max(2) as f64;
    let decade = rough.log10().floor();
    let unit = 10f64.powf(decade);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * unit >= rough * (1.0 - 1e-9));
    let (factor, decade) = factor.map_or((1.0, decade + 1.0), |f| (f, decade));
    let step = factor * 10f64.powf(decade);
    if !step.is_normal() {
        return Ticks::default();
    }
    let first = (lo / step - 1e-9).ceil();
    // Dividing by an exact power of ten gives exactly 0.3, which multiplying by 0.1 does not.
    let value = |i: f64| {
        if (-22.0..0.0).contains(&decade) {
            i * factor / 10f64.powf(-decade)
        } else {
            i * step
        }
    };
    let count = (((hi / step + 1e-9).floor() - first).clamp(0.0, 100.0)) as u32;
    let values: Vec<f64> = (0..=count).map(|i| value(first + f64::from(i))).collect();
    let largest = values.iter().fold(0.0_f64, |max, v| max.max(v.abs()));
    let label = |v: f64| axis_number(v, largest, decade as i32);
    let major = values.into_iter().map(|at| Tick { at, label: label(at) }).collect();
    Ticks {
        major,
        minor: Vec::new(),
    }
}

/// Ticks at given (value, position) pairs.
pub(crate) fn explicit(values: impl Iterator<Item = (f64, f64)>) -> Ticks {
    let major = values
        .map(|(value, at)| Tick {
            at,
            label: short_number(value, 6),
        })
        .collect();
    Ticks {
        major,
        minor: Vec::new(),
    }
}

fn power_of_ten(digit: u8, exponent: i32) -> String {
    let sign = if exponent < 0 { "−" } else { "" };
    let factor = if digit == 1 {
        String::new()
    } else {
        format!("{digit}×")
    };
    format!("{factor}10^{{{sign}{}}}", exponent.abs())
}

/// A tick label with enough digits for steps of `10^decade`.
fn axis_number(value: f64, largest: f64, decade: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&largest) {
        return with_minus(format!("{value:.*}", decade.min(0).unsigned_abs() as usize));
    }
    let exponent = largest.log10().floor() as i32;
    let digits = (exponent - decade).clamp(0, 15) as usize;
    let mantissa = with_minus(format!("{:.digits$}", value / 10f64.powi(exponent)));
    format!("{mantissa}×{}", power_of_ten(1, exponent))
}

/// A number with `digits` significant digits, without trailing zeros.
pub(crate) fn short_number(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return with_minus(value.to_string());
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return with_minus(without_zeros(&format!("{value:.decimals$}")).to_owned());
    }
    match without_zeros(mantissa) {
        "1" => power_of_ten(1, exponent),
        mantissa => with_minus(format!("{mantissa}×{}", power_of_ten(1, exponent))),
    }
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// The number with a minus sign in place of the hyphen.
fn with_minus(number: String) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn log_ticks_are_at_powers_of_ten() {
        let ticks = log(-3.2, 1.1, 10);
        assert_eq!(labels(&ticks), ["10^{−3}", "10^{−2}", "10^{−1}", "10^{0}", "10^{1}"]);
        assert_eq!(ticks.major[0].at, -3.0);
        // 7 to 9 below the first power and eight in each of four decades; the range ends before 2 x 10.
        assert_eq!(ticks.minor.len(), 3 + 4 * 8);
        assert!(ticks.minor.iter().all(|at| (-3.2..=1.1).contains(at)));
    }

    #[test]
    fn powers_at_the_ends_of_the_range_are_kept() {
        assert_eq!(log(3.0, 7.0, 10).major.len(), 5);
    }

    #[test]
    fn long_log_axes_skip_powers() {
        let ticks = log(-16.0, 2.0, 7);
        assert!((4..=7).contains(&ticks.major.len()), "{:?}", labels(&ticks));
        let gap = ticks.major[1].at - ticks.major[0].at;
        assert!(ticks.major.windows(2).all(|pair| pair[1].at - pair[0].at == gap));
        assert_eq!(ticks.major.len() + ticks.minor.len(), 19);
    }

    #[test]
    fn short_log_axes_have_more_labels() {
        let ticks = log(2.9, 4.1, 8);
        assert_eq!(labels(&ticks), ["10^{3}", "2×10^{3}", "5×10^{3}", "10^{4}"]);
        assert!(log(0.05, 0.2, 6).major.len() >= 3);
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(&linear(0.0, 1.0, 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear(2.8, 8.2, 8)), ["3", "4", "5", "6", "7", "8"]);
        assert_eq!(labels(&linear(-1.0, 1.0, 4)), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(linear(0.0, 1.0, 10).major[3].at, 0.3);
    }

    #[test]
    fn large_and_small_labels_use_powers() {
        let large = linear(0.0, 2e6, 4);
        assert_eq!(labels(&large)[1], "0.5×10^{6}");
        assert_eq!(labels(&linear(0.0, 4e-7, 4))[1], "1×10^{−7}");
    }

    #[test]
    fn short_numbers_have_few_digits() {
        assert_eq!(short_number(12.3456, 3), "12.3");
        assert_eq!(short_number(1200.0, 3), "1200");
        assert_eq!(short_number(-0.25, 3), "−0.25");
        assert_eq!(short_number(1e6, 3), "10^{6}");
        assert_eq!(short_number(2.5e-7, 3), "2.5×10^{−7}");
        assert_eq!(short_number(9.9996, 3), "10");
        assert_eq!(short_number(0.0, 3), "0");
    }
}
