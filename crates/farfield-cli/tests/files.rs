//! `farfield evaluate` with files: round trips, bad files, and no half-written files.

use crate::program;
use crate::program::{fail, files, json};
use farfield::plane::PlaneSet;
use farfield::points::{ChargeDistribution, PointSet};
use farfield_io::{Array, NamedArray, Precision, read_table, write_arrays};
use std::path::Path;
use tempfile::TempDir;

const N: usize = 600;

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn text(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    fn arrays(&self, name: &str, arrays: &[(&str, Array)]) -> String {
        let path = self.path(name);
        let arrays: Vec<_> = arrays
            .iter()
            .map(|(name, array)| NamedArray::new(*name, array.clone()))
            .collect();
        write_arrays(&path, &arrays, Precision::Double).expect("written");
        path
    }
}

/// The sources of all tests.
fn sources() -> Vec<[f64; 3]> {
    PointSet::Cube.generate(N, 1)
}

/// Sums `term(target - source, index of the source)` over the sources, for each target; no point acts on itself.
fn direct<const C: usize>(targets: &[[f64; 3]], term: impl Fn([f64; 3], usize) -> [f64; C]) -> Vec<f64> {
    let sources = sources();
    let mut sums = Vec::new();
    for target in targets {
        let mut sum = [0.0; C];
        for (j, source) in sources.iter().enumerate().filter(|(_, source)| *source != target) {
            let r = std::array::from_fn(|axis| target[axis] - source[axis]);
            for (sum, term) in sum.iter_mut().zip(term(r, j)) {
                *sum += term;
            }
        }
        sums.extend(sum);
    }
    sums
}

fn norm(r: [f64; 3]) -> f64 {
    r.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    let difference: f64 = got.iter().zip(expected).map(|(a, b)| (a - b).powi(2)).sum();
    let size: f64 = expected.iter().map(|b| b * b).sum();
    assert!(difference <= 1e-14 * size, "{difference} of {size}");
}

fn read(path: &str, name: &str) -> Array {
    let table = read_table(path).expect("the results");
    table
        .get(name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", table.names().collect::<Vec<_>>()))
}

#[test]
fn results_equal_a_direct_sum_in_every_format() {
    let files = Files::new();
    let points = Array::from_rows(&sources());
    let charges = ChargeDistribution::Signed.generate::<f64>(N, 1);
    let column = Array::column(charges.clone());
    let expected = direct(&sources(), |r, j| r.map(|x| -charges[j] * x / norm(r).powi(3)));
    for format in ["npy", "npz", "csv"] {
        let sources = files.arrays(&format!("sources.{format}"), &[("points", points.clone())]);
        let charges = files.arrays(&format!("charges.{format}"), &[("charges", column.clone())]);
        let output = files.path(&format!("result.{format}"));
        let report = json(&format!(
            "evaluate --sources {sources} --charges {charges} --outputs gradient --tolerance 1e-8 --output {output} --json"
        ));
        assert_eq!(report["n_sources"], N);
        let got = read(&output, if format == "npy" { "values" } else { "gradient" });
        assert_eq!((got.rows, got.columns), (N, 3));
        close(&got.values, &expected);
    }
}

#[test]
fn dipoles_come_in_a_file_of_their_own_with_charges_or_without() {
    let files = Files::new();
    let moments = ChargeDistribution::Signed.generate::<f64>(3 * N, 2);
    let charges = ChargeDistribution::Signed.generate::<f64>(N, 1);
    let moment_rows = Array {
        rows: N,
        columns: 3,
        values: moments.clone(),
    };
    let potential = |charge: f64| {
        direct(&sources(), |r, j| {
            let along: f64 = (0..3).map(|axis| moments[3 * j + axis] * r[axis]).sum();
            [charge * charges[j] / norm(r) + along / norm(r).powi(3)]
        })
    };
    for format in ["npy", "npz", "csv"] {
        let sources = files.arrays(
            &format!("sources.{format}"),
            &[("points", Array::from_rows(&sources()))],
        );
        let column = Array::column(charges.clone());
        let charges = files.arrays(&format!("charges.{format}"), &[("charges", column)]);
        let dipoles = files.arrays(&format!("dipoles.{format}"), &[("strengths", moment_rows.clone())]);
        let output = files.path(&format!("result.{format}"));
        for (option, expected) in [
            (String::new(), potential(0.0)),
            (format!("--charges {charges}"), potential(1.0)),
        ] {
            json(&format!(
                "evaluate --sources {sources} {option} --dipoles {dipoles} --tolerance 1e-8 --output {output} --json"
            ));
            let got = read(&output, if format == "npy" { "values" } else { "potential" });
            close(&got.values, &expected);
        }
    }
    let dipoles = files.text("few.csv", "1,2,3\n4,5,6\n");
    fail(
        &format!("evaluate --n 5 --dipoles {dipoles}"),
        1,
        &["few.csv", "dipole moments", "2", "5"],
    );
    fail(
        &format!("evaluate --kernel gravity --n 2 --dipoles {dipoles}"),
        2,
        &["--dipoles", "coulomb"],
    );
    let flat = files.text("flat.csv", "1,2\n4,5\n");
    fail(
        &format!("evaluate --n 2 --dipoles {flat}"),
        1,
        &["flat.csv", "2 columns"],
    );
}

#[test]
fn vortices_with_targets_of_their_own() {
    let files = Files::new();
    let targets = PointSet::Sphere.generate::<f64>(77, 5);
    let strengths = ChargeDistribution::Signed.generate::<f64>(3 * N, 1);
    let expected = direct(&targets, |r, j| {
        let gamma = &strengths[3 * j..];
        let cross = [
            gamma[1] * r[2] - gamma[2] * r[1],
            gamma[2] * r[0] - gamma[0] * r[2],
            gamma[0] * r[1] - gamma[1] * r[0],
        ];
        cross.map(|x| x / (4.0 * std::f64::consts::PI * norm(r).powi(3)))
    });
    let together = files.arrays(
        "vortices.npz",
        &[
            ("points", Array::from_rows(&sources())),
            (
                "gamma",
                Array {
                    rows: N,
                    columns: 3,
                    values: strengths,
                },
            ),
        ],
    );
    let targets = files.arrays("targets.csv", &[("points", Array::from_rows(&targets))]);
    let output = files.path("velocity.npz");
    let line =
        format!("evaluate --kernel biot-savart --sources {together} --targets {targets} --output {output} --json");
    let report = json(&format!("{line} --tolerance 1e-8 --verify 77"));
    assert_eq!(report["n_targets"], 77);
    close(&read(&output, "velocity").values, &expected);
}

/// Points of the plane with complex strengths.
fn in_plane() -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let strengths = ChargeDistribution::Signed.generate::<f64>(2 * N, 1);
    let strengths = strengths.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
    (PlaneSet::Normal.generate(N, 1), strengths)
}

/// The potential and the derivatives of the harmonic kernel at targets.
fn harmonic(targets: &[[f64; 2]]) -> [Vec<f64>; 3] {
    let (sources, strengths) = in_plane();
    let times = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let mut sums = [Vec::new(), Vec::new(), Vec::new()];
    for target in targets {
        let mut all = [[0.0; 2]; 3];
        for (source, gamma) in sources.iter().zip(&strengths).filter(|(source, _)| *source != target) {
            let d = [source[0] - target[0], source[1] - target[1]];
            let r2 = d[0] * d[0] + d[1] * d[1];
            let inverse = [d[0] / r2, -d[1] / r2];
            let square = times(inverse, inverse);
            let cube = times([2.0, 0.0], times(square, inverse));
            for (sum, factor) in all.iter_mut().zip([inverse, square, cube]) {
                let term = times(*gamma, factor);
                *sum = [sum[0] + term[0], sum[1] + term[1]];
            }
        }
        for (sums, sum) in sums.iter_mut().zip(all) {
            sums.extend(sum);
        }
    }
    sums
}

#[test]
fn results_in_the_plane_equal_a_direct_sum_in_every_format() {
    let files = Files::new();
    let targets = PlaneSet::Square.generate::<f64>(55, 3);
    let (points, strengths) = in_plane();
    let outputs = harmonic(&targets);
    for format in ["npy", "npz", "csv"] {
        let name = |part: &str| format!("{part}.{format}");
        let sources = files.arrays(&name("sources"), &[("points", Array::from_rows(&points))]);
        let charges = files.arrays(&name("charges"), &[("gamma", Array::from_rows(&strengths))]);
        let targets = files.arrays(&name("targets"), &[("points", Array::from_rows(&targets))]);
        let output = files.path(&name("result"));
        let report = json(&format!(
            "evaluate --kernel harmonic2d --complex --sources {sources} --charges {charges} --targets {targets} \
             --outputs potential,derivative,second-derivative --tolerance 1e-9 --method fmm --output {output} --json"
        ));
        assert_eq!((&report["n_sources"], &report["n_targets"]), (&N.into(), &55.into()));
        assert_eq!(report["charge_vectors"], 1);
        if format == "npy" {
            // All outputs side by side.
            let got = read(&output, "values");
            assert_eq!((got.rows, got.columns), (55, 6));
            let column = |k: usize| got.values.iter().skip(k).step_by(6).copied().collect::<Vec<_>>();
            let part = |values: &[f64], k: usize| values.iter().skip(k).step_by(2).copied().collect::<Vec<_>>();
            for k in 0..6 {
                close(&column(k), &part(&outputs[k / 2], k % 2));
            }
        } else {
            for (name, expected) in ["potential", "derivative", "second-derivative"].iter().zip(&outputs) {
                close(&read(&output, name).values, expected);
            }
        }
    }
}

#[test]
fn files_of_the_plane_have_two_columns_of_points() {
    let files = Files::new();
    let two = files.text("two.csv", "0,0,1\n3,4,2\n");
    let output = files.path("out.csv");
    json(&format!(
        "evaluate --kernel log2d --tolerance 1e-12 --sources {two} --output {output} --json"
    ));
    let potential = read(&output, "potential");
    assert_eq!((potential.rows, potential.columns), (2, 1));
    assert!((potential.values[0] - 2.0 * 5f64.ln()).abs() < 1e-12, "{potential:?}");
    // Real and imaginary parts of two vectors of complex strengths.
    let four = files.text(
        "four.csv",
        "x,y,gamma_0,gamma_1,gamma_2,gamma_3\n0,0,1,2,3,4\n0,1,5,6,7,8\n",
    );
    let line = format!("evaluate --kernel harmonic2d --complex --sources {four} --output {output} --json");
    assert_eq!(json(&line)["charge_vectors"], 2);
    // 1/(z_1 - z_0) = -i, times 5 + 6i and 7 + 8i.
    close(&read(&output, "potential_0").values[..2], &[6.0, -5.0]);
    close(&read(&output, "potential_1").values[..2], &[8.0, -7.0]);
    let space = files.arrays("space.npy", &[("points", Array::from_rows(&sources()))]);
    let wide = files.text("wide.csv", "0,0,1\n1e200,0,1\n");
    let before = self::files(files.folder.path());
    for (options, says) in [
        (format!("--sources {wide}"), vec!["extend over", "scale them"]),
        (format!("--sources {space}"), vec!["space.npy", "(N, 2)"]),
        (
            format!("--sources {two} --complex"),
            vec!["two.csv", "1 columns", "2 numbers"],
        ),
        (
            format!("--sources {two} --targets {space}"),
            vec!["space.npy", "(N, 2)"],
        ),
    ] {
        fail(
            &format!("evaluate --kernel log2d {options} --output {output}"),
            1,
            &says,
        );
        assert_eq!(self::files(files.folder.path()), before, "{options}");
    }
}

#[test]
fn several_charge_vectors_come_from_the_columns() {
    let files = Files::new();
    let points = Array::from_rows(&sources());
    let both = ChargeDistribution::Positive.generate::<f64>(2 * N, 1);
    let rows: Vec<[f64; 2]> = (0..N).map(|k| [both[k], both[N + k]]).collect();
    let sources = files.arrays("points.npy", &[("points", points)]);
    let charges = files.arrays("charges.npy", &[("charges", Array::from_rows(&rows))]);
    let output = files.path("potentials.csv");
    let report = json(&format!(
        "evaluate --sources {sources} --charges {charges} --tolerance 1e-8 --output {output} --json"
    ));
    assert_eq!(report["charge_vectors"], 2);
    for (vector, name) in ["potential_0", "potential_1"].into_iter().enumerate() {
        let expected = direct(&self::sources(), |r, j| [both[vector * N + j] / norm(r)]);
        close(&read(&output, name).values, &expected);
    }
}

#[test]
fn targets_that_are_the_sources_do_not_act_on_themselves() {
    let files = Files::new();
    let sources = files.text("bodies.csv", "x,y,z,mass\n0,0,0,1\n1,0,0,2\n");
    let output = files.path("out.csv");
    let line =
        format!("evaluate --kernel gravity --softening 0.5 --tolerance 1e-12 --sources {sources} --output {output}");
    json(&format!("{line} --json"));
    let alone = read(&output, "potential").values;
    json(&format!("{line} --targets {sources} --json"));
    assert_eq!(read(&output, "potential").values, alone);
    assert!((alone[0] + 2.0 / 1.25f64.sqrt()).abs() < 1e-12);
}

#[test]
fn zero_targets_are_an_empty_result() {
    let files = Files::new();
    let sources = files.text("sources.csv", "x,y,z,q\n0,0,0,1\n");
    let targets = files.text("none.csv", "x,y,z\n");
    let output = files.path("out.csv");
    let report = json(&format!(
        "evaluate --sources {sources} --targets {targets} --output {output} --verify 5 --json"
    ));
    assert_eq!(report["n_targets"], 0);
    assert_eq!(std::fs::read_to_string(output).expect("a file").trim(), "potential");
}

#[test]
fn bad_files_are_named_and_leave_nothing_behind() {
    let files = Files::new();
    let fine = files.text("fine.csv", "x,y,z,q\n0,0,0,1\n1,1,1,2\n");
    let bare = files.text("bare.csv", "x,y,z\n0,0,0\n1,1,1\n");
    let three = files.text("three.csv", "q\n1\n2\n3\n");
    let text = files.text("text.csv", "x,y,z,q\n0,0,0,1\n0,zero,0,1\n");
    let nan = files.text("nan.csv", "x,y,z,q\n0,0,0,1\n0,nan,0,1\n");
    let infinite = files.text("infinite.csv", "x,y,z,q\n0,0,0,1\n1,1,1,inf\n");
    let broken = files.text("broken.npy", "this is not numpy");
    let unknown = files.text("points.txt", "0 0 0\n");
    let absent = files.path("absent.csv");
    let before = self::files(files.folder.path());
    let output = files.path("result.npz");
    for (options, says) in [
        (format!("--sources {absent}"), vec!["absent.csv", "cannot read"]),
        (format!("--sources {unknown}"), vec!["points.txt", ".txt", ".npy"]),
        (format!("--sources {broken}"), vec!["broken.npy"]),
        (
            format!("--sources {text}"),
            vec!["text.csv", "line 3", "column 2", "zero"],
        ),
        (
            format!("--sources {nan}"),
            vec!["nan.csv", "sources[1]", "component 1", "NaN"],
        ),
        (
            format!("--sources {infinite}"),
            vec!["infinite.csv", "strengths[1]", "inf"],
        ),
        (format!("--sources {bare}"), vec!["bare.csv", "no charges", "--charges"]),
        (
            format!("--sources {bare} --charges {three}"),
            vec!["three.csv", "3 points", "bare.csv", "2 sources"],
        ),
        (format!("--sources {fine} --charges {absent}"), vec!["absent.csv"]),
        (
            format!("--sources {fine} --targets {nan}"),
            vec!["nan.csv", "targets[1]"],
        ),
        (format!("--sources {fine} --targets {absent}"), vec!["absent.csv"]),
        (
            format!("--sources {fine} --kernel biot-savart"),
            vec!["fine.csv", "1 columns", "3 numbers"],
        ),
        (
            format!("--sources {fine} --charge-vectors 2"),
            vec!["fine.csv", "2 charge vectors"],
        ),
    ] {
        fail(&format!("evaluate {options} --output {output}"), 1, &says);
        assert_eq!(self::files(files.folder.path()), before, "{options}");
    }
    fail(
        &format!("evaluate --sources {fine} --output {}", files.path("result.txt")),
        1,
        &["result.txt", ".npz"],
    );
    fail(
        &format!("evaluate --sources {fine} --output {}", files.path("no/result.csv")),
        1,
        &["no/result.csv", "does not exist"],
    );
    fail(
        &format!("evaluate --sources {fine} --output {fine}"),
        2,
        &["fine.csv", "also an input"],
    );
    assert_eq!(self::files(files.folder.path()), before);
}

#[test]
fn an_old_result_survives_a_failure() {
    let files = Files::new();
    let nan = files.text("nan.csv", "x,y,z,q\n0,0,nan,1\n");
    let output = files.text("result.csv", "old");
    fail(
        &format!("evaluate --sources {nan} --output {output}"),
        1,
        &["sources[0]"],
    );
    assert_eq!(std::fs::read_to_string(&output).expect("still there"), "old");
}

#[test]
fn a_profile_is_used_or_its_error_is_located() {
    let files = Files::new();
    let costs =
        "pair_scalar = [0.2, 0.3, 0.6]\npair_vector = [0.4, 0.9]\nm2l = [4.0, 0.4, 0.04]\npoint_coefficient = 0.1\n";
    let fine = files.text("profile.toml", &format!("[f32]\n{costs}\n[f64]\n{costs}"));
    let line = "evaluate --n 1000 --json";
    assert_eq!(json(&format!("{line} --profile {fine}"))["profile"], fine.as_str());
    let torn = files.text("torn.toml", &format!("[f32]\n{costs}\n[f64]\npair_scalar = [0.2, \n"));
    fail(&format!("{line} --profile {torn}"), 1, &["torn.toml", "line 8"]);
    let negative = files.text(
        "negative.toml",
        &format!("[f32]\n{costs}\n[f64]\n{}", costs.replace("0.1", "-0.1")),
    );
    fail(
        &format!("{line} --profile {negative}"),
        1,
        &["negative.toml", "line 11", "point_coefficient"],
    );
    let in_plane = files.text(
        "plane.toml",
        &format!(
            "[f32]\n{costs}\n[f64]\n{costs}\n[f64.plane]\npair_harmonic = [0.4, 0.0]\npair_log = [1.2, 1.5]\n\
             m2l = [20.0, 1.5, 0.1]\npoint_coefficient = 0.2\n"
        ),
    );
    fail(
        &format!("{line} --profile {in_plane}"),
        1,
        &["plane.toml", "line 14", "[f64.plane] pair_harmonic"],
    );
    let absent = files.path("absent.toml");
    fail(&format!("info --profile {absent}"), 1, &["absent.toml"]);
    let output = program::command(["info", "--json"])
        .env("FARFIELD_PROFILE", Path::new(&fine))
        .output()
        .expect("starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("profile.toml"));
}
