//! A borrowed view of a state, so that a checkpoint can be written without a copy.

use crate::model::State;
use std::io::{self, Write};

/// The arrays of a state, borrowed in place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateView<'a> {
    /// The name, the number of columns, and the values row by row.
    pub arrays: Vec<(String, usize, Numbers<'a>)>,
}

/// The numbers of an array, in their own precision.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers<'a> {
    /// Borrowed pieces in single precision, in order.
    Single(Vec<&'a [f32]>),
    /// Borrowed pieces in double precision, in order.
    Double(Vec<&'a [f64]>),
    /// Numbers owned by the view.
    Own(Vec<f64>),
}

/// The number of values that are converted to bytes at a time.
const PIECE: usize = 1 << 14;

impl Numbers<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Single(pieces) => pieces.iter().map(|piece| piece.len()).sum(),
            Numbers::Double(pieces) => pieces.iter().map(|piece| piece.len()).sum(),
            Numbers::Own(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes per value.
    pub(super) fn width(&self) -> usize {
        match self {
            Numbers::Single(_) => 4,
            Numbers::Double(_) | Numbers::Own(_) => 8,
        }
    }

    /// A copy in double precision.
    fn to_vec(&self) -> Vec<f64> {
        match self {
            Numbers::Single(pieces) => pieces
                .iter()
                .flat_map(|piece| piece.iter().map(|v| f64::from(*v)))
                .collect(),
            Numbers::Double(pieces) => pieces.concat(),
            Numbers::Own(values) => values.clone(),
        }
    }

    /// Writes the values as little-endian bytes, piece by piece.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Numbers::Single(pieces) => pieces
                .iter()
                .try_for_each(|piece| write(piece, |v| v.to_le_bytes(), out)),
            Numbers::Double(pieces) => pieces
                .iter()
                .try_for_each(|piece| write(piece, |v| v.to_le_bytes(), out)),
            Numbers::Own(values) => write(values, |v| v.to_le_bytes(), out),
        }
    }
}

fn write<T: Copy, const N: usize>(values: &[T], bytes_of: fn(T) -> [u8; N], out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(N * PIECE.min(values.len()));
    for piece in values.chunks(PIECE) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|value| bytes_of(*value)));
        out.write_all(&bytes)?;
    }
    Ok(())
}

impl<'a> StateView<'a> {
    /// Adds an array that the view owns.
    pub fn push_own(&mut self, name: &str, columns: usize, numbers: Vec<f64>) {
        self.arrays.push((name.to_owned(), columns, Numbers::Own(numbers)));
    }

    /// Whether any array is borrowed. The view must then be written before the next step changes the state.
    pub fn borrows(&self) -> bool {
        self.arrays
            .iter()
            .any(|(_, _, numbers)| !matches!(numbers, Numbers::Own(_)))
    }

    /// A copy of the state in double precision.
    pub fn into_state(self) -> State {
        let own = |numbers| match numbers {
            Numbers::Own(values) => values,
            other => other.to_vec(),
        };
        let arrays = self.arrays.into_iter();
        State {
            arrays: arrays
                .map(|(name, columns, numbers)| (name, columns, own(numbers)))
                .collect(),
        }
    }
}

impl From<State> for StateView<'_> {
    fn from(state: State) -> Self {
        let arrays = state.arrays.into_iter();
        Self {
            arrays: arrays
                .map(|(name, columns, values)| (name, columns, Numbers::Own(values)))
                .collect(),
        }
    }
}

impl<'a> From<&'a State> for StateView<'a> {
    fn from(state: &'a State) -> Self {
        let arrays = state.arrays.iter();
        Self {
            arrays: arrays
                .map(|(name, columns, values)| (name.clone(), *columns, Numbers::Double(vec![values])))
                .collect(),
        }
    }
}
