//! The rows of diagnostics that viewers get: all rows of a short run, evenly spaced rows of a long one.

/// The most rows kept; beyond, every second row is dropped.
const MOST: usize = 4096;

/// The rows so far, thinned to a bounded number.
#[derive(Debug, Default)]
pub struct Rows {
    kept: Vec<Vec<f64>>,
    /// One of `stride` rows is kept.
    stride: u64,
    seen: u64,
    /// Incremented whenever kept rows are dropped.
    epoch: u64,
}

/// A viewer's position in the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Place {
    epoch: u64,
    count: usize,
}

impl Rows {
    /// Adds a row: step, time, and the diagnostics.
    pub fn push(&mut self, row: Vec<f64>) {
        self.stride = self.stride.max(1);
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push(row);
        }
        self.seen += 1;
        if self.kept.len() > MOST {
            let mut k = 0;
            self.kept.retain(|_| {
                k += 1;
                k % 2 == 1
            });
            self.stride *= 2;
            self.epoch += 1;
        }
    }

    /// Replaces all rows.
    pub fn replace(&mut self, rows: impl Iterator<Item = Vec<f64>>) {
        let epoch = self.epoch + 1;
        *self = Self {
            epoch,
            ..Self::default()
        };
        rows.for_each(|row| self.push(row));
    }

    /// The rows that are new since `place`, which is advanced; `None` without new rows. If the flag is true, they
    /// replace all rows read before.
    pub fn since(&self, place: &mut Place) -> Option<(bool, &[Vec<f64>])> {
        let restart = place.epoch != self.epoch;
        let from = if restart { 0 } else { place.count };
        *place = Place {
            epoch: self.epoch,
            count: self.kept.len(),
        };
        (restart || from < self.kept.len()).then(|| (restart, &self.kept[from..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_evenly_spaced_rows() {
        let (mut rows, mut place) = (Rows::default(), Place::default());
        for step in 0..20_000 {
            rows.push(vec![f64::from(step)]);
            assert!(rows.kept.len() <= MOST);
        }
        let (_, all) = rows.since(&mut place).unwrap();
        let stride = all[1][0] - all[0][0];
        assert!(all.windows(2).all(|pair| pair[1][0] - pair[0][0] == stride) && all.len() > MOST / 4);
        assert!(rows.since(&mut place).is_none());
        for step in 20_000..20_000 + 2 * stride as i32 {
            rows.push(vec![f64::from(step)]);
        }
        let (restart, new) = rows.since(&mut place).unwrap();
        assert!(!restart && !new.is_empty() && new.len() <= 2);
    }
}
