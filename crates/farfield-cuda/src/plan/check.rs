//! A plan looks at its own error, and plans again more exactly where the tolerance is exceeded.

use super::Plan;
use super::build::resolve_method;
use super::evaluate::Engine;
use crate::check::{self, Checker, InSpace, SelfChecked, Summed};
use crate::device::{Buffers, Precision, Values};
use crate::direct::SumInput;
use crate::error::Error;
use crate::kernel::{PairKind, SizeKind};
use crate::tuning;
use farfield_core::Method;
use farfield_core::check::Check;
use farfield_core::kernel::Sizes;
use farfield_core::plan::CheckedSum;

/// What a plan was asked for apart from its points: enough to plan again.
#[derive(Debug)]
pub(super) struct Wishes<T> {
    pub kind: PairKind,
    pub global_size2: T,
    pub most_bytes: Option<u64>,
    pub order: Option<usize>,
    pub theta: Option<f64>,
    pub leaf_capacity: Option<usize>,
    pub largest_size: f64,
    pub extent: f64,
    /// The tolerance that was planned for: smaller than the caller's where strengths ask for more.
    pub planned: f64,
    /// By how much the error was to shrink when it was planned for last.
    pub last_factor: f64,
    /// Sizes are on the device.
    no_sizes: Sizes<T>,
}

impl<T: Precision> Wishes<T> {
    pub fn of(checked: &CheckedSum<T>, input: &SumInput<T>, extent: f64) -> Self {
        Self {
            kind: input.kind,
            global_size2: input.global_size2,
            most_bytes: input.most_bytes,
            order: checked.order,
            theta: checked.theta,
            leaf_capacity: checked.leaf_capacity,
            largest_size: checked.largest_size,
            extent,
            planned: checked.tolerance,
            last_factor: 1.0,
            no_sizes: Sizes::None,
        }
    }
}

impl<T: Precision> Engine<T> {
    fn summed(&mut self) -> &mut dyn Summed<T> {
        match self {
            Engine::Direct(direct) => &mut **direct,
            Engine::Fmm(fmm) => &mut **fmm,
        }
    }
}

impl<T: Precision> SelfChecked<T> for Plan<T> {
    fn checks(&self) -> bool {
        self.checks
    }

    fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    fn tolerance(&self) -> Option<f64> {
        self.tolerance
    }

    fn sum_again(&mut self, strengths: Values<T>) -> Result<(), Error> {
        self.engine.evaluate(&self.buffers, strengths)?;
        Ok(())
    }

    fn measure(&mut self, strengths: Values<T>, check: &mut Check) -> Result<(), Error> {
        let vectors = strengths.len() / (self.source_count * self.kernel.strength_components());
        let checker = match &mut self.checker {
            Some(checker) => checker,
            none => {
                let kind = &self.wishes.kind;
                let meaning = InSpace::new(self.kernel, &self.outputs, kind.sums());
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
        checker.measure(self.engine.summed(), (strengths, vectors), self.tolerance, check)
    }

    fn become_more_exact(&mut self, factor: f64, check: &Check) -> Result<bool, Error> {
        if matches!(self.engine, Engine::Direct(_)) {
            return Ok(false);
        }
        // Higher orders did not help: the error is not that of truncation, or not where the model has it.
        let in_vain = check.attempts > 1 && factor > 0.3 * self.wishes.last_factor;
        self.wishes.last_factor = factor;
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
}

impl<T: Precision> Plan<T> {
    /// Whether all pairs do not take so much longer than expected that nobody would want them.
    fn is_direct_affordable(&self) -> Result<bool, Error> {
        let device = self.buffers.device();
        let counts = (self.source_count, self.target_count);
        let checked = self.checked(self.wishes.planned, Method::Auto);
        let (_, choice) = resolve_method::<T>(device, &checked, &self.wishes.kind, counts, Some(self.wishes.extent))?;
        let pairs = self.source_count as f64 * self.target_count as f64 * self.vectors as f64;
        let direct = 1e-9 * tuning::rates::<T>(device.properties(), &self.wishes.kind).direct(pairs);
        Ok(direct < 0.2 || direct < 20.0 * choice.seconds)
    }

    /// Plans the same points anew; says whether that is possible.
    fn plan_again(&mut self, tolerance: f64, method: Method) -> Result<bool, Error> {
        let checked = self.checked(tolerance, method);
        let Engine::Fmm(fmm) = &self.engine else {
            return Ok(false);
        };
        let input = SumInput {
            kernel: self.kernel,
            kind: self.wishes.kind,
            vectors: self.vectors,
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
            outputs: &self.outputs,
            most_bytes: self.wishes.most_bytes,
            keeps_targets: true,
        };
        let planned = Self::build(self.buffers.clone(), &checked, input, self.wishes.extent);
        match planned {
            Ok(planned) if planned.vectors_at_once >= self.vectors_at_once => {
                (self.engine, self.parameters) = (planned.engine, planned.parameters);
                // Its tree and its counts are to be reported.
                self.evaluated = false;
                Ok(true)
            }
            Ok(_) | Err(Error::Unsupported { .. } | Error::DeviceMemory { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn checked(&self, tolerance: f64, method: Method) -> CheckedSum<'_, T> {
        CheckedSum {
            kernel: self.kernel,
            sources: &[],
            targets: None,
            sizes: &self.wishes.no_sizes,
            outputs: &self.outputs,
            tolerance,
            method,
            vectors: self.vectors,
            order: self.wishes.order,
            theta: self.wishes.theta,
            leaf_capacity: self.wishes.leaf_capacity,
            largest_size: self.wishes.largest_size,
            check: true,
        }
    }
}
