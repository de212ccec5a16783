//! `farfield reproduce`: repeats the measurements of papers.

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::profile::Profile;
use crate::{layout, print, threads};
use farfield_evidence::reproduce::{self, ENTRIES, Wishes};
use std::path::PathBuf;

/// The names of all tables and figures.
pub const NAMES: [&str; ENTRIES.len()] = {
    let mut names = [""; ENTRIES.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = ENTRIES[k].name;
        k += 1;
    }
    names
};

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<String, Failure> {
    let Some(name) = &args.name else {
        return Ok(layout::list(
            ENTRIES.iter().map(|entry| (entry.name, entry.about.to_owned())),
        ));
    };
    let profile = Profile::load(args.profile.as_deref())?;
    threads::start(args.threads)?;
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("reproduce").join(name));
    let wishes = Wishes {
        quick: args.quick,
        max_n: args.max_n,
        seconds: args.seconds,
        profile: profile.costs,
        progress: &print::progress,
        width: layout::width(),
    };
    Ok(reproduce::run(name, &folder, &wishes)?)
}
