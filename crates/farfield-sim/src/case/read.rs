//! From text to a checked case.

use super::nearest::nearest;
use super::settings::Case;
use crate::error::CaseError;
use serde::Deserialize;
use toml::{Table, Value};

/// A `key=value` that replaces a value of a case file.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// The keys that lead to the value. A number is an index into a list, from 0.
    path: Vec<String>,
    value: Value,
    /// The original text.
    text: String,
}

impl Override {
    /// Parses `time.end=2`, `vortex.rings.0.radius=0.5` or `sum.method=direct`. A value that is not valid TOML is taken
    /// as a string.
    ///
    /// # Errors
    /// [`CaseError`] if the key or the value is missing.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        let failed = |message: &str| CaseError {
            origin: format!("--set {text}"),
            line: None,
            column: None,
            message: message.to_owned(),
        };
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| failed("no `=`: write --set KEY=VALUE, for instance --set time.end=2"))?;
        let path: Vec<String> = key.trim().split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return Err(failed(
                "an empty key: write --set KEY=VALUE, for instance --set time.end=2",
            ));
        }
        let value = value.trim();
        if value.is_empty() {
            return Err(failed("no value after `=`"));
        }
        let value = match toml::from_str::<Table>(&format!("value = {value}")) {
            Ok(mut table) => table.remove("value").map_or(Value::String(value.to_owned()), whole),
            Err(_) => Value::String(value.to_owned()),
        };
        Ok(Self {
            path,
            value,
            text: text.to_owned(),
        })
    }

    /// Whether it sets this key.
    pub fn sets(&self, key: &str) -> bool {
        self.path.join(".") == key
    }

    /// Whether it sets this key, a part of it, or a section that contains it.
    fn touches(&self, key: &str) -> bool {
        let wanted: Vec<&str> = key.split('.').collect();
        self.path.iter().zip(wanted).all(|(own, wanted)| own == wanted)
    }

    fn failure(&self, message: String) -> CaseError {
        CaseError {
            origin: format!("--set {}", self.text),
            line: None,
            column: None,
            message,
        }
    }

    fn apply(&self, table: &mut Table) -> Result<(), CaseError> {
        let (last, parents) = self
            .path
            .split_last()
            .ok_or_else(|| self.failure("an empty key".to_owned()))?;
        let mut place = PlaceMut::Table(table);
        for part in parents {
            place = place.child(part).map_err(|message| self.failure(message))?;
        }
        place
            .set(last, self.value.clone())
            .map_err(|message| self.failure(message))
    }
}

/// Turns whole floats into integers: `1e6` is a float in TOML, but is allowed as a count. Every key that takes a float
/// also takes an integer.
fn whole(value: Value) -> Value {
    match value {
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::Integer(number as i64),
        other => other,
    }
}

/// The place in a case that an override refers to.
enum PlaceMut<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Value>),
}

impl<'a> PlaceMut<'a> {
    fn child(self, key: &str) -> Result<Self, String> {
        let value = match self {
            PlaceMut::Table(table) => table
                .entry(key.to_owned())
                .or_insert_with(|| Value::Table(Table::new())),
            PlaceMut::List(list) => {
                let at = index(key, list.len())?;
                &mut list[at]
            }
        };
        match value {
            Value::Table(table) => Ok(PlaceMut::Table(table)),
            Value::Array(list) => Ok(PlaceMut::List(list)),
            _ => Err(format!("`{key}` is a value, not a section")),
        }
    }

    fn set(self, key: &str, value: Value) -> Result<(), String> {
        match self {
            PlaceMut::Table(table) => {
                table.insert(key.to_owned(), value);
            }
            PlaceMut::List(list) => {
                let at = index(key, list.len())?;
                list[at] = value;
            }
        }
        Ok(())
    }
}

fn index(key: &str, length: usize) -> Result<usize, String> {
    match key.parse::<usize>() {
        Ok(at) if at < length => Ok(at),
        _ => Err(format!(
            "`{key}` is not an index into a list of {length} entries, counted from 0"
        )),
    }
}

/// The keys of a case file beyond those of [`Case`]: named sizes that replace parts of it, and the chosen one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sized {
    #[serde(default)]
    #[allow(dead_code, reason = "declared so that the key is accepted")]
    size: Option<String>,
    #[serde(default)]
    #[allow(dead_code, reason = "declared so that the key is accepted")]
    sizes: std::collections::BTreeMap<String, Table>,
}

/// Reads a case. `origin` names it in messages.
///
/// A key `size = "NAME"`, usually given as an override, merges the table `[sizes.NAME]` into the case before the other
/// overrides are applied.
///
/// # Errors
/// [`CaseError`], with line and column if the error is in the text, and the most similar known name for an unknown key
/// or value.
pub fn read(text: &str, origin: &str, overrides: &[Override]) -> Result<Case, CaseError> {
    let mut table: Table = toml::from_str(text).map_err(|error| located(&error, text, origin))?;
    // First without overrides, because only errors in the text have a line number.
    let alone = without_sizes(text);
    let first: Result<Case, _> = toml::from_str(&alone);
    if let Err(error) = first
        && !overrides_may_fix(&error, overrides)
    {
        return Err(located(&error, &alone, origin));
    }
    if let Some(size) = overrides.iter().find(|o| o.sets("size")) {
        size.apply(&mut table)?;
    }
    let table = merge_size(table, origin)?;
    let mut value = table;
    for change in overrides.iter().filter(|o| !o.sets("size")) {
        change.apply(&mut value)?;
        // One by one, so that an invalid override is named. A missing key may be set by a later override.
        if let Err(error) = Case::deserialize(Value::Table(value.clone()))
            && !is_missing(error.message())
        {
            return Err(change.failure(explain(error.message())));
        }
    }
    let case = Case::deserialize(Value::Table(value)).map_err(|error| CaseError {
        origin: origin.to_owned(),
        line: None,
        column: None,
        message: explain(error.message()),
    })?;
    case.check().map_err(|(key, message)| {
        let message = format!("{key}: {message}");
        if let Some(change) = overrides.iter().rfind(|change| change.touches(&key)) {
            return change.failure(message);
        }
        let place = key_position(text, &key);
        CaseError {
            origin: origin.to_owned(),
            line: place.map(|p| p.0),
            column: place.map(|p| p.1),
            message,
        }
    })?;
    Ok(case)
}

/// Reads a TOML table of type `T`, with the same errors as [`read`].
///
/// # Errors
/// [`CaseError`] with line, column and the most similar known name.
pub fn read_table<T: for<'a> Deserialize<'a>>(text: &str, origin: &str) -> Result<T, CaseError> {
    toml::from_str(text).map_err(|error| located(&error, text, origin))
}

/// Whether overrides may set the key whose absence is the error.
fn overrides_may_fix(error: &toml::de::Error, overrides: &[Override]) -> bool {
    !overrides.is_empty() && is_missing(error.message())
}

fn is_missing(message: &str) -> bool {
    message.starts_with("missing field")
}

/// The text with the lines of `size` and `[sizes...]` emptied, so that line numbers are unchanged.
fn without_sizes(text: &str) -> String {
    let mut inside = false;
    let mut top = true;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with('[') {
            top = false;
            let name = trimmed.trim_start_matches('[').trim_start();
            inside = name
                .strip_prefix("sizes")
                .is_some_and(|rest| rest.starts_with(['.', ']', ' ']));
        }
        let size_key = top
            && trimmed
                .strip_prefix("size")
                .is_some_and(|rest| rest.trim_start().starts_with('='));
        if inside || size_key {
            out.push('\n');
        } else {
            out.push_str(line);
        }
    }
    out
}

fn merge_size(mut table: Table, origin: &str) -> Result<Table, CaseError> {
    let failed = |message: String| CaseError {
        origin: origin.to_owned(),
        line: None,
        column: None,
        message,
    };
    let mut sized = Table::new();
    for key in ["size", "sizes"] {
        if let Some(value) = table.remove(key) {
            sized.insert(key.to_owned(), value);
        }
    }
    let asked = sized.get("size").cloned();
    let Sized { sizes, .. } =
        Sized::deserialize(Value::Table(sized)).map_err(|error| failed(explain(error.message())))?;
    let name = match asked {
        None => return Ok(table),
        Some(Value::String(name)) if name == "default" => return Ok(table),
        Some(value) => match value {
            Value::String(name) => name,
            other => other.to_string(),
        },
    };
    let Some(chosen) = sizes.get(&name) else {
        let known: Vec<&str> = sizes.keys().map(String::as_str).chain(["default"]).collect();
        let hint =
            nearest(&name, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(failed(format!(
            "this case has no size `{name}`, only {}{hint}",
            known.join(", ")
        )));
    };
    merge(&mut table, chosen);
    Ok(table)
}

/// Merges `over` into `table`: sections are merged, everything else is replaced.
fn merge(table: &mut Table, over: &Table) {
    for (key, value) in over {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => merge(inner, over),
            _ => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}

fn located(error: &toml::de::Error, text: &str, origin: &str) -> CaseError {
    let place = error.span().map(|span| position(text, span.start));
    CaseError {
        origin: origin.to_owned(),
        line: place.map(|p| p.0),
        column: place.map(|p| p.1),
        message: explain(error.message()),
    }
}

/// Line and column, from 1, of the byte at `at`.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().unwrap_or("").chars().count();
    (line, column)
}

fn mentions_unknown(message: &str) -> bool {
    message.starts_with("unknown ")
}

/// The parser's message in plain words, with the most similar known name if a name is unknown.
fn explain(message: &str) -> String {
    let message = message.trim().replace('\n', " ");
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("{key} is missing");
    }
    if !mentions_unknown(&message) {
        return in_plain_words(&message);
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(unknown) = quoted.next() else { return message };
    let known: Vec<&str> = quoted.collect();
    let kind = if message.starts_with("unknown variant") {
        "value"
    } else {
        "key"
    };
    let hint =
        nearest(unknown, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("unknown {kind} `{unknown}`{hint} (known here: {})", known.join(", "))
}

/// The parser's message with plain words for types of values.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return message.to_owned();
    };
    let value = found.split('`').nth(1).or_else(|| found.split('"').nth(1));
    let found = match (value, found) {
        (Some(value), _) if found.starts_with("string") => format!("the text \"{value}\""),
        (Some(value), _) => value.to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, "map") => "a section".to_owned(),
        (None, other) => other.to_owned(),
    };
    let bare = expected.trim_start_matches("an ").trim_start_matches("a ");
    let expected = match bare.split_whitespace().next().unwrap_or("") {
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number that is not negative".to_owned(),
        "i64" | "i32" => "a whole number".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "boolean" | "bool" => "true or false".to_owned(),
        "struct" | "map" => "a section with keys of its own".to_owned(),
        "sequence" => "a list".to_owned(),
        "array" => format!("a list of {}", expected.rsplit(' ').next().unwrap_or("numbers")),
        _ => expected.to_owned(),
    };
    format!("{found} is not {expected}")
}

/// Line and column at which a dotted key such as `vortex.rings.1.radius` is set, found by a line-by-line search that
/// does not handle every notation of TOML.
fn key_position(text: &str, key: &str) -> Option<(usize, usize)> {
    let parts: Vec<&str> = key.split('.').collect();
    let (last, section) = parts.split_last()?;
    let wanted_index = section.last().and_then(|part| part.parse::<usize>().ok());
    let names: Vec<&str> = section
        .iter()
        .copied()
        .filter(|part| part.parse::<usize>().is_err())
        .collect();
    let wanted = names.join(".");
    let (mut inside, mut seen) = (wanted.is_empty(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.starts_with('[') {
            let name = trimmed.trim_matches(|c: char| c == '[' || c == ']' || c.is_whitespace());
            let name = name.split(']').next().unwrap_or(name);
            let listed = trimmed.starts_with("[[");
            inside = name == wanted && (!listed || wanted_index.is_none_or(|index| index == seen));
            seen += usize::from(listed && name == wanted);
        } else if inside
            && trimmed
                .strip_prefix(last)
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        {
            return Some((number, 1 + line.len() - trimmed.len()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::BuiltIn;

    const TEXT: &str = "title = \"two\"\n[time]\nend = 2.0\nstep = 0.1\n\n[[vortex.rings]]\nradius = 1.0\ncore = 0.1\n\n\
                        [vortex]\naround = 32\n\n[sizes.large]\nvortex.around = 64\n";

    fn set(texts: &[&str]) -> Vec<Override> {
        texts.iter().map(|text| Override::parse(text).unwrap()).collect()
    }

    #[test]
    fn overrides_and_sizes_change_a_case() {
        let case = read(
            TEXT,
            "two.toml",
            &set(&["time.end=5", "vortex.rings.0.radius=0.5", "sum.method=direct"]),
        )
        .unwrap();
        assert_eq!(case.time.end, 5.0);
        let vortex = case.vortex.unwrap();
        assert_eq!(vortex.rings[0].radius, 0.5);
        assert_eq!(vortex.around, 32);
        let case = read(TEXT, "two.toml", &set(&["size=large"])).unwrap();
        assert_eq!(case.vortex.unwrap().around, 64);
        let both = read(TEXT, "two.toml", &set(&["vortex.around=48", "size=large"])).unwrap();
        assert_eq!(both.vortex.unwrap().around, 48, "an override wins over a size");
    }

    #[test]
    fn errors_for_unknown_keys_have_line_column_and_a_suggestion() {
        for (from, to, line, column, near) in [
            ("radius = 1.0", "raduis = 1.0", 7, 1, "`radius`"),
            ("step = 0.1", "  stepp = 0.1", 4, 3, "`step`"),
            (
                "[vortex]\naround",
                "[vortex]\nstreching = \"mixed\"\naround",
                11,
                1,
                "`stretching`",
            ),
        ] {
            let error = read(&TEXT.replace(from, to), "two.toml", &[]).unwrap_err();
            assert_eq!((error.line, error.column), (Some(line), Some(column)), "{error}");
            assert!(error.to_string().contains(near), "{error}");
        }
    }

    #[test]
    fn errors_for_invalid_values_have_line_and_column() {
        let wrong = TEXT.replace("radius = 1.0", "radius = -1.0");
        let error = read(&wrong, "two.toml", &[]).unwrap_err();
        assert_eq!((error.line, error.column), (Some(7), Some(1)), "{error}");
        assert!(error.message.contains("vortex.rings.0.radius"), "{error}");
        let wrong = TEXT.replace("end = 2.0", "end = \"late\"");
        let error = read(&wrong, "two.toml", &[]).unwrap_err();
        assert_eq!((error.line, error.column), (Some(3), Some(7)), "{error}");
    }

    #[test]
    fn errors_for_invalid_overrides_quote_them() {
        for (text, says) in [
            ("time.ned=5", "`end`"),
            ("sum.method=fsat", "known here: auto"),
            ("size=larg", "`large`"),
            ("vortex.rings.3.radius=1", "list of 1"),
        ] {
            let error = read(TEXT, "two.toml", &set(&[text])).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        for (text, says) in [
            ("vortex.around=20.5", "20.5 is not a whole number"),
            ("vortex.around=-3", "-3 is not a whole number"),
            ("time.end=late", "the text \"late\" is not a number"),
            ("output.vtk=7", "7 is not true or false"),
            ("vortex.rings.0.centre=5", "5 is not a list of 3"),
            ("vortex.around=2", "vortex.around: 2 elements"),
            ("vortex=5", "5 is not a section"),
        ] {
            let error = read(TEXT, "two.toml", &set(&["seed=4", text])).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
            assert!(error.starts_with(&format!("--set {text}: ")), "{error}");
            for leaked in ["usize", "f64", "struct", "invalid"] {
                assert!(!error.contains(leaked), "{error}");
            }
        }
        let counted = read(TEXT, "two.toml", &set(&["vortex.around=1e3", "time.end=1e2"])).unwrap();
        assert_eq!((counted.vortex.unwrap().around, counted.time.end), (1000, 100.0));
        assert!(Override::parse("time.end").is_err());
        assert!(Override::parse("=5").is_err());
        assert!(Override::parse("time.end=").is_err());
    }

    #[test]
    fn every_size_of_every_built_in_case_survives_a_round_trip() {
        for built_in in BuiltIn::ALL {
            let sizes = built_in.sizes();
            for size in sizes.iter().map(String::as_str).chain(["default"]) {
                let case = read(built_in.text, built_in.name, &set(&[&format!("size={size}")])).unwrap();
                let text = toml::to_string(&case).unwrap();
                assert_eq!(read(&text, "again", &[]).unwrap(), case, "{} {size}", built_in.name);
            }
        }
    }
}
