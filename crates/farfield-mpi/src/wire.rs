//! Numbers as bytes, for messages.

use farfield::simd::Real;

/// Writes numbers into a message.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// Reads numbers from a message, in the sequence they were written in. What is not there is read as nothing.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl Writer {
    /// A count.
    pub fn count(&mut self, count: usize) {
        self.bytes.extend((count as u64).to_ne_bytes());
    }

    /// Numbers in the precision of the sum.
    pub fn values<T: Real>(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let (width, start) = (size_of::<T>(), self.bytes.len());
        self.bytes.resize(start + width * values.len(), 0);
        for (place, value) in self.bytes[start..].chunks_exact_mut(width).zip(values) {
            if width == 4 {
                place.copy_from_slice(&(value.to_f64() as f32).to_ne_bytes());
            } else {
                place.copy_from_slice(&value.to_f64().to_ne_bytes());
            }
        }
    }

    /// The message.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

impl<'a> Reader<'a> {
    /// Reads from the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// A count.
    pub fn count(&mut self) -> usize {
        self.take(8)
            .as_chunks()
            .0
            .first()
            .map_or(0, |bytes| u64::from_ne_bytes(*bytes) as usize)
    }

    /// So many numbers.
    pub fn values<T: Real>(&mut self, count: usize) -> impl Iterator<Item = T> + use<'a, T> {
        let width = size_of::<T>();
        self.take(count * width)
            .chunks_exact(width)
            .map(move |bytes| match bytes {
                [a, b, c, d] => T::from_f64(f32::from_ne_bytes([*a, *b, *c, *d]).into()),
                _ => T::from_f64(
                    bytes
                        .as_chunks()
                        .0
                        .first()
                        .map_or(0.0, |bytes| f64::from_ne_bytes(*bytes)),
                ),
            })
    }

    /// So many points.
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
    fn numbers_come_back_as_they_were() {
        there_and_back::<f32>();
        there_and_back::<f64>();
    }
}
