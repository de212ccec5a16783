//! `farfield validate`: measures and draws physics that the simulations must reproduce.

use crate::args::ValidateArgs;
use crate::failure::Failure;
use crate::{layout, print, threads};
use farfield_evidence::validate::{ALL, Entry};
use farfield_io::write_text_atomically;
use std::fmt::Write;

/// The names of all validations, and `all`.
pub const NAMES: [&str; ALL.len() + 1] = {
    let mut names = ["all"; ALL.len() + 1];
    let mut k = 0;
    while k < ALL.len() {
        names[k] = ALL[k].name;
        k += 1;
    }
    names
};

/// Runs the command.
pub fn run(args: &ValidateArgs) -> Result<String, Failure> {
    let Some(name) = &args.name else {
        return Ok(layout::list(
            ALL.iter().map(|entry| (entry.name, entry.about.to_owned())),
        ));
    };
    threads::start(args.threads)?;
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Failure::Data(format!("{}: cannot create the folder: {error}", args.output.display())))?;
    let mut text = String::new();
    let mut failed = 0;
    for entry in ALL.iter().filter(|entry| name == "all" || entry.name == name) {
        failed += validate(entry, args, &mut text)?;
    }
    if failed > 0 {
        return Err(Failure::Data(format!("{text}{failed} claim(s) do not hold")));
    }
    Ok(layout::fit(text))
}

/// Does one validation, writes its files, adds to the report, and returns the number of claims that do not hold.
fn validate(entry: &Entry, args: &ValidateArgs, text: &mut String) -> Result<usize, Failure> {
    print::progress(&format!("{}: {}", entry.name, entry.about));
    let (found, folder) = (entry.run(args.device)?, args.output.as_path());
    write_text_atomically(folder.join(format!("{}.csv", entry.name)), &found.csv())?;
    found.figure.save(&folder.join(format!("{}.png", entry.name)))?;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", found.title);
    for claim in &found.claims {
        let _ = writeln!(
            text,
            "  {}  {}",
            if claim.holds { "ok    " } else { "FAILED" },
            claim.text
        );
    }
    Ok(found.claims.iter().filter(|claim| !claim.holds).count())
}
