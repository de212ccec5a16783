//! Times of methods that overtake each other.

use super::Context;
use super::measure::{Measured, Measurement, On, Problem};
use super::table::Cell;
use crate::Error;
use farfield::report::Phase;
use farfield::simd::Real;
use farfield::{Geometry, Method, Precision};
use farfield_io::units;

/// A time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    pub seconds: f64,
    /// Whether only a part of the work was measured.
    pub extrapolated: bool,
}

impl Timing {
    pub fn measured(seconds: f64) -> Self {
        Self {
            seconds,
            extrapolated: false,
        }
    }

    pub fn extrapolated(seconds: f64) -> Self {
        Self {
            seconds,
            extrapolated: true,
        }
    }

    /// The total time of a measurement.
    pub fn of(measured: &Measured) -> Self {
        Self::measured(measured.seconds.total)
    }

    /// The time of all targets from that of one in `scale` of them: the time of pairs grows with the targets, all other
    /// time does not.
    fn scaled(measured: &Measured, scale: Option<f64>) -> Self {
        let pairs = measured.seconds.of(Phase::P2p);
        match scale {
            None => Self::of(measured),
            Some(scale) => Self::extrapolated(measured.seconds.total + (scale - 1.0) * pairs),
        }
    }

    /// Whether it is extrapolated, for a table.
    pub fn mark(self) -> &'static str {
        if self.extrapolated { "yes" } else { "no" }
    }
}

/// FMM and direct sum of one problem on one processor.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub fmm: Measured,
    pub direct: Timing,
}

/// FMM and direct sum of one size on both processors.
pub struct Race {
    pub n: usize,
    pub cpu: Option<Pair>,
    pub gpu: Option<Pair>,
}

/// Measures FMM and direct sum of a problem of each size.
pub fn races<P: Problem>(
    context: &Context,
    sizes: impl IntoIterator<Item = usize>,
    samples: usize,
    problem: impl Fn(usize) -> P,
) -> Result<Vec<Race>, Error> {
    let [mut on_cpu, mut on_gpu] = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut races = Vec::new();
    for n in context.sizes(sizes) {
        context.step(format_args!("N = {n}, {}", P::Number::NAME));
        let problem = problem(n);
        races.push(Race {
            n,
            cpu: on_cpu.pair(context, samples, &problem)?,
            gpu: on_gpu.pair(context, samples, &problem)?,
        });
    }
    Ok(races)
}

/// Direct sums over more and more points on one processor. One that would take long, judged by the one before, is timed
/// at some of its targets and extrapolated ([`Context::direct_limits`]).
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

    /// Measures the FMM, and the next direct sum; `None` for a GPU that is not there.
    pub fn pair<P: Problem>(&mut self, context: &Context, samples: usize, problem: &P) -> Result<Option<Pair>, Error> {
        let fmm = problem.fmm().measure_on(self.on, context, samples)?;
        let direct = self.next(context, problem.case(Method::Direct))?;
        Ok(fmm.zip(direct).map(|(fmm, direct)| Pair { fmm, direct }))
    }

    /// Times the next direct sum, whose points are in random order; `None` for a GPU that is not there.
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

/// A sample has at least this many targets. With fewer, threads would idle while the slowest one finishes its piece.
const FEWEST_TARGETS: usize = 4096;
const FEWEST_TARGETS_OF_A_THREAD: usize = 1024;

/// Cuts the targets to a sample if all would take longer than `longest`; returns the number of targets over that of the
/// sample.
fn take_sample<T: Precision, G: Geometry>(
    case: &mut Measurement<'_, T, G>,
    predicted: f64,
    (longest, sampled): (f64, f64),
) -> Option<f64> {
    if predicted <= longest {
        return None;
    }
    let n = case.targets.len();
    let fewest = FEWEST_TARGETS.max(FEWEST_TARGETS_OF_A_THREAD * rayon::current_num_threads());
    let targets = ((n as f64 * sampled / predicted) as usize).clamp(fewest.min(n), n);
    // The points are in random order, so the first ones are a sample.
    case.targets = &case.targets[..targets];
    case.sum = case.sum.clone().targets(case.targets);
    Some(n as f64 / targets as f64)
}

/// The size at which one method overtakes another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossover {
    /// This size.
    At(f64),
    /// Below the smallest size.
    Below(f64),
    /// Above the largest size.
    Above(f64),
}

impl Crossover {
    /// The size at which the FMM overtakes the direct sum on one processor.
    pub fn of(races: &[Race], on: fn(&Race) -> Option<Pair>) -> Option<Self> {
        let pairs = races.iter().filter_map(|race| Some((race.n as f64, on(race)?)));
        Self::find(pairs.map(|(n, pair)| (n, pair.fmm.seconds.total, pair.direct.seconds)))
    }

    /// From sizes and the times of the fast and of the slow method, by interpolation of their logarithms.
    pub fn find(times: impl Iterator<Item = (f64, f64, f64)>) -> Option<Self> {
        let points: Vec<(f64, f64)> = times.map(|(n, fast, slow)| (n.ln(), (fast / slow).ln())).collect();
        let (first, last) = (points.first()?, points.last()?);
        if last.1 >= 0.0 {
            return Some(Crossover::Above(last.0.exp()));
        }
        // The last crossing counts, as the times of small sums are noisy.
        let crossing = points.windows(2).rev().find(|pair| pair[0].1 >= 0.0);
        Some(crossing.map_or(Crossover::Below(first.0.exp()), |pair| {
            let part = pair[0].1 / (pair[0].1 - pair[1].1);
            Crossover::At((pair[0].0 + part * (pair[1].0 - pair[0].0)).exp())
        }))
    }
}

impl From<Crossover> for Cell {
    fn from(crossover: Crossover) -> Self {
        let round = |n: f64| units::count(n.round() as u64);
        match crossover {
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
        assert_eq!(Cell::from(Crossover::find(times(1.0))), "below 10".into());
        assert_eq!(Cell::from(Crossover::find(times(1e4))), "above 1 000".into());
        assert_eq!(Crossover::find(std::iter::empty()), None);
    }
}
