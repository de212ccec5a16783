//! A plan measures its own error, and plans again more accurately if the tolerance is exceeded.

use super::Plan;
use super::build::resolve_method;
use super::evaluate::Engine;
use crate::check::{self, Checker, InSpace, SumOnDevice};
use crate::device::{Precision, Values};
use crate::direct::SumInput;
use crate::error::Error;
use crate::kernel::{PairKind, SizeKind};
use crate::tuning;
use farfield_core::check::Check;
use farfield_core::kernel::Sizes;
use farfield_core::{Method, Points, Request, Space, Sum};

/// The request of a plan and the properties of its points: enough to plan again.
#[derive(Debug)]
pub(crate) struct Wishes<T> {
    pub kind: PairKind,
    pub global_size2: T,
    pub most_bytes: Option<u64>,
    pub extent: f64,
    /// The tolerance of the present plan: smaller than the caller's if the strengths require it.
    pub planned: f64,
    /// The largest core size; the size of each source is on the device.
    sizes: Sizes<T>,
}

impl<T: Precision> Wishes<T> {
    pub fn of(asked: &Sum<T, Space>, input: &SumInput<T>, extent: f64) -> Self {
        Self {
            kind: input.kind,
            global_size2: input.global_size2,
            most_bytes: input.most_bytes,
            extent,
            planned: asked.tolerance(),
            sizes: Sizes::Global(T::from_f64(asked.largest_size())),
        }
    }
}

impl<T: Precision> Engine<T> {
    fn summed(&mut self) -> &mut dyn SumOnDevice<T> {
        match self {
            Engine::Direct(direct) => &mut **direct,
            Engine::Fmm(fmm) => &mut **fmm,
        }
    }
}

impl<T: Precision> Plan<T> {
    /// Measures the error of the latest sum.
    pub(super) fn measure(&mut self, strengths: Values<T>, check: &mut Check) -> Result<(), Error> {
        let vectors = strengths.len() / (self.source_count * self.request.kernel.strength_components());
        let tolerance = self.tolerance();
        let checker = match &mut self.checker {
            Some(checker) => checker,
            none => {
                let kind = &self.wishes.kind;
                let meaning = InSpace::new(self.request.kernel, &self.request.outputs, kind.sums());
                let program = check::program::<T>(kind);
                none.insert(Box::new(Checker::new(
                    self.buffers.clone(),
                    &program,
                    Box::new(meaning),
                    (self.source_count, self.target_count),
                    matches!(self.engine, Engine::Fmm(_)),
                )?))
            }
        };
        checker.measure(self.engine.summed(), (strengths, vectors), tolerance, check)
    }

    /// Plans again for an error smaller by `factor`; returns whether that was possible.
    pub(super) fn become_more_exact(&mut self, factor: f64, in_vain: bool) -> Result<bool, Error> {
        if matches!(self.engine, Engine::Direct(_)) {
            return Ok(false);
        }
        let tolerance = (self.wishes.planned / factor).max(T::EPSILON);
        if !in_vain && tolerance < self.wishes.planned && self.plan_again(tolerance, self.parameters.method)? {
            self.wishes.planned = tolerance;
            return Ok(true);
        }
        let method = self.parameters.method;
        let direct = self.is_direct_affordable()? && self.plan_again(self.wishes.planned, Method::Direct)?;
        if direct {
            self.notes.push(format!(
                "direct: the {method} does not keep the tolerance for these strengths"
            ));
        }
        Ok(direct)
    }

    /// Whether all pairs take less than 0.2 s, or less than 20 times the expected time of the sum.
    fn is_direct_affordable(&self) -> Result<bool, Error> {
        let device = self.buffers.device();
        let counts = (self.source_count, self.target_count);
        let request = self.request_for(self.wishes.planned, Method::Auto);
        let (_, choice) = resolve_method::<T>(
            device,
            &self.asked(&request),
            &self.wishes.kind,
            counts,
            Some(self.wishes.extent),
        )?;
        let pairs = self.source_count as f64 * self.target_count as f64 * self.request.vectors as f64;
        let direct = 1e-9 * tuning::rates::<T>(device.properties(), &self.wishes.kind).direct(pairs);
        Ok(direct < 0.2 || direct < 20.0 * choice.seconds)
    }

    /// Plans the same points again; returns whether that is possible.
    fn plan_again(&mut self, tolerance: f64, method: Method) -> Result<bool, Error> {
        let request = self.request_for(tolerance, method);
        let Engine::Fmm(fmm) = &self.engine else {
            return Ok(false);
        };
        let input = SumInput {
            kernel: self.request.kernel,
            kind: self.wishes.kind,
            vectors: self.request.vectors,
            sources: Values::on_device(&fmm.source_positions, 3 * self.source_count),
            targets: fmm
                .caller_targets
                .as_ref()
                .map(|targets| Values::on_device(targets, 3 * self.target_count)),
            sizes: match self.wishes.kind.sizes {
                SizeKind::PerSource => Values::on_device(&fmm.sizes, self.source_count),
                _ => Values::Host(&[]),
            },
            global_size2: self.wishes.global_size2,
            outputs: &self.request.outputs,
            most_bytes: self.wishes.most_bytes,
            keeps_targets: true,
        };
        let planned = Self::build(self.buffers.clone(), &self.asked(&request), input, self.wishes.extent);
        match planned {
            Ok(planned) if planned.vectors_at_once >= self.vectors_at_once => {
                (self.engine, self.parameters) = (planned.engine, planned.parameters);
                // The new tree and counts must be reported.
                self.evaluated = false;
                Ok(true)
            }
            Ok(_) | Err(Error::Unsupported { .. } | Error::DeviceMemory { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The plan's request with another tolerance and method.
    fn request_for(&self, tolerance: f64, method: Method) -> Request<Space> {
        let mut request = self.request.clone();
        request.options.tolerance = Some(tolerance);
        request.options.method = method;
        request
    }

    /// A request for the plan's points, which are on the device.
    fn asked<'a>(&'a self, request: &'a Request<Space>) -> Sum<'a, T, Space> {
        request.over(Points::new(&[], None, &self.wishes.sizes))
    }
}
