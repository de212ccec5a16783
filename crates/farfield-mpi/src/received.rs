//! The tree of the engine for received sources: leaf capacity and box size.
//!
//! The engine sizes leaves for a uniform density of points. Received sources lie in layers around the targets and
//! thin out outwards, and few targets have sources near them. So leaves may hold more points, and the size of boxes
//! is chosen by the engine's cost model for a sample of the points.

use crate::problem::{Points, Shared};
use crate::sum::Sum;
use crate::tree::Extent;
use farfield::kernel::Sizes;
use farfield::plan::Parameters;
use farfield::{Device, Method, Options, Precision};

/// The settings of the tree of the engine for received sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cutting<T, const D: usize> {
    /// The most points in a leaf; `None` lets the engine choose.
    pub leaf_capacity: Option<usize>,
    /// The position of an additional source of zero strength that enlarges the root and thereby changes the size of
    /// all boxes.
    pub place: Option<[T; D]>,
}

/// With fewer sources or targets than this, the engine's own choice is used.
const LEAST: usize = 20_000;
/// The leaf capacity divided by the engine's own choice. On four ranks 1.5 was enough, on eight it was not.
const ROOM: f64 = 3.0;
/// Candidate sizes of the root relative to the smallest: they give all box sizes between one level and the next.
const ROOTS: [f64; 4] = [1.0, 1.2, 1.42, 1.69];
/// The increase of this engine's work, which is a quarter of all work, that is acceptable for fewer boxes: boxes take
/// memory, and time to plan.
const MORE: f64 = 1.7;

impl<T: Precision, const D: usize> Cutting<T, D> {
    /// Chooses the settings for these sources and targets.
    pub fn choose<P: Shared<D>>(sum: &Sum<P>, points: &Points<'_, T, D>) -> Self {
        let (sources, targets) = (points.sources, points.targets.unwrap_or(&[]));
        let options = &sum.request.options;
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
                let work = P::work::<T>(&sum.request, &found, points, has_sizes, &profile);
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

/// A sample of the points.
struct Sample<T, const D: usize> {
    sources: Vec<[T; D]>,
    sizes: Sizes<T>,
    targets: Vec<[T; D]>,
}

impl<T: Precision, const D: usize> Sample<T, D> {
    /// Takes every `8^k`-th point, so that the tree of the sample resembles that of all points with `k` levels fewer.
    fn of(points: &Points<'_, T, D>) -> Self {
        /// The approximate number of points in the sample.
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

    /// The parameters that the engine chooses for the sample, with an additional source of zero strength at `place`.
    fn plan<P: Shared<D>>(
        &self,
        sum: &Sum<P>,
        place: Option<[T; D]>,
        leaf_capacity: Option<usize>,
    ) -> Option<Parameters> {
        let options = Options {
            method: Method::Fmm,
            device: Device::Cpu,
            check: false,
            leaf_capacity,
            ..sum.request.options.clone()
        };
        let sources: Vec<[T; D]> = self.sources.iter().copied().chain(place).collect();
        let mut sizes = self.sizes.clone();
        if let Sizes::PerSource(sizes) = &mut sizes {
            sizes.resize(sources.len(), T::ZERO);
        }
        let points = Points::new(&sources).targets(&self.targets).sizes(sizes);
        let plan = sum.of_rank(points, options).plan().ok()?;
        Some(*plan.parameters())
    }
}

/// The position of a source that makes the side of the root `times` times the largest extent.
fn at_side<T: Precision, const D: usize>(extent: &Extent<D>, times: f64) -> [T; D] {
    let side = |axis: usize| extent.high[axis] - extent.low[axis];
    let longest = (0..D).max_by(|a, b| side(*a).total_cmp(&side(*b))).unwrap_or(0);
    let mut place = extent.low;
    place[longest] += times * side(longest);
    place.map(T::from_f64)
}

/// Whether the engines run on the CPU.
pub fn is_on_cores(options: &Options) -> bool {
    match options.device {
        Device::Cpu => true,
        Device::Auto => farfield::all_gpus().map_or(true, |gpus| gpus.is_empty()),
        _ => false,
    }
}
