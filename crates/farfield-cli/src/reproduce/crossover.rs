//! Times of methods that overtake each other.

use super::Context;
use super::measure::{Case, Measured};
use super::table::Cell;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::units;
use farfield_cuda::device::Precision;

/// A time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    pub seconds: f64,
    /// Not measured as a whole.
    pub extrapolated: bool,
}

impl Time {
    /// A measured time.
    pub fn of(measured: &Measured) -> Self {
        Self {
            seconds: measured.seconds.total,
            extrapolated: false,
        }
    }

    /// A measured time, or that of a part, extrapolated.
    fn scaled(measured: &Measured, scale: Option<f64>) -> Self {
        match scale {
            None => Self::of(measured),
            Some(scale) => Self::extrapolated(scale * measured.seconds.total),
        }
    }

    /// For a table: whether it is extrapolated.
    pub fn mark(self) -> Cell {
        Cell::Text(if self.extrapolated { "yes" } else { "no" }.to_owned())
    }

    /// A time that was not measured as a whole.
    pub fn extrapolated(seconds: f64) -> Self {
        Self {
            seconds,
            extrapolated: true,
        }
    }
}

/// Times a direct sum of points in random order. One that is predicted to take longer than `longest` seconds is timed
/// at some of the targets only, for about `sampled` seconds, and extrapolated.
pub fn direct_sum<P: Problem<D>, T: Precision, const D: usize>(
    context: &Context,
    mut case: Case<'_, P, T, D>,
    predicted: f64,
    limits: (f64, f64),
) -> Result<Time, Failure> {
    let scale = take_sample(&mut case, predicted, limits);
    Ok(Time::scaled(&case.measure(context, 0)?, scale))
}

/// The same on the graphics processor, if there is one.
pub fn direct_sum_on_gpu<P: Problem<D>, T: Precision, const D: usize>(
    context: &Context,
    mut case: Case<'_, P, T, D>,
    predicted: f64,
    limits: (f64, f64),
) -> Result<Option<Time>, Failure> {
    let scale = take_sample(&mut case, predicted, limits);
    let measured = case.measure_on_gpu(context, 0)?;
    Ok(measured.map(|measured| Time::scaled(&measured, scale)))
}

/// Leaves some of the targets if all would take too long; returns what their time is to be multiplied with.
fn take_sample<P, T, const D: usize>(
    case: &mut Case<'_, P, T, D>,
    predicted: f64,
    (longest, sampled): (f64, f64),
) -> Option<f64> {
    if predicted <= longest {
        return None;
    }
    let n = case.data.sources.len();
    // The points are in random order: the first ones are a sample.
    let targets = ((n as f64 * sampled / predicted) as usize).clamp(1000.min(n), n);
    case.data.targets = Some(&case.data.sources[..targets]);
    Some(n as f64 / targets as f64)
}

/// Where one method overtakes another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossover {
    /// At this size.
    At(f64),
    /// Faster from the smallest size on.
    Below(f64),
    /// Not faster up to the largest size.
    Above(f64),
}

impl Crossover {
    /// Between times of a method and of the slow one it overtakes, by interpolation of their logarithms.
    pub fn find(times: impl Iterator<Item = (f64, f64, f64)>) -> Option<Self> {
        let points: Vec<(f64, f64)> = times.map(|(n, fast, slow)| (n.ln(), (fast / slow).ln())).collect();
        let (first, last) = (points.first()?, points.last()?);
        if last.1 >= 0.0 {
            return Some(Crossover::Above(last.0.exp()));
        }
        // The last time that it overtakes: small sums are noisy.
        let crossing = points.windows(2).rev().find(|pair| pair[0].1 >= 0.0);
        Some(crossing.map_or(Crossover::Below(first.0.exp()), |pair| {
            let part = pair[0].1 / (pair[0].1 - pair[1].1);
            Crossover::At((pair[0].0 + part * (pair[1].0 - pair[0].0)).exp())
        }))
    }

    /// For a table.
    pub fn cell(self) -> Cell {
        let round = |n: f64| units::count(n.round() as u64);
        match self {
            Crossover::At(n) => Cell::Count(n.round() as u64),
            Crossover::Below(n) => Cell::Text(format!("below {}", round(n))),
            Crossover::Above(n) => Cell::Text(format!("above {}", round(n))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossovers_are_interpolated() {
        let times = |scale: f64| [10.0, 100.0, 1000.0].map(|n: f64| (n, scale * n, n * n)).into_iter();
        let Some(Crossover::At(n)) = Crossover::find(times(50.0)) else {
            panic!("no crossover")
        };
        assert!((n - 50.0).abs() < 1e-9, "{n}");
        assert_eq!(
            Crossover::find(times(1.0)).map(Crossover::cell),
            Some(Cell::Text("below 10".to_owned()))
        );
        assert_eq!(
            Crossover::find(times(1e4)).map(Crossover::cell),
            Some(Cell::Text("above 1 000".to_owned()))
        );
        assert_eq!(Crossover::find(std::iter::empty()), None);
    }
}
