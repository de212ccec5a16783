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

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Cell::Count(number)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Cell::Count(number as u64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

/// Rows of values under named columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The name in the CSV, and the heading.
    columns: Vec<(String, String)>,
    rows: Vec<Vec<Cell>>,
}

/// A table with a row for each of `of`, built column by column.
#[derive(Debug)]
pub struct TableOf<'a, R> {
    of: &'a [R],
    table: Table,
}

impl<R> TableOf<'_, R> {
    /// Adds a column: its name in the CSV, its heading, and its value in each row.
    pub fn column<C: Into<Cell>>(
        mut self,
        name: impl Into<String>,
        heading: impl Into<String>,
        value: impl Fn(&R) -> C,
    ) -> Self {
        self.table.columns.push((name.into(), heading.into()));
        for (row, of) in self.table.rows.iter_mut().zip(self.of) {
            row.push(value(of).into());
        }
        self
    }
}

impl<R> From<TableOf<'_, R>> for Table {
    fn from(built: TableOf<'_, R>) -> Self {
        built.table
    }
}

impl Table {
    /// A table of `rows`, to be given columns.
    pub fn of<R>(rows: &[R]) -> TableOf<'_, R> {
        let table = Self {
            columns: Vec::new(),
            rows: vec![Vec::new(); rows.len()],
        };
        TableOf { of: rows, table }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Aligned columns; in groups below each other where they are wider than `width`.
    pub fn text(&self, width: Option<usize>) -> String {
        let heading = self.columns.iter().map(|(_, heading)| heading.clone()).collect();
        let mut lines: Vec<Vec<String>> = vec![heading];
        lines.extend(self.rows.iter().map(|row| row.iter().map(Cell::text).collect()));
        let rule = columns::widths(&lines).iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(1, rule);
        columns::aligned(&lines, false, width)
    }

    /// Comma-separated values with a line of names.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = names.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::csv).collect();
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
        let rows: [(Cell, Cell, Option<f64>); 2] = [
            (1024usize.into(), 12.3456.into(), None),
            ("a, b".into(), Cell::Small(f64::NAN), Some(2.0)),
        ];
        let table: Table = Table::of(&rows)
            .column("n", "N", |row| row.0.clone())
            .column("time_ms", "time (ms)", |row| row.1.clone())
            .column("gpu_ms", "GPU (ms)", |row| row.2)
            .into();
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
