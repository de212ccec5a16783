//! A matrix of `f64` in memory, with or without a name.

/// A two-dimensional array, stored row by row.
///
/// A one-dimensional array of `N` values has `N` rows and one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The `rows * columns` values, row by row.
    pub values: Vec<f64>,
}

impl Array {
    /// An array with one column.
    #[must_use]
    pub fn column(values: Vec<f64>) -> Self {
        Self {
            rows: values.len(),
            columns: 1,
            values,
        }
    }

    /// An array with one row for each element of `rows`, such as points or gradients.
    #[must_use]
    pub fn from_rows<const D: usize>(rows: &[[f64; D]]) -> Self {
        Self {
            rows: rows.len(),
            columns: D,
            values: rows.as_flattened().to_vec(),
        }
    }

    /// The rows as fixed-size vectors; `None` if there are not exactly `D` columns or
    /// `values` does not hold `rows * columns` values.
    #[must_use]
    pub fn to_rows<const D: usize>(&self) -> Option<Vec<[f64; D]>> {
        if self.columns != D || !self.is_consistent() {
            return None;
        }
        if D == 0 {
            return Some(vec![[0.0; D]; self.rows]);
        }
        self.values.chunks_exact(D).map(|row| row.try_into().ok()).collect()
    }

    /// Whether `values` holds exactly `rows * columns` values.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.rows.checked_mul(self.columns) == Some(self.values.len())
    }

    /// A new array of the given columns, in that order; every index must be below `self.columns`.
    pub(crate) fn select(&self, columns: &[usize]) -> Self {
        if self.columns == 0 {
            return Self {
                rows: self.rows,
                ..Self::default()
            };
        }
        let values = self
            .values
            .chunks_exact(self.columns)
            .flat_map(|row| columns.iter().map(|&column| row[column]))
            .collect();
        Self {
            rows: self.rows,
            columns: columns.len(),
            values,
        }
    }

    /// Joins arrays with the same number of rows, column after column.
    pub(crate) fn side_by_side(arrays: &[&Array]) -> Self {
        let rows = arrays.first().map_or(0, |array| array.rows);
        let columns = arrays.iter().map(|array| array.columns).sum();
        if columns == 0 {
            return Self {
                rows,
                ..Self::default()
            };
        }
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for array in arrays {
                let start = row * array.columns;
                values.extend_from_slice(&array.values[start..start + array.columns]);
            }
        }
        Self { rows, columns, values }
    }
}

/// An [`Array`] and its name in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// The name without an extension, such as `potential`.
    pub name: String,
    /// The values.
    pub array: Array,
}

impl NamedArray {
    /// Names an array.
    pub fn new(name: impl Into<String>, array: Array) -> Self {
        Self {
            name: name.into(),
            array,
        }
    }
}

/// The floating-point width of written values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats: half the size, about 7 significant digits.
    Single,
    /// 64-bit floats: exact.
    #[default]
    Double,
}
