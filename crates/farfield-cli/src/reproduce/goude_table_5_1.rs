//! Goude, table 5.1: time by part.

use super::goude::{SAMPLES, Vortices};
use super::measure::Measured;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_TABLE_5_1, GOUDE_TABLE_5_1_POINTS, GOUDE_TOLERANCE,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction, progress};
use crate::failure::Failure;
use crate::units;
use farfield::plane::PlaneSet;
use farfield::report::Phase;
use farfield_plot::{BarChart, Part};

/// Seconds of a part of the table; the last part is the rest.
fn seconds_of(part: &str, measured: &Measured) -> f64 {
    let phases: &[Phase] = match part {
        "P2P" => &[Phase::P2p],
        "Sort" => &[Phase::Sort],
        "M2L" => &[Phase::M2l],
        "P2M" => &[Phase::P2m, Phase::P2l],
        "L2P" => &[Phase::L2p, Phase::M2p],
        "Connect" => &[Phase::Connect],
        "M2M" => &[Phase::M2m],
        "L2L" => &[Phase::L2l],
        _ => {
            // What no phase other than the tree's own, which prepares and plans, accounts for.
            let known: f64 = Phase::ALL.iter().map(|phase| measured.seconds.of(*phase)).sum();
            return (measured.seconds.total - known).max(0.0) + measured.seconds.of(Phase::Tree);
        }
    };
    phases.iter().map(|phase| measured.seconds.of(*phase)).sum()
}

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    let n = if context.quick { 45 << 8 } else { GOUDE_TABLE_5_1_POINTS };
    let per_box = GOUDE_BEST_PER_BOX.1;
    let vortices = Vortices::new(PlaneSet::Square, n);
    progress("goude-table-5-1", format_args!("N = {n}, {per_box} points in a box"));
    let same = vortices.fmm_with(GOUDE_ORDER, per_box).measure(context, SAMPLES)?;
    progress("goude-table-5-1", format_args!("N = {n}, our own choice of levels"));
    let own = vortices.fmm().measure(context, 0)?;
    let mut table = Table::new([
        ("part", "part"),
        ("paper_gpu_percent", "paper GPU %"),
        ("cpu_percent", "our CPU %"),
        ("cpu_ms", "(ms)"),
        ("cpu_own_percent", "our CPU, own levels %"),
        ("cpu_own_ms", "(ms)"),
        ("gpu_percent", "our GPU %"),
        ("gpu_ms", "(ms)"),
    ]);
    let percent = |part: &str, measured: &Measured| 100.0 * seconds_of(part, measured) / measured.seconds.total;
    let mut chart = BarChart::new("FMM in the plane by part")
        .subtitle(format!(
            "harmonic potential, N = {}, p = {GOUDE_ORDER}, as in Goude and Engblom, table 5.1",
            units::count(n as u64)
        ))
        .y_label("share of the time (%)")
        .categories(["Goude: GPU", "CPU, same levels", "CPU, own levels"])
        .numbers(true);
    for row in GOUDE_TABLE_5_1 {
        let part = row.part;
        table.row([
            Cell::Text(part.to_owned()),
            row.percent.map_or(Cell::Text("< 1".to_owned()), Cell::Number),
            Cell::Number(percent(part, &same)),
            Cell::milliseconds(seconds_of(part, &same)),
            Cell::Number(percent(part, &own)),
            Cell::milliseconds(seconds_of(part, &own)),
        ]);
        let shares = [row.percent.unwrap_or(0.0), percent(part, &same), percent(part, &own)];
        chart = chart.part(Part::new(part, &shares));
    }
    table.row([
        Cell::Text("total".to_owned()),
        Cell::Number(100.0),
        Cell::Number(100.0),
        Cell::milliseconds(same.seconds.total),
        Cell::Number(100.0),
        Cell::milliseconds(own.seconds.total),
    ]);
    let depth = |measured: &Measured| measured.parameters.depth.unwrap_or(0);
    Ok(Reproduction {
        title: format!(
            "Goude, table 5.1: time by part for {} points in the square, f64",
            units::count(n as u64)
        ),
        hardware: GOUDE_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!(
                "same levels: depth {} as in the paper ({per_box} points in a box); own levels: depth {}",
                depth(&same),
                depth(&own)
            ),
            "P2M includes P2L and L2P includes M2P, as in the paper; other includes planning and moving data"
                .to_owned(),
            format!(
                "maximum relative error {:.1e} at {SAMPLES} points (the paper: about {GOUDE_TOLERANCE:e}); relative L2 error {:.1e}",
                same.maximum_error.unwrap_or(0.0),
                same.error
            ),
        ],
        png: chart.to_png()?,
    })
}
