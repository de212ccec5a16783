//! Times by phase, as rows and as stacked bars.

use super::measure::Measured;
use super::table::TableOf;
use farfield::report::Phase;
use farfield_plot::{BarChart, Color, Figure, Image, Part};

/// The phases in the order they are stacked, and the rest.
pub const NAMES: [&str; 10] = ["tree", "p2m", "m2m", "m2l", "p2l", "m2p", "l2l", "l2p", "p2p", "other"];

/// A phase with a smaller share of the total did not take place: its time is that of reading the clock.
const LEAST_SHARE: f64 = 1e-4;

/// Seconds of each of [`NAMES`].
pub fn seconds(measured: &Measured) -> [f64; NAMES.len()] {
    let mut seconds = NAMES.map(|name| {
        Phase::ALL
            .into_iter()
            .find(|phase| phase.name() == name)
            .map_or(0.0, |phase| measured.seconds.of(phase))
    });
    let sum: f64 = seconds.iter().sum();
    seconds[NAMES.len() - 1] = (measured.seconds.total - sum).max(0.0);
    let least = LEAST_SHARE * measured.seconds.total;
    seconds.map(|seconds| if seconds < least { 0.0 } else { seconds })
}

/// Percentages of the total of each of [`NAMES`].
pub fn percentages(measured: &Measured) -> [f64; NAMES.len()] {
    let total = measured.seconds.total;
    seconds(measured).map(|seconds| if total > 0.0 { 100.0 * seconds / total } else { 0.0 })
}

/// Bars that share a chart, and its name.
pub struct Bars {
    pub name: String,
    pub bars: Vec<Bar>,
}

/// The label of a bar and the values of its phases.
pub type Bar = (String, [f64; NAMES.len()]);

/// Charts side by side, each with the phases that take time in any of its bars; `chart` makes an empty one by name.
pub fn beside(chart: impl Fn(&str) -> BarChart, groups: &[Bars]) -> Result<Vec<u8>, farfield_plot::Error> {
    let draw = |group: &Bars| {
        let labels = group.bars.iter().map(|(label, _)| label.as_str());
        stack(chart(&group.name).categories(labels), &group.bars).to_image()
    };
    let images: Vec<Image> = groups.iter().map(draw).collect::<Result<_, _>>()?;
    Image::grid(&images.iter().collect::<Vec<_>>(), groups.len(), 0).to_png()
}

/// Stacks the phases. The colour of a phase is the same in every chart.
pub fn stack(chart: BarChart, bars: &[Bar]) -> BarChart {
    let of_phase = |phase: usize| bars.iter().map(|(_, bar)| bar[phase]).collect::<Vec<_>>();
    let shown = (0..NAMES.len()).filter(|phase| of_phase(*phase).iter().any(|value| *value > 0.0));
    shown.fold(chart, |chart, phase| {
        chart.part(Part::new(label(NAMES[phase]), &of_phase(phase)).color(Color::PALETTE[phase]))
    })
}

/// Adds a column for each phase; a phase that did not take place is missing.
pub fn columns<'a, R>(
    table: TableOf<'a, R>,
    suffix: &str,
    unit: &str,
    values: impl Fn(&R) -> [f64; NAMES.len()],
) -> TableOf<'a, R> {
    NAMES.into_iter().enumerate().fold(table, |table, (k, name)| {
        table.column(format!("{name}_{suffix}"), format!("{} {unit}", label(name)), |row| {
            Some(values(row)[k]).filter(|value| *value > 0.0)
        })
    })
}

/// The papers write operators in capitals.
fn label(name: &str) -> String {
    if name.contains('2') {
        name.to_uppercase()
    } else {
        name.to_owned()
    }
}
