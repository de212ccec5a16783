//! Every kernel compiles, for every kind it is specialised for. Needs libnvrtc, no GPU.

use crate::compiler::{compile_all, nvrtc, places};
use farfield_cuda::Error;
use farfield_cuda::bricks::{self, BrickPair};
use farfield_cuda::check;
use farfield_cuda::compile::{Cache, Compiler, Places, Program};
use farfield_cuda::device::Precision;
use farfield_cuda::direct::{self, Blocking};
use farfield_cuda::expansion::translate_program;
use farfield_cuda::fmm::{P2pBlocking, l2p_vectors, p2p_program, points_program};
use farfield_cuda::kernel::{PairKind, SizeKind};
use farfield_cuda::resident;
use farfield_cuda::tree;
use farfield_cuda::treecode::{ActingBoxes, m2p_program};

fn direct_programs<T: Precision>() -> Vec<Program> {
    PairKind::all()
        .iter()
        .map(|kind| direct::program::<T>(kind, &Blocking::fastest::<T>(kind)))
        .collect()
}

/// Every other kind in each precision; the full sweep is below.
#[test]
fn the_direct_sum_of_every_kind_compiles() {
    compile_all(direct_programs::<f32>().into_iter().step_by(2), 90);
    compile_all(direct_programs::<f64>().into_iter().skip(1).step_by(2), 90);
}

#[test]
fn true_sums_compile_for_both_precisions() {
    compile_all(PairKind::all().iter().step_by(4).map(check::program::<f32>), 90);
    compile_all(PairKind::all().iter().skip(1).step_by(4).map(check::program::<f64>), 90);
}

/// Points of leaves that P2P is compiled for.
const SMALL_LEAF: f64 = 20.0;
const LARGE_LEAF: f64 = 100.0;

fn p2p<T: Precision>(kind: &PairKind, treecode: bool, leaf_mean: f64) -> Program {
    p2p_program::<T>(kind, treecode, P2pBlocking::of::<T>(kind, leaf_mean, 1))
}

/// Of several vectors of strengths.
fn p2p_of_vectors<T: Precision>(kind: &PairKind, vectors: usize) -> Program {
    p2p_program::<T>(kind, false, P2pBlocking::of::<T>(kind, LARGE_LEAF, vectors))
}

/// Everything but the direct sum. Cores, sizes and skipping are in the pair alone, which the direct sum compiles for every
/// kind: of P2P every fourth kind will do.
fn fmm_programs<T: Precision>(orders: &[usize]) -> Vec<Program> {
    let kinds = PairKind::all();
    let mut programs = vec![tree::program::<T>()];
    programs.extend(kinds.iter().step_by(4).map(|kind| p2p::<T>(kind, false, SMALL_LEAF)));
    programs.extend(kinds.iter().step_by(9).map(|kind| p2p::<T>(kind, false, LARGE_LEAF)));
    programs.extend(kinds.iter().step_by(7).map(|kind| p2p::<T>(kind, true, LARGE_LEAF)));
    for vectors in [2, 3, 8] {
        programs.extend(kinds.iter().step_by(5).map(|kind| p2p_of_vectors::<T>(kind, vectors)));
    }
    for order in orders {
        programs.push(translate_program::<T>(*order));
        let far = kinds.iter().filter(|kind| kind.sizes == SizeKind::None);
        for kind in far {
            programs.push(points_program::<T>(kind, *order, 1));
            programs.push(points_program::<T>(kind, *order, l2p_vectors::<T>(kind, *order, 8)));
            // The treecode refuses orders whose basis does not fit into a block's memory.
            if *order <= 32 {
                programs.push(m2p_program::<T>(kind, *order, ActingBoxes::ByAngle));
                programs.push(m2p_program::<T>(kind, *order, ActingBoxes::OnNeighbours));
            }
        }
    }
    programs
}

#[test]
fn every_kernel_of_the_fmm_compiles_in_single_precision() {
    compile_all(fmm_programs::<f32>(&[2, 10]), 90);
}

#[test]
fn every_kernel_of_the_fmm_compiles_in_double_precision() {
    compile_all(fmm_programs::<f64>(&[10, 30]), 90);
}

/// Direct plans of every kind, indirect plans of every order.
fn brick_programs<T: Precision>() -> Vec<Program> {
    let components = [1, 2, 3];
    let potentials = [BrickPair::Singular, BrickPair::Regularised].into_iter();
    let potentials = potentials.flat_map(|pair| components.map(|c| bricks::direct_program::<T>(pair, c)));
    let velocities = [BrickPair::Velocity, BrickPair::RegularisedVelocity];
    let velocities = velocities.map(|pair| bricks::direct_program::<T>(pair, 3));
    let orders = [(4, 1), (6, 1), (8, 2), (10, 3), (12, 3)];
    let indirect = orders.map(|(order, c)| bricks::indirect_program::<T>(order, c));
    let rate = [bricks::rate_program::<T>()];
    potentials.chain(velocities).chain(indirect).chain(rate).collect()
}

#[test]
fn plans_of_bricks_compile_in_both_precisions() {
    compile_all(brick_programs::<f32>(), 90);
    compile_all(brick_programs::<f64>(), 90);
}

#[test]
fn the_steps_of_resident_states_compile_in_both_precisions() {
    compile_all([resident::program::<f32>(), resident::program::<f64>()], 90);
}

#[test]
fn kernels_compile_for_older_and_newer_gpus() {
    for architecture in [80, 100] {
        compile_all([resident::program::<f64>()], architecture);
        compile_all(direct_programs::<f32>().into_iter().step_by(11), architecture);
        compile_all(direct_programs::<f64>().into_iter().step_by(13), architecture);
        compile_all(fmm_programs::<f32>(&[6]).into_iter().step_by(5), architecture);
        compile_all(fmm_programs::<f64>(&[6]).into_iter().step_by(4), architecture);
        compile_all(brick_programs::<f32>().into_iter().step_by(5), architecture);
    }
}

#[test]
#[ignore = "the full sweep takes many minutes"]
fn every_kernel_compiles_at_every_order_for_every_gpu() {
    let orders: Vec<usize> = (0..=40).collect();
    for architecture in [80, 90, 100] {
        compile_all(PairKind::all().iter().map(check::program::<f32>), architecture);
        compile_all(PairKind::all().iter().map(check::program::<f64>), architecture);
        compile_all(direct_programs::<f32>(), architecture);
        compile_all(direct_programs::<f64>(), architecture);
        compile_all(fmm_programs::<f32>(&orders), architecture);
        compile_all(fmm_programs::<f64>(&orders), architecture);
        for (treecode, leaf) in [
            (false, SMALL_LEAF),
            (false, LARGE_LEAF),
            (true, SMALL_LEAF),
            (true, LARGE_LEAF),
        ] {
            let kinds = PairKind::all();
            compile_all(kinds.iter().map(|kind| p2p::<f32>(kind, treecode, leaf)), architecture);
            compile_all(kinds.iter().map(|kind| p2p::<f64>(kind, treecode, leaf)), architecture);
        }
    }
}

#[test]
fn a_broken_program_is_an_error_with_the_compilers_log() {
    let Some(nvrtc) = nvrtc() else { return };
    let program = Program::new("broken", "__global__ void f() { not_a_function(ORDER); }").define("ORDER", 4);
    match nvrtc.compile(&program, 90) {
        Err(Error::Compile { program, log, .. }) => {
            assert!(program == "broken" && log.contains("not_a_function"), "{log}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_for_a_gpu_newer_than_the_compiler_is_intermediate() {
    let Some(nvrtc) = nvrtc() else { return };
    let program = Program::new("empty", "extern \"C\" __global__ void f() {}");
    let code = nvrtc.compile(&program, 999).unwrap();
    assert!(String::from_utf8_lossy(&code).contains(".entry f") && code.last() == Some(&0));
}

#[test]
fn the_second_compilation_comes_from_the_cache_and_a_corrupt_entry_is_made_anew() {
    if nvrtc().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let places = places();
    let program = Program::new("empty", "extern \"C\" __global__ void f() {}");
    let first = Compiler::new(places.clone(), Cache::at(folder.path()))
        .code(&program, 90, 13000)
        .unwrap();
    // Without a compiler, what is stored is all there is.
    let nowhere = Places {
        given: Some("/nowhere/libnvrtc.so".into()),
        ..Places::default()
    };
    let stored = Compiler::new(nowhere.clone(), Cache::at(folder.path()));
    assert_eq!(stored.code(&program, 90, 13000).unwrap(), first);
    assert!(stored.code(&program, 90, 12000).is_err());

    let entry = folder.path().join(program.key(90, 13000));
    let mut bytes = std::fs::read(&entry).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&entry, &bytes).unwrap();
    assert!(stored.code(&program, 90, 13000).is_err());
    let again = Compiler::new(places, Cache::at(folder.path()))
        .code(&program, 90, 13000)
        .unwrap();
    assert_eq!(again, first);
    assert_eq!(stored.code(&program, 90, 13000).unwrap(), first);
}

/// A program whose kernel takes something else than the host launches it with: types, order or layout.
#[test]
fn a_kernel_that_takes_other_parameters_than_it_is_launched_with_does_not_compile() {
    let Some(nvrtc) = nvrtc() else { return };
    let checks = tree::program::<f32>().checks();
    let (right, end) = (
        "extern \"C\" __global__ void choose_min_level(uint count, double leaf_mean, ",
        "uint key_levels",
    );
    let source = include_str!("../kernels/tree.cu");
    assert!(source.contains(&format!("{right}{end}")) && checks.contains("choose_min_level"));
    for wrong in [
        source.replace(
            right,
            "extern \"C\" __global__ void choose_min_level(uint count, float leaf_mean, ",
        ),
        source.replace(
            right,
            "extern \"C\" __global__ void choose_min_level(double leaf_mean, uint count, ",
        ),
        format!("#define max_level max_level, padding\n{source}"),
    ] {
        let source: &'static str = Box::leak((wrong + &checks).into_boxed_str());
        let program = Program::new("tree", source)
            .define("FARFIELD_DOUBLE", 0)
            .define("FARFIELD_CHECK_LAYOUT", 1);
        match nvrtc.compile(&program, 90) {
            Err(Error::Compile { log, .. }) => assert!(log.contains("static assertion failed"), "{log}"),
            other => panic!("{:?}", other.map(|code| code.len())),
        }
    }
}
