//! Reports that fit the terminal. In a pipe or a file lines stay whole, for programs that read them.

use farfield_io::columns;
use std::io::IsTerminal;

/// The width of standard output in columns; `None` if it is not a terminal. `$COLUMNS` overrides it.
pub fn width() -> Option<usize> {
    columns_of(std::io::stdout())
}

/// The width of standard error in columns; `None` if it is not a terminal. `$COLUMNS` overrides it.
pub fn width_of_progress() -> Option<usize> {
    columns_of(std::io::stderr())
}

fn columns_of(stream: impl IsTerminal) -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let found = || {
        let size = terminal_size::terminal_size().filter(|_| stream.is_terminal());
        size.map(|(width, _)| usize::from(width.0))
    };
    // A terminal that does not know its width reports zero.
    asked.or_else(found).filter(|width| *width >= 20)
}

/// A report whose lines are folded at the width of the terminal.
pub fn fit(text: String) -> String {
    match width() {
        Some(width) => columns::folded(&text, width),
        None => text,
    }
}

/// Names and their descriptions, one entry on each line.
pub fn list<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows: Vec<(&str, String)> = entries.into_iter().collect();
    let longest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    fit(rows
        .iter()
        .map(|(name, about)| format!("{name:longest$}  {about}\n"))
        .collect())
}
