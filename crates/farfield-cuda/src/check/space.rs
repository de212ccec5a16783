//! The self-check of sums in space.

use super::{Meaning, SumOnDevice};
use crate::device::{Precision, Values};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use cudarc::driver::CudaSlice;
use farfield_core::check::OutputKind;
use farfield_core::kernel::{Kernel, Output};
use farfield_core::plan::first_sum;
use farfield_core::{Geometry, Space};
use std::ops::Range;

/// Converts the sums of a kernel to outputs.
#[derive(Debug)]
pub(crate) struct InSpace {
    sums: usize,
    kinds: Vec<OutputKind>,
    /// The scale and the first sum of each output.
    parts: Vec<(f64, usize)>,
}

impl InSpace {
    pub fn new(kernel: Kernel, outputs: &[Output], sums: usize) -> Self {
        let part = |output: &Output| (kernel.scale(*output), first_sum(*output));
        Self {
            sums,
            kinds: outputs
                .iter()
                .map(|output| Space::output_kind(kernel, *output))
                .collect(),
            parts: outputs.iter().map(part).collect(),
        }
    }
}

impl Meaning for InSpace {
    fn outputs(&self) -> &[OutputKind] {
        &self.kinds
    }

    fn sums(&self) -> usize {
        self.sums
    }

    fn runs(&self) -> usize {
        1
    }

    fn append(&self, output: usize, sum: &dyn Fn(usize, usize) -> f64, values: &mut Vec<f64>) {
        let (scale, first) = self.parts[output];
        values.extend((0..self.kinds[output].components).map(|c| scale * sum(0, first + c)));
    }
}

impl<T: Precision> SumOnDevice<T> for Direct<T> {
    fn targets(&self) -> &CudaSlice<T> {
        self.target_positions()
    }

    fn target_permutation(&self) -> Option<&CudaSlice<u32>> {
        None
    }

    fn packed(&self) -> &CudaSlice<T> {
        &self.packed
    }

    fn global_size2(&self) -> T {
        self.global_size2
    }

    fn outputs(&self) -> Vec<&CudaSlice<T>> {
        self.outputs().collect()
    }

    fn batches(&self, vectors: usize) -> Vec<Range<usize>> {
        std::iter::once(0..vectors).collect()
    }

    fn pack_again(&mut self, _: Values<T>, _: &Range<usize>) -> Result<(), Error> {
        Ok(()) // all vectors are packed already
    }
}

impl<T: Precision> SumOnDevice<T> for Fmm<T> {
    fn targets(&self) -> &CudaSlice<T> {
        &self.target_positions
    }

    fn target_permutation(&self) -> Option<&CudaSlice<u32>> {
        Some(self.tree.target_permutation())
    }

    fn packed(&self) -> &CudaSlice<T> {
        &self.packed
    }

    fn global_size2(&self) -> T {
        self.global_size2
    }

    fn outputs(&self) -> Vec<&CudaSlice<T>> {
        self.outputs().collect()
    }

    fn batches(&self, vectors: usize) -> Vec<Range<usize>> {
        self.batches_of(vectors)
    }

    fn pack_again(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        self.gather(strengths, vectors)
    }
}
