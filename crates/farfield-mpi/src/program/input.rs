//! The points and strengths of one rank: its part of a generated set or of files, in equal parts in the order of ranks.

use super::evaluate::together;
use farfield::Precision;
use farfield_cli::evaluate::input::Input;
use farfield_cli::evaluate::settings::EvaluateSettings;
use farfield_cli::failure::Failure;
use farfield_cli::problem::Problem;
use farfield_io::Part;
use farfield_mpi::{Communicator, Mpi};

/// Generates or reads only this rank's part. Called by all ranks together.
pub fn own<P: Problem<D>, T: Precision, const D: usize>(
    ranks: &Mpi,
    settings: &EvaluateSettings<P, D>,
) -> Result<Input<T, D>, Failure> {
    let part = Part {
        index: ranks.rank(),
        of: ranks.size(),
    };
    let mut own = together(ranks, Input::<T, D>::load_part(settings, part))?;
    // The targets are the sources only if that holds on every rank.
    let mut others = [u64::from(!own.are_targets_the_sources())];
    ranks.sum_all(&mut others);
    if others[0] == 0 {
        own.merge_targets();
    }
    Ok(own)
}
