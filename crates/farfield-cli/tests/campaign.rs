//! The campaign: kills at random moments, damaged checkpoints, mutated inputs of every kind. No panics, no aborts, no
//! wrong resumes, no files left behind. `FARFIELD_CAMPAIGN=50` makes everything fifty times as long.

use crate::program::{command, farfield, files, stderr};
use farfield_damage::{Dice, WORDS, bytes};
use std::path::Path;
use std::process::{Output, Stdio};

/// The length of the campaign as a multiple of the default.
fn size() -> usize {
    std::env::var("FARFIELD_CAMPAIGN")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1)
}

/// A run of vortices with everything that writes: checkpoints, fields, pictures.
fn busy_run(folder: &Path) -> std::process::Command {
    let mut run = command(["run", "single-ring", "--quiet", "--threads", "1"]);
    for set in [
        "vortex.around=64",
        "vortex.layers=1",
        "tracers.count=40",
        "time.end=1.0",
        "output.checkpoint_every=1",
        "output.frames_every=2",
        "output.fields_every=3",
        "output.image=[96,72]",
        "output.animation=false",
    ] {
        run.args(["--set", set]);
    }
    run.arg("-o").arg(folder);
    run
}

fn final_checkpoint(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("checkpoints/checkpoint-000000020.ckpt")).expect("the last checkpoint")
}

/// Asserts that a failed program ended with its own message and exit code.
fn ended_well(what: &str, output: &Output) {
    let message = stderr(output);
    let code = output.status.code();
    assert!(matches!(code, Some(0..=4)), "{what}: {code:?}: {message}");
    assert!(!message.contains("panicked"), "{what}: {message}");
    assert!(
        code == Some(0) || message.starts_with("error: ") || message.contains("\nerror: "),
        "{what}: {message}"
    );
}

/// All files in a folder that an interrupted write left behind.
fn leftovers(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if name.ends_with(".tmp") || name == ".probe" {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn kills_at_random_moments_end_with_the_same_bits_and_nothing_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let straight = folder.path().join("straight");
    let start = std::time::Instant::now();
    assert!(busy_run(&straight).output().expect("it runs").status.success());
    let usual = start.elapsed();
    let expected = final_checkpoint(&straight);
    let mut dice = Dice::new(11);
    let mut killed = 0;
    for k in 0..3 * size() {
        let run = folder.path().join(format!("killed-{k}"));
        let mut child = busy_run(&run)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(usual.mul_f64(dice.below(1000) as f64 / 1000.0));
        child.kill().expect("killed");
        killed += usize::from(!child.wait().expect("ended").success());
        if !run.join("checkpoints").is_dir() {
            continue;
        }
        let output = farfield(["resume", "--quiet", &run.display().to_string()]);
        let message = stderr(&output);
        if output.status.code() == Some(1) {
            // It was killed before the case was written: `run` uses the folder again.
            assert!(message.contains("before it started"), "{message}");
            assert!(busy_run(&run).output().expect("it runs").status.success());
        } else {
            assert!(output.status.success(), "{message}");
        }
        assert_eq!(final_checkpoint(&run), expected, "kill {k}");
        assert_eq!(leftovers(&run), Vec::<String>::new(), "kill {k}");
        std::fs::remove_dir_all(&run).expect("removed");
    }
    assert!(killed > 0, "no run was fast enough to be over before each kill");
}

#[test]
fn damaged_checkpoints_are_refused_or_give_way_and_never_resume_wrongly() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    assert!(busy_run(&run).output().expect("it runs").status.success());
    let expected = final_checkpoint(&run);
    let kept: Vec<(std::path::PathBuf, Vec<u8>)> = files(&run.join("checkpoints"))
        .iter()
        .map(|name| run.join("checkpoints").join(name))
        .map(|path| (path.clone(), std::fs::read(&path).expect("a checkpoint")))
        .collect();
    let mut dice = Dice::new(77);
    for k in 0..8 * size() {
        for (path, bytes) in &kept {
            std::fs::write(path, bytes).expect("written");
        }
        let both = dice.below(3) == 0;
        for (path, bytes) in kept.iter().rev().take(if both { 2 } else { 1 }) {
            let mut damaged = bytes.clone();
            match dice.below(3) {
                0 => damaged.truncate(dice.below(bytes.len())),
                1 => damaged[dice.below(bytes.len())] ^= 1 << dice.below(8),
                _ => damaged.clear(),
            }
            std::fs::write(path, damaged).expect("written");
        }
        let output = farfield(["resume", "--quiet", &run.display().to_string()]);
        ended_well(&format!("damage {k}"), &output);
        if output.status.success() {
            assert_eq!(final_checkpoint(&run), expected, "damage {k}");
        } else {
            assert!(
                both && stderr(&output).contains("no intact checkpoint"),
                "{}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn mutated_arguments_and_files_end_with_a_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = "x,y,z,q\n0,0,0,1\n1,0,0,-1\n0,1,0,2\n";
    let case =
        "[time]\nend = 0.1\nstep = 0.05\nscheme = \"leapfrog\"\n[output]\nviews = []\n[[gravity.bodies]]\nmass = 1.0\n";
    let rings = "[[ring]]\ncentre = [0.5, 0.5, 0.5]\nradius = 0.2\ncore = 0.04\n";
    let profile = "[f64]\npair_scalar = [1.0, 1.0, 1.0]\n";
    let seeds: [(&str, &str, &[&str]); 4] = [
        ("points.csv", csv, &["evaluate", "--sources", "FILE", "--json"]),
        ("case.toml", case, &["run", "FILE", "-q", "-o", "OUT"]),
        (
            "rings.toml",
            rings,
            &["poisson", "FILE", "--resolution", "16", "-q", "--json"],
        ),
        (
            "profile.toml",
            profile,
            &["evaluate", "--n", "100", "--profile", "FILE", "--json"],
        ),
    ];
    let mut dice = Dice::new(42);
    for k in 0..24 * size() {
        let (name, text, line) = seeds[k % seeds.len()];
        let mut damaged: Vec<u8> = text.bytes().collect();
        let mut line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        if dice.below(4) > 0 {
            damaged = bytes(&damaged, &mut dice);
        } else {
            let at = 1 + dice.below(line.len() - 1);
            if line[at] != "OUT" {
                line[at] = (*dice.pick(&WORDS)).to_owned();
            }
        }
        let path = folder.path().join(name);
        std::fs::write(&path, &damaged).expect("written");
        let out = folder.path().join(format!("out-{k}"));
        let line: Vec<String> = line
            .into_iter()
            .map(|word| match word.as_str() {
                "FILE" => path.display().to_string(),
                "OUT" => out.display().to_string(),
                _ => word,
            })
            .collect();
        let output = command(&line).current_dir(folder.path()).output().expect("it starts");
        ended_well(
            &format!("{line:?} with {:?}", String::from_utf8_lossy(&damaged)),
            &output,
        );
    }
}

/// A folder that cannot be written. For root every folder can be, and the test sees nothing.
#[cfg(unix)]
#[test]
fn read_only_folders_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).expect("made");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o555)).expect("closed");
    if std::fs::write(closed.join("try"), "").is_ok() {
        return;
    }
    let output = busy_run(&closed.join("run")).output().expect("it runs");
    ended_well("read-only", &output);
    assert!(
        stderr(&output).contains("cannot create the folder"),
        "{}",
        stderr(&output)
    );
}
