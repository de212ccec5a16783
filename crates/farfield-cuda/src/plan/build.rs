//! From a [`farfield_core::Sum`] to a [`Plan`]: check, choose, upload.

use super::Plan;
use super::check::Wishes;
use super::evaluate::Engine;
use crate::device::{Buffers, Device, Precision, Values, vectors_at_once};
use crate::direct::{Direct, SumInput};
use crate::error::Error;
use crate::fmm::{FarField, Fmm, FmmInput};
use crate::kernel::{PairKind, SizeKind};
use crate::tree::TreeShape;
use crate::treecode::Opening;
use crate::tuning::{self, Choice, Cores, Demand};
use farfield_core::cost::space::{capacity_of, mean_of};
use farfield_core::kernel::Sizes;
use farfield_core::plan::Parameters;
use farfield_core::report::Interactions;
use farfield_core::{Method, Space, Sum};
use std::sync::Arc;
use std::time::Instant;

/// The input of a sum, and the extent of its points.
type Input<'a, T> = (SumInput<'a, T>, f64);

impl<T: Precision> Plan<T> {
    /// [`Plan::new`] with at most `most_bytes` bytes of device memory: strength vectors that do not fit at once are
    /// summed in several passes. Without a limit, all free memory may be used.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_memory(device: &Arc<Device>, sum: &Sum<T, Space>, most_bytes: Option<u64>) -> Result<Self, Error> {
        let start = Instant::now();
        let extent = sum.validate()?;
        check_extent::<T>(extent)?;
        let input = SumInput {
            most_bytes,
            ..input_of(sum, PairKind::of(sum))
        };
        let mut plan = Self::build(Buffers::new(device)?, sum, input, extent)?;
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// Chooses method and parameters for valid points, which may already be on the device.
    pub(super) fn build(
        buffers: Buffers,
        asked: &Sum<T, Space>,
        input: SumInput<T>,
        extent: f64,
    ) -> Result<Self, Error> {
        let targets = input.targets.map_or(0, |targets| targets.len());
        check_point_count((input.sources.len() + targets) / 3)?;
        let (counts, known) = (input.counts(), Some(extent));
        let (method, choice) = resolve_method::<T>(buffers.device(), asked, &input.kind, counts, known)?;
        match method {
            Method::Fmm => Self::fmm(buffers, asked, (input, extent), &choice),
            Method::Treecode | Method::TreecodeOnNeighbours => Self::treecode(buffers, asked, (input, extent), method),
            _ => Self::direct(buffers, asked, (input, extent)),
        }
    }

    fn fmm(buffers: Buffers, asked: &Sum<T, Space>, input: Input<T>, choice: &Choice) -> Result<Self, Error> {
        let (shape, far_field) = fmm_shape(asked, choice);
        let orders = choice.orders.by_level.iter().flatten();
        let parameters = Parameters {
            method: Method::Fmm,
            order: Some(far_field.order()),
            lowest_m2l_order: orders.min().map(|order| *order as usize),
            ..Parameters::default()
        };
        Self::expansions(buffers, asked, (input, shape, far_field), parameters)
    }

    fn treecode(buffers: Buffers, asked: &Sum<T, Space>, input: Input<T>, method: Method) -> Result<Self, Error> {
        let (shape, far_field) = treecode_shape(asked, &input.0.kind)?;
        let parameters = Parameters {
            method,
            order: Some(far_field.order()),
            theta: far_field.theta(),
            ..Parameters::default()
        };
        Self::expansions(buffers, asked, (input, shape, far_field), parameters)
    }

    /// A plan for a method with a tree and expansions.
    fn expansions(
        buffers: Buffers,
        asked: &Sum<T, Space>,
        ((sum, extent), shape, far_field): (Input<T>, TreeShape, FarField),
        parameters: Parameters,
    ) -> Result<Self, Error> {
        let (counts, wishes) = (sum.counts(), Wishes::of(asked, &sum, extent));
        Fmm::<T>::check_order(buffers.device(), &sum.kind, far_field.order())?;
        let vectors = vectors_at_once(buffers.device(), sum.vectors, sum.most_bytes, |vectors| {
            Fmm::<T>::forecast(&sum.kind, vectors, counts, &shape, &far_field)
        })?;
        let sum = SumInput { vectors, ..sum };
        let fmm = Fmm::new(buffers.clone(), FmmInput { sum, shape, far_field })?;
        let parameters = Parameters {
            leaf_capacity: Some(shape.leaf_capacity),
            depth: Some(fmm.tree.depth),
            boxes: fmm.tree.boxes,
            ..parameters
        };
        let engine = Engine::Fmm(Box::new(fmm));
        Ok(Self::with_engine(
            buffers,
            asked,
            (counts, vectors),
            (engine, parameters),
            wishes,
        ))
    }

    /// The bytes of device memory that a sum over `sources` sources and `targets` targets takes, independent of its
    /// present points.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device cannot sum this.
    pub fn memory_forecast(
        device: &Device,
        sum: &Sum<T, Space>,
        sources: usize,
        targets: Option<usize>,
    ) -> Result<u64, Error> {
        let (kind, counts) = (PairKind::of(sum), (sources, targets.unwrap_or(sources)));
        let (method, choice) = resolve_method::<T>(device, sum, &kind, counts, None)?;
        let (shape, far_field) = match method {
            Method::Fmm => fmm_shape(sum, &choice),
            Method::Treecode | Method::TreecodeOnNeighbours => treecode_shape(sum, &kind)?,
            _ => {
                let multiprocessors = device.properties().multiprocessors;
                return Ok(Direct::<T>::forecast(
                    &kind,
                    sum.request.vectors,
                    counts,
                    multiprocessors,
                ));
            }
        };
        Ok(Fmm::<T>::forecast(
            &kind,
            sum.request.vectors,
            counts,
            &shape,
            &far_field,
        ))
    }

    fn direct(buffers: Buffers, asked: &Sum<T, Space>, (input, extent): Input<T>) -> Result<Self, Error> {
        let (counts, wishes) = (input.counts(), Wishes::of(asked, &input, extent));
        let multiprocessors = buffers.device().properties().multiprocessors;
        let vectors = vectors_at_once(buffers.device(), input.vectors, input.most_bytes, |vectors| {
            Direct::<T>::forecast(&input.kind, vectors, counts, multiprocessors)
        })?;
        let input = SumInput { vectors, ..input };
        let direct = Direct::new(buffers.clone(), input)?;
        let parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: direct.pairs(),
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        let engine = Engine::Direct(Box::new(direct));
        Ok(Self::with_engine(
            buffers,
            asked,
            (counts, vectors),
            (engine, parameters),
            wishes,
        ))
    }
}

/// The method, and the model's choice for an FMM. If cores are wide relative to the points' extent (if known), boxes
/// are as wide, and all pairs may cost less.
pub(super) fn resolve_method<T: Precision>(
    device: &Device,
    asked: &Sum<T, Space>,
    kind: &PairKind,
    (sources, targets): (usize, usize),
    extent: Option<f64>,
) -> Result<(Method, Arc<Choice>), Error> {
    let (sources, targets) = (sources as f64, targets as f64);
    let rates = tuning::rates::<T>(device.properties(), kind);
    let demand = Demand::of(asked, kind, sources.max(targets), cores_of(asked, extent));
    // The model takes milliseconds, longer than many sums, so equal demands share its choice.
    let choice = device.keep(format!("choice {demand:?} {rates:?}"), || {
        Ok(tuning::choose(&demand, &rates))
    })?;
    let pairs = sources * targets * asked.request.vectors as f64;
    let direct = 1e-9 * rates.direct(pairs);
    let near = extent.map_or(0.0, |extent| direct * tuning::near_share(core_reach(asked), extent));
    let method = match asked.options().method {
        _ if pairs == 0.0 => Method::Direct,
        Method::Auto if direct < choice.seconds.max(near) => Method::Direct,
        // Wide cores at the tightest tolerances need orders that exceed the memory of a block.
        Method::Auto if Fmm::<T>::check_order(device, kind, choice.orders.highest).is_err() => Method::Direct,
        Method::Auto => Method::Fmm,
        method => method,
    };
    Ok((method, choice))
}

/// The cores of a sum relative to the points' extent, or to a unit cube if the points are not known yet.
fn cores_of<T: Precision>(asked: &Sum<T, Space>, extent: Option<f64>) -> Cores {
    Cores::new(asked.largest_size(), core_reach(asked), extent.unwrap_or(1.0))
}

/// The distance within which cores matter.
fn core_reach<T: Precision>(asked: &Sum<T, Space>) -> f64 {
    let (size, tolerance) = (asked.largest_size(), asked.options().core_tolerance::<T>());
    asked
        .request
        .kernel
        .core_reach(size, tolerance, asked.most_derivatives())
}

/// The tree of an FMM, and its orders.
fn fmm_shape<'a, T: Precision>(asked: &Sum<T, Space>, choice: &'a Choice) -> (TreeShape, FarField<'a>) {
    let shape = tree_shape(asked, choice.leaf_capacity, choice.leaf_mean);
    (shape, FarField::Locals(choice))
}

/// The tree of a treecode, and its criterion.
fn treecode_shape<T: Precision>(
    asked: &Sum<T, Space>,
    kind: &PairKind,
) -> Result<(TreeShape, FarField<'static>), Error> {
    let opening = Opening::of(asked, kind, core_reach(asked))?;
    let mean = asked.options().leaf_capacity.map_or(opening.leaf_mean(kind), mean_of);
    let capacity = asked.options().leaf_capacity.unwrap_or_else(|| capacity_of(mean));
    Ok((tree_shape(asked, capacity, mean), FarField::Multipoles(opening)))
}

fn tree_shape<T: Precision>(asked: &Sum<T, Space>, leaf_capacity: usize, leaf_mean: f64) -> TreeShape {
    TreeShape {
        leaf_capacity,
        leaf_mean,
        root_scale: None,
        min_side: core_reach(asked),
    }
}

/// Refuses extents for which the seventh power of inverse distances, as kernels take it, overflows.
pub(super) fn check_extent<T: Precision>(extent: f64) -> Result<(), Error> {
    let most = if T::DOUBLE { 2f64.powi(120) } else { 2f64.powi(15) };
    if extent == 0.0 || (1.0 / most..=most).contains(&extent) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: format!("{} points that extend over {extent:e}", T::NAME),
        remedy: "scale them to about one, use f64, or sum on the CPU, which scales them itself",
    })
}

/// Refuses more points than sorting can count: it packs the counts of sources and targets together into 30 bits.
pub(crate) fn check_point_count(count: usize) -> Result<(), Error> {
    let limit = (1 << 30) - 1;
    if count > limit {
        let array = "points";
        return Err(Error::TooMany { array, count, limit });
    }
    Ok(())
}

/// The sum as input of the methods.
pub(super) fn input_of<'a, T: Precision>(asked: &Sum<'a, T, Space>, kind: PairKind) -> SumInput<'a, T> {
    SumInput {
        kernel: asked.request.kernel,
        kind,
        vectors: asked.request.vectors,
        sources: Values::Host(asked.points.sources.as_flattened()),
        targets: asked.points.targets.map(|targets| Values::Host(targets.as_flattened())),
        sizes: Values::Host(sizes_of(asked, &kind)),
        global_size2: global_size2(asked),
        outputs: &asked.request.outputs,
        most_bytes: None,
        keeps_targets: asked.options().check,
    }
}

/// The core size of each source, if each has its own.
fn sizes_of<'a, T: Precision>(asked: &Sum<'a, T, Space>, kind: &PairKind) -> &'a [T] {
    match asked.points.sizes() {
        Sizes::PerSource(sizes) if kind.sizes == SizeKind::PerSource => sizes,
        _ => &[],
    }
}

/// The squared core size of all sources; zero if there is none or each has its own.
fn global_size2<T: Precision>(asked: &Sum<T, Space>) -> T {
    match asked.points.sizes() {
        Sizes::Global(size) if asked.largest_size() > 0.0 => *size * *size,
        _ => T::ZERO,
    }
}
