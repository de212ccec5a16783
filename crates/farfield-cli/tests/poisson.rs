//! `farfield poisson`.

use crate::program::{fail, files, json, succeed};
use serde_json::Value;

fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number {path} in {value}"))
}

#[test]
fn the_two_rings_have_the_error_of_their_grid() {
    let report = json("poisson two-rings --component y --resolution 64 --tolerance 1e-5 --json");
    // The reference: 7.8e-3 on the uniform grid of 64^3 points.
    assert!(number(&report, "/error/psi") < 2.0 * 7.8e-3, "{report}");
    assert!(report["method"] == "fmm" || report["method"] == "treecode", "{report}");
    assert_eq!(report["device"], "cpu");
    assert!(number(&report, "/n_sources") < number(&report, "/n_targets"));
    assert_eq!(number(&report, "/n_targets"), 4096.0 * number(&report, "/blocks"));
    for phase in [
        "total",
        "sources",
        "tree",
        "expansions",
        "plan",
        "direct",
        "indirect",
        "adaptation",
    ] {
        assert!(number(&report, &format!("/seconds/{phase}")) >= 0.0);
    }
}

#[test]
fn treecode_and_fmm_agree() {
    let error = |options: &str| {
        let line = format!("poisson two-rings --component y --resolution 64 --json {options}");
        number(&json(&line), "/error/psi")
    };
    let fmm = error("--tolerance 1e-6");
    for options in [
        "--theta 0.4 --order 12",
        "--tolerance 1e-5 --method treecode",
        "--theta 0 --simd scalar",
    ] {
        let treecode = error(options);
        assert!((treecode / fmm - 1.0).abs() < 0.01, "{options}: {treecode} {fmm}");
    }
    let single = error("--tolerance 1e-4 --precision f32");
    assert!((single / fmm - 1.0).abs() < 0.05, "{single} {fmm}");
}

#[test]
fn the_gaussian_ring_has_its_exact_potential() {
    for wavelet in ["average-interpolating-5", "interpolating-4"] {
        let line = format!(
            "poisson gaussian-ring --resolution 64 --absolute --refine 1 --compress 1e-2 --wavelet {wavelet} --json"
        );
        let report = json(&line);
        assert!(number(&report, "/error/psi") < 5e-3, "{wavelet}: {report}");
    }
}

#[test]
fn files_are_written_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("deep/out");
    let text = succeed(&format!(
        "poisson gaussian-ring --resolution 32 --absolute --refine 5 --compress 0.1 -o {}",
        out.display()
    ));
    assert!(text.contains("written") && text.contains("blocks"), "{text}");
    let expected = [
        "blocks.vtu",
        "fields.npz",
        "fields.pvd",
        "fields.vti",
        "omega.png",
        "psi.png",
        "velocity.png",
    ];
    assert_eq!(files(&out), expected);

    // A blob in a file of n^3 values.
    let n = 32;
    let mut csv = String::from("vorticity\n");
    for k in 0..n * n * n {
        let x = [k % n, k / n % n, k / n / n].map(|c| (f64::from(c) + 0.5) / f64::from(n) - 0.5);
        let r2: f64 = x.iter().map(|c| c * c).sum();
        csv += &format!("{}\n", (-60.0 * r2).exp());
    }
    let path = folder.path().join("blob.csv");
    std::fs::write(&path, csv).expect("written");
    let report = json(&format!("poisson {} --json", path.display()));
    assert_eq!(report["error"], Value::Null);
    assert!(number(&report, "/n_sources") > 1000.0);
}

#[test]
fn invalid_options_are_refused() {
    fail("poisson two-rings --resolution 100", 2, &["--resolution", "100"]);
    fail("poisson two-rings --theta 1.5", 2, &["theta", "1.5"]);
    fail("poisson two-rings --order 7", 2, &["order", "7"]);
    for tolerance in ["0", "1e-1", "1e-13", "nan"] {
        fail(
            &format!("poisson two-rings --tolerance {tolerance}"),
            2,
            &["--tolerance", "1e-12 to 1e-2"],
        );
    }
    fail("poisson two-rings --axes xyz", 2, &["--axes", "formula"]);
    fail("poisson two-rings -o /dev/null/x", 1, &["/dev/null/x"]);
    fail(
        "poisson two-rings --tolerance 1e-4 --order 6",
        2,
        &["cannot be used with"],
    );
    fail(
        "poisson two-rings --refine 1e-4 --compress 1e-2",
        2,
        &["refine without end"],
    );
    fail("poisson two-rings --refine 1e-16 --compress 1e-17", 2, &["round-off"]);
    fail("poisson two-rings --memory-cap 8", 1, &["MiB", "cap"]);
    fail("poisson two-rings --method fmm --theta 0.5", 2, &["FMM", "treecode"]);
    fail("poisson nowhere.npz", 1, &["nowhere.npz"]);
    fail("poisson three-rings", 1, &["three-rings"]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.csv");
    std::fs::write(&path, "vorticity\n1\n2\n3\n").expect("written");
    fail(&format!("poisson {}", path.display()), 1, &["bad.csv", "3 points"]);
    let many: String = std::iter::once("vorticity\n".to_owned())
        .chain((0..4096).map(|k| if k == 273 { "nan\n".to_owned() } else { "0\n".to_owned() }))
        .collect();
    std::fs::write(&path, many).expect("written");
    fail(
        &format!("poisson {}", path.display()),
        1,
        &["NaN", "[1, 1, 1]", "block (0, 0, 0)"],
    );
}

#[test]
fn case_files_are_read_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("case.toml");
    let case = |text: &str| {
        std::fs::write(&path, text).expect("written");
        format!("poisson {}", path.display())
    };
    let ring = "[[ring]]\ncentre = [0.5, 0.5, 0.5]\naxis = \"z\"\nradius = 0.25\ncore = 0.041666666666666664\ncirculation = 1.0\n";
    // The built-in ring, in a box of two cubes.
    let wide = "[grid]\nroots = [2, 1, 1]\n";
    let options = "--resolution 32 --absolute --refine 5 --compress 0.1 --component y --json";
    let report = json(&format!("{} {options}", case(&format!("{wide}{ring}"))));
    // The names of older files.
    let old = format!("{wide}{ring}")
        .replace("centre", "center")
        .replace("[grid]", "[box]");
    let again = json(&format!("{} {options}", case(&old)));
    assert_eq!(report["n_sources"], again["n_sources"]);
    let built_in = json(&format!("poisson gaussian-ring {options}"));
    assert!(number(&report, "/error/psi") < 2e-2, "{report}");
    let ratio = number(&report, "/n_sources") / number(&built_in, "/n_sources");
    assert!((ratio - 1.0).abs() < 0.2, "{ratio}");

    fail(
        &case("[[ring]]\nradius = 1"),
        1,
        &["case.toml: line 1", "`centre` is missing"],
    );
    fail(
        &case("rings = 3"),
        1,
        &[
            "case.toml: line 1, column 1",
            "unknown key `rings`",
            "did you mean `ring`",
        ],
    );
    fail(
        &case(&ring.replace("\"z\"", "[0.0, 1.0, 1.0]")),
        1,
        &["[0.0, 1.0, 1.0]", "along x, y or z"],
    );
    fail(&case(""), 1, &["nothing to solve for"]);
    fail(
        &case(&ring.replace("radius = 0.25", "radius = 0.3")),
        1,
        &["ring", "outside the box", "along x"],
    );
    fail(
        &case(&ring.replace("core = 0.041666666666666664", "core = -1")),
        1,
        &["core = -1"],
    );
    fail(&case(&format!("grid = \"none.npz\"\n{ring}")), 1, &["one or the other"]);
    fail(&case("grid = \"none.npz\""), 1, &["none.npz"]);
    fail(&case("[box]\nside = 0\n"), 1, &["root side", "0"]);
}

/// A Gaussian ring about z with its centre off the middle, on a grid of n^3 points, in either order of indices.
fn ring_file(path: &std::path::Path, n: usize, scale: f64, z_fastest: bool) {
    let mut csv = String::from("vorticity_x,vorticity_y,vorticity_z\n");
    for at in 0..n * n * n {
        let (a, b, c) = (at % n, at / n % n, at / n / n);
        let index = if z_fastest { [c, b, a] } else { [a, b, c] };
        let [x, y, z] = index.map(|k| (k as f64 + 0.5) / n as f64);
        let (x, y, z) = (x - 0.5, y - 0.5, z - 0.4);
        let r = x.hypot(y);
        let size = scale * (-((r - 0.25).powi(2) + z * z) / 0.004).exp();
        csv += &format!("{:e},{:e},0\n", -size * y / r, size * x / r);
    }
    std::fs::write(path, csv).expect("written");
}

#[test]
fn the_order_of_indices_is_checked_by_the_divergence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ring.csv");
    ring_file(&path, 32, 1.0, false);
    let right = json(&format!("poisson {} --json", path.display()));
    assert_eq!(right["warnings"].as_array().map(Vec::len), Some(0), "{right}");
    ring_file(&path, 32, 1.0, true);
    let wrong = json(&format!("poisson {} --json", path.display()));
    let said = wrong["warnings"][0].as_str().expect("a warning");
    assert!(said.contains("divergence") && said.contains("--axes xyz"), "{said}");
    let mended = json(&format!("poisson {} --axes xyz --json", path.display()));
    assert_eq!(mended["warnings"].as_array().map(Vec::len), Some(0), "{mended}");
    assert_eq!(mended["n_sources"], right["n_sources"]);
    fail(
        &format!("poisson {} --resolution 64", path.display()),
        2,
        &["--resolution 64", "32 points"],
    );
}

#[test]
fn the_grid_does_not_depend_on_the_units_of_the_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ring.csv");
    let solve = |scale: f64| {
        ring_file(&path, 32, scale, false);
        json(&format!("poisson {} --json", path.display()))
    };
    let one = solve(1.0);
    for scale in [1e-3, 1e-13] {
        let other = solve(scale);
        for key in ["blocks", "n_sources"] {
            assert_eq!(one[key], other[key], "{scale}: {key}");
        }
    }
}

#[test]
fn a_scalar_field_is_solved_and_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("blob.csv"), folder.path().join("out"));
    let n = 16;
    let blob = |k: usize| {
        let x = [k % n, k / n % n, k / n / n].map(|c| (c as f64 + 0.5) / n as f64 - 0.5);
        (-60.0 * x.iter().map(|c| c * c).sum::<f64>()).exp()
    };
    let lines: Vec<String> = (0..n * n * n).map(|k| format!("{}\n", blob(k))).collect();
    std::fs::write(&path, format!("values\n{}", lines.concat())).expect("written");
    let report = json(&format!("poisson {} --json -o {}", path.display(), out.display()));
    assert_eq!(report["component"], "scalar");
    assert_eq!(
        files(&out),
        [
            "blocks.vtu",
            "fields.npz",
            "fields.pvd",
            "fields.vti",
            "omega.png",
            "psi.png"
        ]
    );
    fail(
        &format!("poisson {} --component y", path.display()),
        1,
        &["--component"],
    );
    std::fs::write(&path, format!("values\n{}", "0\n".repeat(4096))).expect("written");
    fail(&format!("poisson {}", path.display()), 1, &["zero everywhere"]);
}

#[test]
fn pictures_cut_through_one_ring_and_through_two() {
    let folder = tempfile::tempdir().expect("a folder");
    for field in ["two-rings", "gaussian-ring"] {
        let out = folder.path().join(field);
        succeed(&format!("poisson {field} --resolution 32 -q -o {}", out.display()));
        let image = farfield_plot::Image::read_png(out.join("omega.png")).expect("a picture");
        // The map, left of its scale: strong vorticity is yellow on black, outlines are grey, the surroundings white.
        let (width, height) = (image.width(), image.height());
        let map = (0..height).flat_map(|y| (0..width * 83 / 100).map(move |x| (x, y)));
        let bright = map
            .filter_map(|(x, y)| image.pixel(x, y))
            .filter(|p| p.r > 180 && u16::from(p.b) + 50 < u16::from(p.r))
            .count();
        assert!(
            bright > width * height / 2000,
            "{field}: {bright} of {width} x {height}"
        );
    }
}
