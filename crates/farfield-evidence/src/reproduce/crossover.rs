//! Times of methods that overtake each other.

use super::Context;
use super::measure::{Measured, Measurement, On};
use super::table::Cell;
use crate::Error;
use farfield::report::Phase;
use farfield::{Geometry, Precision};
use farfield_io::units;

/// A time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    pub seconds: f64,
    /// Not measured as a whole.
    pub extrapolated: bool,
}

impl Timing {
    /// A measured time.
    pub fn measured(seconds: f64) -> Self {
        Self {
            seconds,
            extrapolated: false,
        }
    }

    /// The total of what was measured.
    pub fn of(measured: &Measured) -> Self {
        Self::measured(measured.seconds.total)
    }

    /// A measured time, or that of a part of the targets, extrapolated: pairs grow with them, all else does not.
    fn scaled(measured: &Measured, scale: Option<f64>) -> Self {
        let pairs = measured.seconds.of(Phase::P2p);
        match scale {
            None => Self::of(measured),
            Some(scale) => Self::extrapolated(measured.seconds.total + (scale - 1.0) * pairs),
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

/// Direct sums over more and more points on one processor. One that would take long, by the one before, is timed at
/// some of its targets and extrapolated ([`Context::direct_limits`]).
#[derive(Debug)]
pub struct DirectSums {
    on: On,
    seconds_per_pair: f64,
}

impl DirectSums {
    pub fn on(on: On) -> Self {
        Self {
            on,
            seconds_per_pair: 0.0,
        }
    }

    /// Times the next one, whose points are in random order; `None` where there is no graphics processor.
    pub fn next<T: Precision, G: Geometry>(
        &mut self,
        context: &Context,
        mut case: Measurement<'_, T, G>,
    ) -> Result<Option<Timing>, Error> {
        let pairs = case.sources as f64 * case.targets.len() as f64;
        let scale = take_sample(&mut case, self.seconds_per_pair * pairs, context.direct_limits());
        let measured = case.measure_on(self.on, context, 0)?;
        let time = measured.map(|measured| Timing::scaled(&measured, scale));
        self.seconds_per_pair = time.map_or(0.0, |time| time.seconds / pairs);
        Ok(time)
    }
}

/// Fewer targets would leave cores idle: of the last of few pieces of work all wait for the slowest core.
const FEWEST_TARGETS: usize = 4096;
const FEWEST_TARGETS_OF_A_THREAD: usize = 1024;

/// Leaves some of the targets if all would take too long; returns what their time is to be multiplied with.
fn take_sample<T: Precision, G: Geometry>(
    case: &mut Measurement<'_, T, G>,
    predicted: f64,
    (longest, sampled): (f64, f64),
) -> Option<f64> {
    if predicted <= longest {
        return None;
    }
    let n = case.targets.len();
    // The points are in random order: the first ones are a sample.
    let fewest = FEWEST_TARGETS.max(FEWEST_TARGETS_OF_A_THREAD * rayon::current_num_threads());
    let targets = ((n as f64 * sampled / predicted) as usize).clamp(fewest.min(n), n);
    case.targets = &case.targets[..targets];
    case.sum = case.sum.clone().targets(case.targets);
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
    use farfield::plan::Parameters;
    use farfield::report::Seconds;

    #[test]
    fn a_part_of_the_targets_is_scaled_by_its_pairs_alone() {
        let mut seconds = Seconds::default();
        seconds.add(Phase::P2p, 2.0);
        seconds.total = 3.0;
        let measured = Measured {
            seconds,
            parameters: Parameters::default(),
            error: 0.0,
            maximum_error: None,
        };
        assert_eq!(Timing::scaled(&measured, None), Timing::measured(3.0));
        assert_eq!(Timing::scaled(&measured, Some(10.0)), Timing::extrapolated(21.0));
    }

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
