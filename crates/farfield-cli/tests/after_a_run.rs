//! Commands that use finished runs: `info DIR`, `plot`, `sample`, `sweep`; and `completions` and `man`.

use crate::program::{fail, files, json, succeed};
use std::path::Path;

fn small_run(folder: &Path, more: &str) {
    succeed(&format!(
        "run single-ring --quiet -o {} --set vortex.around=64 --set vortex.layers=1 --set tracers.count=50 --set \
         time.end=0.2 --set output.views=[] --set output.checkpoint_every=2 {more}",
        folder.display()
    ));
}

#[test]
fn a_folder_is_described_and_redrawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    small_run(&one, "");
    small_run(&two, "--steps 2");
    let report = json(&format!("info {} --json", one.display()));
    assert_eq!(
        (&report["state"], &report["step"]),
        (&"finished".into(), &4.into()),
        "{report}"
    );
    let text = succeed(&format!("info {}", two.display()));
    assert!(
        text.contains("stopped at step 2") && text.contains("farfield resume"),
        "{text}"
    );
    fail(&format!("info {}", folder.path().display()), 1, &["no run here"]);

    std::fs::remove_file(one.join("diagnostics.png")).expect("there is a chart");
    succeed(&format!("plot {}", one.display()));
    assert!(one.join("diagnostics.png").exists());
    let chart = folder.path().join("both.png");
    let both = format!("plot {} {}", one.display(), two.display());
    succeed(&format!("{both} --columns energy,ring1_z -o {}", chart.display()));
    assert!(std::fs::read(&chart).expect("a chart").starts_with(b"\x89PNG"));
    let table = folder.path().join("both.csv");
    succeed(&format!("{both} --columns ring1_z -o {}", table.display()));
    let table = std::fs::read_to_string(&table).expect("a table");
    assert_eq!(table.lines().next(), Some("run,time,ring1_z"));
    assert_eq!(table.lines().count(), 1 + 5 + 3, "{table}");
    fail(&format!("{both} --columns enregy"), 1, &["enregy", "energy"]);
}

#[test]
fn the_flow_of_a_run_is_sampled() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let sample = "output.sample=[{name=\"middle\",low=[-2.0,-2.0,0.0],high=[2.0,2.0,0.0],resolution=16}]";
    small_run(&run, &format!("--set {sample}"));
    assert!(files(&run.join("fields")).contains(&"middle-000004-vorticity.png".to_owned()));
    let stem = folder.path().join("slice");
    succeed(&format!(
        "sample {} --slice y=0 --quantity velocity,vorticity,q,lambda2 --resolution 40 -o {}",
        run.display(),
        stem.display()
    ));
    let made = files(folder.path());
    for name in [
        "slice.vti",
        "slice.npz",
        "slice-velocity.png",
        "slice-q.png",
        "slice-lambda2.png",
    ] {
        assert!(made.contains(&name.to_owned()), "{made:?}");
    }
    succeed(&format!(
        "sample {} --resolution 8 --low=-1,-1,-1 --high 1,1,1 --step 2",
        run.display()
    ));
    assert!(run.join("sample-000002.vti").exists());
    fail(&format!("sample {} --slice w=0", run.display()), 2, &["--slice w=0"]);
    fail(&format!("sample {} --step 3", run.display()), 1, &["step 3", "2, 4"]);
}

#[test]
fn a_sweep_makes_a_table_and_a_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("sweep");
    let line = format!(
        "sweep kepler -q -o {} --set time.end=0.5 --set time.step=0.05,0.025 --set output.views=[] --plot energy",
        out.display()
    );
    let text = succeed(&line);
    assert!(text.starts_with("time.step  steps  time "), "{text}");
    let table = std::fs::read_to_string(out.join("sweep.csv")).expect("a table");
    assert!(
        table.starts_with("time.step,steps,time,energy\n0.05,10,0.5,"),
        "{table}"
    );
    assert_eq!(
        files(&out),
        ["sweep.csv", "sweep.png", "time.step=0.025", "time.step=0.05"]
    );
    // Repeating the command finds everything done.
    assert_eq!(succeed(&line), text);
    // A different case does not continue these runs, though its folders have the same names.
    let other = |set: &str| {
        format!(
            "sweep kepler -q -o {} --set {set} --set time.step=0.05,0.025 --set output.views=[] --plot energy",
            out.display()
        )
    };
    let refused = other("gravity.bodies.0.mass=2 --set time.end=0.5");
    fail(&refused, 1, &["gravity.bodies.0.mass", "start a new run"]);
    // A later end time continues them.
    let longer = succeed(&other("time.end=0.6"));
    assert!(longer.contains("0.6"), "{longer}");
    fail("sweep kepler --set time.step=1,2,3 --most 2", 2, &["more than 2 runs"]);
}

#[test]
fn shells_get_completions_and_manual_pages() {
    assert!(succeed("completions bash").contains("farfield"));
    let folder = tempfile::tempdir().expect("a folder");
    succeed(&format!("man -o {}", folder.path().display()));
    let pages = files(folder.path());
    assert!(
        pages.contains(&"farfield.1".to_owned()) && pages.contains(&"farfield-run.1".to_owned()),
        "{pages:?}"
    );
}

/// The mean brightness of the picture without its captions.
fn brightness(path: &Path) -> f64 {
    let image = farfield_plot::Image::read_png(path).expect("a picture");
    let (width, height) = (image.width(), image.height());
    let rows = height / 6..height * 3 / 4;
    let count = (rows.len() * width) as f64;
    let light = |y: usize| -> f64 {
        (0..width)
            .filter_map(|x| image.pixel(x, y))
            .map(|pixel| f64::from(pixel.r) + f64::from(pixel.g) + f64::from(pixel.b))
            .sum()
    };
    rows.map(light).sum::<f64>() / count
}

#[test]
fn bodies_and_vortices_are_seen_in_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, set) in [
        ("kepler", "--set time.end=1"),
        ("plummer", "--set time.end=0.04 --set output.views=[\"axis\"]"),
        ("point-vortices", "--set time.end=1"),
    ] {
        let out = folder.path().join(name);
        succeed(&format!(
            "run {name} -q -o {} --set output.image=[240,180] {set}",
            out.display()
        ));
        let frames = out.join("frames/axis");
        let last = files(&frames).pop().expect("a picture");
        let mean = brightness(&frames.join(last));
        // The background alone has a brightness of 5 + 7 + 13 = 25.
        assert!(mean > 26.0, "{name}: {mean}");
    }
}

#[test]
fn own_views_show_the_points_from_wherever_they_look() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = folder.path().join("case.toml");
    let text = "title = \"views\"\n[time]\nend = 0.2\nstep = 0.1\n[output]\nviews = []\nimage = [240, 180]\nframes_every = 1\n\
        trails = 2\nanimation = false\n\
        [[output.view]]\nname = \"fixed\"\neye = [4.0, 0.0, 1.0]\n\
        [[output.view]]\nname = \"follow\"\neye = [4.0, 0.0, 1.0]\nscale = 1.5\nfollow = true\n\
        [[output.view]]\nname = \"turn\"\neye = [4.0, 0.0, 1.0]\nturn = 90.0\n\
        [[output.view]]\nname = \"path\"\neye = [4.0, 0.0, 1.0]\npath = [{ time = 0.2, eye = [0.5, 0.5, 4.0] }]\n\
        [vortex]\naround = 64\nlayers = 1\n[[vortex.rings]]\nradius = 1.0\ncore = 0.15\n[tracers]\ncount = 400\n";
    std::fs::write(&case, text).expect("written");
    let out = folder.path().join("out");
    succeed(&format!("run {} -q -o {}", case.display(), out.display()));
    let shown = |view: &str, frame: &str| out.join("frames").join(view).join(frame);
    for view in ["fixed", "follow", "turn", "path"] {
        for frame in ["frame-000000.png", "frame-000002.png"] {
            let mean = brightness(&shown(view, frame));
            assert!(mean > 26.0, "{view}, {frame}: {mean}");
        }
        // Moving cameras see a different picture at the end.
        let [first, last] = ["frame-000000.png", "frame-000002.png"].map(|frame| std::fs::read(shown(view, frame)));
        assert_ne!(first.expect("a picture"), last.expect("a picture"), "{view}");
    }
}
