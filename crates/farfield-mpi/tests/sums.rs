//! Compares sums over ranks with the direct sum. `cargo test` runs the cases with threads as ranks, `mpirun -n 4
//! PROGRAM [NAME...]` with processes as ranks (`run-tests` does so).

mod cases;

use farfield_mpi::Threads;
use std::time::Instant;

/// The numbers of threads on which each case runs.
fn numbers(name: &str) -> &'static [usize] {
    match name {
        "every_kernel_in_space" => &[2, 3],
        "all_point_sets_in_any_distribution" => &[1, 4, 7],
        "few_points" => &[1, 2, 7],
        "duplicates_across_ranks_count_as_on_one_rank" => &[2, 4],
        "an_invalid_number_on_one_rank_is_an_error_on_all" => &[1, 3],
        "far_segments_of_ranks_act_as_a_whole" => &[7, 20],
        _ => &[4],
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // As the standard harness: cargo test passes its options on, and requests a list.
    if words.iter().any(|word| word == "--list") {
        cases::ALL.iter().for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    let names: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(word.as_str()));
    let cases: Vec<cases::Case> = cases::ALL.into_iter().filter(|(name, _)| asked(name)).collect();
    // OpenMPI, MPICH and Slurm set different variables for a process that is a rank.
    let is_rank = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];
    if is_rank.iter().any(|variable| std::env::var_os(variable).is_some()) {
        between_processes(&cases);
    } else {
        for (name, case) in cases {
            for number in numbers(name) {
                let start = Instant::now();
                Threads::run(*number, |ranks| case(ranks));
                println!(
                    "{name} on {number} threads ... ok, {:.1} s",
                    start.elapsed().as_secs_f64()
                );
            }
        }
    }
}

#[cfg(farfield_has_mpi)]
fn between_processes(cases: &[cases::Case]) {
    use farfield_mpi::{Communicator, Mpi};
    let ranks = Mpi::world();
    for (name, case) in cases {
        let start = Instant::now();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&ranks)));
        if run.is_err() {
            // The other ranks wait for messages that will not come.
            eprintln!("{name} failed on rank {} of {}", ranks.rank(), ranks.size());
            ranks.abort(101);
        }
        if ranks.rank() == 0 {
            println!(
                "{name} on {} ranks ... ok, {:.1} s",
                ranks.size(),
                start.elapsed().as_secs_f64()
            );
        }
    }
}

#[cfg(not(farfield_has_mpi))]
fn between_processes(_: &[cases::Case]) {
    eprintln!("built without MPI: nothing to test between processes");
    std::process::exit(1);
}
