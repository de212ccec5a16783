//! Converts numbers to bytes of messages, and back.

use farfield::simd::Real;
use rayon::prelude::*;

/// Writes numbers into a message.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// Reads numbers from a message in the order in which they were written. At the end of the message, a count reads as
/// zero and sequences of numbers end early.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl Writer {
    /// Writes a count.
    pub fn count(&mut self, count: usize) {
        self.bytes.extend((count as u64).to_ne_bytes());
    }

    /// Writes numbers in their precision.
    pub fn values<T: Real>(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let places = self.room(values.len() * size_of::<T>());
        put_all(places, values);
    }

    /// Appends `bytes` zero bytes and returns them.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.bytes.len();
        if start == 0 {
            // Zeroed memory from the system is first touched by the threads that fill it.
            self.bytes = vec![0; bytes];
        } else {
            self.bytes.resize(start + bytes, 0);
        }
        &mut self.bytes[start..]
    }

    /// Writes consecutive numbers, in parallel.
    pub fn consecutive<T: Real>(&mut self, values: &[T]) {
        let pieces = self.room(size_of_val(values)).par_chunks_mut(size_of::<T>() * ROWS);
        let values = values.par_chunks(ROWS);
        pieces
            .zip(values)
            .for_each(|(places, values)| put_all(places, values.iter().copied()));
    }

    /// Writes the rows of `values` with the indices `picked`, in their order; a row has `columns` numbers.
    pub fn rows<T: Real>(&mut self, values: &[T], columns: usize, picked: &[u32]) {
        // A loop with a constant width loads many rows from memory at once.
        match columns {
            1 => self.short_rows::<T, 1>(values, picked),
            3 => self.short_rows::<T, 3>(values, picked),
            4 => self.short_rows::<T, 4>(values, picked),
            _ => {
                let width = columns * size_of::<T>();
                let pieces = self.room(width * picked.len()).par_chunks_mut(width * ROWS);
                pieces.zip(picked.par_chunks(ROWS)).for_each(|(places, picked)| {
                    for (places, row) in places.chunks_exact_mut(width).zip(picked) {
                        let row = &values[*row as usize * columns..][..columns];
                        put_all(places, row.iter().copied());
                    }
                });
            }
        }
    }

    fn short_rows<T: Real, const C: usize>(&mut self, values: &[T], picked: &[u32]) {
        let width = C * size_of::<T>();
        let rows = values.as_chunks::<C>().0;
        let pieces = self.room(width * picked.len()).par_chunks_mut(width * ROWS);
        pieces.zip(picked.par_chunks(ROWS)).for_each(|(places, picked)| {
            for (places, row) in places.chunks_exact_mut(width).zip(picked) {
                put_all(places, rows[*row as usize].into_iter());
            }
        });
    }

    /// Returns the message.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// The number of rows that a thread takes at a time.
const ROWS: usize = 1 << 13;

fn put_all<T: Real>(places: &mut [u8], values: impl Iterator<Item = T>) {
    for (place, value) in places.chunks_exact_mut(size_of::<T>()).zip(values) {
        if size_of::<T>() == 4 {
            place.copy_from_slice(&(value.to_f64() as f32).to_ne_bytes());
        } else {
            place.copy_from_slice(&value.to_f64().to_ne_bytes());
        }
    }
}

fn get_all<T: Real>(bytes: &[u8], places: &mut [T]) {
    if size_of::<T>() == 4 {
        for (place, bytes) in places.iter_mut().zip(bytes.as_chunks().0) {
            *place = T::from_f64(f32::from_ne_bytes(*bytes).into());
        }
    } else {
        for (place, bytes) in places.iter_mut().zip(bytes.as_chunks().0) {
            *place = T::from_f64(f64::from_ne_bytes(*bytes));
        }
    }
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a message.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Reads a count.
    pub fn count(&mut self) -> usize {
        self.take(8)
            .as_chunks()
            .0
            .first()
            .map_or(0, |bytes| u64::from_ne_bytes(*bytes) as usize)
    }

    /// Reads `count` numbers.
    pub fn values<T: Real>(&mut self, count: usize) -> impl Iterator<Item = T> + use<'a, T> {
        let width = size_of::<T>();
        self.take(count * width).chunks_exact(width).map(|bytes| {
            let mut value = [T::ZERO];
            get_all(bytes, &mut value);
            value[0]
        })
    }

    /// Reads numbers into `places`, in parallel.
    pub fn fill<T: Real>(&mut self, places: &mut [T]) {
        let width = size_of::<T>();
        let bytes = self.take(size_of_val(places));
        let pieces = places.par_chunks_mut(ROWS).zip(bytes.par_chunks(ROWS * width));
        pieces.for_each(|(places, bytes)| get_all(bytes, places));
    }

    /// Reads `count` points and appends them to `points`.
    pub fn points<T: Real, const D: usize>(&mut self, count: usize, points: &mut Vec<[T; D]>) {
        let mut values = self.values::<T>(count * D);
        points.extend((0..count).map(|_| std::array::from_fn(|_| values.next().unwrap_or(T::ZERO))));
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Real>() {
        let mut writer = Writer::default();
        writer.count(3);
        writer.values([1.5, -0.1, 1e-30].into_iter().map(T::from_f64));
        writer.count(1);
        writer.values([T::from_f64(0.1), T::from_f64(0.7)].into_iter());
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        let count = reader.count();
        assert_eq!(
            reader.values::<T>(count).collect::<Vec<_>>(),
            [1.5, -0.1, 1e-30].map(T::from_f64)
        );
        let (count, mut points) = (reader.count(), Vec::<[T; 2]>::new());
        reader.points(count, &mut points);
        assert_eq!(points, [[T::from_f64(0.1), T::from_f64(0.7)]]);
        assert_eq!(reader.count(), 0);
    }

    #[test]
    fn numbers_survive_a_round_trip() {
        there_and_back::<f32>();
        there_and_back::<f64>();
    }
}
