//! The dictionary at the start of an npy array:
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (5, 3), }`.

use super::NpyProblem;
use super::dtype::Dtype;
use crate::error::quoted;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Header, NpyProblem> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = Rest(&text);
    let mut dtype = None;
    let mut fortran_order = None;
    let mut shape = None;
    rest.expect('{')?;
    while !rest.skip('}') {
        let key = rest.string()?;
        rest.expect(':')?;
        match key {
            "descr" => dtype = Some(rest.dtype()?),
            "fortran_order" => fortran_order = Some(rest.boolean()?),
            "shape" => shape = Some(rest.shape()?),
            _ => return Err(malformed(format!("unknown key {}", quoted(key)))),
        }
        if !rest.skip(',') {
            rest.expect('}')?;
            break;
        }
    }
    let missing = |key| malformed(format!("no {key}"));
    Ok(Header {
        dtype: dtype.ok_or_else(|| missing("descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

fn malformed(what: String) -> NpyProblem {
    NpyProblem::Header(what)
}

/// The text that remains to be parsed.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn skip(&mut self, token: char) -> bool {
        self.skip_blanks();
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expected(&self, what: &str) -> NpyProblem {
        malformed(format!("expected {what} at {}", quoted(self.0)))
    }

    fn expect(&mut self, token: char) -> Result<(), NpyProblem> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(self.expected(&format!("'{token}'")))
        }
    }

    fn string(&mut self) -> Result<&'a str, NpyProblem> {
        self.skip_blanks();
        let quote = match self.0.chars().next() {
            Some(quote @ ('\'' | '"')) => quote,
            _ => return Err(self.expected("a string")),
        };
        let inner = &self.0[1..];
        let Some((string, rest)) = inner.split_once(quote) else {
            return Err(self.expected("a closed string"));
        };
        self.0 = rest;
        Ok(string)
    }

    fn dtype(&mut self) -> Result<Dtype, NpyProblem> {
        self.skip_blanks();
        if self.0.starts_with(['[', '(', '{']) {
            return Err(NpyProblem::Dtype(format!("{} (structured)", quoted(self.0))));
        }
        let text = self.string()?;
        Dtype::parse(text).ok_or_else(|| NpyProblem::Dtype(quoted(text)))
    }

    fn boolean(&mut self) -> Result<bool, NpyProblem> {
        self.skip_blanks();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(self.expected("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, NpyProblem> {
        self.expect('(')?;
        let mut shape = Vec::new();
        while !self.skip(')') {
            shape.push(self.size()?);
            if !self.skip(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn size(&mut self) -> Result<u64, NpyProblem> {
        self.skip_blanks();
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let size = self.0[..digits].parse().map_err(|_| self.expected("a size"))?;
        self.0 = &self.0[digits..];
        // Python 2 wrote long integers as 5L.
        self.skip('L');
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_quotes_and_blanks_do_not_matter() {
        let usual = parse(b"{'descr': '<f8', 'fortran_order': False, 'shape': (5, 3), }  \n");
        let unusual = parse(b" {\"shape\":(5L,3L),'fortran_order':False ,\"descr\":'<f8'}");
        assert_eq!(usual, unusual);
        assert_eq!(usual.unwrap().shape, [5, 3]);
    }

    #[test]
    fn messages_name_every_mistake() {
        let cases: [(&str, &str); 12] = [
            ("", "expected '{' at \"\""),
            ("{'descr' '<f8'}", "expected ':' at \"'<f8'}\""),
            ("{descr: '<f8'}", "expected a string at \"descr: '<f8'}\""),
            ("{'descr", "expected a closed string at \"'descr\""),
            ("{'descr': 3}", "expected a string at \"3}\""),
            ("{'size': 3}", "unknown key \"size\""),
            ("{'shape': (5, -3)}", "expected a size at \"-3)}\""),
            ("{'shape': (5 3)}", "expected ')' at \"3)}\""),
            (
                "{'shape': (99999999999999999999,)}",
                "expected a size at \"99999999999999999999,)}\"",
            ),
            ("{'fortran_order': 0}", "expected True or False at \"0}\""),
            ("{'shape': (5,)}", "no descr"),
            ("{'descr': '<f8', 'fortran_order': True}", "no shape"),
        ];
        for (text, expected) in cases {
            let problem = parse(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(problem, format!("malformed npy header: {expected}"));
        }
    }

    #[test]
    fn messages_name_unsupported_types() {
        let structured = parse(b"{'descr': [('x', '<f8')], }").unwrap_err();
        let message = structured.to_string();
        assert!(
            message.starts_with("unsupported dtype \"[('x', '<f8')], }\" (structured); supported"),
            "{message}"
        );
        let complex = parse(b"{'descr': '<c16', }").unwrap_err().to_string();
        assert!(complex.starts_with("unsupported dtype \"<c16\"; "), "{complex}");
    }
}
