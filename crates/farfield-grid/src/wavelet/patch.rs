//! A box of values of one level.

use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Values at a box of points of one level. `low` counts points of that level from the corner of the domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Patch<T> {
    pub low: [i64; 3],
    pub size: [usize; 3],
    /// x runs fastest, then y, then z.
    pub values: Vec<T>,
}

/// Computes one value of an output line from an input line: `sum of weights[k] * line[start + k]`.
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

    /// The index of `point` in `values`.
    #[inline(always)]
    pub fn index(&self, point: [i64; 3]) -> usize {
        let from_low = |axis: usize| (point[axis] - self.low[axis]) as usize;
        (from_low(2) * self.size[1] + from_low(1)) * self.size[0] + from_low(0)
    }

    /// The patch with `rows` applied to every line along `axis`; the new lines start at `low`.
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
        out.values = vec![T::ZERO; outer * inner * rows.len()];
        let mut weights = Vec::new();
        let rows: Vec<Line> = rows.iter().map(|row| Line::of(row, &mut weights)).collect();
        let task = Combine {
            from: &self.values,
            to: &mut out.values,
            length: self.size[axis],
            inner,
            rows: &rows,
            weights: &weights,
        };
        dispatch(SimdLevel::best(), task);
        out
    }
}

/// A [`Row`] without zeros at its ends: `start` as there, and the range of its weights in the array of all weights.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    first: usize,
    count: usize,
}

impl Line {
    fn of<T: Real>(row: &Row, weights: &mut Vec<T>) -> Self {
        let zeros = row.weights.iter().take_while(|weight| **weight == 0.0).count();
        let last = row.weights.iter().rposition(|weight| *weight != 0.0);
        let used = &row.weights[zeros..last.map_or(zeros, |last| last + 1)];
        let first = weights.len();
        weights.extend(used.iter().map(|weight| T::from_f64(*weight)));
        Self {
            start: row.start + zeros,
            first,
            count: used.len(),
        }
    }
}

/// Combines lines of one array into lines of another.
struct Combine<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
    /// The length of a line in `from`.
    length: usize,
    /// The number of adjacent lines.
    inner: usize,
    rows: &'a [Line],
    weights: &'a [T],
}

impl<T: Real> Vectorized<T> for Combine<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (from, to) = (self.inner * self.length, self.inner * self.rows.len());
        if from == 0 || to == 0 {
            return;
        }
        for outer in 0..self.to.len() / to {
            let lines = &self.from[outer * from..][..from];
            for k in 0..self.rows.len() {
                let Line { start, first, count } = self.rows[k];
                let weights = &self.weights[first..first + count];
                let sources = &lines[start * self.inner..][..count * self.inner];
                let target = &mut self.to[outer * to + k * self.inner..][..self.inner];
                // Constant counts for the common cases let the compiler unroll the loop.
                match count {
                    1 => combine::<T, 1>(weights, sources, target),
                    2 => combine::<T, 2>(weights, sources, target),
                    4 => combine::<T, 4>(weights, sources, target),
                    5 => combine::<T, 5>(weights, sources, target),
                    _ => {
                        for w in 0..count {
                            let source = &sources[w * target.len()..][..target.len()];
                            for x in 0..target.len() {
                                target[x] += weights[w] * source[x];
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Sets `target[x]` to the sum of `weights[w] * sources[w][x]`.
#[inline(always)]
fn combine<T: Real, const W: usize>(weights: &[T], sources: &[T], target: &mut [T]) {
    let inner = target.len();
    let mut lines = [sources; W];
    for w in 0..W {
        lines[w] = &sources[w * inner..][..inner];
    }
    for x in 0..inner {
        let mut sum = weights[0] * lines[0][x];
        for w in 1..W {
            sum += weights[w] * lines[w][x];
        }
        target[x] = sum;
    }
}
