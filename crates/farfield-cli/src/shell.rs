//! `farfield completions` and `farfield man`, generated from the definitions of the command line.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use clap::CommandFactory;
use std::fmt::Write;

/// The completion script of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "farfield", &mut text);
    String::from_utf8(text).map_err(Failure::data)
}

/// Writes a manual page for the program and one for each command.
pub fn man(args: &ManArgs) -> Result<String, Failure> {
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Data(format!("{}: cannot create the folder: {error}", folder.display())))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(Failure::data)?;
    let mut text = String::new();
    let pages = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = pages.map(|page| page.path().display().to_string()).collect();
    names.sort();
    for name in names.iter().filter(|name| name.ends_with(".1")) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "written       {name}");
    }
    Ok(text)
}
