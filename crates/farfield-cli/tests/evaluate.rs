//! `farfield evaluate` and `farfield info`: the reports.

use crate::program;
use crate::program::{command, json, succeed, words};
use std::process::Stdio;

#[test]
fn json_has_every_key_of_the_contract() {
    let report =
        json("evaluate --n 3000 --tolerance 1e-5 --outputs potential,gradient --method fmm --verify 50 --json");
    for key in [
        "kernel",
        "method",
        "device",
        "precision",
        "n_sources",
        "n_targets",
        "tolerance",
        "order",
        "theta",
        "leaf_capacity",
        "depth",
        "threads",
        "simd",
        "seconds",
        "interactions",
        "memory_bytes",
        "error",
        "notes",
        "version",
        "seed",
        "points",
        "rates",
    ] {
        assert!(report.get(key).is_some(), "no {key} in {report}");
    }
    for phase in ["total", "tree", "p2m", "m2m", "m2l", "p2l", "l2l", "l2p", "m2p", "p2p"] {
        assert!(
            report["seconds"][phase].is_number(),
            "no {phase} in {}",
            report["seconds"]
        );
    }
    for kind in ["p2p", "m2l", "m2p", "p2l"] {
        assert!(
            report["interactions"][kind].is_u64(),
            "no {kind} in {}",
            report["interactions"]
        );
    }
    assert_eq!(report["kernel"], "coulomb");
    assert_eq!(report["method"], "fmm");
    assert_eq!(report["device"], "cpu");
    assert_eq!(report["precision"], "f64");
    assert_eq!(report["n_sources"], 3000);
    assert_eq!(report["n_targets"], 3000);
    assert_eq!(report["tolerance"], 1e-5);
    assert_eq!(report["points"], "cube");
    assert_eq!(report["error"]["samples"], 50);
    assert!(report["memory_bytes"].as_u64().unwrap_or(0) > 1 << 20);
}

#[test]
fn error_is_below_the_tolerance_for_each_kernel_method_and_precision() {
    for (kernel, outputs) in [
        ("coulomb", "potential,gradient"),
        ("gravity --softening 1e-3", "potential,acceleration"),
        (
            "gravity --gravitational-constant 6.67e-11 --charge-distribution positive",
            "acceleration",
        ),
        ("biot-savart", "velocity"),
        (
            "biot-savart --core gaussian --core-size 0.01",
            "velocity,velocity-gradient",
        ),
    ] {
        for precision in ["f32 --tolerance 1e-4", "f64 --tolerance 1e-6"] {
            for method in ["auto", "treecode", "fmm"] {
                let line = format!(
                    "evaluate --kernel {kernel} --n 3000 --outputs {outputs} --precision {precision} \
                     --method {method} --verify 100 --json"
                );
                let report = json(&line);
                let tolerance = report["tolerance"].as_f64().unwrap_or(0.0);
                for output in outputs.split(',') {
                    let error = report["error"][output].as_f64().unwrap_or(f64::INFINITY);
                    assert!(error <= tolerance, "{line}: {output} {error}");
                }
            }
        }
    }
}

#[test]
fn the_plane_has_the_same_keys_and_its_own() {
    let report = json(
        "evaluate --kernel harmonic2d --points normal --n 5000 --outputs potential,derivative,second-derivative --method fmm \
         --complex --charge-vectors 2 --verify 50 --json",
    );
    assert_eq!(report["kernel"], "harmonic2d");
    assert_eq!(report["points"], "normal");
    assert_eq!(report["complex"], true);
    assert_eq!(report["core"], "singular");
    assert_eq!(report["charge_vectors"], 2);
    assert_eq!(report["theta"], 0.5);
    for key in [
        "order",
        "leaf_capacity",
        "depth",
        "memory_bytes",
        "memory_forecast_bytes",
    ] {
        assert!(report[key].as_u64().unwrap_or(0) > 0, "no {key} in {report}");
    }
    for phase in [
        "total", "tree", "sort", "connect", "p2m", "m2m", "m2l", "p2l", "l2l", "l2p", "m2p", "p2p",
    ] {
        assert!(report["seconds"][phase].is_number(), "no {phase} in {report}");
    }
    for phase in ["sort", "connect", "m2l", "p2p"] {
        assert!(report["seconds"][phase].as_f64().unwrap_or(0.0) > 0.0, "{phase}");
    }
    for kind in ["p2p", "m2l", "m2p", "p2l"] {
        assert!(report["interactions"][kind].is_u64(), "no {kind} in {report}");
    }
    for output in ["potential", "derivative", "second-derivative"] {
        let of = |key: &str| report[key][output].as_f64().unwrap_or(f64::INFINITY);
        assert!(of("error") > 0.0 && of("error") <= 1e-6, "{report}");
        // The error at the worst target is larger than the error over all targets.
        assert!(
            of("maximum_error") >= of("error") && of("maximum_error") < 1e-3,
            "{report}"
        );
    }
    assert_eq!(report["error"]["samples"], 50);
}

#[test]
fn error_is_below_the_tolerance_in_the_plane() {
    for kernel in [
        "harmonic2d --outputs potential,derivative",
        "log2d --outputs potential,derivative --complex",
        "harmonic2d --outputs second-derivative --complex",
        "log2d --outputs potential,derivative,second-derivative",
        "log2d --core gaussian --core-size 1e-3 --outputs potential,derivative",
        "harmonic2d --core algebraic --core-size 1e-5 --complex",
    ] {
        for precision in ["f32 --tolerance 1e-4", "f64 --tolerance 1e-9"] {
            for method in ["auto", "direct", "fmm"] {
                let line = format!(
                    "evaluate --kernel {kernel} --points layer --n 3000 --precision {precision} --method {method} \
                     --verify 100 --json"
                );
                let report = json(&line);
                let tolerance = report["tolerance"].as_f64().unwrap_or(0.0);
                for output in report["outputs"].as_array().expect("outputs") {
                    let error = report["error"][output.as_str().unwrap_or("")]
                        .as_f64()
                        .unwrap_or(f64::INFINITY);
                    assert!(error <= tolerance, "{line}: {output} {error}");
                }
            }
        }
    }
}

#[test]
fn the_summary_of_the_plane_describes_the_sum() {
    let text = succeed("evaluate --kernel log2d --core gaussian --core-size 0.01 --n 3000 --method fmm --verify 50");
    for part in [
        "logarithm in the plane",
        "gaussian core of size 0.01",
        "square, seed 1",
        "theta 0.5",
        "ok (",
        "largest at a target",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains("theta has no effect"), "{text}");
    let text = succeed("evaluate --kernel log2d --n 100 --method direct --theta 0.4");
    assert!(text.contains("theta has no effect"), "{text}");
}

#[test]
fn every_point_set_and_method_can_be_named() {
    for points in ["cube", "sphere", "plummer", "ring", "line", "clusters"] {
        let report = json(&format!("evaluate --points {points} --n 500 --seed 7 --json"));
        assert_eq!(report["points"], points);
        assert_eq!(report["seed"], 7);
    }
    for method in ["direct", "treecode", "fmm"] {
        assert_eq!(
            json(&format!("evaluate --n 1000 --method {method} --json"))["method"],
            method
        );
    }
    for points in ["square", "normal", "layer", "line", "circle", "clusters"] {
        let report = json(&format!("evaluate --kernel log2d --points {points} --n 500 --json"));
        assert_eq!(report["points"], points);
    }
    for method in ["direct", "fmm"] {
        let report = json(&format!(
            "evaluate --kernel harmonic2d --n 1000 --method {method} --json"
        ));
        assert_eq!(report["method"], method);
    }
}

#[test]
fn expert_options_reach_the_plan() {
    let line = "evaluate --n 4000 --method treecode --order 5 --theta 0.4 --leaf-capacity 20 --simd scalar --threads 1 \
                --charge-vectors 2 --charge-distribution unit --repeat 2 --reuse 1 --json";
    let report = json(line);
    assert_eq!(report["order"], 5);
    assert_eq!(report["theta"], 0.4);
    assert_eq!(report["leaf_capacity"], 20);
    assert_eq!(report["simd"], "scalar");
    assert_eq!(report["threads"], 1);
    assert_eq!(report["charge_vectors"], 2);
    assert_eq!(report["charges"], "unit");
    assert!(report["tolerance"].is_null());
    assert!(report["seconds_reused"]["total"].is_number());
    let line = "evaluate --kernel harmonic2d --n 4000 --method fmm --order 9 --theta 0.4 --leaf-capacity 20 \
                --simd scalar --reuse 1 --json";
    let report = json(line);
    assert_eq!(report["order"], 9);
    assert_eq!(report["theta"], 0.4);
    assert_eq!(report["depth"], 4);
    assert_eq!(report["simd"], "scalar");
    assert!(report["tolerance"].is_null());
    assert!(report["seconds_reused"]["total"].is_number());
}

#[test]
fn the_summary_shows_time_error_memory_and_rates() {
    let text = succeed("evaluate --n 3000 --method fmm --verify 50");
    for part in [
        "Coulomb: potential",
        "fmm",
        "3 000",
        "tree",
        "p2p",
        " %",
        "ok (",
        "memory",
        "pairs/s",
        "targets/s",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    // Order 1 is too low for any tolerance, but none was promised.
    let text = succeed("evaluate --n 3000 --method fmm --order 1 --verify 50");
    assert!(!text.contains("ok (") && !text.contains("EXCEEDED"), "{text}");
}

#[test]
fn the_memory_forecast_is_not_below_the_peak_and_not_far_above() {
    for options in [
        "--n 100000 --method fmm",
        "--n 100000 --method fmm --points plummer --tolerance 1e-3",
        "--n 100000 --method treecode --tolerance 1e-3",
        "--n 100000 --method fmm --precision f32 --outputs potential,gradient",
        "--n 20000 --method direct",
    ] {
        let report = json(&format!("evaluate {options} --json"));
        let (Some(peak), Some(forecast)) = (
            report["memory_bytes"].as_f64(),
            report["memory_forecast_bytes"].as_f64(),
        ) else {
            continue; // The system does not report a peak.
        };
        assert!(
            peak <= forecast && forecast <= 2.5 * peak,
            "{options}: {forecast} for {peak}"
        );
    }
}

#[test]
fn no_points_is_an_empty_result() {
    let report = json("evaluate --n 0 --verify 10 --json");
    assert_eq!(report["n_sources"], 0);
    assert_eq!(report["error"]["samples"], 0);
    for kernel in ["coulomb", "harmonic2d", "log2d"] {
        succeed(&format!("evaluate --kernel {kernel} --n 0 --verify 10"));
        succeed(&format!("evaluate --kernel {kernel} --n 1 --verify 10"));
    }
}

#[test]
fn a_closed_pipe_does_not_panic() {
    for line in ["evaluate --n 100", "evaluate --n 100 --json", "info", "evaluate --help"] {
        let mut child = command(words(line))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        let message = program::stderr(&output);
        assert!(
            output.status.success() && !message.contains("panicked"),
            "{line}: {message}"
        );
    }
}

#[test]
fn info_describes_the_machine() {
    let text = succeed("info");
    for part in [
        "farfield", "cores", "simd", "memory", "gpu", "cpu", "profile", "built-in",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let report = json("info --json");
    assert!(report["cores"].as_u64().unwrap_or(0) >= 1);
    assert_eq!(report["devices"][0], "cpu");
    assert_eq!(report["profile"], "built-in");
}

#[test]
fn help_names_every_option() {
    let help = succeed("evaluate --help");
    for option in [
        "--kernel",
        "--points",
        "--n ",
        "--seed",
        "--sources",
        "--charges",
        "--targets",
        "--output ",
        "--tolerance",
        "--outputs",
        "--precision",
        "--method",
        "--device",
        "--threads",
        "--verify",
        "--json",
        "--order",
        "--theta",
        "--leaf-capacity",
        "--charge-distribution",
        "--charge-vectors",
        "--core ",
        "--core-size",
        "--softening",
        "--gravitational-constant",
        "--simd",
        "--repeat",
        "--reuse",
        "--profile",
        "--allow-unbounded-gradient",
        "--complex",
    ] {
        assert!(help.contains(option), "no {option} in\n{help}");
    }
    for name in [
        "biot-savart",
        "treecode",
        "cuda:N",
        "plummer",
        "velocity-gradient",
        "hu-polynomial",
        "harmonic2d",
        "log2d",
        "layer",
        "second-derivative",
        "algebraic",
    ] {
        assert!(help.contains(name), "no {name} in\n{help}");
    }
}
