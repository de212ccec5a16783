//! How the engine of received sources cuts its tree.
//!
//! The engine sizes leaves for points that are as dense everywhere. Here sources lie in layers around the targets, and thin out outwards; few
//! targets have sources near them. So its leaves may hold more, and how large they are is chosen anew: by the engine's own costs, for a part
//! of the points.

use crate::problem::{Points, Problem};
use crate::sum::Sum;
use crate::tree::Extent;
use farfield::kernel::Sizes;
use farfield::plan::Parameters;
use farfield::{Device, Method, Options, Precision};

/// What the engine of received sources is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cutting<T, const D: usize> {
    /// How many points a leaf may hold; `None` for what the engine thinks best.
    pub leaf_capacity: Option<usize>,
    /// Where to put a source without strength, so that the root, and with it every box, has another size.
    pub place: Option<[T; D]>,
}

/// Fewer targets are not worth the question.
const LEAST: usize = 20_000;
/// Leaves hold so many times what the engine thinks best, at most. On four ranks 1.5 was enough, on eight it was not.
const ROOM: f64 = 3.0;
/// Sizes of the root to choose from, over the smallest possible: boxes of all sizes between one level and the next.
const ROOTS: [f64; 4] = [1.0, 1.2, 1.42, 1.69];
/// So much more of this engine's work, which is a quarter of all, is worth fewer boxes: they take memory, and time to plan.
const MORE: f64 = 1.7;

impl<T: Precision, const D: usize> Cutting<T, D> {
    /// Chooses for these sources and targets.
    pub fn choose<P: Problem<D>>(sum: &Sum<P>, points: &Points<'_, T, D>) -> Self {
        let (sources, targets) = (points.sources, points.targets.unwrap_or(&[]));
        let options = &sum.options;
        let usual = Self {
            leaf_capacity: options.leaf_capacity,
            place: None,
        };
        let is_free = options.leaf_capacity.is_none() && matches!(options.method, Method::Auto | Method::Fmm);
        let is_large = D == 3 && targets.len() >= LEAST && sources.len() >= LEAST;
        if !(is_free && is_large && is_on_cores(options)) {
            return usual;
        }
        let sample = Sample::of(points);
        let Some(best) = sample.plan(sum, None, None).and_then(|found| found.leaf_capacity) else {
            return usual;
        };
        let leaf_capacity = Some((ROOM * best as f64) as usize);
        let extent = Extent::of(sources.iter().chain(targets).copied());
        let profile = options.profile.clone().unwrap_or_default();
        let found: Vec<(f64, usize, [T; D])> = ROOTS
            .iter()
            .filter_map(|root| {
                let place = at_side(&extent, *root);
                let found = sample.plan(sum, Some(place), leaf_capacity)?;
                let points = sample.sources.len() + sample.targets.len();
                let has_sizes = sample.sizes != Sizes::None;
                let work = sum.problem.work::<T>(&found, points, has_sizes, &profile);
                Some((work, found.boxes, place))
            })
            .collect();
        let least = found.iter().map(|(work, ..)| *work).fold(f64::INFINITY, f64::min);
        let affordable = found.iter().filter(|(work, ..)| *work <= MORE * least);
        Self {
            leaf_capacity,
            place: affordable.min_by_key(|(_, boxes, _)| *boxes).map(|(.., place)| *place),
        }
    }
}

/// Some of the points.
struct Sample<T, const D: usize> {
    sources: Vec<[T; D]>,
    sizes: Sizes<T>,
    targets: Vec<[T; D]>,
}

impl<T: Precision, const D: usize> Sample<T, D> {
    /// One of so many: a power of eight, so that the sample is cut as the whole is, some levels above.
    fn of(points: &Points<'_, T, D>) -> Self {
        /// Points to ask with, about.
        const SAMPLE: usize = 1 << 15;
        let targets = points.targets.unwrap_or(&[]);
        let all = points.sources.len() + targets.len();
        let every = (0..).map(|k| 8usize.pow(k)).find(|every| all / every <= SAMPLE);
        let every = every.unwrap_or(1);
        Self {
            sources: points.sources.iter().step_by(every).copied().collect(),
            sizes: match &points.sizes {
                Sizes::PerSource(sizes) => Sizes::PerSource(sizes.iter().step_by(every).copied().collect()),
                other => other.clone(),
            },
            targets: targets.iter().step_by(every).copied().collect(),
        }
    }

    /// What the engine makes of it, with a source without strength at a place.
    fn plan<P: Problem<D>>(
        &self,
        sum: &Sum<P>,
        place: Option<[T; D]>,
        leaf_capacity: Option<usize>,
    ) -> Option<Parameters> {
        let options = Options {
            method: Method::Fmm,
            device: Device::Cpu,
            no_check: true,
            leaf_capacity,
            ..sum.options.clone()
        };
        let sources: Vec<[T; D]> = self.sources.iter().copied().chain(place).collect();
        let mut sizes = self.sizes.clone();
        if let Sizes::PerSource(sizes) = &mut sizes {
            sizes.resize(sources.len(), T::ZERO);
        }
        let points = Points::new(&sources).targets(&self.targets).sizes(sizes);
        let plan = sum.problem.sum(points, sum.vectors, &options).plan().ok()?;
        Some(*plan.parameters())
    }
}

/// The place that makes the root's side so many times the largest extent.
fn at_side<T: Precision, const D: usize>(extent: &Extent<D>, times: f64) -> [T; D] {
    let side = |axis: usize| extent.high[axis] - extent.low[axis];
    let longest = (0..D).max_by(|a, b| side(*a).total_cmp(&side(*b))).unwrap_or(0);
    let mut place = extent.low;
    place[longest] += times * side(longest);
    place.map(T::from_f64)
}

/// Whether the engines work on the cores, as all else of a rank does.
pub fn is_on_cores(options: &Options) -> bool {
    match options.device {
        Device::Cpu => true,
        Device::Auto => Device::all_gpus().map_or(true, |gpus| gpus.is_empty()),
        _ => false,
    }
}
