//! The parameters of the translation kernels.

use super::Step;
use crate::compile::Program;
use crate::device::{In, Out, Parameters, Precision, device_struct, parameters};
use crate::tree::BoxesArg;

device_struct! {
    /// The target boxes of one block of a translation: `count` boxes from `first` on.
    #[derive(PartialEq, Eq)]
    pub(crate) struct Task = "Task" { pub first: u32, pub count: u32, pub level: u32, pub octant: u32 }
}

device_struct! {
    /// The partial sums of blocks that divide the shifts of M2L among them: those of all blocks but the first.
    pub(crate) struct Slices<T> = "Slices" { pub sums: Out<T>, pub length: u64 }
}

parameters! {
    /// Parameters of `m2m`, `m2l`, `m2l_few` and `l2l`.
    pub(crate) struct Translate<T> {
        boxes: BoxesArg,
        tasks: In<Task>,
        steps: In<Step>,
        step_count: u32,
        orders: In<u8>,
        table: In<T>,
        streams: u32,
        from: In<T>,
        to: Out<T>,
        slices: Slices<T>,
        translations: Out<u64>,
    }

    /// Parameters of `add_slices`.
    pub(crate) struct AddSlices<T> { to: Out<T>, slices: Slices<T>, count: u32, first: u64 }

    /// Parameters of `build_matrices`.
    pub(crate) struct BuildMatrices<T> {
        harmonics: In<f64>,
        ln_factorial: In<f64>,
        octants: u32,
        matrices: u32,
        table: Out<T>,
    }
}

/// Adds assertions on the kernels that both translation programs have.
pub(super) fn check<T: Precision>(program: Program) -> Program {
    program
        .check("m2m", Translate::<T>::checks)
        .check("m2l", Translate::<T>::checks)
        .check("l2l", Translate::<T>::checks)
        .check("build_matrices", BuildMatrices::<T>::checks)
}
