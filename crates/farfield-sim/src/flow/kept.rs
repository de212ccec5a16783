//! The state of a flow: a view of the current one, and a copy of the last valid one in case the solution blows up.

use super::control::Passing;
use super::model::{FORCE, OMEGA, PREVIOUS, Solver, Work};
use super::penalise::Pull;
use crate::checkpoint::{Numbers, StateView};
use crate::error::Error;
use crate::vec3::Vec3;
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, BlockId};
use rayon::prelude::*;

/// Numbers that a checkpoint stores in their own precision.
pub(super) trait Stored: Precision {
    /// The numbers of borrowed pieces.
    fn numbers(pieces: Vec<&[Self]>) -> Numbers<'_>;
    /// A block of zeros.
    const ZEROS: &'static [Self];
}

impl Stored for f32 {
    const ZEROS: &'static [Self] = &[0.0; BLOCK];

    fn numbers(pieces: Vec<&[Self]>) -> Numbers<'_> {
        Numbers::Single(pieces)
    }
}

impl Stored for f64 {
    const ZEROS: &'static [Self] = &[0.0; BLOCK];

    fn numbers(pieces: Vec<&[Self]>) -> Numbers<'_> {
        Numbers::Double(pieces)
    }
}

/// The number of values of a vector field in a block.
const BLOCK: usize = 3 * BLOCK_POINTS;

/// The parts of a state other than its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    /// The origin of the box and its root cubes along each axis.
    place: [f64; 6],
    time: f64,
    last_step: f64,
    started: bool,
    impulse_before: Vec3,
    passing_before: Passing,
    held: Pull,
    work: Work,
}

/// Adds a field to a view of a state.
pub(super) fn push_field<'a, T: Stored>(view: &mut StateView<'a>, channel: &str, pieces: Vec<&'a [T]>) {
    view.arrays.push((channel.to_owned(), 1, T::numbers(pieces)));
}

impl Rest {
    /// A view of the state without its fields.
    pub fn view<'a>(&self, leaves: &[BlockId]) -> StateView<'a> {
        let leaves = leaves.iter().flat_map(|leaf| {
            let [x, y, z] = leaf.at.map(f64::from);
            [f64::from(leaf.level), x, y, z]
        });
        let started = if self.started { 1.0 } else { 0.0 };
        let Work {
            lost_moving,
            lost_spreading,
            faded,
            ..
        } = self.work;
        let mut all = StateView::default();
        all.push_own("leaves", 4, leaves.collect());
        all.push_own("clock", 1, vec![self.time, self.last_step, started]);
        let impulse = [self.impulse_before, self.held.momentum, self.held.moment];
        all.push_own("impulse", 3, impulse.as_flattened().to_vec());
        all.push_own("box", 1, self.place.to_vec());
        let passing = [self.passing_before.impulse, self.passing_before.flux];
        all.push_own("passing", 3, passing.as_flattened().to_vec());
        all.push_own("work", 1, vec![lost_moving, lost_spreading, faded]);
        all
    }
}

/// A copy of a state.
pub(super) struct Kept<T> {
    leaves: Vec<BlockId>,
    fields: Vec<(&'static str, Sparse<T>)>,
    rest: Rest,
}

impl<T: Stored> Kept<T> {
    /// A view for a checkpoint.
    pub fn view(&self) -> StateView<'_> {
        let mut view = self.rest.view(&self.leaves);
        for (channel, field) in &self.fields {
            push_field(&mut view, channel, field.pieces());
        }
        view
    }
}

/// A vector field without the blocks that are all zero, because few blocks contain the force of bodies.
struct Sparse<T> {
    /// The index in `values` of each block, in blocks; `None` for zeros.
    places: Vec<Option<usize>>,
    values: Vec<T>,
}

impl<T: Stored> Sparse<T> {
    /// A copy, made in parallel. Reuses `memory` if it is large enough.
    fn copy(values: &[T], memory: Vec<T>) -> Self {
        let is_zero: Vec<bool> = values
            .par_chunks(BLOCK)
            .map(|block| block.iter().all(|value| *value == T::ZERO))
            .collect();
        let mut count = 0;
        let place = |is_zero: bool| {
            (!is_zero).then(|| {
                count += 1;
                count - 1
            })
        };
        let places: Vec<Option<usize>> = is_zero.into_iter().map(place).collect();
        let mut copy = memory;
        if copy.capacity() < count * BLOCK {
            // Freed before the new memory is allocated.
            drop(copy);
            copy = Vec::with_capacity(count * BLOCK);
        }
        copy.resize(count * BLOCK, T::ZERO);
        let stored = values.chunks(BLOCK).zip(&places).filter(|(_, place)| place.is_some());
        let stored: Vec<&[T]> = stored.map(|(block, _)| block).collect();
        copy.par_chunks_mut(BLOCK)
            .zip(stored)
            .for_each(|(to, from)| to.copy_from_slice(from));
        Self { places, values: copy }
    }

    fn pieces(&self) -> Vec<&[T]> {
        let piece = |place: &Option<usize>| match place {
            Some(place) => &self.values[place * BLOCK..(place + 1) * BLOCK],
            None => T::ZEROS,
        };
        self.places.iter().map(piece).collect()
    }
}

impl<T: Precision> Solver<T> {
    /// The channels of the state.
    pub(super) fn state_channels(&self) -> &'static [&'static str] {
        match self.setup.bodies.is_empty() {
            true => &[OMEGA, PREVIOUS],
            false => &[OMEGA, PREVIOUS, FORCE],
        }
    }

    /// The parts of the state other than its fields.
    pub(super) fn rest(&self) -> Rest {
        Rest {
            place: self.place(),
            time: self.time,
            last_step: self.last_step,
            started: self.started,
            impulse_before: self.impulse_before,
            passing_before: self.passing_before,
            held: self.held,
            work: self.work,
        }
    }
}

impl<T: Stored> Solver<T> {
    /// A copy of the state. Reuses the memory of an older copy.
    pub(super) fn copy_of_state(&self, memory: Option<Kept<T>>) -> Result<Kept<T>, Error> {
        let mut memory = memory.map_or(Vec::new(), |kept| kept.fields).into_iter();
        let mut fields = Vec::new();
        for channel in self.state_channels() {
            let old = memory.next().map_or(Vec::new(), |(_, field)| field.values);
            fields.push((*channel, Sparse::copy(self.grid.channel(channel)?.values(), old)));
        }
        Ok(Kept {
            leaves: self.grid.forest().leaves().to_vec(),
            fields,
            rest: self.rest(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_blocks_take_no_memory_and_are_restored() {
        let mut values = vec![0.0f32; 4 * BLOCK];
        values[BLOCK + 7] = 1.5;
        values[4 * BLOCK - 1] = -2.0;
        let copy = Sparse::copy(&values, Vec::new());
        assert_eq!(copy.values.len(), 2 * BLOCK);
        assert_eq!(copy.pieces().concat(), values);
        // The memory is reused, whatever its contents.
        values[0] = 3.0;
        let again = Sparse::copy(&values, copy.values);
        assert_eq!(again.pieces().concat(), values);
        let fewer = Sparse::copy(&values[..BLOCK], again.values);
        assert_eq!(fewer.pieces().concat(), values[..BLOCK]);
    }
}
