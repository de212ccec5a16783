//! Parses one line of text: its comment, its fields and the numbers in them.

/// The separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Mark(char),
    Blanks,
}

impl Separator {
    /// The separator used in the first line of a file.
    pub(super) fn of(line: &str) -> Self {
        if let Some(mark) = [';', ',']
            .into_iter()
            .find(|&mark| outside_quotes(line, mark).is_some())
        {
            return Self::Mark(mark);
        }
        // Between numbers, tabs may be mixed with blanks for alignment. Between names, tabs separate,
        // because names may contain blanks.
        let numbers = line.split_whitespace().all(|field| number(field).is_some());
        if line.trim().contains('\t') && !numbers {
            Self::Mark('\t')
        } else {
            Self::Blanks
        }
    }

    /// The fields of a line, without surrounding blanks and quotes.
    pub(super) fn split(self, line: &str) -> Fields<'_> {
        Fields {
            rest: Some(line),
            separator: self,
        }
    }
}

/// Iterator over the fields of a line.
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
    separator: Separator,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let end = match self.separator {
            Separator::Mark(mark) => {
                let end = outside_quotes(rest, mark);
                self.rest = end.map(|end| &rest[end + mark.len_utf8()..]);
                return Some(bare(&rest[..end.unwrap_or(rest.len())]));
            }
            Separator::Blanks => {
                let rest = rest.trim_start();
                if rest.is_empty() {
                    self.rest = None;
                    return None;
                }
                rest.find(char::is_whitespace)
                    .map_or((rest, None), |end| (&rest[..end], Some(&rest[end..])))
            }
        };
        self.rest = end.1;
        Some(bare(end.0))
    }
}

/// The position of the first `mark` outside double quotes.
fn outside_quotes(line: &str, mark: char) -> Option<usize> {
    let mut quoted = false;
    for (position, character) in line.char_indices() {
        if character == '"' {
            quoted = !quoted;
        } else if character == mark && !quoted {
            return Some(position);
        }
    }
    None
}

fn bare(field: &str) -> &str {
    let field = field.trim();
    field
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .map_or(field, str::trim)
}

/// The line without its comment, and the text of the comment.
pub(super) fn without_comment(line: &str) -> (&str, Option<&str>) {
    match outside_quotes(line, '#') {
        Some(start) => (&line[..start], Some(line[start..].trim_start_matches('#'))),
        None => (line, None),
    }
}

/// Parses `field` as a number. Accepts Fortran's `1.5D-3`, `nan` and `inf`.
pub(super) fn number(field: &str) -> Option<f64> {
    field.parse().ok().or_else(|| {
        let starts_like_a_number =
            field.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
        (starts_like_a_number && field.contains(['d', 'D']))
            .then(|| field.replace(['d', 'D'], "e").parse().ok())
            .flatten()
    })
}

/// Whether the fields of a line are column names: some text, and nothing that looks like a number.
pub(super) fn are_names(fields: &[&str]) -> bool {
    fields.iter().any(|field| !field.is_empty())
        && fields.iter().all(|field| {
            field
                .chars()
                .next()
                .is_none_or(|first| (first.is_alphabetic() || first == '_') && number(field).is_none())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<&str> {
        Separator::of(line).split(line).collect()
    }

    #[test]
    fn every_separator_is_recognised() {
        for line in ["1,2,3", "1;2;3", "1\t2\t3", "1 2 3", " 1 , 2,3 ", "  1  2\t 3 "] {
            assert_eq!(split(line), ["1", "2", "3"], "{line:?}");
        }
        assert_eq!(split("x pos\ty\tz"), ["x pos", "y", "z"]);
        assert_eq!(split("1;2,5"), ["1", "2,5"]);
    }

    #[test]
    fn empty_fields_and_quotes_are_handled() {
        assert_eq!(split("1,,3,"), ["1", "", "3", ""]);
        assert_eq!(split("\"x, y\",\"z\""), ["x, y", "z"]);
        assert_eq!(split("\"1\" \"2\""), ["1", "2"]);
        assert_eq!(split("\","), ["\","]);
        assert_eq!(without_comment("\"a#b\",c # d"), ("\"a#b\",c ", Some(" d")));
    }

    #[test]
    fn common_spellings_of_numbers_are_read() {
        for (text, value) in [
            ("1", 1.0),
            ("+1.", 1.0),
            (".5", 0.5),
            ("-1e-3", -1e-3),
            ("1.5D-3", 1.5e-3),
            ("-2d+02", -200.0),
            ("Inf", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert!(number("NaN").is_some_and(f64::is_nan));
        for text in ["", "x", "d", "1,5", "0x10", "1_000", "--1", "1 2", "ed"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_distinguished_from_numbers() {
        assert!(are_names(&["x", "y", "_z", "Γ"]));
        assert!(are_names(&["x", ""]));
        for numbers in [
            &["1", "2"][..],
            &["x", "1"],
            &["1,5", "2,5"],
            &["nan", "inf"],
            &["", ""],
        ] {
            assert!(!are_names(numbers), "{numbers:?}");
        }
    }
}
