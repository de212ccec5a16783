//! `farfield reproduce`: every table and figure, with small sizes.

mod program;

use program::{fail, files, succeed};
use std::collections::BTreeSet;
use std::path::Path;

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
