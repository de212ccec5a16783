//! Whole runs: stopped and resumed, rejected, damaged, blown up.

use farfield::tuning::MachineProfile;
use farfield_sim::Error;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::run::{Control, Observer, Outcome, Progress, Run, Silent};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

fn case(name: &str, set: &[&str]) -> Case {
    let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    case::read(BuiltIn::find(name).unwrap().text, name, &overrides).unwrap()
}

/// A small case with every feature that has a state: adaptive steps, viscosity, remeshing, relaxation, tracers.
fn small_vortex() -> Case {
    case(
        "leapfrog",
        &[
            "vortex.around=48",
            "vortex.layers=1",
            "vortex.core=gaussian",
            "vortex.viscosity=0.001",
            "vortex.diffusion=pse",
            "vortex.remesh_every=4",
            "vortex.remesh_cutoff=0.01",
            "vortex.relaxation=0.2",
            "vortex.rings.0.core=0.25",
            "vortex.rings.1.core=0.25",
            "tracers.count=300",
            "time.end=0.8",
            "time.step=0.1",
            "time.adaptive=true",
            "output.frames_every=3",
            "output.fields_every=4",
            "output.checkpoint_every=2",
            "output.image=[160, 120]",
        ],
    )
}

fn small_gravity() -> Case {
    case(
        "plummer",
        &[
            "gravity.plummer.0.count=200",
            "time.end=0.5",
            "output.frames_every=0",
            "output.image=[160, 120]",
        ],
    )
}

fn run(case: Case, folder: &Path, steps: Option<u64>) -> Result<Outcome, Error> {
    let control = Control {
        most_steps: steps,
        ..Control::default()
    };
    Run::new(case, folder, MachineProfile::default())?.go(&control, &mut Silent)
}

fn resume(folder: &Path) -> (Outcome, Vec<String>) {
    let (run, remarks) = Run::resume(folder, Ok).unwrap();
    (run.go(&Control::default(), &mut Silent).unwrap(), remarks)
}

fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("checkpoints")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn last_checkpoint(folder: &Path) -> Vec<u8> {
    std::fs::read(checkpoints(folder).last().unwrap()).unwrap()
}

/// The table without the column of wall-clock times.
fn table(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("diagnostics.csv")).unwrap();
    let without = |line: &str| {
        let fields = line.split(',').enumerate().filter(|(k, _)| *k != 4);
        fields.map(|(_, field)| field).collect::<Vec<_>>().join(",")
    };
    text.lines().map(without).collect()
}

#[test]
fn a_stopped_and_resumed_run_ends_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (name, case) in [("vortex", small_vortex()), ("gravity", small_gravity())] {
        let (straight, broken) = (
            folder.path().join(format!("{name}-a")),
            folder.path().join(format!("{name}-b")),
        );
        let whole = run(case.clone(), &straight, None).unwrap();
        assert!(whole.finished && whole.steps > 6, "{whole:?}");
        let first = run(case, &broken, Some(3)).unwrap();
        assert!(!first.finished && first.steps == 3);
        let (run, _) = Run::resume(&broken, Ok).unwrap();
        let middle = Control {
            most_steps: Some(2),
            ..Control::default()
        };
        assert_eq!(run.go(&middle, &mut Silent).unwrap().steps, 5);
        let (last, remarks) = resume(&broken);
        assert!(last.finished && remarks.is_empty(), "{remarks:?}");
        assert_eq!(last_checkpoint(&straight), last_checkpoint(&broken), "{name}");
        assert_eq!(table(&straight), table(&broken), "{name}");
        let frames = |folder: &Path| std::fs::read_dir(folder.join("frames/oblique")).unwrap().count();
        assert_eq!(frames(&straight), frames(&broken));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let ends: Vec<Vec<u8>> = [1, 3]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let path = folder.path().join(threads.to_string());
            pool.install(|| run(small_vortex(), &path, Some(5)).unwrap());
            last_checkpoint(&path)
        })
        .collect();
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn an_interrupted_write_costs_one_checkpoint_and_no_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (straight, broken) = (folder.path().join("a"), folder.path().join("b"));
    run(small_vortex(), &straight, None).unwrap();
    run(small_vortex(), &broken, Some(5)).unwrap();
    // As after a kill while writing: half of the newest file, and a temporary file.
    let newest = checkpoints(&broken).pop().unwrap();
    let bytes = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(broken.join("checkpoints/.farfield-1-0.tmp"), &bytes[..100]).unwrap();
    let (outcome, remarks) = resume(&broken);
    assert!(outcome.finished);
    let told = remarks.join("\n");
    assert!(
        told.contains("checkpoint-000000005.ckpt") && told.contains("checksum"),
        "{told}"
    );
    assert!(told.contains("using checkpoint-000000004.ckpt"), "{told}");
    assert_eq!(last_checkpoint(&straight), last_checkpoint(&broken));
    assert_eq!(table(&straight), table(&broken));
}

#[test]
fn a_new_run_in_a_folder_that_holds_a_run_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    run(small_gravity(), folder.path(), Some(1)).unwrap();
    let message = run(small_gravity(), folder.path(), Some(1)).unwrap_err().to_string();
    assert!(
        message.contains("already holds a run") && message.contains("farfield resume"),
        "{message}"
    );
    let empty = tempfile::tempdir().unwrap();
    let message = Run::resume(empty.path(), Ok).err().unwrap().to_string();
    assert!(message.contains("holds no run"), "{message}");
}

#[test]
fn two_runs_cannot_write_to_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let held = Run::new(small_gravity(), folder.path(), MachineProfile::default()).unwrap();
    let message = Run::resume(folder.path(), Ok).err().unwrap().to_string();
    assert!(message.contains("another run"), "{message}");
    drop(held);
    assert!(Run::resume(folder.path(), Ok).is_ok());
}

#[test]
fn a_finished_run_can_be_extended() {
    let folder = tempfile::tempdir().unwrap();
    run(small_gravity(), folder.path(), None).unwrap();
    let longer = |mut case: Case| {
        case.time.end = 0.7;
        Ok(case)
    };
    let (run, _) = Run::resume(folder.path(), longer).unwrap();
    let outcome = run.go(&Control::default(), &mut Silent).unwrap();
    assert!(outcome.finished && (outcome.time - 0.7).abs() < 1e-12);
    let kept = std::fs::read_to_string(folder.path().join("case.toml")).unwrap();
    assert!(kept.contains("end = 0.7"), "{kept}");
}

#[test]
fn a_blow_up_is_reported_and_the_last_valid_state_saved() {
    let folder = tempfile::tempdir().unwrap();
    // The steps are far too long, so the energy of the rings jumps.
    let wild = case(
        "leapfrog",
        &[
            "vortex.around=80",
            "vortex.layers=1",
            "time.step=3.0",
            "time.end=300.0",
            "time.scheme=euler",
            "tracers.count=10",
            "output.views=[]",
            "vortex.stretching=classical",
        ],
    );
    let error = run(wild, folder.path(), None).unwrap_err();
    assert!(matches!(error, Error::BlowUp { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("farfield resume") && message.contains("time.step=1.5"),
        "{message}"
    );
    let (run, _) = Run::resume(folder.path(), Ok).unwrap();
    assert!(run.start().0 > 0 || message.contains("step 0"), "{message}");
}

#[test]
fn an_external_stop_ends_the_run_with_a_checkpoint() {
    struct StopAt(Control, u64);
    impl Observer for StopAt {
        fn progress(&mut self, progress: &Progress) {
            if progress.step == self.1 {
                self.0.stop.store(true, Ordering::Relaxed);
            }
        }
        fn remark(&mut self, _: &str) {}
    }
    let folder = tempfile::tempdir().unwrap();
    let control = Control::default();
    let mut observer = StopAt(control.clone(), 4);
    let run = Run::new(small_gravity(), folder.path(), MachineProfile::default()).unwrap();
    let outcome = run.go(&control, &mut observer).unwrap();
    assert_eq!((outcome.finished, outcome.steps), (false, 4));
    assert!(
        checkpoints(folder.path())
            .last()
            .unwrap()
            .ends_with("checkpoint-000000004.ckpt")
    );
}

#[test]
fn files_of_a_run_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    run(small_vortex(), folder.path(), None).unwrap();
    for file in [
        "case.toml",
        "run.toml",
        "run.log",
        "diagnostics.csv",
        "diagnostics.png",
        "animation.gif",
        "fields/tracers.pvd",
        "fields/elements.pvd",
        "fields/tracers-000000.vtp",
        "fields/elements-000004.npz",
        "frames/axis/frame-000003.png",
    ] {
        let length = std::fs::metadata(folder.path().join(file)).map(|data| data.len());
        assert!(length.is_ok_and(|length| length > 0), "{file}");
    }
    let times = farfield_io::vtk::read_pvd(folder.path().join("fields/tracers.pvd")).unwrap();
    assert!(times.windows(2).all(|pair| pair[0].0 < pair[1].0), "{times:?}");
    let header = std::fs::read_to_string(folder.path().join("diagnostics.csv")).unwrap();
    for column in [
        "time",
        "dt_limit",
        "impulse_z",
        "angular_impulse_x",
        "energy",
        "helicity",
        "enstrophy",
        "ring2_radius",
    ] {
        assert!(
            header.lines().next().unwrap().split(',').any(|name| name == column),
            "{column}"
        );
    }
}
