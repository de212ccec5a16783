//! A plan in the plane measures its own error, and sums more accurately if the tolerance is exceeded.

use super::Plan;
use super::direct::Direct;
use super::kind::PairKind;
use super::plan::Engine;
use crate::check::{self, Checker, Meaning, SumOnDevice};
use crate::device::{Precision, Values};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::check::{Check, OutputKind};
use farfield_core::plan::Parameters;
use farfield_core::plane::{Kernel, MAX_ORDER, Output};
use farfield_core::report::Interactions;
use farfield_core::{Geometry, Method, Plane};
use std::ops::Range;

/// A kernel's outputs from its sums, as `finish` of `kernels/plane_direct.cu` computes them.
#[derive(Debug)]
struct InPlane {
    kind: PairKind,
    runs: usize,
    outputs: Vec<Output>,
    kinds: Vec<OutputKind>,
}

impl Meaning for InPlane {
    fn outputs(&self) -> &[OutputKind] {
        &self.kinds
    }

    fn sums(&self) -> usize {
        self.kind.sums()
    }

    fn runs(&self) -> usize {
        self.runs
    }

    fn append(&self, output: usize, sum: &dyn Fn(usize, usize) -> f64, values: &mut Vec<f64>) {
        // The second run sums the imaginary parts; its sum counts times i.
        let second = |k: usize| if self.runs == 2 { sum(1, k) } else { 0.0 };
        let (at, factor) = self.outputs[output].of_sums(self.kind.kernel);
        let value = match (self.kind.kernel, self.outputs[output]) {
            (Kernel::Log, Output::Potential) => [sum(0, 0), second(0)],
            _ => [sum(0, at) - second(at + 1), sum(0, at + 1) + second(at)].map(|part| factor * part),
        };
        values.extend(&value[..self.kinds[output].components]);
    }
}

impl<T: Precision> SumOnDevice<T> for Engine<T> {
    fn targets(&self) -> &CudaSlice<T> {
        match self {
            Engine::Direct(direct) => direct.target_positions(),
            Engine::Fmm(fmm) => &fmm.pyramid.targets().positions,
        }
    }

    fn target_permutation(&self) -> Option<&CudaSlice<u32>> {
        match self {
            Engine::Direct(direct) => direct.target_permutation(),
            Engine::Fmm(fmm) => Some(&fmm.pyramid.targets().permutation),
        }
    }

    fn packed(&self) -> &CudaSlice<T> {
        &self.ends().packed
    }

    fn global_size2(&self) -> T {
        self.ends().global_size2
    }

    fn outputs(&self) -> Vec<&CudaSlice<T>> {
        self.ends().outputs().collect()
    }

    fn batches(&self, _: usize) -> Vec<Range<usize>> {
        self.ends().batches().collect()
    }

    fn pack_again(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        match self {
            Engine::Direct(direct) => direct.pack(strengths, vectors),
            Engine::Fmm(fmm) => fmm.pack(strengths, vectors),
        }
    }
}

impl<T: Precision> Plan<T> {
    /// Measures the error of the latest sum.
    pub(super) fn measure(&mut self, strengths: Values<T>, check: &mut Check) -> Result<(), Error> {
        let tolerance = self.tolerance();
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        let (ends, by_expansions) = (engine.ends(), matches!(engine, Engine::Fmm(_)));
        let checker = match &mut self.checker {
            Some(checker) => checker,
            none => {
                let kernel = self.request.kernel;
                let about = |output: &Output| Plane::output_kind(kernel, *output);
                let meaning = InPlane {
                    kind: ends.kind,
                    runs: ends.runs(),
                    kinds: self.request.outputs.iter().map(about).collect(),
                    outputs: self.request.outputs.clone(),
                };
                none.insert(Box::new(Checker::new(
                    self.buffers.clone(),
                    &check::plane_program::<T>(&ends.kind),
                    Box::new(meaning),
                    (self.source_count, self.target_count),
                    by_expansions,
                )?))
            }
        };
        checker.measure(engine, (strengths, self.request.vectors), tolerance, check)
    }

    // Higher orders did not help: the error is not from truncation.
    pub(super) fn become_more_exact(&mut self, factor: f64, in_vain: bool) -> Result<bool, Error> {
        let Some(Engine::Fmm(fmm)) = &mut self.engine else {
            return Ok(false);
        };
        if !in_vain && fmm.order() < MAX_ORDER {
            let more = (factor.ln() / -fmm.theta().ln()).ceil().max(1.0) as usize;
            fmm.set_order((fmm.order() + more).min(MAX_ORDER))?;
            self.parameters.order = Some(fmm.order());
            return Ok(true);
        }
        let pairs = self.source_count as u64 * self.target_count as u64;
        // A tenth of a second, or at most 20 times the pairs of the FMM.
        let affordable = pairs < 100_000_000_000 || pairs < 20 * self.parameters.interactions.p2p;
        let Some(Engine::Fmm(fmm)) = self.engine.take_if(|_| affordable) else {
            return Ok(false);
        };
        self.engine = Some(Engine::Direct(Box::new(Direct::of_sorted_points(*fmm)?)));
        self.parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: pairs,
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        self.notes
            .push("direct: the fmm does not keep the tolerance for these strengths".to_owned());
        Ok(true)
    }
}
