//! From a [`farfield::Sum`] to a [`Plan`]: check, choose, upload.

use super::Plan;
use super::evaluate::Engine;
use crate::device::{Buffers, Device, Precision, forecast_fits};
use crate::direct::{Direct, DirectInput};
use crate::error::Error;
use crate::fmm::{Fmm, FmmInput};
use crate::kernel::{PairKind, SizeKind};
use crate::tree::TreeShape;
use crate::tuning::{self, Choice, Demand, Rates};
use farfield::kernel::Sizes;
use farfield::plan::{Parameters, Request};
use farfield::report::Interactions;
use farfield::{Method, Sum};
use std::sync::Arc;
use std::time::Instant;

impl<T: Precision> Plan<T> {
    /// Checks the sum, chooses method and parameters, and brings everything that does not depend on the strengths to
    /// the device.
    ///
    /// # Errors
    /// Any of [`Error`]; what is wrong with the sum itself is [`Error::Sum`].
    pub fn new(device: &Arc<Device>, sum: &Sum<T>) -> Result<Self, Error> {
        let start = Instant::now();
        check_extent::<T>(sum.check()?)?;
        let request = sum.request();
        check_counts(&request)?;
        let kind = PairKind::of(&request);
        let (method, choice) = resolve_method::<T>(device, &request, &kind)?;
        let mut plan = match method {
            Method::Fmm => Self::fmm(device, &request, kind, &choice)?,
            _ => Self::direct(device, &request, kind)?,
        };
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    fn fmm(device: &Arc<Device>, request: &Request<T>, kind: PairKind, choice: &Choice) -> Result<Self, Error> {
        let (sources, targets) = (request.sources.len(), request.target_count());
        let core_tolerance = 0.5
            * if request.order.is_some() {
                1e-12
            } else {
                request.tolerance
            };
        let shape = TreeShape {
            leaf_capacity: choice.leaf_capacity,
            leaf_mean: choice.leaf_mean,
            root_scale: None,
            min_side: request.kernel.core_reach(request.largest_size, core_tolerance),
        };
        let order = choice.orders.highest;
        Fmm::<T>::check_order(device, &kind, order)?;
        forecast_fits(
            device,
            Fmm::<T>::forecast(&kind, request.vectors, sources, targets, &shape, order),
        )?;
        let buffers = Buffers::new(device)?;
        let fmm = Fmm::new(
            buffers.clone(),
            FmmInput {
                kernel: request.kernel,
                kind,
                vectors: request.vectors,
                sources: request.sources.as_flattened(),
                targets: request.targets.map(|targets| targets.as_flattened()),
                sizes: sizes_of(request, &kind),
                global_size2: global_size2(request),
                outputs: request.outputs,
                shape,
                choice,
            },
        )?;
        let parameters = Parameters {
            method: Method::Fmm,
            order: Some(order),
            lowest_m2l_order: choice
                .orders
                .by_level
                .iter()
                .flatten()
                .min()
                .map(|order| *order as usize),
            leaf_capacity: Some(choice.leaf_capacity),
            depth: Some(fmm.tree.depth),
            boxes: fmm.tree.boxes,
            ..Parameters::default()
        };
        Ok(Self::with_engine(
            buffers,
            request,
            Engine::Fmm(Box::new(fmm)),
            parameters,
        ))
    }

    fn direct(device: &Arc<Device>, request: &Request<T>, kind: PairKind) -> Result<Self, Error> {
        let (sources, targets) = (request.sources.len(), request.target_count());
        let multiprocessors = device.properties().multiprocessors;
        forecast_fits(
            device,
            Direct::<T>::forecast(&kind, request.vectors, sources, targets, multiprocessors),
        )?;
        let buffers = Buffers::new(device)?;
        let direct = Direct::new(
            buffers.clone(),
            DirectInput {
                kernel: request.kernel,
                kind,
                vectors: request.vectors,
                sources: request.sources.as_flattened(),
                targets: request.targets.map(|targets| targets.as_flattened()),
                sizes: sizes_of(request, &kind),
                global_size2: global_size2(request),
                outputs: request.outputs,
            },
        )?;
        let parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: direct.pairs(),
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        Ok(Self::with_engine(
            buffers,
            request,
            Engine::Direct(Box::new(direct)),
            parameters,
        ))
    }
}

/// The method, and what the model chose for an FMM.
fn resolve_method<T: Precision>(
    device: &Device,
    request: &Request<T>,
    kind: &PairKind,
) -> Result<(Method, Arc<Choice>), Error> {
    let (sources, targets) = (request.sources.len() as f64, request.target_count() as f64);
    let rates = Rates::of::<T>(device.properties(), kind);
    let demand = Demand {
        points: sources.max(targets).max(1.0),
        streams: (request.vectors * kind.strengths()) as f64,
        vectors: request.vectors as f64,
        derivatives: request.derivatives(),
        tolerance: request.tolerance,
        order: request.order,
        leaf_capacity: request.leaf_capacity,
    };
    // The model takes milliseconds, longer than many sums: equal demands share its answer.
    let choice = device.keep(format!("choice {demand:?} {rates:?}"), || {
        Ok(tuning::choose(&demand, &rates))
    })?;
    let pairs = sources * targets * request.vectors as f64;
    let method = match request.method {
        _ if pairs == 0.0 => Method::Direct,
        Method::Auto if pairs / rates.pairs < choice.seconds => Method::Direct,
        Method::Auto => Method::Fmm,
        method @ (Method::Direct | Method::Fmm) => method,
        method => {
            return Err(Error::Unsupported {
                what: format!("the method {method}"),
                remedy: "choose --method fmm or direct, or --device cpu",
            });
        }
    };
    Ok((method, choice))
}

/// Kernels take the seventh power of inverse distances, which must not overflow.
fn check_extent<T: Precision>(extent: f64) -> Result<(), Error> {
    let most = if T::DOUBLE { 2f64.powi(120) } else { 2f64.powi(15) };
    if extent == 0.0 || (1.0 / most..=most).contains(&extent) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: format!("{} points that extend over {extent:e}", T::NAME),
        remedy: "scale them to about one, use f64, or --device cpu, which scales them itself",
    })
}

/// Sorting packs counts into 30 bits.
fn check_counts<T>(request: &Request<T>) -> Result<(), Error> {
    let limit = (1 << 30) - 1;
    let count = request.sources.len() + request.targets.map_or(0, <[_]>::len);
    if count > limit {
        let array = "points";
        return Err(farfield::Error::TooMany { array, count, limit }.into());
    }
    Ok(())
}

/// One size per source, where each has its own.
fn sizes_of<'a, T>(request: &Request<'a, T>, kind: &PairKind) -> &'a [T] {
    match request.sizes {
        Sizes::PerSource(sizes) if kind.sizes == SizeKind::PerSource => sizes,
        _ => &[],
    }
}

/// The squared core size of all sources; zero where there is none or each has its own.
fn global_size2<T: Precision>(request: &Request<T>) -> T {
    match request.sizes {
        Sizes::Global(size) if request.largest_size > 0.0 => *size * *size,
        _ => T::ZERO,
    }
}
