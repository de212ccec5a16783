//! Convergence of the whole step of a flow with the time step and with the spacing, and independence of level jumps.

use farfield::tuning::MachineProfile;
use farfield_sim::case;
use farfield_sim::flow::FlowModel;

/// A thick ring that moves, stretches and diffuses, with equal steps. `grid` is the text of the section `[grid]`.
fn ring(step: f64, end: f64, grid: &str) -> String {
    format!(
        "[time]\nstep = {step}\nend = {end}\n[sum]\ntolerance = 1e-6\n[flow]\nviscosity = 0.004\nprecision = \"f64\"\nsource_cutoff = 0.0\n\
         [[ring]]\nradius = 0.4\ncore = 0.16\ncirculation = 1.0\naxis = [1.0, 0.1, 0.2]\n{grid}"
    )
}

/// A grid of one level with `points` points along the box.
fn uniform(points: u32) -> String {
    let roots = points / 16;
    let side = 2.5 / f64::from(roots);
    format!("[grid]\norigin = [-1.25, -1.25, -1.25]\nroots = [{roots}, {roots}, {roots}]\nside = {side}\nlevel = 0\n")
}

/// The final quantities that are compared.
struct End {
    energy: f64,
    enstrophy: f64,
    vorticity: Vec<f64>,
    points: f64,
}

fn run(text: &str) -> End {
    let case = case::read(text, "ring", &[]).unwrap();
    let mut model = FlowModel::new(&case, MachineProfile::default()).unwrap();
    let (mut time, mut step) = (0.0, 0);
    while case.time.end - time > 1e-9 {
        model.evaluate().unwrap();
        step += 1;
        model.advance(case.time.step, step).unwrap();
        time += case.time.step;
    }
    model.evaluate().unwrap();
    let (names, row) = (model.columns(), model.measure(true).unwrap());
    let of = |name: &str| row[names.iter().position(|n| n == name).unwrap()];
    End {
        energy: of("energy"),
        enstrophy: of("enstrophy"),
        points: of("points"),
        vorticity: model.state().unwrap().numbers("vorticity").unwrap(),
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        sum += (a - b) * (a - b);
        size += b * b;
    }
    (sum / size).sqrt()
}

#[test]
fn the_step_is_of_second_order_in_time() {
    let ends: Vec<End> = [0.16, 0.08, 0.04]
        .iter()
        .map(|step| run(&ring(*step, 0.32, &uniform(32))))
        .collect();
    let errors: Vec<f64> = ends
        .windows(2)
        .map(|pair| distance(&pair[0].vorticity, &pair[1].vorticity))
        .collect();
    let order = (errors[0] / errors[1]).log2();
    println!("differences of the vorticity between steps: {errors:?}, order {order:.2}");
    assert!(order > 1.7, "{errors:?}");
}

/// The order of a quantity that changes by `first` from `counts[0]` to `counts[1]` points, and by `second` from there
/// to `counts[2]` points.
fn order_from(counts: [u32; 3], first: f64, second: f64) -> f64 {
    let change = |k: usize, order: f64| f64::from(counts[k]).powf(-order) - f64::from(counts[k + 1]).powf(-order);
    let expected = |order: f64| change(0, order) / change(1, order);
    let off = |order: &f64| (expected(*order) - first / second).abs();
    let orders = (1..=120).map(|k| 0.1 * f64::from(k));
    orders.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0.0)
}

#[test]
fn the_step_is_of_fourth_order_in_space_on_one_level() {
    let counts = [32, 48, 64];
    let ends = counts.map(|points| run(&ring(0.04, 0.08, &uniform(points))));
    let (energies, enstrophies) = (
        ends.each_ref().map(|end| end.energy),
        ends.each_ref().map(|end| end.enstrophy),
    );
    for (name, values) in [("energy", energies), ("enstrophy", enstrophies)] {
        let (first, second) = (values[1] - values[0], values[2] - values[1]);
        let order = order_from(counts, first, second);
        println!(
            "{name}: changes by {:+.2e} and {:+.2e}, order {order:.1}",
            first / values[2],
            second / values[2]
        );
        assert!(order > 3.5, "{name}: {values:?}");
    }
}

#[test]
fn the_result_does_not_depend_on_the_positions_of_level_jumps() {
    let adapted = |level: u8, rest: &str| {
        let grid =
            format!("[grid]\norigin = [-1.5, -1.5, -1.5]\nroots = [3, 3, 3]\nside = 1.0\nlevel = {level}\n{rest}");
        let text = ring(0.04, 0.12, &grid);
        run(&text
            .replace("axis = [1.0, 0.1, 0.2]", "axis = [1.0, 0.0, 0.0]")
            .replace("f64", "f32")
            .replace("1e-6", "1e-4"))
    };
    let (loose, tight) = (
        adapted(1, "refine = 2e-3\ncompress = 1e-4\n"),
        adapted(1, "refine = 5e-4\ncompress = 2.5e-5\n"),
    );
    let one_level = adapted(1, "refine = 2e-9\ncompress = 1e-9\n");
    for (name, end, allowed) in [("2e-3", &loose, 2e-3), ("5e-4", &tight, 1e-3)] {
        let (energy, enstrophy) = (
            end.energy / one_level.energy - 1.0,
            end.enstrophy / one_level.enstrophy - 1.0,
        );
        println!(
            "refine {name}: {} of {} points, energy {energy:+.1e}, enstrophy {enstrophy:+.1e}",
            end.points, one_level.points
        );
        assert!(
            energy.abs() < allowed && enstrophy.abs() < allowed,
            "{name}: {energy} {enstrophy}"
        );
    }
    assert!(loose.points < one_level.points && loose.points <= tight.points);
}
