//! Every kernel of the plane compiles, for every kind it is specialised for. Needs libnvrtc, no GPU.

use crate::compiler::compile_all;
use farfield_cuda::check;
use farfield_cuda::compile::Program;
use farfield_cuda::device::Precision;
use farfield_cuda::plane::kind::PairKind;
use farfield_cuda::plane::{connect_program, direct_program, expansion_program, leaf_program, pyramid_program};

/// Cores, sizes and skipping are in the pair alone, which the direct sum compiles for every kind: of the FMM the kinds
/// that differ far away will do, and at the leaves every fifth and those with second derivatives. Each precision compiles half
/// of them; the full sweep is below.
fn programs<T: Precision>(orders: &[usize]) -> Vec<Program> {
    let kinds = PairKind::all();
    let some = |every: usize| {
        let chosen = move |(k, kind): &(usize, &PairKind)| k.is_multiple_of(every) || kind.derivatives == 2;
        kinds.iter().enumerate().filter(chosen).map(|(_, kind)| kind)
    };
    let mut programs = vec![pyramid_program::<T>(), connect_program::<T>()];
    programs.extend(kinds.iter().map(direct_program::<T>));
    programs.extend(some(3).map(check::plane_program::<T>));
    for order in orders {
        let far = kinds.iter().filter(|kind| **kind == kind.far());
        programs.extend(far.map(|kind| expansion_program::<T>(kind, *order)));
        for (targets, kind) in (1..=4).cycle().zip(some(5)) {
            programs.push(leaf_program::<T>(kind, *order, targets));
        }
    }
    programs
}

#[test]
fn every_kernel_compiles_in_single_precision() {
    compile_all(programs::<f32>(&[2, 10]).into_iter().step_by(2), 90);
}

#[test]
fn every_kernel_compiles_in_double_precision() {
    compile_all(programs::<f64>(&[10, 30]).into_iter().skip(1).step_by(2), 90);
}

#[test]
fn kernels_compile_for_older_and_newer_gpus() {
    for architecture in [80, 100] {
        compile_all(programs::<f32>(&[6]).into_iter().step_by(11), architecture);
        compile_all(programs::<f64>(&[6]).into_iter().step_by(9), architecture);
    }
}

#[test]
#[ignore = "the full sweep takes many minutes"]
fn every_kernel_compiles_at_every_order_for_every_gpu() {
    let orders: Vec<usize> = (1..=60).collect();
    for architecture in [80, 90, 100] {
        compile_all(programs::<f32>(&orders), architecture);
        compile_all(programs::<f64>(&orders), architecture);
    }
}
