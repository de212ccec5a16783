//! Tables, for reading and as CSV.

use farfield_io::{columns, units};

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not measured, or not in the paper: `-` for reading, empty in the CSV.
    Missing,
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number of moderate size.
    Number(f64),
    /// A small number, such as an error.
    Small(f64),
}

impl Cell {
    /// Milliseconds.
    pub fn milliseconds(seconds: f64) -> Self {
        Cell::Number(seconds * 1e3)
    }

    fn text(&self) -> String {
        match self {
            Cell::Missing => "-".to_owned(),
            Cell::Text(text) => text.clone(),
            Cell::Count(number) => units::count(*number),
            Cell::Number(value) => units::significant(*value, 4),
            Cell::Small(value) => format!("{value:.2e}"),
        }
    }

    fn csv(&self) -> String {
        match self {
            Cell::Missing => String::new(),
            Cell::Text(text) if text.contains([',', '"', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
            Cell::Text(text) => text.clone(),
            Cell::Count(number) => number.to_string(),
            Cell::Number(value) | Cell::Small(value) if value.is_finite() => value.to_string(),
            Cell::Number(_) | Cell::Small(_) => String::new(),
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Missing, Into::into)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}

/// Rows of values under named columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The name in the CSV, and the heading.
    columns: Vec<(String, String)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows. Each column has a name for the CSV and a heading for reading.
    pub fn new<N: Into<String>, H: Into<String>>(columns: impl IntoIterator<Item = (N, H)>) -> Self {
        let columns = columns
            .into_iter()
            .map(|(name, heading)| (name.into(), heading.into()))
            .collect();
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing values at its end are missing.
    pub fn row(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Aligned columns; in groups below each other where they are wider than `width`.
    pub fn text(&self, width: Option<usize>) -> String {
        let heading = self.columns.iter().map(|(_, heading)| heading.clone()).collect();
        let cells = |row: &Vec<Cell>| -> Vec<String> {
            (0..self.columns.len())
                .map(|k| row.get(k).unwrap_or(&Cell::Missing).text())
                .collect()
        };
        let mut lines: Vec<Vec<String>> = vec![heading];
        lines.extend(self.rows.iter().map(cells));
        let rule = columns::widths(&lines).iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(1, rule);
        columns::aligned(&lines, false, width)
    }

    /// Comma-separated values with a line of names.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = names.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = (0..self.columns.len())
                .map(|k| row.get(k).unwrap_or(&Cell::Missing).csv())
                .collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_for_reading_and_complete_as_csv() {
        let mut table = Table::new([("n", "N"), ("time_ms", "time (ms)"), ("gpu_ms", "GPU (ms)")]);
        table.row([Cell::Count(1024), Cell::milliseconds(0.0123456)]);
        table.row([Cell::Text("a, b".to_owned()), Cell::Small(f64::NAN), Some(2.0).into()]);
        assert_eq!(
            table.text(None),
            "    N  time (ms)  GPU (ms)\n\
             -----  ---------  --------\n\
             1 024      12.35         -\n \
             a, b        NaN     2.000\n"
        );
        let narrow = table.text(Some(20));
        assert!(narrow.lines().all(|line| line.chars().count() <= 20), "{narrow}");
        assert_eq!(narrow.matches("1 024").count(), 2);
        assert_eq!(table.csv(), "n,time_ms,gpu_ms\n1024,12.3456,\n\"a, b\",,2\n");
    }
}
