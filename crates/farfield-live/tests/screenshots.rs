//! Takes the pictures for the manual with the browser that tests the page:
//! `cargo test --release -p farfield-live --test all screenshots -- --ignored`; FARFIELD_PICTURES is the output folder.

use crate::harness::browser::in_window;
use crate::harness::{Shown, run, server};
use farfield_live::Manner;
use std::path::PathBuf;
use std::time::Duration;

fn pictures() -> PathBuf {
    let folder = std::env::var_os("FARFIELD_PICTURES").map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a case with `changes` and takes pictures of its last state: pairs of name and settings of the page.
fn take(case: &str, changes: &[&str], pictures_of: &[(&str, &str)]) {
    in_window([1280, 800], |browser| {
        let folder = tempfile::tempdir().unwrap();
        let changes = [&["output.views=[]", "output.vtk=false", "output.npz=false"], changes].concat();
        let run = run(case, &changes, &folder.path().join("run"));
        let manner = Manner {
            sync: false,
            stay: true,
        };
        let shown = Shown::start(run, manner);
        let server = server(&shown.hub);
        drop(shown.end());
        for (name, settings) in pictures_of {
            let mut page = browser.open(&format!("{}#{settings}", server.url()));
            page.wait_for_frame();
            page.wait_for("!farfield.state.dirty && !farfield.state.settling && !farfield.state.drawing");
            // The numbers in the panel are updated every half second.
            std::thread::sleep(Duration::from_millis(700));
            page.screenshot(&pictures().join(format!("{name}.png")));
            page.expect_no_complaints();
            page.close();
        }
    });
}

#[test]
#[ignore = "writes pictures"]
fn leapfrog() {
    take(
        "leapfrog",
        &["time.end=4.5"],
        &[
            ("live-leapfrog", "size=1.8"),
            ("live-leapfrog-density", "value=density"),
        ],
    );
}

#[test]
#[ignore = "writes pictures"]
fn leapfrog_light() {
    let settings = "light=1&value=speed&map=viridis&arrows=1";
    let arrows = "value=strength&arrows=1";
    take(
        "leapfrog",
        &["time.end=2"],
        &[("live-leapfrog-light", settings), ("live-leapfrog-arrows", arrows)],
    );
}

#[test]
#[ignore = "writes pictures"]
fn galaxies() {
    take(
        "galaxies",
        &["time.end=0.1"],
        &[("live-galaxies", ""), ("live-galaxies-light", "light=1&glow=0")],
    );
}

#[test]
#[ignore = "writes pictures"]
fn sphere() {
    let pictures = [
        ("live-sphere", ""),
        ("live-sphere-slice", "blocks=1&slice=1&axis=2&cloud=0"),
        (
            "live-sphere-component",
            "volume=vorticity_z&map=diverging&slice=1&axis=3&cloud=0&place=0.5",
        ),
        ("live-sphere-light", "light=1&map=viridis&blocks=1"),
    ];
    take("sphere", &["size=tiny"], &pictures);
}
