//! Writes the results of all ranks to one file. The first rank writes it piece by piece, so that it never holds all
//! results.

use super::evaluate::together;
use farfield::{Field, Geometry, Precision};
use farfield_cli::failure::Failure;
use farfield_io::{Array, takes_arrays_side_by_side, write_in_pieces};
use farfield_mpi::{Communicator, Mpi};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

/// Writes each output as an array of its name, as `farfield evaluate` does, with the rows in the order of ranks.
/// Called by all ranks together.
pub fn write<T: Precision, G: Geometry>(ranks: &Mpi, path: &Path, field: &Field<T, G>) -> Result<(), Failure> {
    let side_by_side = together(ranks, takes_arrays_side_by_side(path).map_err(Failure::from))?;
    let arrays = arrays_of(field);
    let rows = rows_of_ranks(ranks, field.targets());
    // The arrays that the format stores together: one, or all of them side by side.
    let sets: Vec<&[OneArray<G>]> = match side_by_side {
        true => vec![&arrays],
        false => arrays.chunks(1).collect(),
    };
    let written = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Array>(0);
        let writing = (ranks.rank() == 0).then(|| {
            let (named, shape) = (named(&arrays), (rows.iter().sum(), rows.len()));
            scope.spawn(move || receive(path, &named, shape, precision::<T>(), &receiver))
        });
        for set in &sets {
            for (rank, rows) in rows.iter().enumerate() {
                let piece = pass(ranks, rank, *rows, (field, *set));
                // If writing has failed, the exchange still runs to its end; all ranks get the error afterwards.
                if ranks.rank() == 0 {
                    let _ = sender.send(piece);
                }
            }
        }
        drop(sender);
        writing.map_or(Ok(()), |writing| match writing.join() {
            Ok(written) => written,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    together(ranks, written)
}

/// An array of the file: one output for one strength vector.
struct OneArray<G: Geometry> {
    name: String,
    output: G::Output,
    vector: usize,
    columns: usize,
}

fn arrays_of<T: Precision, G: Geometry>(field: &Field<T, G>) -> Vec<OneArray<G>> {
    let mut arrays = Vec::new();
    for output in field.outputs() {
        for vector in 0..field.vectors() {
            arrays.push(OneArray {
                name: match field.vectors() {
                    1 => G::output_name(*output).to_owned(),
                    _ => format!("{}_{vector}", G::output_name(*output)),
                },
                output: *output,
                vector,
                columns: field.components(*output).unwrap_or(1),
            });
        }
    }
    arrays
}

fn named<G: Geometry>(arrays: &[OneArray<G>]) -> Vec<(String, usize)> {
    arrays.iter().map(|array| (array.name.clone(), array.columns)).collect()
}

fn precision<T: Precision>() -> farfield_io::Precision {
    match T::DOUBLE {
        true => farfield_io::Precision::Double,
        false => farfield_io::Precision::Single,
    }
}

/// The number of targets of each rank. Called by all ranks together.
fn rows_of_ranks(ranks: &Mpi, own: usize) -> Vec<usize> {
    let all = ranks.all_gather(&(own as u64).to_ne_bytes());
    let counts = all.as_chunks().0.iter();
    counts.map(|bytes| u64::from_ne_bytes(*bytes) as usize).collect()
}

/// Passes the piece of rank `from` to the first rank; the result is empty on other ranks. Called by all ranks together.
fn pass<T: Precision, G: Geometry>(
    ranks: &Mpi,
    from: usize,
    rows: usize,
    (field, arrays): (&Field<T, G>, &[OneArray<G>]),
) -> Array {
    let columns = arrays.iter().map(|array| array.columns).sum();
    let own = || piece(field, arrays);
    if from == 0 {
        let values = if ranks.rank() == 0 { own() } else { Vec::new() };
        return Array { rows, columns, values };
    }
    let outgoing = match ranks.rank() == from && rows > 0 {
        true => vec![(0, own().into_iter().flat_map(f64::to_ne_bytes).collect())],
        false => Vec::new(),
    };
    let expected = match ranks.rank() == 0 && rows > 0 {
        true => vec![(from, rows * columns * size_of::<f64>())],
        false => Vec::new(),
    };
    let received = ranks.exchange(&outgoing, &expected).pop().unwrap_or_default();
    let numbers = received.as_chunks().0.iter();
    Array {
        rows,
        columns,
        values: numbers.map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
    }
}

/// This rank's rows of some arrays, side by side.
fn piece<T: Precision, G: Geometry>(field: &Field<T, G>, arrays: &[OneArray<G>]) -> Vec<f64> {
    let columns: usize = arrays.iter().map(|array| array.columns).sum();
    let mut values = Vec::with_capacity(columns * field.targets());
    for row in 0..field.targets() {
        for array in arrays {
            let of_vector = field.of_vector(array.output, array.vector).unwrap_or(&[]);
            let own = &of_vector[row * array.columns..(row + 1) * array.columns];
            values.extend(own.iter().map(|value| value.to_f64()));
        }
    }
    values
}

/// Writes the pieces as they arrive.
fn receive(
    path: &Path,
    arrays: &[(String, usize)],
    shape: (usize, usize),
    precision: farfield_io::Precision,
    pieces: &Receiver<Array>,
) -> Result<(), Failure> {
    let mut next = || {
        pieces
            .recv()
            .map_err(|_| io::Error::other("the ranks ended before all results had arrived"))
    };
    Ok(write_in_pieces(path, arrays, shape, precision, &mut next)?)
}
