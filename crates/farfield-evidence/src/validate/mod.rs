//! Physics that the simulations must show, measured: each validation makes a table, a chart and claims that hold or
//! not. The tests do the cheap ones.

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

use crate::args::ValidateArgs;
use farfield_cli::failure::Failure;
use farfield_cli::{layout, print, threads};
use farfield_grid::poisson::PoissonDevice;
use farfield_io::write_text_atomically;
use farfield_plot::Figure;
use farfield_sim::Error;
use farfield_sim::case::{self, Case, Override};
use farfield_sim::model::Model;
use std::fmt::Write;

/// A validation by name.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Its name.
    name: &'static str,
    /// What it shows.
    about: &'static str,
    /// Does it, with sums on the device if it can.
    run: fn(PoissonDevice) -> Result<Validation, Error>,
}

/// All validations.
const ALL: [Entry; 13] = [
    Entry {
        name: "ring-speed",
        about: "speed of single rings against the thin-ring formula, for every core",
        run: |_| ring_speed::run(),
    },
    Entry {
        name: "leapfrog",
        about: "two leapfrogging filaments against the motion of thin rings",
        run: |_| leapfrog::run(),
    },
    Entry {
        name: "collision",
        about: "two colliding rings grow as thin rings do",
        run: |_| collision::run(),
    },
    Entry {
        name: "conservation",
        about: "invariants of the flow: their drift with the step and the resolution",
        run: |_| conservation::run(),
    },
    Entry {
        name: "convergence",
        about: "order of convergence of Euler, RK2 and RK4",
        run: |_| convergence::run(),
    },
    Entry {
        name: "fmm-against-direct",
        about: "trajectories with the FMM against those with direct sums",
        run: |_| fmm_against_direct::run(),
    },
    Entry {
        name: "kepler",
        about: "closure of a Kepler orbit after ten periods",
        run: |_| kepler::run(),
    },
    Entry {
        name: "plummer",
        about: "energy and virial ratio of a star cluster over ten crossing times",
        run: |_| plummer::run(),
    },
    Entry {
        name: "two-vortices",
        about: "in the plane, two vortices turn with the exact period",
        run: |_| plane::two_vortices::run(),
    },
    Entry {
        name: "three-vortices",
        about: "in the plane, three vortices turn rigidly or collapse as theory says",
        run: |_| plane::three_vortices::run(),
    },
    Entry {
        name: "kirchhoff",
        about: "in the plane, elliptic patches turn at Kirchhoff's rate",
        run: |_| plane::kirchhoff::run(),
    },
    Entry {
        name: "lamb-oseen",
        about: "in the plane, a viscous vortex spreads as 4 nu t, by both ways of diffusion",
        run: |_| plane::lamb_oseen::run(),
    },
    Entry {
        name: "sphere-drag",
        about: "drag, friction and wake of a sphere at Reynolds number 550 against a reference, at three resolutions",
        run: sphere_drag::run,
    },
];

/// The names of all validations, and `all`.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|entry| entry.name).chain(["all"])
}

/// Does a validation, or all of them, writes their files and returns the report; without a name, lists them.
pub fn run(args: &ValidateArgs) -> Result<String, Failure> {
    let Some(name) = &args.name else {
        return Ok(layout::list(ALL.map(|entry| (entry.name, entry.about.to_owned()))));
    };
    threads::start(args.threads)?;
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Failure::Data(format!("{}: cannot make this folder: {error}", args.output.display())))?;
    let mut text = String::new();
    let mut failed = 0;
    for entry in ALL.iter().filter(|entry| name == "all" || entry.name == name) {
        failed += validate(entry, args, &mut text)?;
    }
    if failed > 0 {
        return Err(Failure::Data(format!("{text}{failed} claim(s) do not hold")));
    }
    Ok(layout::fit(text))
}

/// Does one, writes its files, adds to the report, and returns how many claims do not hold.
fn validate(entry: &Entry, args: &ValidateArgs, text: &mut String) -> Result<usize, Failure> {
    print::progress(&format!("{}: {}", entry.name, entry.about));
    let (found, folder) = ((entry.run)(args.device)?, args.output.as_path());
    write_text_atomically(folder.join(format!("{}.csv", entry.name)), &found.csv())?;
    found.figure.save(&folder.join(format!("{}.png", entry.name)))?;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", found.title);
    for claim in &found.claims {
        let _ = writeln!(
            text,
            "  {}  {}",
            if claim.holds { "ok    " } else { "FAILED" },
            claim.text
        );
    }
    Ok(found.claims.iter().filter(|claim| !claim.holds).count())
}

/// What a validation found.
struct Validation {
    /// One line.
    title: String,
    /// The names of the columns.
    columns: Vec<&'static str>,
    /// The numbers; a label and values for each row.
    rows: Vec<(String, Vec<f64>)>,
    /// The figure.
    figure: Box<dyn Figure>,
    /// What was to be shown.
    claims: Vec<Claim>,
}

/// Something that must hold.
#[derive(Debug, Clone, PartialEq)]
struct Claim {
    /// What, with the measured numbers.
    text: String,
    /// Whether it does.
    holds: bool,
}

impl Claim {
    /// `what` was measured as `value` and must be below `limit`.
    fn below(what: impl Into<String>, value: f64, limit: f64) -> Self {
        Self {
            text: format!("{}: {value:.2e}, at most {limit:.1e}", what.into()),
            holds: value <= limit,
        }
    }
}

impl Validation {
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

/// A case from text and changes; the texts here are part of the program, so a failure is a mistake in it.
fn case(text: &str, set: &[String]) -> Result<Case, Error> {
    let overrides = set
        .iter()
        .map(|text| Override::parse(text))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(case::read(text, "validation", &overrides)?)
}

/// Steps a model through its case without files and calls `look` at every state.
fn march<M: Model>(
    model: &mut M,
    case: &Case,
    look: impl FnMut(&mut M, f64) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    rayon::scope(|_| march_here(model, case, look))
}

fn march_here<M: Model>(
    model: &mut M,
    case: &Case,
    mut look: impl FnMut(&mut M, f64) -> Result<(), Error>,
) -> Result<(), Error> {
    let steps = (case.time.end / case.time.step).round() as u64;
    let dt = case.time.end / steps as f64;
    model.evaluate()?;
    look(model, 0.0)?;
    for step in 1..=steps {
        model.advance(dt, step)?;
        model.evaluate()?;
        look(model, step as f64 * dt)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(name: &str) {
        let entry = ALL.iter().find(|entry| entry.name == name).unwrap();
        let found = (entry.run)(farfield::Device::Cpu.into()).unwrap();
        for claim in &found.claims {
            assert!(claim.holds, "{name}: {}", claim.text);
        }
        assert!(!found.claims.is_empty() && !found.rows.is_empty());
        assert!(
            found
                .rows
                .iter()
                .all(|(_, values)| values.len() + 1 == found.columns.len()),
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
    fn three_vortices_move_as_is_known() {
        holds("three-vortices");
    }

    #[test]
    fn elliptic_patches_turn_at_the_rate_of_kirchhoff() {
        holds("kirchhoff");
    }

    #[test]
    fn a_viscous_vortex_spreads_as_it_must() {
        holds("lamb-oseen");
    }
}
