//! Options that cannot be: exit code 2 and the culprit's name. What the machine cannot do: exit code 1.

mod program;

use program::{fail, json};

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
        ("--tolerance nan", vec!["--tolerance", "NaN"]),
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
            vec!["gravitational constant"],
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
    ] {
        fail(&format!("evaluate {options}"), 2, &says);
    }
    fail("dance", 2, &["dance"]);
    fail("reproduce", 2, &["NAME"]);
    fail("reproduce nothing", 2, &["nothing"]);
}

/// Whether this machine has a GPU that sums can be done on.
fn has_cuda() -> bool {
    json("info --json")["devices"]
        .as_array()
        .is_some_and(|devices| devices.iter().any(|device| device == "cuda"))
}

#[test]
fn what_the_machine_cannot_do_is_a_clear_error() {
    fail("evaluate --n 100 --device hybrid", 1, &["--device hybrid", "CPU"]);
    if !has_cuda() {
        for command in ["evaluate --n 100 --device cuda", "selftest --device cuda"] {
            fail(command, 1, &["--device cuda", "NVIDIA driver", "--device cpu"]);
        }
    }
    // A forecast, before a single point is made.
    fail("evaluate --n 1e13", 1, &["--n 10000000000000", "GiB"]);
    fail("evaluate --n 1e18 --precision f32 --method direct", 1, &["--n", "GiB"]);
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    fail(&format!("evaluate --n 100 --simd {foreign}"), 1, &["SIMD", foreign]);
}
