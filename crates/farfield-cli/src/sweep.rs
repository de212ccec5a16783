//! `farfield sweep`: runs a case with every combination of the given values, and makes a table and a chart of the
//! results.

use crate::args::SweepArgs;
use crate::failure::Failure;
use crate::plot::write_chart;
use crate::profile::Profile;
use crate::run::{find, stop_on_signal};
use crate::{layout, print, threads};
use farfield::tuning::MachineProfile;
use farfield_io::{columns, write_text_atomically};
use farfield_sim::case::{self, Override};
use farfield_sim::run::{Chart, Control, Outcome, Run, Silent};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// One run of a sweep.
pub struct Point {
    /// The values that differ between runs, as typed: `time.step=0.1`.
    varied: Vec<String>,
    overrides: Vec<Override>,
}

/// Runs the command.
pub fn run(args: &SweepArgs) -> Result<String, Failure> {
    let profile = Profile::load(args.profile.as_deref())?.costs;
    let (label, text, base) = find(&args.case)?;
    let points = combinations(&args.set, args.most)?;
    // All cases are read and checked before the first one runs.
    let mut cases = Vec::new();
    for point in &points {
        let case = case::read(&text, &label, &point.overrides).map_err(Failure::data)?;
        cases.push(case.located_in(&base));
    }
    threads::start(args.threads)?;
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&label));
    let control = Control {
        stop: stop_on_signal()?,
        most_steps: None,
    };
    let (mut chart, mut table) = (Chart::default(), Vec::new());
    let count = points.len();
    for (k, (point, case)) in points.iter().zip(cases).enumerate() {
        let name = name_of(point, k);
        if !args.quiet {
            print::progress(&format!("{} of {count}: {name}", k + 1));
        }
        let path = folder.join(&name);
        let outcome = one(case, &path, profile.clone(), &control)?;
        if control.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted(format!(
                "stopped in run {} of {count}; repeat the command to continue\n",
                k + 1
            )));
        }
        chart.add(name.clone(), &path, &args.plot)?;
        table.push((point, outcome));
    }
    let (csv, png) = (folder.join("sweep.csv"), folder.join("sweep.png"));
    let rows = rows(&table, &args.plot);
    let lines: Vec<String> = rows.iter().map(|row| row.join(",") + "\n").collect();
    write_text_atomically(&csv, &lines.concat())?;
    write_chart(&chart, &format!("{}: {}", label, args.plot.join(", ")), &png)?;
    let files = format!("\nwritten       {}\nwritten       {}\n", csv.display(), png.display());
    Ok(columns::aligned(&rows, false, layout::width()) + &files)
}

/// Does one run, or continues it if an earlier sweep stopped. A value that cannot change then is refused by name.
fn one(case: case::Case, folder: &Path, profile: MachineProfile, control: &Control) -> Result<Outcome, Failure> {
    let run = if folder.join("checkpoints").is_dir() {
        Run::resume_with(folder, profile, |kept| Ok(case.with_files_of(&kept)))?.0
    } else {
        Run::new(case, folder, profile)?
    };
    Ok(run.go(control, &mut Silent)?)
}

/// Every combination of the values, in the order of the options; the last option varies fastest.
pub fn combinations(set: &[String], most: usize) -> Result<Vec<Point>, Failure> {
    let mut all = vec![Point {
        varied: Vec::new(),
        overrides: Vec::new(),
    }];
    for text in set {
        let (key, values) = text
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--set {text}: no `=`: write --set time.step=0.1,0.05")))?;
        let values = split(values);
        if all.len().saturating_mul(values.len()) > most {
            return Err(Failure::Usage(format!(
                "--set {text}: more than {most} runs; --most allows more"
            )));
        }
        let mut next = Vec::new();
        for point in &all {
            for value in &values {
                let one = format!("{key}={value}");
                let change = Override::parse(&one).map_err(|error| Failure::Usage(error.to_string()))?;
                let varies = (values.len() > 1).then_some(one);
                next.push(Point {
                    varied: point.varied.iter().cloned().chain(varies).collect(),
                    overrides: point.overrides.iter().cloned().chain([change]).collect(),
                });
            }
        }
        all = next;
    }
    Ok(all)
}

/// Splits at commas outside brackets and quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0i32, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 && !quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// The folder name of a run: its varied values.
fn name_of(point: &Point, k: usize) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "=.-_".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: Vec<String> = point
        .varied
        .iter()
        .map(|text| text.chars().map(plain).collect())
        .collect();
    if name.is_empty() {
        format!("run-{}", k + 1)
    } else {
        name.join("+")
    }
}

/// The header, then a row for each run: its values, its steps and time, and the last values of the columns.
fn rows(table: &[(&Point, Outcome)], columns: &[String]) -> Vec<Vec<String>> {
    let Some((first, outcome)) = table.first() else {
        return Vec::new();
    };
    let keys = first
        .varied
        .iter()
        .map(|text| text.split('=').next().unwrap_or(text).to_owned());
    let head = keys
        .chain(["steps", "time"].map(str::to_owned))
        .chain(columns.iter().cloned());
    let mut rows = vec![head.collect()];
    let at: Vec<Option<usize>> = columns
        .iter()
        .map(|name| outcome.columns.iter().position(|c| c == name))
        .collect();
    for (point, outcome) in table {
        let values = point
            .varied
            .iter()
            .map(|text| text.split_once('=').map_or("", |(_, value)| value).to_owned());
        let last = at.iter().map(|at| {
            at.and_then(|at| outcome.last.get(at))
                .map_or(String::new(), |v| format!("{v:?}"))
        });
        let row = values
            .chain([outcome.steps.to_string(), outcome.time.to_string()])
            .chain(last);
        rows.push(row.collect());
    }
    rows
}

fn default_folder(label: &str) -> PathBuf {
    let stem = Path::new(label)
        .file_stem()
        .map_or(label.into(), |stem| stem.to_string_lossy());
    Path::new("runs").join(format!("{stem}-sweep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_outside_brackets() {
        assert_eq!(split("1,2,3"), ["1", "2", "3"]);
        assert_eq!(split("[1,2],[3,4]"), ["[1,2]", "[3,4]"]);
        assert_eq!(split("\"a,b\",c"), ["\"a,b\"", "c"]);
        assert_eq!(split("5"), ["5"]);
    }

    #[test]
    fn all_combinations_are_made_in_order() {
        let set = ["a=1,2".to_owned(), "b=3".to_owned(), "c=4,5".to_owned()];
        let points = combinations(&set, 100).unwrap();
        let names: Vec<String> = points.iter().map(|point| point.varied.join(" ")).collect();
        assert_eq!(names, ["a=1 c=4", "a=1 c=5", "a=2 c=4", "a=2 c=5"]);
        assert_eq!(points[0].overrides.len(), 3);
        assert!(combinations(&set, 3).is_err());
        assert_eq!(name_of(&points[3], 3), "a=2+c=5");
    }
}
