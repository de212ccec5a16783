//! The report as text.

use super::Outcome;
use super::field_on_grid::FieldOnGrid;
use super::settings::PoissonSettings;
use farfield::simd::Real;
use farfield_io::units;
use std::fmt::Write;

/// The report.
pub fn text<T: Real>(settings: &PoissonSettings, problem: &FieldOnGrid<T>, outcome: &Outcome) -> String {
    let (report, grid) = (&outcome.report, &problem.grid);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", format!("{name:<14}{value}").trim_end());
    };
    let count = |number: usize| units::count(number as u64);
    line(
        "problem",
        format!(
            "{}, component {}, {} kernel, {}",
            settings.field.name(),
            problem.components.name(),
            settings.kernel.name(),
            T::NAME
        ),
    );
    let levels: Vec<String> = grid
        .forest()
        .leaves_per_level()
        .iter()
        .map(ToString::to_string)
        .collect();
    line(
        "grid",
        format!(
            "{} blocks ({} by level), {} points, effective {}^3",
            count(grid.forest().leaves().len()),
            levels.join(" + "),
            count(grid.points()),
            problem.resolution
        ),
    );
    line(
        "wavelet",
        format!(
            "{}, refine above {:e}, compress below {:e}{}",
            settings.wavelet.name(),
            settings.adaptation.refine,
            settings.adaptation.compress,
            if settings.absolute {
                ""
            } else {
                " of the largest vorticity"
            }
        ),
    );
    if problem.adapted.unresolved > 0 {
        line(
            "",
            format!(
                "{} blocks of the finest level need more resolution",
                problem.adapted.unresolved
            ),
        );
    }
    line(
        "sources",
        format!(
            "{} points above {:e}{}",
            count(report.sources),
            settings.threshold,
            if settings.absolute { "" } else { " of the largest" }
        ),
    );
    let mut method = report.method.to_string();
    for (name, value) in [
        ("theta", report.theta.map(|theta| theta.to_string())),
        ("order", report.order.map(|order| order.to_string())),
        (
            "up to",
            report
                .leaf_capacity
                .map(|capacity| format!("{capacity} points in a leaf")),
        ),
    ] {
        if let Some(value) = value {
            let _ = write!(method, ", {name} {value}");
        }
    }
    line("method", method);
    line(
        "device",
        format!(
            "{}, {} threads, {}",
            report.device,
            rayon::current_num_threads(),
            report.simd
        ),
    );
    let seconds = report.seconds;
    line("", String::new());
    line("time", units::seconds(seconds.total));
    for (name, value) in [
        ("sources", seconds.sources),
        ("tree", seconds.tree),
        ("expansions", seconds.expansions),
        ("plan", seconds.plan),
        ("direct", seconds.direct),
        ("indirect", seconds.indirect),
        ("transfer", seconds.transfer),
    ] {
        if value == 0.0 {
            continue;
        }
        let share = 100.0 * value / seconds.total;
        line(
            &format!("  {name}"),
            format!("{:>10}  {share:4.1} %", units::seconds(value)),
        );
    }
    line(
        "adaptation",
        format!("{} before that", units::seconds(problem.adaptation_seconds)),
    );
    line("", String::new());
    let interactions = report.interactions;
    line("direct", format!("{} pairs", units::count(interactions.direct)));
    line(
        "indirect",
        format!("{} evaluations of an expansion", units::count(interactions.indirect)),
    );
    if interactions.translations > 0 {
        line("translations", units::count(interactions.translations));
    }
    match outcome.error {
        Some(error) => line(
            "error",
            format!(
                "{:.2e} relative L2 of psi against the exact solution, at {} points",
                error.relative_l2,
                count(error.samples)
            ),
        ),
        None => line("error", "no exact solution is known".to_owned()),
    }
    if let Some(memory) = outcome.memory {
        line("memory", format!("{} at the peak", units::bytes(memory)));
    }
    for path in &outcome.written {
        line("written", path.display().to_string());
    }
    text
}
