//! `farfield reproduce`: every table and figure, with small sizes.

mod program;

use program::{fail, files, succeed};

const NAMES: [&str; 10] = [
    "hu-table-a1",
    "hu-table-a2",
    "hu-figure-a4",
    "hu-figure-a6",
    "hu-figure-a7",
    "yokota-figure-5",
    "yokota-figure-6",
    "vanrees-figure-3",
    "vanrees-figure-4",
    "vanrees-table-1",
];

#[test]
fn the_list_is_complete() {
    let text = succeed("reproduce --list");
    assert_eq!(text.lines().count(), NAMES.len());
    for name in NAMES {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
}

#[test]
fn every_name_writes_a_table_and_a_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let out = folder.path().join("deep").join(name);
        let text = succeed(&format!("reproduce {name} --quick -o {}", out.display()));
        assert!(text.contains("paper") && text.contains("ours"), "{name}:\n{text}");
        let mut expected = vec![format!("{name}.csv"), format!("{name}.png")];
        if name == "yokota-figure-5" {
            expected.insert(0, format!("{name}-crossovers.csv"));
        }
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
