//! A part of the rows of a file, for processes that share its points.

use std::ops::Range;

/// One of several equal parts, in the order of rows. Rows of other parts are skipped while a file is read and take no
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The index of the part, from 0.
    pub index: usize,
    /// The number of parts.
    pub of: usize,
}

impl Part {
    /// The whole file.
    pub const ALL: Self = Self { index: 0, of: 1 };

    /// The rows of this part, out of `all` rows.
    #[must_use]
    pub fn rows(self, all: usize) -> Range<usize> {
        let bound = |index: usize| (index as u128 * all as u128 / self.of.max(1) as u128) as usize;
        bound(self.index)..bound(self.index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_contiguous_and_cover_all_rows() {
        for (all, of) in [(0, 3), (2, 5), (10, 3), (1 << 40, 7)] {
            let parts: Vec<_> = (0..of).map(|index| Part { index, of }.rows(all)).collect();
            assert!(parts[0].start == 0 && parts[of - 1].end == all);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(parts.iter().all(|part| part.len().abs_diff(all / of) <= 1));
        }
        assert_eq!(Part::ALL.rows(5), 0..5);
    }
}
