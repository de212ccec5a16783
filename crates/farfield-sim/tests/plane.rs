//! Vortices in the plane compared with exact solutions.

use farfield::tuning::MachineProfile;
use farfield_sim::case::{self, Case};
use farfield_sim::model::Model;
use farfield_sim::plane::PlaneModel;
use std::f64::consts::PI;

fn case(text: &str) -> Case {
    let text = format!("time = {{ end = 1.0, step = 0.1 }}\nsum = {{ tolerance = 1e-10 }}\n{text}");
    case::read(&text, "test", &[]).unwrap()
}

fn model(text: &str) -> PlaneModel {
    PlaneModel::new(&case(text), MachineProfile::default()).unwrap()
}

fn advance(model: &mut PlaneModel, time: f64, steps: u64) {
    for step in 1..=steps {
        model.advance(time / steps as f64, step).unwrap();
    }
}

/// A column of the diagnostics.
fn measured(model: &mut PlaneModel, name: &str) -> f64 {
    let at = model.columns().iter().position(|column| column == name).unwrap();
    model.measure(true).unwrap()[at]
}

#[test]
fn two_vortices_rotate_with_the_exact_period() {
    let mut pair = model(
        "[plane]\ncore = \"singular\"\n[[plane.vortices]]\ncirculation = 2.0\nposition = [0.3, 0.0]\n\
         [[plane.vortices]]\ncirculation = 1.0\nposition = [-0.6, 0.0]\n",
    );
    // They rotate about their centre, the origin, at distance 0.9 from each other.
    let period = 4.0 * PI * PI * 0.9 * 0.9 / 3.0;
    let energy = measured(&mut pair, "hamiltonian");
    advance(&mut pair, 0.25 * period, 100);
    let quarter = pair.vortices().unwrap().0.to_vec();
    assert!(
        quarter[0][0].abs() < 1e-7 && (quarter[0][1] - 0.3).abs() < 1e-7,
        "{quarter:?}"
    );
    advance(&mut pair, 0.75 * period, 300);
    let end = pair.vortices().unwrap().0.to_vec();
    for (now, start) in end.iter().zip([[0.3, 0.0], [-0.6, 0.0]]) {
        assert!((now[0] - start[0]).hypot(now[1] - start[1]) < 1e-6, "{end:?}");
    }
    assert!((measured(&mut pair, "hamiltonian") - energy).abs() < 1e-8);
    // Vortices of opposite sign do not rotate: they travel side by side at Gamma / (2 pi d).
    let mut dipole = model(
        "[plane]\ncore = \"singular\"\n[[plane.vortices]]\ncirculation = 1.0\nposition = [0.5, 0.0]\n\
         [[plane.vortices]]\ncirculation = -1.0\nposition = [-0.5, 0.0]\n",
    );
    advance(&mut dipole, 2.0, 10);
    let travelled = dipole.vortices().unwrap().0[0][1];
    assert!((travelled + 2.0 / (2.0 * PI)).abs() < 1e-12, "{travelled}");
}

#[test]
fn three_equal_vortices_on_a_triangle_rotate_rigidly() {
    let corner = |k: usize| {
        let angle = 2.0 * PI * k as f64 / 3.0;
        format!("[[plane.vortices]]\nposition = [{}, {}]\n", angle.cos(), angle.sin())
    };
    let text = format!("[plane]\ncore = \"singular\"\n{}{}{}", corner(0), corner(1), corner(2));
    let mut triangle = model(&text);
    // Gamma (n - 1) / (4 pi R^2)
    let rate = 2.0 / (4.0 * PI);
    let time = 0.5 * PI / rate;
    advance(&mut triangle, time, 200);
    let first = triangle.vortices().unwrap().0[0];
    assert!(first[0].abs() < 1e-7 && (first[1] - 1.0).abs() < 1e-7, "{first:?}");
}

#[test]
fn kirchhoffs_ellipse_rotates_at_the_theoretical_rate() {
    let (a, b) = (2.0, 1.0);
    let rate = a * b / (a + b) / (a + b);
    let error = |count: usize| {
        let mut ellipse = model(&format!(
            "[plane]\n[[plane.patches]]\ncount = {count}\naxes = [{a}, {b}]\nvorticity = 1.0\noverlap = 1.0\n"
        ));
        let time = 0.25 * PI / rate;
        advance(&mut ellipse, time, 20);
        let angle = measured(&mut ellipse, "patch1_angle");
        (angle / (rate * time) - 1.0).abs()
    };
    let (coarse, fine) = (error(120), error(500));
    assert!(fine < 0.02 && fine < coarse, "{coarse} {fine}");
}

#[test]
fn a_lamb_oseen_vortex_spreads_as_4_nu_t() {
    let viscous = "[plane]\nviscosity = 0.01\ndiffusion = \"core-spreading\"\n";
    let mut vortex = model(&format!("{viscous}[[plane.vortices]]\ncore = 0.2\n"));
    advance(&mut vortex, 3.0, 30);
    let size = vortex.vortices().unwrap().2[0];
    assert!((size * size - (0.04 + 4.0 * 0.01 * 3.0)).abs() < 1e-12, "{size}");
    let radius = measured(&mut vortex, "vortex1_radius");
    assert!((radius - size).abs() < 1e-12);
    // Many vortices that start at one point spread alike by random walk, within the noise of 1500.
    let walk = viscous.replace("core-spreading", "random-walk");
    let mut cloud = model(&format!(
        "{walk}[[plane.clouds]]\ncount = 1500\nradius = 1e-9\ncirculation = 1e-9\ncore = 0.1\n"
    ));
    advance(&mut cloud, 3.0, 2);
    let radius = measured(&mut cloud, "cloud1_radius");
    let expected = 4.0 * 0.01 * 3.0 + 0.01;
    assert!((radius * radius / expected - 1.0).abs() < 0.1, "{radius}");
}

#[test]
fn invariants_are_conserved_while_a_sheet_rolls_up() {
    let mut sheet = model(
        "[plane]\ncore = \"algebraic\"\n[[plane.sheets]]\ncount = 200\nfrom = [-1.0, 0.0]\nto = [1.0, 0.0]\n\
         profile = \"elliptic\"\ncore = 0.1\n[tracers]\ncount = 50\n",
    );
    let names = [
        "circulation",
        "impulse_x",
        "impulse_y",
        "angular_impulse",
        "hamiltonian",
    ];
    let before = names.map(|name| measured(&mut sheet, name));
    advance(&mut sheet, 1.0, 20);
    for (name, before) in names.iter().zip(before) {
        let now = measured(&mut sheet, name);
        assert!((now - before).abs() < 2e-5, "{name}: {before} {now}");
    }
    // Both halves move down; most of their circulation is near the edges, which roll up and lag behind.
    let y = measured(&mut sheet, "sheet1_y");
    assert!(y < -0.05 && y > -0.2, "{y}");
}

#[test]
fn a_restored_state_advances_to_the_same_bits() {
    let text = "[plane]\nviscosity = 0.001\ndiffusion = \"random-walk\"\n[[plane.clouds]]\ncount = 300\ncore = 0.05\n\
                [tracers]\ncount = 20\n";
    let mut straight = model(text);
    advance(&mut straight, 0.3, 3);
    let state = straight.state().unwrap();
    straight.advance(0.1, 4).unwrap();
    let mut resumed = model(text);
    resumed.restore(&state).unwrap();
    resumed.advance(0.1, 4).unwrap();
    assert_eq!(straight.state().unwrap(), resumed.state().unwrap());
}
