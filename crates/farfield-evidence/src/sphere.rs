//! The built-in case of the flow past a sphere, as validations and reproductions set it.

use farfield_sim::Error;
use farfield_sim::case::{self, BuiltIn, Case, Override};

/// The built-in sphere with these keys set, each as `key=value`.
pub(crate) fn sphere(set: &[&str]) -> Result<Case, Error> {
    let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text)).collect::<Result<_, _>>()?;
    let text = BuiltIn::find("sphere").map_or("", |case| case.text);
    Ok(case::read(text, "sphere", &overrides)?)
}
