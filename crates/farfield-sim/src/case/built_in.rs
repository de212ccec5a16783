//! The built-in cases and the schema.

use super::nearest::nearest;

/// Every key of a case with its default and its meaning, in the form of a case file.
pub const SCHEMA: &str = include_str!("schema.toml");

/// A built-in case.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal),*) => {
        [$(BuiltIn { name: $name, text: include_str!(concat!("../../cases/", $name, ".toml")) }),*]
    };
}

impl BuiltIn {
    /// All built-in cases.
    pub const ALL: [BuiltIn; 14] = built_in![
        "leapfrog",
        "collision",
        "single-ring",
        "knot",
        "plummer",
        "galaxies",
        "kepler",
        "sphere",
        "cylinder",
        "ellipsoid",
        "rings-viscous",
        "point-vortices",
        "vortex-sheet",
        "patches"
    ];

    /// The case called `name`.
    ///
    /// # Errors
    /// The most similar name, if there is one.
    pub fn find(name: &str) -> Result<Self, Option<&'static str>> {
        Self::ALL
            .into_iter()
            .find(|case| case.name == name)
            .ok_or_else(|| nearest(name, Self::ALL.iter().map(|case| case.name)))
    }

    /// The first comment line, which describes the case.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or("").trim_start_matches(['#', ' '])
    }

    /// The names of its sizes other than the default.
    pub fn sizes(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("[sizes."))
            .map(|rest| rest.split(['.', ']']).next().unwrap_or("").to_owned())
            .collect();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::read;
    use toml::{Table, Value};

    /// All dotted keys of a table. A list of tables stands for its first entry.
    fn keys(table: &Table, prefix: &str, out: &mut Vec<String>) {
        for (key, value) in table {
            let path = format!("{prefix}{key}");
            match value {
                Value::Table(inner) => keys(inner, &format!("{path}."), out),
                Value::Array(list) => match list.first() {
                    Some(Value::Table(inner)) => keys(inner, &format!("{path}."), out),
                    _ => out.push(path),
                },
                _ => out.push(path),
            }
        }
    }

    /// The sections of each model.
    const MODELS: [&[&str]; 4] = [
        &["vortex", "tracers"],
        &["gravity"],
        &["flow", "grid", "body", "ring"],
        &["plane"],
    ];

    /// The part of the schema that is a case for `model`: the schema has the sections of all models.
    fn part(model: &[&str]) -> String {
        let mut keep = true;
        let mut text = String::new();
        for line in SCHEMA.lines() {
            let header = line.trim_start_matches(['#', ' ']);
            if header.starts_with('[') {
                let name = header.trim_start_matches('[');
                let of = |sections: &[&str]| sections.iter().any(|section| name.starts_with(section));
                keep = of(model) || !MODELS.iter().any(|sections| of(sections));
            }
            if keep {
                text.push_str(line);
                text.push('\n');
            }
        }
        if model == MODELS[1] {
            text = text.replace("scheme = \"rk4\"", "scheme = \"leapfrog\"");
        }
        text
    }

    #[test]
    fn the_schema_is_valid_and_names_every_key() {
        for model in MODELS {
            let text = part(model);
            let case = read(&text, "schema", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut known = Vec::new();
            keys(&Table::try_from(&case).unwrap(), "", &mut known);
            for key in known {
                let last = key.rsplit('.').next().unwrap();
                assert!(
                    text.lines()
                        .any(|line| line.trim_start_matches("# ").starts_with(&format!("{last} = "))),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn names_are_found_or_suggested() {
        assert_eq!(BuiltIn::find("knot").unwrap().name, "knot");
        assert_eq!(BuiltIn::find("leapfrgo").unwrap_err(), Some("leapfrog"));
        assert_eq!(BuiltIn::find("weather").unwrap_err(), None);
        for case in BuiltIn::ALL {
            assert!(case.text.starts_with("# ") && !case.about().is_empty(), "{}", case.name);
        }
    }
}
