//! Rows of different lengths, stored in one array.

/// Rows of different lengths, stored in one array.
#[derive(Debug, Clone)]
pub struct Rows<E> {
    starts: Vec<usize>,
    entries: Vec<E>,
}

impl<E> Default for Rows<E> {
    fn default() -> Self {
        Self {
            starts: vec![0],
            entries: Vec::new(),
        }
    }
}

impl<E> Rows<E> {
    /// Appends a row.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = E>) {
        self.entries.extend(row);
        self.starts.push(self.entries.len());
    }

    /// The entries of row `k`.
    pub fn row(&self, k: usize) -> &[E] {
        &self.entries[self.starts[k]..self.starts[k + 1]]
    }

    /// The number of entries in all rows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The rows in another sequence: row `k` of the result is row `permutation[k]`.
    pub fn permuted(&self, permutation: &[u32]) -> Self
    where
        E: Copy,
    {
        let mut rows = Self::default();
        rows.entries.reserve_exact(self.entries.len());
        for k in permutation {
            rows.push_row(self.row(*k as usize).iter().copied());
        }
        rows
    }

    /// Appends the rows of `other`.
    pub fn append(&mut self, other: Rows<E>) {
        let base = self.entries.len();
        self.entries.extend(other.entries);
        self.starts.extend(other.starts[1..].iter().map(|start| base + start));
    }

    /// Appends the rows of `pieces`. Each piece has the lengths of its rows and their entries.
    pub fn extend<'a>(&mut self, pieces: impl Iterator<Item = (&'a [u32], &'a [E])>)
    where
        E: Copy + 'a,
    {
        for (lengths, entries) in pieces {
            let mut end = self.entries.len();
            for length in lengths {
                end += *length as usize;
                self.starts.push(end);
            }
            self.entries.extend_from_slice(entries);
        }
    }
}
