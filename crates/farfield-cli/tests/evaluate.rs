//! `farfield evaluate` and `farfield info`: the reports.

mod program;

use program::{command, json, succeed, words};
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
fn every_point_set_and_method_can_be_named() {
    for points in ["cube", "sphere", "plummer", "ring", "line", "clusters"] {
        let report = json(&format!("evaluate --points {points} --n 500 --seed 7 --json"));
        assert_eq!(report["points"], points);
        assert_eq!(report["seed"], 7);
    }
    for method in ["direct", "treecode", "treecode-on-neighbours", "fmm"] {
        assert_eq!(
            json(&format!("evaluate --n 1000 --method {method} --json"))["method"],
            method
        );
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
    // One order is not enough for anything, but nothing was promised either.
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
            continue; // The system does not tell.
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
    succeed("evaluate --n 0 --verify 10");
    succeed("evaluate --n 1");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    for line in [
        "evaluate --n 100",
        "evaluate --n 100 --json",
        "info",
        "reproduce --list",
        "evaluate --help",
    ] {
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
        "farfield",
        "cores",
        "simd",
        "memory",
        "gpu",
        "sums on the CPU",
        "profile",
        "built-in",
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
    ] {
        assert!(help.contains(option), "no {option} in\n{help}");
    }
    for name in [
        "biot-savart",
        "treecode-on-neighbours",
        "hybrid",
        "plummer",
        "velocity-gradient",
        "hu-polynomial",
    ] {
        assert!(help.contains(name), "no {name} in\n{help}");
    }
}
