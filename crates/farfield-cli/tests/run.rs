//! `farfield run`, `resume` and `schema`, as a user types them.

use crate::program::{command, fail, farfield, files, json, stderr, succeed};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A small cluster: 200 steps, a checkpoint after each.
const CLUSTER: [&str; 14] = [
    "--set",
    "gravity.plummer.0.count=300",
    "--set",
    "time.end=4.0",
    "--set",
    "output.checkpoint_every=1",
    "--set",
    "output.views=[]",
    "--set",
    "output.vtk=false",
    "--set",
    "output.npz=false",
    "--threads",
    "1",
];

fn run_cluster(folder: &Path, more: &[&str]) -> std::process::Command {
    let mut command = command(["run", "plummer", "-o"]);
    command.arg(folder).args(CLUSTER).args(more);
    command
}

fn last_checkpoint(folder: &Path) -> Vec<u8> {
    let folder = folder.join("checkpoints");
    let newest = files(&folder)
        .into_iter()
        .rfind(|name| name.ends_with(".ckpt"))
        .expect("a checkpoint");
    std::fs::read(folder.join(newest)).expect("readable")
}

/// Waits until a run has written the checkpoint of a step.
fn wait_for_step(folder: &Path, step: u64) {
    for _ in 0..6000 {
        let newest = std::fs::read_dir(folder.join("checkpoints")).ok().and_then(|entries| {
            let names = entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned());
            let steps = names.filter_map(|name| {
                name.strip_prefix("checkpoint-")?
                    .strip_suffix(".ckpt")?
                    .parse::<u64>()
                    .ok()
            });
            steps.max()
        });
        if newest.is_some_and(|newest| newest >= step) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no checkpoint of step {step} in {}", folder.display());
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (straight, killed) = (folder.path().join("straight"), folder.path().join("killed"));
    let output = run_cluster(&straight, &["--quiet"]).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let mut child = run_cluster(&killed, &["--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    wait_for_step(&killed, 10);
    child.kill().expect("killed");
    assert!(!child.wait().expect("ended").success());
    let output = farfield(["resume", &killed.display().to_string(), "--threads", "1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(last_checkpoint(&straight), last_checkpoint(&killed));
}

/// Ctrl-C, the end of a scheduler's time limit, a closed terminal.
#[cfg(unix)]
#[test]
fn signals_finish_the_step_write_a_checkpoint_and_have_their_exit_code() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let child = run_cluster(&path, &["--set", "time.end=400"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        wait_for_step(&path, 3);
        let sent = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(4), "{signal}: {}", stderr(&output));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains("stopped") && said.contains(&format!("farfield resume {}", path.display())),
            "{signal}: {said}"
        );
        let output = farfield(["resume", &path.display().to_string(), "--steps", "2", "--quiet"]);
        assert!(output.status.success(), "{signal}: {}", stderr(&output));
    }
}

#[test]
fn a_run_reports_as_json_and_its_folder_is_not_used_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ring");
    let line = format!(
        "run single-ring --quiet --json -o {} --set vortex.around=64 --set vortex.layers=1 --set tracers.count=50 \
         --set time.end=0.2 --set output.image=[120,100]",
        path.display()
    );
    let report = json(&line);
    assert_eq!(report["finished"], true);
    assert_eq!(report["steps"], 4);
    assert!(report["device"].is_null(), "on the CPU: {report}");
    assert!(
        report["diagnostics"]["ring1_speed"]
            .as_f64()
            .is_some_and(|speed| speed > 0.1),
        "{report}"
    );
    fail(&line, 1, &["already holds a run", "farfield resume"]);
    let report = json(&format!("resume {} --quiet --json --set time.end=0.3", path.display()));
    assert_eq!(report["steps"], 6);
    let log = std::fs::read_to_string(path.join("run.log")).expect("a log");
    assert!(
        log.contains("resumed from step 4") && log.contains("changed time.end: from 0.2 to 0.3"),
        "{log}"
    );
    fail(
        &format!("resume {} --set time.edn=0.3", path.display()),
        1,
        &["time.edn", "`end`"],
    );
}

#[test]
fn invalid_cases_are_explained() {
    fail("run leapfrgo", 2, &["leapfrgo", "did you mean `leapfrog`"]);
    fail("run leapfrog --set time.end", 2, &["--set time.end", "="]);
    fail("run leapfrog --set size=huge", 1, &["huge", "paper"]);
    fail(
        "run leapfrog --set vortex.around=20 -o unused",
        1,
        &["vortex.around", "use at least"],
    );
    fail("run missing.toml", 1, &["missing.toml", "cannot read"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[time]\nend = 1.0\nstep = 0.1\n[vortex]\n  strech = 1\n").expect("written");
    fail(
        &format!("run {}", file.display()),
        1,
        &["mine.toml: line 5, column 3", "strech", "`stretching`"],
    );
    assert!(!Path::new("unused").exists(), "an invalid case creates no files");
}

#[test]
fn unwritable_folders_are_reported_before_computing() {
    fail(
        "run kepler -o /dev/null/run",
        1,
        &["/dev/null/run", "cannot create the folder"],
    );
    fail("resume /nonexistent", 1, &["/nonexistent", "holds no run"]);
}

/// A limit on the size of files simulates a full disk: writing beyond it fails with an error.
#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_before_and_during_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = |blocks: u32, name: &str, more: &str| {
        let path = folder.path().join(name);
        let program = env!("CARGO_BIN_EXE_farfield");
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {program} run plummer -q -o {} {more}",
            path.display()
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &line])
            .output()
            .expect("bash runs");
        (output, path)
    };
    // The checkpoint of 2000 stars has 112 kB.
    let (output, _) = limited(50, "before", "");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("checkpoint-000000000") && message.contains("cannot write"),
        "{message}"
    );
    let (output, _) = limited(150, "probe", "");
    let message = stderr(&output);
    assert!(
        output.status.code() == Some(1) && message.contains("no space"),
        "{message}"
    );
    // Here the checkpoints fit and the table of diagnostics grows beyond the limit.
    let small =
        "--set gravity.plummer.0.count=50 --set time.end=8 --set output.views=[] --set output.checkpoint_every=20";
    let (output, path) = limited(64, "middle", small);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("diagnostics.csv") && message.contains("farfield resume"),
        "{message}"
    );
    let output = farfield(["resume", &path.display().to_string(), "--quiet"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn the_lists_and_the_schema_are_printed() {
    let cases = succeed("run");
    for name in [
        "leapfrog",
        "collision",
        "single-ring",
        "knot",
        "plummer",
        "galaxies",
        "kepler",
    ] {
        assert!(cases.contains(name), "{cases}");
    }
    let schema = succeed("schema");
    assert!(
        schema.contains("[[vortex.rings]]") && schema.contains("remesh_every = 0"),
        "{schema}"
    );
}

#[test]
fn a_quick_bench_of_leapfrog_has_the_cost_of_a_step() {
    let report = json("bench leapfrog --quick --json");
    let number = |key: &str| report[key].as_f64().unwrap_or(0.0);
    assert!(
        number("cost_over_sums") >= 1.0 && number("seconds_per_step") > 0.0,
        "{report}"
    );
    assert!(number("elements") > 1000.0 && number("tracers") > 1000.0, "{report}");
}
