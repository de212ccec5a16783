//! The points and strengths that one rank has: its part of a made-up set or of files, equal parts in the order of ranks.

use super::over_ranks::OverRanks;
use farfield::Precision;
use farfield_cli::evaluate::input::Input;
use farfield_cli::evaluate::settings::{Charges, EvaluateSettings, Sources};
use farfield_cli::failure::Failure;
use std::ops::Range;

/// The part of `n` things that a rank has.
pub fn part(n: usize, rank: usize, ranks: usize) -> Range<usize> {
    (rank * n / ranks)..((rank + 1) * n / ranks)
}

/// What one rank has of the sum.
pub struct OwnInput<T, const D: usize> {
    /// Its sources, targets and strengths.
    pub own: Input<T, D>,
    /// How many sources and targets all ranks have.
    pub counts: (usize, usize),
}

impl<T: Precision, const D: usize> OwnInput<T, D> {
    /// Makes or reads this rank's part.
    pub fn load<P: OverRanks<D>>(
        problem: &P,
        settings: &EvaluateSettings<P::Set>,
        (rank, ranks): (usize, usize),
    ) -> Result<Self, Failure> {
        if let (Sources::Made { set, n }, Charges::Made(distribution), None, None) = (
            &settings.sources,
            &settings.charges,
            &settings.targets,
            &settings.dipoles,
        ) {
            let range = part(*n, rank, ranks);
            let (components, vectors) = (problem.strength_components(), settings.vectors.unwrap_or(1));
            let sources = P::points::<T>(*set, range.end, settings.seed).split_off(range.start);
            let all: Vec<T> = distribution.generate(n * components * vectors, settings.seed);
            let own = Input {
                strengths: rows(&all, &range, (*n, components, vectors)),
                sources,
                targets: None,
                vectors,
                notes: Vec::new(),
            };
            return Ok(Self { own, counts: (*n, *n) });
        }
        let all = Input::<T, D>::load(problem, settings)?;
        let (n, m) = (all.sources.len(), all.target_count());
        let range = part(n, rank, ranks);
        let components = problem.strength_components();
        let own = Input {
            sources: all.sources[range.clone()].to_vec(),
            targets: all.targets.map(|targets| targets[part(m, rank, ranks)].to_vec()),
            strengths: rows(&all.strengths, &range, (n, components, all.vectors)),
            vectors: all.vectors,
            notes: all.notes,
        };
        Ok(Self { own, counts: (n, m) })
    }
}

/// The strengths of a range of sources, in every vector.
fn rows<T: Copy>(all: &[T], range: &Range<usize>, (n, components, vectors): (usize, usize, usize)) -> Vec<T> {
    let of_vector =
        |vector: usize| &all[(vector * n + range.start) * components..(vector * n + range.end) * components];
    (0..vectors).flat_map(of_vector).copied().collect()
}
