//! A box of numbers of one level.

use farfield::simd::Real;

/// Numbers at a box of points of one level. `low` counts points of that level from the corner of the domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Patch<T> {
    pub low: [i64; 3],
    pub size: [usize; 3],
    /// x runs fastest, then y, then z.
    pub values: Vec<T>,
}

/// How one number along a line comes from those of another line: `sum of weights[k] * line[start + k]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub start: usize,
    pub weights: &'a [f64],
}

impl<T: Real> Patch<T> {
    pub fn zeros(low: [i64; 3], size: [usize; 3]) -> Self {
        Self {
            low,
            size,
            values: vec![T::ZERO; size.iter().product()],
        }
    }

    /// Where a point of the level is in `values`.
    #[inline(always)]
    pub fn index(&self, point: [i64; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| (point[axis] - self.low[axis]) as usize);
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// Replaces all lines along `axis` by what `rows` makes of them; the new lines start at `low`.
    pub fn along(&self, axis: usize, low: i64, rows: &[Row]) -> Self {
        let mut out = Self {
            low: self.low,
            size: self.size,
            values: Vec::new(),
        };
        (out.low[axis], out.size[axis]) = (low, rows.len());
        // [outer][axis][inner], in both patches.
        let inner: usize = self.size[..axis].iter().product();
        let outer: usize = self.size[axis + 1..].iter().product();
        let (from, to) = (inner * self.size[axis], inner * rows.len());
        out.values = vec![T::ZERO; outer * to];
        if to == 0 {
            return out;
        }
        for (lines, target) in self.values.chunks_exact(from).zip(out.values.chunks_exact_mut(to)) {
            for (row, target) in rows.iter().zip(target.chunks_exact_mut(inner)) {
                let sources = lines[row.start * inner..].chunks_exact(inner);
                for (weight, source) in row.weights.iter().zip(sources) {
                    let weight = T::from_f64(*weight);
                    for (t, s) in target.iter_mut().zip(source) {
                        *t += weight * *s;
                    }
                }
            }
        }
        out
    }
}
