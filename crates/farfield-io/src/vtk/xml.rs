//! Escapes text in XML.

/// The text escaped for a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&apos;"),
            '\t' | '\n' | '\r' => result.push_str(&format!("&#{};", u32::from(c))),
            _ => result.push(c),
        }
    }
    result
}

/// The inverse of [`escaped`]; `None` for an unknown reference.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        let end = start + rest[start..].find(';')?;
        result.push_str(&rest[..start]);
        result.push(match &rest[start + 1..end] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => char::from_u32(number.strip_prefix('#')?.parse().ok()?)?,
        });
        rest = &rest[end + 1..];
    }
    result.push_str(rest);
    Some(result)
}

/// Whether XML 1.0 can hold the character, escaped or not.
pub(super) fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{FFFE}' | '\u{FFFF}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_is_undone() {
        let text = "a<b> & \"c\" 'd'\n\tü ω";
        assert_eq!(unescaped(&escaped(text)).as_deref(), Some(text));
        assert!(!escaped(text).contains(['<', '>', '"', '\n']));
        for bad in ["&", "&amp", "&what;", "&#x;", "&#1114112;"] {
            assert_eq!(unescaped(bad), None, "{bad}");
        }
    }
}
