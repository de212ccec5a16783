//! Goude, table 5.1: time by part.

use super::goude::{SAMPLES, Vortices, boxes, seconds_of};
use super::measure::Measured;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_P2P_SHARES, GOUDE_SAME_LEVELS, GOUDE_TABLE_5_1,
    GOUDE_TOLERANCE,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_io::units;
use farfield_plot::{BarChart, Figure, Part};

/// Measures the table: for its number of points, and for the fewest and the most that have as many levels.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let boxes = boxes(context);
    let per_box = GOUDE_BEST_PER_BOX.1;
    let (fewest, most) = GOUDE_SAME_LEVELS;
    let [few, same, many] = [fewest * boxes + 1, per_box * boxes, most * boxes].map(|n| {
        context.step(format_args!("N = {n}"));
        let vortices = Vortices::new(PlaneSet::Square, n);
        let measured = vortices.fmm_with(GOUDE_ORDER, per_box).measure(context, SAMPLES);
        measured.map(|measured| (n, measured))
    });
    let (few, same, many) = (few?, same?, many?);
    context.step_on_gpu("on the GPU");
    let gpu = Vortices::new(PlaneSet::Square, same.0)
        .fmm_with(GOUDE_ORDER, per_box)
        .measure_on_gpu(context, SAMPLES)?
        .map(Measured::device_only);
    let n = units::count(same.0 as u64);
    let mut table = Table::new([
        ("part", "part"),
        ("paper_gpu_percent", "paper GPU %"),
        ("cpu_percent", "our CPU %"),
        ("cpu_ms", "(ms)"),
        ("gpu_device_percent", "our GPU, device only %"),
        ("gpu_device_ms", "(ms)"),
        ("cpu_fewest_percent", "CPU, fewest points %"),
        ("cpu_fewest_ms", "(ms)"),
        ("cpu_most_percent", "CPU, most points %"),
        ("cpu_most_ms", "(ms)"),
    ]);
    let mut chart = BarChart::new("FMM in the plane by part")
        .subtitle(format!(
            "harmonic potential, p = {GOUDE_ORDER}, {boxes} boxes of so many points; as in Goude and Engblom, table 5.1"
        ))
        .y_label("share of the time (%)")
        .categories(
            [
                format!("Goude: GPU, {per_box}"),
                format!("CPU, {per_box}"),
                format!("CPU, {fewest}"),
                format!("CPU, {most}"),
            ]
            .into_iter()
            .chain(gpu.map(|_| format!("GPU, {per_box}"))),
        );
    for row in GOUDE_TABLE_5_1 {
        let seconds = [&same, &few, &many].map(|(_, measured)| seconds_of(row.part, measured));
        let percent = [&same, &few, &many].map(|(_, measured)| percent_of(row.part, measured));
        table.row([
            Cell::Text(row.part.to_owned()),
            row.percent.map_or(Cell::Text("< 1".to_owned()), Cell::Number),
            Cell::Number(percent[0]),
            Cell::milliseconds(seconds[0]),
            gpu.map(|gpu| percent_of(row.part, &gpu)).into(),
            gpu.map(|gpu| 1e3 * seconds_of(row.part, &gpu)).into(),
            Cell::Number(percent[1]),
            Cell::milliseconds(seconds[1]),
            Cell::Number(percent[2]),
            Cell::milliseconds(seconds[2]),
        ]);
        let mut shares = vec![row.percent.unwrap_or(0.0), percent[0], percent[1], percent[2]];
        shares.extend(gpu.map(|gpu| percent_of(row.part, &gpu)));
        chart = chart.part(Part::new(row.part, &shares));
    }
    let total = |(_, measured): &(usize, Measured)| Cell::milliseconds(measured.seconds.total);
    let whole = || Cell::Number(100.0);
    table.row([
        Cell::Text("total".to_owned()),
        whole(),
        whole(),
        total(&same),
        gpu.map(|_| 100.0).into(),
        gpu.map(|gpu| 1e3 * gpu.seconds.total).into(),
        whole(),
        total(&few),
        whole(),
        total(&many),
    ]);
    let (least_p2p, most_p2p) = GOUDE_P2P_SHARES;
    Ok(Reproduction {
        title: format!("Goude, table 5.1: time by part for {n} points in the square, f64"),
        hardware: GOUDE_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!(
                "{per_box} points in each box of level {}; the same levels have {fewest} (excluded) to {most} points in \
                 a box, and P2P from {:.0} % to {:.0} % of the time (the paper's GPU: {least_p2p} % to {most_p2p} %)",
                same.1.parameters.depth.unwrap_or(0),
                percent_of("P2P", &few.1),
                percent_of("P2P", &many.1)
            ),
            "P2M includes P2L and L2P includes M2P, as in the paper; other includes planning and moving data".to_owned(),
            "on our GPU local expansions are evaluated together with P2P; its times are those of the device, without copies".to_owned(),
            format!(
                "maximum relative error {:.1e} at {SAMPLES} points (the paper: about {GOUDE_TOLERANCE:e}); relative L2 \
                 error {:.1e}",
                same.1.maximum_error.unwrap_or(0.0),
                same.1.error
            ),
        ],
        png: chart.to_png()?,
    })
}

fn percent_of(part: &str, measured: &Measured) -> f64 {
    100.0 * seconds_of(part, measured) / measured.seconds.total
}
