//! Simulations compared with theory: each validation makes a table, a figure, and claims that hold or not. The tests do
//! the cheap ones.

mod collision;
mod conservation;
mod convergence;
mod fmm_against_direct;
mod kepler;
mod leapfrog;
mod plane;
mod plummer;
mod ring_speed;
mod sphere_drag;

use crate::Error;
use crate::args::ValidateArgs;
use crate::case::case;
use farfield::tuning::MachineProfile;
use farfield_cli::failure::Failure;
use farfield_cli::{layout, print, threads};
use farfield_grid::poisson::PoissonDevice;
use farfield_io::write_text_atomically;
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::case::Case;
use farfield_sim::model::Model;
use farfield_sim::vortex::VortexModel;
use std::fmt::Write;

/// A validation: its name, the function that does it, on a device if it can, and what it compares.
type Entry = (
    &'static str,
    fn(PoissonDevice) -> Result<Validation, Error>,
    &'static str,
);

/// All validations.
#[rustfmt::skip]
const ALL: [Entry; 13] = [
    ("ring-speed", |_| ring_speed::run(), "speed of single rings against the thin-ring formula, for every core"),
    ("leapfrog", |_| leapfrog::run(), "two leapfrogging filaments against the motion of thin rings"),
    ("collision", |_| collision::run(), "two colliding rings grow as thin rings do"),
    ("conservation", |_| conservation::run(), "invariants of the flow: their drift with the step and the resolution"),
    ("convergence", |_| convergence::run(), "order of convergence of Euler, RK2 and RK4"),
    ("fmm-against-direct", |_| fmm_against_direct::run(), "trajectories with the FMM against those with direct sums"),
    ("kepler", |_| kepler::run(), "closure of a Kepler orbit after ten periods"),
    ("plummer", |_| plummer::run(), "energy and virial ratio of a star cluster over ten crossing times"),
    ("two-vortices", |_| plane::two_vortices::run(), "in the plane, two vortices turn with the exact period"),
    ("three-vortices", |_| plane::three_vortices::run(), "in the plane, three vortices turn rigidly or collapse"),
    ("kirchhoff", |_| plane::kirchhoff::run(), "in the plane, elliptic patches turn at Kirchhoff's rate"),
    ("lamb-oseen", |_| plane::lamb_oseen::run(), "in the plane, a viscous vortex spreads as 4 nu t, by both kinds of diffusion"),
    ("sphere-drag", sphere_drag::run, "drag, friction and wake of a sphere at Re 550 against a reference, at three resolutions"),
];

/// The names of all validations, and `all`.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|(name, ..)| name).chain(["all"])
}

/// Does a validation, or all of them, writes their files and returns the report; without a name, lists them.
pub fn run(args: &ValidateArgs) -> Result<String, Failure> {
    let Some(name) = &args.name else {
        return Ok(layout::list(ALL.map(|(name, _, about)| (name, about.to_owned()))));
    };
    threads::start(args.threads)?;
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Failure::Data(format!("{}: cannot make this folder: {error}", args.output.display())))?;
    let mut text = String::new();
    let mut failed = 0;
    for entry in ALL.into_iter().filter(|entry| name == "all" || entry.0 == name) {
        failed += validate(entry, args, &mut text).map_err(Failure::data)?;
    }
    if failed > 0 {
        return Err(Failure::Data(format!("{text}{failed} claim(s) do not hold")));
    }
    Ok(layout::fit(text))
}

/// Does one, writes its files, adds to the report, and returns the number of claims that do not hold.
fn validate((name, run, about): Entry, args: &ValidateArgs, text: &mut String) -> Result<usize, Error> {
    print::progress(&format!("{name}: {about}"));
    let found = run(args.device)?;
    write_text_atomically(args.output.join(format!("{name}.csv")), &found.csv())?;
    found.figure.save(&args.output.join(format!("{name}.png")))?;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", found.title);
    for (claim, holds) in &found.claims {
        let _ = writeln!(text, "  {}  {claim}", if *holds { "ok    " } else { "FAILED" });
    }
    Ok(found.claims.iter().filter(|(_, holds)| !holds).count())
}

/// The result of a validation.
struct Validation {
    title: &'static str,
    columns: Vec<&'static str>,
    /// A label and values for each row.
    rows: Vec<(String, Vec<f64>)>,
    figure: Box<dyn Figure + Send>,
    /// Claims with their measured numbers, and whether they hold.
    claims: Vec<(String, bool)>,
}

impl Validation {
    /// A validation without rows, figure and claims.
    fn new(title: &'static str, columns: &[&'static str]) -> Self {
        Self {
            title,
            columns: columns.to_vec(),
            rows: Vec::new(),
            figure: Box::new(LineChart::new(title)),
            claims: Vec::new(),
        }
    }

    fn row(&mut self, label: impl Into<String>, values: impl Into<Vec<f64>>) {
        self.rows.push((label.into(), values.into()));
    }

    /// Claims that `value` is at most `limit`.
    fn below(&mut self, what: impl Into<String>, value: f64, limit: f64) {
        let text = format!("{}: {value:.2e}, at most {limit:.1e}", what.into());
        self.claims.push((text, value <= limit));
    }

    /// Claims something else.
    fn claim(&mut self, text: impl Into<String>, holds: bool) {
        self.claims.push((text.into(), holds));
    }

    /// Claims that the measured order of convergence is that of theory.
    fn order(&mut self, what: &str, measured: f64, theory: f64, within: f64) {
        let text = format!("{what}: order {measured:.2}, theory {theory}");
        self.claims.push((text, (measured - theory).abs() < within));
    }

    /// The same with a figure.
    fn with(mut self, figure: impl Figure + Send + 'static) -> Self {
        self.figure = Box::new(figure);
        self
    }

    /// The values of a column of numbers, the first after the label being 0.
    fn column(&self, k: usize) -> Vec<f64> {
        self.rows.iter().map(|(_, values)| values[k]).collect()
    }

    /// The values of a column against the labels, which are numbers.
    fn points(&self, k: usize) -> Vec<(f64, f64)> {
        let point = |(label, values): &(String, Vec<f64>)| Some((label.parse().ok()?, values[k]));
        self.rows.iter().filter_map(point).collect()
    }

    /// The table as CSV.
    fn csv(&self) -> String {
        let mut text = format!("{}\n", self.columns.join(","));
        for (label, values) in &self.rows {
            text.push_str(label);
            for value in values {
                text.push_str(&format!(",{value:?}"));
            }
            text.push('\n');
        }
        text
    }
}

/// The largest of some numbers.
fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, f64::max)
}

/// A chart without lines.
fn chart(title: &str, x: Axis, y: Axis) -> LineChart {
    LineChart::new(title).x_axis(x).y_axis(y)
}

/// A solid line in a colour of the palette, with a marker at each point.
fn line(name: impl Into<String>, points: &[(f64, f64)], color: usize, marker: Marker) -> Series {
    series(name, points, LineStyle::Solid, marker).color(Color::PALETTE[color])
}

/// A dashed line without markers.
fn dashed(name: impl Into<String>, points: &[(f64, f64)], color: Color) -> Series {
    series(name, points, LineStyle::Dashed, Marker::None).color(color)
}

/// Points in a colour of the palette, without a line.
fn markers(name: impl Into<String>, points: &[(f64, f64)], color: usize, marker: Marker) -> Series {
    series(name, points, LineStyle::None, marker).color(Color::PALETTE[color])
}

fn series(name: impl Into<String>, points: &[(f64, f64)], line: LineStyle, marker: Marker) -> Series {
    Series::new(name).points(points).style(line, marker)
}

/// A case of vortices in space from text, with keys set, and its model.
fn vortices(text: &str, set: &[String]) -> Result<(Case, VortexModel), Error> {
    let case = case(text, set)?;
    let model = VortexModel::new(&case, MachineProfile::default())?;
    Ok((case, model))
}

/// Steps a model through its case without files and calls `look` at every state.
fn march<M: Model>(
    model: &mut M,
    case: &Case,
    mut look: impl FnMut(&mut M, f64) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let steps = (case.time.end / case.time.step).round() as u64;
    let dt = case.time.end / steps as f64;
    rayon::scope(|_| {
        model.evaluate()?;
        look(model, 0.0)?;
        for step in 1..=steps {
            model.advance(dt, step)?;
            model.evaluate()?;
            look(model, step as f64 * dt)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(name: &str) {
        let (_, run, _) = ALL.into_iter().find(|entry| entry.0 == name).unwrap();
        let found = run(farfield::Device::Cpu.into()).unwrap();
        for (claim, holds) in &found.claims {
            assert!(holds, "{name}: {claim}");
        }
        assert!(!found.claims.is_empty() && !found.rows.is_empty());
        let columns = found.columns.len();
        assert!(
            found.rows.iter().all(|(_, values)| values.len() + 1 == columns),
            "{name}"
        );
        assert!(found.figure.to_png().unwrap().starts_with(b"\x89PNG"));
    }

    #[test]
    fn rings_move_at_the_speed_of_theory() {
        holds("ring-speed");
    }

    #[test]
    fn leapfrogging_rings_pass_when_theory_says() {
        holds("leapfrog");
    }

    #[test]
    fn colliding_rings_grow() {
        holds("collision");
    }

    #[test]
    fn invariants_drift_less_with_shorter_steps_and_more_elements() {
        holds("conservation");
    }

    #[test]
    fn integrators_converge_with_their_order() {
        holds("convergence");
    }

    #[test]
    fn trajectories_with_the_fmm_are_those_of_direct_sums() {
        holds("fmm-against-direct");
    }

    #[test]
    fn a_kepler_orbit_closes() {
        holds("kepler");
    }

    #[test]
    fn a_star_cluster_keeps_its_energy_and_stays_virial() {
        holds("plummer");
    }

    #[test]
    fn two_vortices_turn_with_the_exact_period() {
        holds("two-vortices");
    }

    #[test]
    fn three_vortices_turn_rigidly_or_collapse() {
        holds("three-vortices");
    }

    #[test]
    fn elliptic_patches_turn_at_the_rate_of_kirchhoff() {
        holds("kirchhoff");
    }

    #[test]
    fn a_viscous_vortex_spreads_as_theory_says() {
        holds("lamb-oseen");
    }
}
