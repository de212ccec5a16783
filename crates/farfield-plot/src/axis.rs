use crate::ticks::{self, Ticks};

/// The largest magnitude shown on linear axes, so that spans stay finite.
const LINEAR_LIMIT: f64 = 1e300;
/// Smaller magnitudes count as zero on linear axes, so that steps do not underflow.
const LINEAR_ZERO: f64 = 1e-290;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Log,
}

/// One axis of a chart: its label, its kind, and optionally its range and ticks.
#[derive(Debug, Clone)]
pub struct Axis {
    pub(crate) label: String,
    kind: Kind,
    range: Option<(f64, f64)>,
    ticks: Option<Vec<f64>>,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            kind: Kind::Linear,
            range: None,
            ticks: None,
        }
    }

    /// A logarithmic axis with powers of ten.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Self {
            kind: Kind::Log,
            ..Self::linear(label)
        }
    }

    /// Shows exactly this range instead of one that fits the data. An invalid range (not finite,
    /// empty, or not positive on a logarithmic axis) is ignored.
    #[must_use]
    pub fn range(mut self, from: f64, to: f64) -> Self {
        self.range = Some((from, to));
        self
    }

    /// Places labelled ticks at exactly these values, for instance at the measured orders `p`.
    /// Values outside the range are left out.
    #[must_use]
    pub fn ticks(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.ticks = Some(values.into_iter().collect());
        self
    }

    /// The typical length of a tick label, in text heights.
    pub(crate) fn label_length(&self) -> f64 {
        if self.kind == Kind::Log { 3.6 } else { 5.5 }
    }

    /// The scale for the given data.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let place = |v| self.kind.place(v);
        if let Some((from, to)) = self.range
            && let (Some(lo), Some(hi)) = (place(from), place(to))
            && lo < hi
        {
            return Scale {
                kind: self.kind,
                lo,
                hi,
            };
        }
        let extent = values.filter_map(place).fold(None, |extent: Option<(f64, f64)>, v| {
            Some(extent.map_or((v, v), |(lo, hi)| (lo.min(v), hi.max(v))))
        });
        let (lo, hi) = match self.kind {
            Kind::Linear => linear_room(extent.unwrap_or((0.0, 1.0))),
            Kind::Log => log_room(extent.unwrap_or((0.0, 1.0))),
        };
        Scale {
            kind: self.kind,
            lo,
            hi,
        }
    }

    /// The ticks on a scale, with room for about `room` labels.
    pub(crate) fn ticks_on(&self, scale: &Scale, room: usize) -> Ticks {
        match &self.ticks {
            Some(values) => {
                let places = values.iter().filter_map(|&v| Some((v, self.kind.place(v)?)));
                ticks::explicit(places.filter(|&(_, at)| (scale.lo..=scale.hi).contains(&at)))
            }
            None if self.kind == Kind::Log => ticks::log(scale.lo, scale.hi, room),
            None => ticks::linear(scale.lo, scale.hi, room),
        }
    }
}

impl Kind {
    /// The position of a value: its logarithm on a logarithmic axis. `None` if it cannot be shown.
    fn place(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear if value.abs() < LINEAR_ZERO => Some(0.0),
            Self::Linear => (value.abs() <= LINEAR_LIMIT).then_some(value),
            Self::Log => (value.is_finite() && value > 0.0).then(|| value.log10()),
        }
    }
}

/// The range with some space around the data; it starts or ends at zero if the data come close to zero.
fn linear_room((lo, hi): (f64, f64)) -> (f64, f64) {
    let largest = lo.abs().max(hi.abs());
    let span = hi - lo;
    if span <= largest * 1e-9 {
        let half = if largest > 0.0 { largest * 0.5 } else { 1.0 };
        return (lo - half, hi + half);
    }
    let pad = span * 0.05;
    let from = if lo >= 0.0 && lo < hi * 0.1 { 0.0 } else { lo - pad };
    let to = if hi <= 0.0 && hi > lo * 0.1 { 0.0 } else { hi + pad };
    (from, to)
}

fn log_room((lo, hi): (f64, f64)) -> (f64, f64) {
    let pad = if hi - lo < 1e-9 {
        0.5
    } else {
        ((hi - lo) * 0.05).max(0.04)
    };
    (lo - pad, hi + pad)
}

/// An axis with a known range: computes the positions of values on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    kind: Kind,
    lo: f64,
    hi: f64,
}

impl Scale {
    /// The position of a value: 0 at the start of the axis, 1 at its end, other numbers outside
    /// the range. `None` if the value cannot be shown on the axis.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        self.kind.place(value).map(|at| self.fraction_of_place(at))
    }

    /// The position of a tick.
    pub(crate) fn fraction_of_place(&self, at: f64) -> f64 {
        (at - self.lo) / (self.hi - self.lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_shown_have_no_position() {
        let log = Axis::log("").scale([1.0, 100.0].into_iter());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(log.fraction(bad), None);
        }
        let linear = Axis::linear("").scale([1.0, 100.0].into_iter());
        assert!(linear.fraction(-1.0).is_some());
        assert_eq!(linear.fraction(f64::NAN), None);
        assert_eq!(linear.fraction(f64::MAX), None);
    }

    #[test]
    fn the_middle_decade_is_at_the_middle_of_the_axis() {
        let scale = Axis::log("").range(1e-6, 1e2).scale(std::iter::empty());
        assert!((scale.fraction(1e-2).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn scales_are_valid_for_any_data() {
        let data = [
            vec![],
            vec![f64::NAN],
            vec![5.0],
            vec![0.0, 0.0],
            vec![1e300, -1e300],
            vec![f64::MIN_POSITIVE, f64::MAX],
            vec![1.0, 1.0 + 1e-15],
        ];
        for values in data {
            for axis in [Axis::linear(""), Axis::log("")] {
                let scale = axis.scale(values.iter().copied());
                assert!(scale.lo < scale.hi && (scale.hi - scale.lo).is_finite());
                assert!(!axis.ticks_on(&scale, 8).major.is_empty(), "{values:?} {axis:?}");
            }
        }
    }

    #[test]
    fn invalid_ranges_are_ignored() {
        for (from, to) in [(5.0, 5.0), (9.0, 2.0), (f64::NAN, 1.0), (-1.0, 10.0)] {
            let scale = Axis::log("").range(from, to).scale([1.0, 10.0].into_iter());
            assert!((0.0..1.0).contains(&scale.fraction(2.0).unwrap()));
        }
    }

    #[test]
    fn explicit_ticks_outside_the_range_are_left_out() {
        let axis = Axis::linear("p").ticks([4.0, 8.0, 12.0, 99.0]);
        let ticks = axis.ticks_on(&axis.scale([4.0, 12.0].into_iter()), 8);
        let labels: Vec<_> = ticks.major.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["4", "8", "12"]);
    }
}
