//! Formats tables for display: aligned columns, and lines folded to the width of a terminal.

/// Rows as aligned columns. The first column is aligned left if `first_to_the_left`, all others right. If the table is
/// wider than `width`, the columns are split into groups below each other, each starting with the first column.
pub fn aligned(rows: &[Vec<String>], first_to_the_left: bool, width: Option<usize>) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for (k, group) in groups(&widths, width).iter().enumerate() {
        if k > 0 {
            text.push('\n');
        }
        for row in rows {
            let cell = |column: &usize| {
                let (cell, width) = (row.get(*column).map_or("", String::as_str), widths[*column]);
                if *column == 0 && first_to_the_left {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            };
            let line: Vec<String> = group.iter().map(cell).collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
    }
    text
}

/// The width of each column in characters.
pub fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| row.get(k));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

/// Groups of columns that fit side by side; every group begins with the first column.
fn groups(widths: &[usize], width: Option<usize>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut used = 0;
    for column in 0..widths.len() {
        let wider = used + 2 + widths[column];
        match groups.last_mut() {
            // A group has at least one column besides the first.
            Some(group) if group.len() < 2 || width.is_none_or(|width| wider <= width) => {
                group.push(column);
                used = wider;
            }
            Some(_) => {
                groups.push(vec![0, column]);
                used = widths[0] + 2 + widths[column];
            }
            None => {
                groups.push(vec![column]);
                used = widths[column];
            }
        }
    }
    groups
}

/// Folds every line longer than `width`. Continuation lines are indented to the start of the text, which follows a name
/// at the start of the line if at least two spaces set it off. Words longer than a line are not broken.
pub fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if line.chars().count() <= width {
            out.push_str(line);
        } else {
            fold(line, width, &mut out);
        }
        out.push_str(end);
    }
    out
}

fn fold(line: &str, width: usize, out: &mut String) {
    let indent = text_begins(line).min(width / 2);
    let mut used = 0;
    let mut spaces = 0;
    // Spaces inside a line are kept, spaces at a break are dropped.
    for piece in line.split_inclusive(' ') {
        let word = piece.trim_end_matches(' ');
        let length = word.chars().count();
        if word.is_empty() {
            spaces += 1;
            continue;
        }
        if used > indent && used + spaces + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else {
            out.push_str(&" ".repeat(spaces));
            used += spaces;
        }
        out.push_str(word);
        used += length;
        spaces = piece.len() - word.len();
    }
}

/// The column where the text after the name at the start of a line begins; without a name, two columns after the first
/// word begins.
fn text_begins(line: &str) -> usize {
    let chars: Vec<char> = line.chars().collect();
    let start = chars.iter().position(|c| *c != ' ').unwrap_or(0);
    let after = (start..chars.len().saturating_sub(1)).find(|k| chars[*k] == ' ' && chars[*k + 1] == ' ');
    let begins = after.and_then(|gap| (gap..chars.len()).find(|k| chars[*k] != ' '));
    begins.unwrap_or(start + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn columns_are_aligned_and_cut_into_groups() {
        let rows = [row(&["N", "time", "error"]), row(&["1000", "1.5 s", "é"])];
        assert_eq!(aligned(&rows, true, None), "N      time  error\n1000  1.5 s      é\n");
        assert_eq!(
            aligned(&rows, false, Some(40)),
            "   N   time  error\n1000  1.5 s      é\n"
        );
        assert_eq!(
            aligned(&rows, true, Some(12)),
            "N      time\n1000  1.5 s\n\nN     error\n1000      é\n"
        );
        assert_eq!(aligned(&[], true, Some(3)), "");
        assert_eq!(aligned(&[row(&["alone"])], true, Some(3)), "alone\n");
    }

    #[test]
    fn long_lines_continue_below_their_text() {
        let text = "device        cpu; no cuda: there is no driver\nshort\n\n  ok      a claim that is long: 1e-3\n";
        assert_eq!(
            folded(text, 30),
            "device        cpu; no cuda:\n              there is no\n              driver\nshort\n\n  \
             ok      a claim that is\n          long: 1e-3\n"
        );
        // Only spaces at breaks are dropped, and no line is longer than `width` unless a word is.
        for width in 10..60 {
            let folded = folded(text, width);
            assert!(folded.split_whitespace().eq(text.split_whitespace()));
            assert!(
                folded.lines().all(|line| line.chars().count() <= width.max(22)),
                "{width}: {folded}"
            );
        }
        assert_eq!(folded("one-word-that-is-long", 5), "one-word-that-is-long");
    }
}
