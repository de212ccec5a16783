//! Changes of a case when a run is resumed. Settings that later steps use may change; those that only determine the
//! initial state may not.

use crate::case::Case;
use crate::error::Error;
use std::path::Path;
use toml::Value;

/// Keys, or sections if they end with a dot, that take effect from the next step on.
const CHANGEABLE: [&str; 29] = [
    "title",
    "time.",
    "sum.",
    "output.",
    "alarm.",
    "tracers.tolerance",
    "vortex.stretching",
    "vortex.viscosity",
    "vortex.diffusion",
    "vortex.relaxation",
    "vortex.remesh_every",
    "vortex.remesh_cutoff",
    "vortex.overlap",
    "plane.viscosity",
    "plane.diffusion",
    "gravity.constant",
    "gravity.softening",
    "gravity.softening_kernel",
    "flow.reynolds",
    "flow.viscosity",
    "flow.penalisation",
    "flow.relaxation",
    "flow.remesh",
    "flow.clean_every",
    "flow.source_cutoff",
    "grid.refine",
    "grid.compress",
    "grid.adapt_every",
    "grid.most_blocks",
];

/// The changes between two cases, as lines for the log.
///
/// # Errors
/// [`Error::Unchangeable`] for the first change that a run at this time cannot make.
pub(super) fn changes(before: &Case, after: &Case, time: f64, folder: &Path) -> Result<Vec<String>, Error> {
    let refused = |why: String| Error::Unchangeable {
        folder: folder.to_owned(),
        why,
    };
    let mut found = Vec::new();
    compare("", &table(before), &table(after), &mut found);
    for Change { key, .. } in &found {
        let matches = |known: &&str| *known == key || (known.ends_with('.') && key.starts_with(*known));
        if !CHANGEABLE.iter().any(matches) {
            return Err(refused(format!(
                "{key} determines the initial state, or what was built from it, and cannot change when a run is \
                 resumed: start a new run with farfield run"
            )));
        }
    }
    if after.time.end < time {
        return Err(refused(format!(
            "time.end = {} is before the time {time} that the run has reached",
            after.time.end
        )));
    }
    let text = |value: &Option<Value>| value.as_ref().map_or("its default".to_owned(), Value::to_string);
    Ok(found
        .iter()
        .map(|change| format!("{}: from {} to {}", change.key, text(&change.from), text(&change.to)))
        .collect())
}

struct Change {
    key: String,
    from: Option<Value>,
    to: Option<Value>,
}

/// A case as a TOML value.
fn table(case: &Case) -> Value {
    Value::try_from(case).unwrap_or(Value::Boolean(false))
}

fn compare(key: &str, from: &Value, to: &Value, found: &mut Vec<Change>) {
    let below = |part: &str| {
        if key.is_empty() {
            part.to_owned()
        } else {
            format!("{key}.{part}")
        }
    };
    match (from, to) {
        (Value::Table(from), Value::Table(to)) => {
            let mut parts: Vec<&String> = from.keys().chain(to.keys()).collect();
            parts.sort();
            parts.dedup();
            for part in parts {
                match (from.get(part), to.get(part)) {
                    (Some(from), Some(to)) => compare(&below(part), from, to, found),
                    (from, to) => found.push(Change {
                        key: below(part),
                        from: from.cloned(),
                        to: to.cloned(),
                    }),
                }
            }
        }
        (Value::Array(from), Value::Array(to))
            if from.len() == to.len() && from.iter().chain(to).all(|entry| entry.is_table()) =>
        {
            for (k, (from, to)) in from.iter().zip(to).enumerate() {
                compare(&below(&k.to_string()), from, to, found);
            }
        }
        (from, to) if from != to => found.push(Change {
            key: key.to_owned(),
            from: Some(from.clone()),
            to: Some(to.clone()),
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{BuiltIn, Override, read};

    fn leapfrog(set: &[&str]) -> Case {
        let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
        read(BuiltIn::find("leapfrog").unwrap().text, "leapfrog", &overrides).unwrap()
    }

    fn resumed(set: &[&str]) -> Result<Vec<String>, String> {
        changes(&leapfrog(&[]), &leapfrog(set), 2.0, Path::new("out")).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_of_later_steps_may_change_and_are_reported() {
        assert_eq!(resumed(&[]), Ok(Vec::new()));
        let reported = resumed(&["time.end=20", "sum.tolerance=1e-6", "tracers.tolerance=1e-3"]).unwrap();
        assert_eq!(
            reported,
            [
                "sum.tolerance: from 0.0001 to 1e-6",
                "time.end: from 12.0 to 20",
                "tracers.tolerance: from its default to 0.001"
            ]
            .map(|line| line.replace("1e-6", "0.000001").replace("to 20", "to 20.0"))
        );
    }

    #[test]
    fn changes_of_the_initial_state_are_rejected_by_name() {
        for set in [
            "vortex.rings.0.circulation=5",
            "seed=7",
            "tracers.count=5",
            "vortex.around=96",
            "vortex.core=gaussian",
        ] {
            let message = resumed(&[set]).unwrap_err();
            assert!(message.contains(set.split('=').next().unwrap()), "{set}: {message}");
        }
        assert!(resumed(&["time.end=1"]).unwrap_err().contains("before the time 2"));
        assert!(resumed(&["time.end=2"]).is_ok());
    }
}
