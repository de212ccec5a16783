//! The built program, run as a user would: every table and figure with small sizes, and quick validations.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program with the words of `line` as arguments, without any machine profile of the user.
fn evidence(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farfield-evidence"));
    command
        .args(line.split_whitespace())
        .env_remove("FARFIELD_PROFILE")
        .env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The standard output of a command that must succeed.
fn output_of(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn succeed(line: &str) -> String {
    output_of(evidence(line))
}

/// Runs a command line that must fail with this exit code and say each of these things, and nothing on standard output.
fn fail(line: &str, code: i32, says: &[&str]) {
    let output = evidence(line).output().expect("the program starts");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    for part in says {
        assert!(message.contains(part), "{line}: no {part:?} in {message:?}");
    }
    assert!(
        output.stdout.is_empty() && !message.contains("panicked"),
        "{line}: {message}"
    );
}

/// The names of the files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The names that the program lists.
fn listed_names() -> Vec<String> {
    let text = succeed("reproduce --list");
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn everything_listed_is_in_the_record_and_everything_in_the_record_is_listed() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/papers");
    let recorded: BTreeSet<String> = [files(&papers), files(&papers.join("h200"))]
        .concat()
        .into_iter()
        .collect();
    let names = listed_names();
    for name in &names {
        for file in [format!("{name}.csv"), format!("{name}.png")] {
            assert!(recorded.contains(&file), "{file} is not in the record");
        }
    }
    let text = std::fs::read_to_string(papers.join("README.md")).expect("the record's text");
    for name in &names {
        assert!(text.contains(name), "the record's text does not speak of {name}");
    }
    // Each row of its tables links to a different figure: a second row would be an outdated copy.
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split([')', ']']).nth(1));
    let mut seen = BTreeSet::new();
    for link in rows {
        assert!(seen.insert(link), "two rows of the record's text are about {link}");
    }
    for file in recorded
        .iter()
        .filter(|file| file.ends_with(".csv") || file.ends_with(".png"))
    {
        let stem = &file[..file.len() - 4];
        let known = names
            .iter()
            .any(|name| stem == name || stem.starts_with(&format!("{name}-")));
        assert!(known, "{file} is in the record, but nothing listed writes it");
    }
}

#[test]
fn every_name_writes_a_table_and_a_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in &listed_names() {
        let out = folder.path().join("deep").join(name);
        let text = succeed(&format!("reproduce {name} --quick -o {}", out.display()));
        assert!(text.contains("paper") && text.contains("ours"), "{name}:\n{text}");
        let mut expected = vec![format!("{name}.csv"), format!("{name}.png")];
        let more: &[&str] = match name.as_str() {
            "yokota-figure-5" => &["crossovers", "one-core"],
            "hu-figure-a5" => &["crossovers"],
            "goude-figure-5-1" | "goude-figure-5-3" | "goude-figure-5-7" => &["times"],
            "hu-table-a2" => &["errors"],
            "goude-figure-5-5" => &["break-even"],
            "goude-figure-2-1" => &["boxes"],
            _ => &[],
        };
        expected.extend(more.iter().map(|more| format!("{name}-{more}.csv")));
        expected.sort();
        assert_eq!(files(&out), expected);
        let png = std::fs::read(out.join(format!("{name}.png"))).expect("a chart");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let csv = std::fs::read_to_string(out.join(format!("{name}.csv"))).expect("a table");
        let columns = csv.lines().next().unwrap_or_default().split(',').count();
        assert!(csv.lines().count() > 2 && columns > 3, "{name}:\n{csv}");
        assert!(
            csv.lines().all(|line| line.split(',').count() == columns),
            "{name}:\n{csv}"
        );
    }
}

#[test]
fn sizes_above_the_limit_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = succeed(&format!(
        "reproduce hu-table-a2 --max-n 2000 --seconds 0 -o {}",
        folder.path().display()
    ));
    assert!(text.contains("no sizes above 2 000"), "{text}");
    let csv = std::fs::read_to_string(folder.path().join("hu-table-a2.csv")).expect("a table");
    let sizes: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(sizes, ["1024"]);
}

#[test]
fn the_mesh_has_boxes_that_fill_the_plane_and_couplings_around_one_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = succeed(&format!(
        "reproduce goude-figure-2-1 --quick -o {}",
        folder.path().display()
    ));
    assert!(text.contains("strong couplings"), "{text}");
    let csv = std::fs::read_to_string(folder.path().join("goude-figure-2-1-boxes.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 64);
    let number = |row: &[&str], column: usize| row[column].parse::<f64>().expect("a number");
    let area: f64 = rows.iter().map(|row| 1.0 / number(row, 5)).sum();
    assert!(area > 0.3 && area <= 1.0, "{area}");
    let coupled = |kind: &str| rows.iter().filter(|row| row[6] == kind).count();
    assert_eq!(coupled("itself"), 1);
    assert!(coupled("strong") >= 8 && coupled("weak") >= 8, "{csv}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("taken");
    std::fs::write(&file, "").expect("written");
    fail(
        &format!("reproduce hu-table-a1 --quick -o {}/x", file.display()),
        1,
        &["taken", "cannot make"],
    );
}

#[test]
fn a_validation_writes_its_table_and_figure() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = succeed(&format!("validate convergence -o {}", folder.path().display()));
    assert!(text.contains("rk4: order") && !text.contains("FAILED"), "{text}");
    assert_eq!(files(folder.path()), ["convergence.csv", "convergence.png"]);
}

#[test]
fn without_a_name_the_commands_list_what_there_is() {
    assert!(succeed("reproduce").contains("goude-table-5-1"));
    let whole = succeed("validate");
    assert!(whole.contains("ring-speed"), "{whole}");
    // A pipe gets every entry on a line of its own.
    assert!(whole.lines().any(|row| row.len() > 80), "{whole}");
    assert!(whole.lines().all(|row| !row.starts_with(' ')), "{whole}");
}

#[test]
fn wrong_options_are_usage_errors() {
    fail("reproduce nothing", 2, &["nothing"]);
    fail("validate nothing", 2, &["nothing", "ring-speed"]);
    fail("reproduce hu-table-a1 --max-n 0", 2, &["--max-n", "at least 1"]);
    fail("reproduce hu-table-a1 --seconds -1", 2, &["-1"]);
    fail("validate kepler --threads 0", 2, &["--threads", "1 to 1024"]);
}

#[test]
fn every_table_fits_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in [
        "validate",
        "reproduce",
        "validate kepler -o validated",
        "reproduce goude-table-5-1 --quick -o reproduced",
    ] {
        let mut command = evidence(line);
        command.env("COLUMNS", "80").current_dir(folder.path());
        let text = output_of(command);
        assert!(!text.is_empty(), "{line}");
        for row in text.lines() {
            assert!(row.chars().count() <= 80, "{line}: {row:?}");
            assert_eq!(row.trim_end(), row, "{line}: spaces at the end");
        }
    }
    // A figure of small sizes says so on yellow ground.
    let figure =
        farfield_plot::Image::read_png(folder.path().join("reproduced/goude-table-5-1.png")).expect("a figure");
    assert_eq!(figure.pixel(1, 1), Some(farfield_plot::Color::hex(0xFF_E45C)));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = evidence("reproduce --list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    let message = stderr(&output);
    assert!(output.status.success() && !message.contains("panicked"), "{message}");
}
