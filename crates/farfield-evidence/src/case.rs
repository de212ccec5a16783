//! Cases of simulations from text, or built into the program, with keys set.

use crate::Error;
use farfield_sim::case::{self, BuiltIn, Case, Override};

/// The case of some text with these keys set, each as `key=value`.
pub fn case<S: AsRef<str>>(text: &str, set: &[S]) -> Result<Case, Error> {
    read(text, "evidence", set)
}

/// A built-in case with these keys set.
pub fn built_in<S: AsRef<str>>(name: &str, set: &[S]) -> Result<Case, Error> {
    read(BuiltIn::find(name).map_or("", |case| case.text), name, set)
}

fn read<S: AsRef<str>>(text: &str, name: &str, set: &[S]) -> Result<Case, Error> {
    let overrides: Result<Vec<_>, _> = set.iter().map(|text| Override::parse(text.as_ref())).collect();
    Ok(case::read(text, name, &overrides?)?)
}
