//! Invalid options: exit code 2 and the name of the option. Requests beyond the machine: exit code 1.

use crate::program;
use crate::program::{fail, json, succeed};

#[test]
fn wrong_options_are_usage_errors() {
    for (options, says) in [
        ("--unknown", vec!["--unknown"]),
        ("--kernel magnetism", vec!["magnetism", "biot-savart"]),
        ("--method slow", vec!["slow", "treecode"]),
        ("--n ten", vec!["ten", "whole number"]),
        ("--n -5", vec!["-5"]),
        ("--n 1e40", vec!["1e40"]),
        ("--threads 0", vec!["--threads", "1 to 1024"]),
        ("--threads 100000", vec!["--threads", "1 to 1024"]),
        ("--repeat 0", vec!["--repeat", "at least 1"]),
        ("--points cube --sources a.csv", vec!["--points", "--sources"]),
        ("--charges a.csv", vec!["--sources"]),
        ("--tolerance 1e-20", vec!["--tolerance", "1e-20", "1e-12"]),
        ("--tolerance 0.5", vec!["--tolerance", "5e-1", "1e-2"]),
        ("--tolerance -1", vec!["--tolerance", "-1"]),
        ("--tolerance nan", vec!["--tolerance", "nan", "finite"]),
        (
            "--tolerance 1e-7 --precision f32",
            vec!["--tolerance", "1e-7", "1e-5", "f32"],
        ),
        ("--outputs velocity", vec!["coulomb", "velocity", "potential"]),
        ("--outputs potential,charm", vec!["charm", "potential"]),
        ("--order 99", vec!["order", "99"]),
        ("--method treecode --theta 2", vec!["theta", "2"]),
        ("--leaf-capacity 0", vec!["leaf_capacity"]),
        ("--charge-vectors 0", vec!["vectors"]),
        ("--softening 0.1", vec!["--softening", "gravity"]),
        ("--core gaussian", vec!["--core", "biot-savart"]),
        (
            "--gravitational-constant 2",
            vec!["--gravitational-constant", "gravity"],
        ),
        ("--kernel gravity --softening -1", vec!["--softening", "negative"]),
        (
            "--kernel gravity --gravitational-constant inf",
            vec!["gravitational-constant", "finite"],
        ),
        ("--kernel biot-savart --core gaussian", vec!["gaussian", "--core-size"]),
        ("--kernel biot-savart --core-size 1", vec!["--core"]),
        (
            "--kernel biot-savart --core singular --core-size 1",
            vec!["--core-size", "singular"],
        ),
        (
            "--kernel biot-savart --core hu-polynomial --core-size 1 --outputs velocity-gradient",
            vec!["unbounded", "--allow-unbounded-gradient"],
        ),
        ("--points square", vec!["--points", "square", "coulomb", "cube"]),
        (
            "--outputs derivative",
            vec!["--outputs", "derivative", "coulomb", "gradient"],
        ),
        ("--complex", vec!["--complex", "harmonic2d", "log2d"]),
        ("--kernel gravity --softening-kernel spline", vec!["--softening"]),
        (
            "--kernel gravity --softening 0.1 --softening-kernel cubic",
            vec!["cubic", "plummer", "spline", "wendland-c2"],
        ),
        (
            "--softening 0.1 --softening-kernel spline",
            vec!["--softening", "gravity"],
        ),
        (
            "--kernel biot-savart --core algebraic --core-size 1",
            vec!["--core", "algebraic", "biot-savart", "winckelmans-leonard"],
        ),
    ] {
        fail(&format!("evaluate {options}"), 2, &says);
    }
    for (options, says) in [
        ("--points cube", vec!["--points", "cube", "harmonic2d", "square"]),
        ("--outputs gradient", vec!["--outputs", "gradient", "derivative"]),
        ("--method treecode", vec!["--method", "treecode", "fmm"]),
        ("--softening 0.1", vec!["--softening", "gravity"]),
        (
            "--gravitational-constant 2",
            vec!["--gravitational-constant", "gravity"],
        ),
        (
            "--allow-unbounded-gradient",
            vec!["--allow-unbounded-gradient", "biot-savart"],
        ),
        (
            "--core hu-polynomial --core-size 1",
            vec!["--core", "hu-polynomial", "gaussian", "algebraic"],
        ),
        ("--core gaussian", vec!["gaussian", "--core-size"]),
        ("--core singular --core-size 1", vec!["--core-size", "singular"]),
        (
            "--core gaussian --core-size 1 --outputs derivative",
            vec!["--outputs", "derivative", "singular"],
        ),
        ("--order 0", vec!["order", "0"]),
        ("--theta 0.95", vec!["theta", "0.95", "0.8"]),
        ("--tolerance 1e-13", vec!["--tolerance", "1e-13", "1e-12"]),
    ] {
        fail(&format!("evaluate --kernel harmonic2d {options}"), 2, &says);
    }
    for core in ["gaussian", "algebraic"] {
        fail(
            &format!("evaluate --kernel log2d --core {core} --core-size 1 --outputs derivative,second-derivative"),
            2,
            &[
                "--outputs",
                "log2d",
                core,
                "no second-derivative",
                "potential, derivative",
                "singular",
            ],
        );
    }
    fail("dance", 2, &["dance"]);
    fail("reproduce hu-table-a1", 2, &["reproduce"]);
}

/// Whether this machine has a GPU for sums.
fn has_cuda() -> bool {
    json("info --json")["devices"]
        .as_array()
        .is_some_and(|devices| devices.iter().any(|device| device == "cuda"))
}

fn sum_on_the_gpu() {
    let sum = "evaluate --n 20000 --tolerance 1e-6 --verify 200 --device cuda";
    for options in [
        "--method direct",
        "--method fmm",
        "--kernel harmonic2d --method direct",
        "--kernel harmonic2d --method fmm",
        "--kernel log2d --method fmm",
    ] {
        let report = json(&format!("{sum} {options} --reuse 2 --json"));
        assert_eq!(report["device"], "cuda");
        assert!(
            report["simd"].as_str().is_some_and(|set| set.starts_with("sm_")),
            "{report}"
        );
        assert!(
            report["error"]["potential"].as_f64().is_some_and(|error| error < 1e-6),
            "{report}"
        );
    }
    assert!(succeed(sum).contains("cuda, "));
    let report = json(&format!("{sum} --method treecode --json"));
    assert_eq!(
        (&report["device"], &report["method"]),
        (&"cuda".into(), &"treecode".into())
    );
}

#[test]
fn numbers_too_large_for_a_precision_are_named_with_a_remedy() {
    let gravity = "evaluate --n 100 --kernel gravity";
    fail(
        &format!("{gravity} --softening 1e300"),
        1,
        &["1e300", "source 0", "outside ["],
    );
    fail(
        &format!("{gravity} --softening 1e300 --precision f32"),
        1,
        &["--softening is 1e300", "f32", "--precision f64"],
    );
    fail(
        &format!("{gravity} --gravitational-constant 1e300 --precision f32"),
        1,
        &["potential", "target 0", "f32"],
    );
    fail(
        "evaluate --n 100 --kernel biot-savart --core gaussian --core-size 1e200",
        1,
        &["1e200", "source 0"],
    );
    succeed(&format!("{gravity} --gravitational-constant 1e300 --verify 10"));
}

#[test]
fn requests_beyond_the_machine_are_clear_errors() {
    fail("bench --device auto", 2, &["--device", "cpu or cuda"]);
    fail("evaluate --n 100 --device gpu", 2, &["--device", "gpu", "cuda:N"]);
    fail("evaluate --n 100 --device cuda:x", 2, &["--device", "`x`"]);
    for sum in ["evaluate --n 100", "evaluate --kernel harmonic2d --n 100", "bench"] {
        let devices = ["hybrid", "cpu, cuda, cuda:N, auto"];
        fail(&format!("{sum} --device hybrid"), 2, &devices);
    }
    fail(
        "run leapfrog --steps 1 --device hybrid",
        1,
        &["`hybrid`", "[flow]", "cpu, cuda, cuda:N"],
    );
    fail("selftest --device cpu", 2, &["--device cpu", "cuda:N"]);
    fail("bench --calibrate --device cuda:99", 2, &["--calibrate", "--device"]);
    fail("poisson two-rings --device gpu", 2, &["cuda:N, hybrid, hybrid:N, auto"]);
    if has_cuda() {
        sum_on_the_gpu();
    } else {
        for command in [
            "evaluate --n 100 --device cuda",
            "evaluate --kernel harmonic2d --n 100 --device cuda",
            "selftest --device cuda",
            "bench --device cuda",
            "bench leapfrog --device cuda",
            "run leapfrog --steps 1 --device cuda",
        ] {
            fail(command, 1, &["--device cuda", "NVIDIA driver", "--device cpu"]);
        }
        for command in [
            "run sphere --steps 1 --device hybrid",
            "poisson two-rings --device hybrid",
        ] {
            fail(command, 1, &["--device hybrid", "NVIDIA driver", "--device cpu"]);
        }
        fail(
            "evaluate --n 100 --device cuda:3",
            1,
            &["--device cuda:3", "NVIDIA driver"],
        );
        for kernel in ["coulomb", "harmonic2d"] {
            let line = format!("evaluate --kernel {kernel} --n 100000 --device auto --json");
            assert_eq!(json(&line)["device"], "cpu");
        }
        // The device is checked before the points, and the options before the device.
        fail("evaluate --n 1e13 --device cuda", 1, &["NVIDIA driver"]);
        fail("evaluate --tolerance 1e-20 --device cuda", 2, &["--tolerance"]);
    }
    // The forecast comes before the first point is generated.
    fail("evaluate --n 1e13", 1, &["--n 10000000000000", "GiB"]);
    fail("evaluate --n 1e18 --precision f32 --method direct", 1, &["--n", "GiB"]);
    for kernel in ["harmonic2d", "log2d --method direct --complex"] {
        fail(
            &format!("evaluate --kernel {kernel} --n 1e13"),
            1,
            &["--n 10000000000000", "GiB"],
        );
    }
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    fail(&format!("evaluate --n 100 --simd {foreign}"), 2, &["SIMD", foreign]);
}

#[test]
fn the_environment_lowers_the_instruction_set_and_unknown_names_are_refused() {
    let info = |level: &str| {
        program::command(["info", "--json"])
            .env("FARFIELD_SIMD", level)
            .output()
            .expect("the program starts")
    };
    let lowered: serde_json::Value = serde_json::from_slice(&info("scalar").stdout).expect("one JSON object");
    assert_eq!(lowered["simd"], "scalar");
    let refused = info("avx1024");
    assert_eq!(refused.status.code(), Some(2));
    let message = program::stderr(&refused);
    assert!(
        message.contains("FARFIELD_SIMD=avx1024") && message.contains("scalar"),
        "{message}"
    );
}

/// The output of the program on a terminal of 80 columns.
fn at_80_columns(line: &str, folder: &std::path::Path) -> String {
    let mut command = program::command(program::words(line));
    let output = command
        .env("COLUMNS", "80")
        .current_dir(folder)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{line}: {}", program::stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_table_fits_a_terminal_and_is_whole_in_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let quick_run = "--set vortex.around=64 --set vortex.layers=1 --set tracers.count=10 --set output.views=[] -q";
    for line in [
        "run",
        "info",
        "evaluate --n 2000 --outputs potential,gradient,hessian --verify 20",
        "evaluate --kernel biot-savart --core gaussian --core-size 0.01 --n 500 --outputs velocity,velocity-gradient --verify 9",
        "evaluate --kernel harmonic2d --n 2000 --complex --verify 20",
        "poisson gaussian-ring --resolution 32 --tolerance 1e-3 -q -o solved",
        "poisson gaussian-ring --resolution 32 -q",
        &format!("run single-ring --steps 1 {quick_run} -o ran"),
        "info ran",
        "sample ran --slice z=0 --resolution 8",
        &format!(
            "sweep single-ring --set time.end=0.05,0.1 {quick_run} -o swept --plot energy,impulse_z,ring1_z,ring1_radius"
        ),
    ] {
        let text = at_80_columns(line, folder.path());
        assert!(!text.is_empty(), "{line}");
        for row in text.lines() {
            assert!(row.chars().count() <= 80, "{line}: {row:?}");
            assert_eq!(row.trim_end(), row, "{line}: spaces at the end");
        }
    }
    // A pipe gets every entry on a line of its own.
    let whole = program::succeed("run");
    assert!(whole.lines().any(|row| row.len() > 80), "{whole}");
    let is_whole = |row: &str| !row.starts_with(' ') || row.trim_start().starts_with("other sizes:");
    assert!(whole.lines().all(is_whole), "{whole}");
}
