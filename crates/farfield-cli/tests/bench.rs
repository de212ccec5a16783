//! `farfield bench`: rates of the machine, and the profile made from them.

use crate::program::{fail, json, succeed};

#[test]
fn a_quick_bench_has_ceilings_operators_and_methods() {
    let report = json("bench --quick --json");
    assert!(report["threads"].as_u64().unwrap_or(0) >= 1);
    let positive = |list: &str, keys: &[&str]| {
        let rows = report[list].as_array().expect("a list");
        assert!(!rows.is_empty(), "no {list} in {report}");
        for row in rows {
            for key in keys {
                let value = row[key].as_f64().unwrap_or(0.0);
                assert!(value.is_finite() && value > 0.0, "{list}: {key} of {row}");
            }
        }
        rows.len()
    };
    let ceilings = positive("ceilings", &["fma_gflops", "direct_pairs_one_thread", "direct_pairs"]);
    assert_eq!(ceilings, 2, "one for each precision");
    let plane = positive("plane", &["pairs", "pairs_with_derivative"]);
    assert_eq!(plane, 4, "two kernels in each precision");
    positive("operators", &["nanoseconds", "share_of_ceiling"]);
    positive("methods", &["n", "seconds", "work"]);
    for method in ["direct", "treecode", "fmm"] {
        let methods = report["methods"].as_array().expect("a list");
        let named = |row: &serde_json::Value| row["case"].as_str().is_some_and(|case| case.starts_with(method));
        assert!(methods.iter().any(named), "no {method} in {report}");
    }
    for kernel in ["harmonic2d", "log2d"] {
        let methods = report["methods"].as_array().expect("a list");
        let named = |row: &serde_json::Value| row["case"].as_str().is_some_and(|case| case.ends_with(kernel));
        assert!(methods.iter().any(named), "no {kernel} in {report}");
    }
}

#[test]
fn a_calibrated_profile_is_what_evaluate_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("new").join("profile.toml");
    let name = file.display();
    let text = succeed(&format!("bench --calibrate --profile {name}"));
    assert!(text.contains(&format!("written to {name}")), "{text}");
    let profile = std::fs::read_to_string(&file).expect("a profile");
    for part in [
        "# ",
        "[f32]",
        "[f64]",
        "[f64.plane]",
        "pair_scalar",
        "pair_harmonic",
        "m2l",
    ] {
        assert!(profile.contains(part), "no {part:?} in\n{profile}");
    }
    let summary = succeed(&format!("evaluate --n 3000 --profile {name} --verify 50"));
    assert!(summary.contains(&format!("profile {name}")), "{summary}");
    assert!(summary.contains("ok ("), "{summary}");
    let summary = succeed(&format!(
        "evaluate --kernel harmonic2d --n 3000 --profile {name} --verify 50"
    ));
    assert!(summary.contains("ok ("), "{summary}");
}

#[test]
fn invalid_options_of_bench_are_refused() {
    fail(
        "bench --profile /nonexistent/profile.toml",
        1,
        &["/nonexistent/profile.toml"],
    );
    fail("bench --threads 0", 2, &["--threads"]);
    fail("bench --calibrate --json", 2, &["--calibrate", "--json"]);
}
