//! `farfield plot`: redraws or compares the diagnostics of runs.

use crate::args::PlotArgs;
use crate::failure::Failure;
use farfield_io::{write_bytes_atomically, write_text_atomically};
use farfield_plot::Figure;
use farfield_sim::case::{self, Case};
use farfield_sim::run::{Chart, draw_diagnostics};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<String, Failure> {
    if let ([folder], []) = (&args.folders[..], &args.columns[..])
        && !args.output.as_deref().is_some_and(is_table)
    {
        let to = args.output.clone().unwrap_or_else(|| folder.join("diagnostics.png"));
        draw_diagnostics(&case_of(folder)?, folder, &to)?;
        return Ok(format!("written       {}\n", to.display()));
    }
    let columns = if args.columns.is_empty() {
        vec!["energy".to_owned()]
    } else {
        args.columns.clone()
    };
    let mut chart = Chart::default();
    for folder in &args.folders {
        chart.add(name_of(folder), folder, &columns)?;
    }
    let to = args.output.clone().unwrap_or_else(|| PathBuf::from("compare.png"));
    write_chart(&chart, &columns.join(", "), &to)?;
    Ok(format!("written       {}\n", to.display()))
}

/// Writes a chart or its table, depending on the extension of the file.
pub fn write_chart(chart: &Chart, title: &str, to: &Path) -> Result<(), Failure> {
    if is_table(to) {
        Ok(write_text_atomically(to, &chart.table())?)
    } else {
        Ok(write_bytes_atomically(to, &chart.grid(title).to_png()?)?)
    }
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csv")
}

/// The resolved case of a run.
pub fn case_of(folder: &Path) -> Result<Case, Failure> {
    let path = folder.join("case.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::Data(format!("{}: no run here: {error}", path.display())))?;
    case::read(&text, &path.display().to_string(), &[]).map_err(Failure::data)
}

/// The last part of a folder's path.
fn name_of(folder: &Path) -> String {
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.replace(',', ";")
}
