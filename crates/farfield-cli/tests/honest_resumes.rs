//! `resume` with damaged folders, and with changes that are impossible.

use crate::program::{command, fail, farfield, files, stderr, succeed};
use std::path::Path;

/// Two rings, four steps, with checkpoints, fields and pictures.
fn small_run(folder: &Path, more: &str) {
    let line = format!(
        "run leapfrog --quiet -o {} --set vortex.around=64 --set vortex.layers=1 --set tracers.count=50 --set \
         time.end=0.2 --set output.image=[120,100] --set output.checkpoint_every=2 --set output.frames_every=2 {more}",
        folder.display()
    );
    succeed(&line);
}

fn log_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("run.log")).expect("a log")
}

#[test]
fn values_of_the_initial_state_cannot_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    small_run(&run, "");
    let case = std::fs::read(run.join("case.toml")).expect("a case");
    let resume = |set: &str| format!("resume {} --set {set}", run.display());
    for key in ["vortex.rings.0.circulation", "seed", "tracers.count"] {
        fail(&resume(&format!("{key}=7")), 1, &[key, "cannot change"]);
    }
    fail(&resume("time.end=0.1"), 1, &["time.end = 0.1", "0.2"]);
    assert_eq!(
        std::fs::read(run.join("case.toml")).expect("a case"),
        case,
        "the case stays as it was"
    );
    succeed(&format!("{} --quiet", resume("time.end=0.3")));
}

#[test]
fn a_table_with_an_unreadable_number_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    small_run(&run, "");
    let path = run.join("diagnostics.csv");
    let table = std::fs::read_to_string(&path).expect("a table");
    let damaged: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(k, line)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            match k {
                3 => fields[10] = "",
                4 => fields[9] = "-.-",
                _ => {}
            }
            fields.join(",")
        })
        .collect();
    std::fs::write(&path, damaged.join("\n") + "\n").expect("written");
    succeed(&format!("resume {} --quiet --set time.end=0.3", run.display()));
}

#[test]
fn a_run_killed_before_its_first_checkpoint_starts_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (straight, killed) = (folder.path().join("straight"), folder.path().join("killed"));
    small_run(&straight, "");
    // The state after a kill between the case and the first checkpoint.
    for part in ["checkpoints", "frames", "fields"] {
        std::fs::create_dir_all(killed.join(part)).expect("made");
    }
    std::fs::copy(straight.join("case.toml"), killed.join("case.toml")).expect("copied");
    std::fs::write(killed.join("checkpoints/.farfield-999999999-0.tmp"), "half").expect("written");
    succeed(&format!("resume {} --quiet", killed.display()));
    let last = "checkpoints/checkpoint-000000004.ckpt";
    assert_eq!(
        std::fs::read(straight.join(last)).expect("a checkpoint"),
        std::fs::read(killed.join(last)).expect("a checkpoint")
    );
    assert_eq!(files(&killed.join("checkpoints")).len(), 2);
    // Nothing at all was written: `run` uses the folder, `resume` reports it.
    let empty = folder.path().join("empty");
    std::fs::create_dir_all(empty.join("checkpoints")).expect("made");
    fail(
        &format!("resume {}", empty.display()),
        1,
        &["before it started", "farfield run"],
    );
    small_run(&empty, "");
    // A file of that name that does not come from a run is not replaced.
    let own = folder.path().join("own");
    std::fs::create_dir_all(&own).expect("made");
    std::fs::write(own.join("case.toml"), "mine").expect("written");
    fail(&format!("run kepler -o {}", own.display()), 1, &["case.toml", "-o DIR"]);
}

#[test]
fn parts_that_were_deleted_are_made_again_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    small_run(&run, "");
    std::fs::remove_dir_all(run.join("fields")).expect("removed");
    std::fs::remove_file(run.join("diagnostics.csv")).expect("removed");
    let leftovers =
        ["", "frames", "frames/side", "checkpoints"].map(|part| run.join(part).join(".farfield-999999999-3.tmp"));
    for path in &leftovers {
        std::fs::write(path, "half of a picture").expect("written");
    }
    std::fs::write(run.join(".probe"), "x").expect("written");
    succeed(&format!("resume {} --quiet --set time.end=0.3", run.display()));
    assert!(leftovers.iter().all(|path| !path.exists()) && !run.join(".probe").exists());
    assert!(!files(&run.join("fields")).is_empty());
    assert!(log_of(&run).contains("diagnostics.csv is missing"), "{}", log_of(&run));
}

#[test]
fn a_damaged_newest_checkpoint_is_in_the_log_of_a_quiet_resume() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    small_run(&run, "");
    let newest = run.join("checkpoints/checkpoint-000000004.ckpt");
    let mut bytes = std::fs::read(&newest).expect("a checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&newest, bytes).expect("written");
    succeed(&format!("resume {} --quiet", run.display()));
    let log = log_of(&run);
    assert!(
        log.contains("checkpoint-000000004.ckpt") && log.contains("using checkpoint-000000002.ckpt"),
        "{log}"
    );
}

#[cfg(unix)]
#[test]
fn the_message_about_a_removed_folder_claims_no_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut child = command([
        "run",
        "plummer",
        "--quiet",
        "--set",
        "gravity.plummer.0.count=300",
        "--set",
        "time.end=400",
        "--set",
        "output.checkpoint_every=1",
        "-o",
    ]);
    let child = child
        .arg(&run)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    while !run.join("checkpoints/checkpoint-000000002.ckpt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    while run.exists() {
        let _ = std::fs::remove_dir_all(&run);
    }
    let output = child.wait_with_output().expect("it ends");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("no checkpoint is left") && !message.contains("is intact"),
        "{message}"
    );
}

/// A limit on the size of files simulates a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_has_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} run plummer -q -o {} --set gravity.plummer.0.count=400 --set time.end=0.1 \
         --set output.views=[] --set output.vtk=false --set output.checkpoint_every=0",
        env!("CARGO_BIN_EXE_farfield"),
        folder.path().join("run").display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &line])
        .output()
        .expect("bash runs");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!message.contains("ZipWriter"), "{message}");
}

/// With half the address space that the points need.
#[cfg(target_os = "linux")]
#[test]
fn sums_too_large_for_limited_memory_are_refused_before_work() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in [
        "run leapfrog --set tracers.count=1e8",
        "run plummer --set gravity.plummer.0.count=1e8",
        "evaluate --n 3e7",
    ] {
        let shell = format!(
            "ulimit -v 4194304; cd {} && exec {} {line}",
            folder.path().display(),
            env!("CARGO_BIN_EXE_farfield")
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &shell])
            .output()
            .expect("bash runs");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {message}");
        assert!(
            message.starts_with("error: ") && message.contains("GiB"),
            "{line}: {message}"
        );
    }
    assert!(files(folder.path()).is_empty(), "an impossible run creates no files");
    let _ = farfield(["info"]);
}
