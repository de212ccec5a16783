//! Goude, table 5.1: time by part.

use super::goude::{SAMPLES, Vortices, boxes, seconds_of};
use super::measure::Measured;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_P2P_SHARES, GOUDE_SAME_LEVELS, GOUDE_TABLE_5_1,
    GOUDE_TOLERANCE,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{BarChart, Figure, Part};

/// Measures the table: for its number of points, and for the fewest and the most with the same number of levels.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let boxes = boxes(context);
    let per_box = GOUDE_BEST_PER_BOX.1;
    let (fewest, most) = GOUDE_SAME_LEVELS;
    let vortices = |n| Vortices::new(PlaneSet::Square, n);
    let measure = |n: usize| {
        context.step(format_args!("N = {n}"));
        vortices(n).fmm_with(GOUDE_ORDER, per_box).measure(context, SAMPLES)
    };
    let n = per_box * boxes;
    let (few, same, many) = (measure(fewest * boxes + 1)?, measure(n)?, measure(most * boxes)?);
    context.step_on_gpu("on the GPU");
    let gpu = vortices(n)
        .fmm_with(GOUDE_ORDER, per_box)
        .measure_on_gpu(context, SAMPLES)?
        .map(Measured::device_only);
    let ours = [
        ("cpu", "our CPU %", Some(same)),
        ("gpu_device", "our GPU, device only %", gpu),
        ("cpu_fewest", "CPU, fewest points %", Some(few)),
        ("cpu_most", "CPU, most points %", Some(many)),
    ];
    let parts: Vec<_> = GOUDE_TABLE_5_1.into_iter().chain([("total", Some(100.0))]).collect();
    let mut table = Table::of(&parts).column("part", "part", |(part, _)| *part).column(
        "paper_gpu_percent",
        "paper GPU %",
        |(_, percent)| percent.map_or(Cell::from("< 1"), Cell::Number),
    );
    for (name, heading, measured) in ours {
        table = table
            .column(format!("{name}_percent"), heading, |(part, _)| {
                Some(percent_of(part, &measured?))
            })
            .column(format!("{name}_ms"), "(ms)", |(part, _)| {
                Some(1e3 * seconds_of(part, &measured?))
            });
    }
    let mut categories = vec![
        format!("Goude: GPU, {per_box}"),
        format!("CPU, {per_box}"),
        format!("CPU, {fewest}"),
        format!("CPU, {most}"),
    ];
    categories.extend(gpu.map(|_| format!("GPU, {per_box}")));
    let mut chart = BarChart::new("FMM in the plane by part")
        .subtitle(format!(
            "harmonic potential, p = {GOUDE_ORDER}, {boxes} boxes, points per box below; as in Goude and Engblom, table 5.1"
        ))
        .y_label("share of the time (%)")
        .categories(categories);
    for (part, paper) in GOUDE_TABLE_5_1 {
        let ours = [Some(same), Some(few), Some(many), gpu].into_iter().flatten();
        let shares: Vec<f64> = [paper.unwrap_or(0.0)]
            .into_iter()
            .chain(ours.map(|measured| percent_of(part, &measured)))
            .collect();
        chart = chart.part(Part::new(part, &shares));
    }
    let (least_p2p, most_p2p) = GOUDE_P2P_SHARES;
    let title = format!(
        "Goude, table 5.1: time by part for {} points in the square, f64",
        count(n)
    );
    Ok(Reproduction::new(title, GOUDE_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "{per_box} points in each box of level {}; the same levels have {fewest} (excluded) to {most} points in a \
             box, and P2P from {:.0} % to {:.0} % of the time (the paper's GPU: {least_p2p} % to {most_p2p} %)",
            same.parameters.depth.unwrap_or(0),
            percent_of("P2P", &few),
            percent_of("P2P", &many)
        ))
        .remark("P2M includes P2L and L2P includes M2P, as in the paper; other includes planning and moving data")
        .remark(
            "on our GPU local expansions are evaluated together with P2P; its times are those of the device, without copies",
        )
        .remark(format!(
            "maximum relative error {:.1e} at {SAMPLES} points (the paper: about {GOUDE_TOLERANCE:e}); relative L2 error \
             {:.1e}",
            same.maximum_error.unwrap_or(0.0),
            same.error
        )))
}

fn percent_of(part: &str, measured: &Measured) -> f64 {
    100.0 * (seconds_of(part, measured) / measured.seconds.total)
}
