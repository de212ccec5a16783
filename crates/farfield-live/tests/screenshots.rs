//! The pictures of the manual, taken by the browser that tests the page:
//! `cargo test --release -p farfield-live --test screenshots -- --ignored`, with FARFIELD_PICTURES naming the folder.

mod harness;

use farfield_live::Manner;
use harness::browser::Browser;
use harness::{Shown, run, server};
use std::path::PathBuf;
use std::time::Duration;

fn pictures() -> PathBuf {
    let folder = std::env::var_os("FARFIELD_PICTURES").map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a case to its end, which is the last change, shows it with these settings, and takes its picture.
fn take(name: &str, case: &str, end: &str, settings: &str) {
    let Some(browser) = Browser::start_with_window(1280, 800) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let changes = ["output.views=[]", "output.vtk=false", "output.npz=false", end];
    let run = run(case, &changes, &folder.path().join("run"));
    let manner = Manner {
        sync: false,
        stay: true,
    };
    let shown = Shown::start(run, manner);
    let server = server(&shown.hub);
    drop(shown.end());
    let mut page = browser.open(&format!("{}#{settings}", server.url()));
    page.wait_for_frame();
    page.wait_for("!farfield.state.dirty && !farfield.state.settling");
    // The figures beside the picture are written every half second.
    std::thread::sleep(Duration::from_millis(700));
    page.screenshot(&pictures().join(format!("{name}.png")));
    assert!(page.complaints.is_empty(), "{:?}", page.complaints);
}

#[test]
#[ignore = "writes pictures"]
fn leapfrog() {
    take("live-leapfrog", "leapfrog", "time.end=4.5", "size=1.8");
}

#[test]
#[ignore = "writes pictures"]
fn leapfrog_light_speed() {
    let settings = "light=1&value=speed&map=viridis&arrows=1";
    take("live-leapfrog-light", "leapfrog", "time.end=2", settings);
}

#[test]
#[ignore = "writes pictures"]
fn galaxies() {
    take("live-galaxies", "galaxies", "time.end=0.1", "");
}

#[test]
#[ignore = "writes pictures"]
fn sphere() {
    take("live-sphere", "sphere", "time.end=0.02", "blocks=1&slice=1&axis=2");
}
