//! `diagnostics.png`: charts of the diagnostics, with theory as dashed lines.

use crate::case::{Case, Vortex};
use crate::diagnostics::read_columns;
use crate::error::Error;
use crate::reference::{ThinRing, thin_rings, thin_rings_of};
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use std::path::Path;

/// The columns of the table by name.
pub(super) struct Columns(Vec<(String, Vec<f64>)>);

impl Columns {
    pub(super) fn get(&self, name: &str) -> &[f64] {
        self.0
            .iter()
            .find(|(found, _)| found == name)
            .map_or(&[], |(_, values)| values)
    }

    /// A column against time, with `change` applied to each value. Values that were not measured are omitted.
    pub(super) fn points(&self, name: &str, change: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let pairs = self.get("time").iter().zip(self.get(name));
        pairs
            .filter(|(_, v)| v.is_finite())
            .map(|(t, v)| (*t, change(*v)))
            .collect()
    }

    /// The names of the rings, knots and other parts that have their own columns.
    fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|(name, _)| name.strip_suffix("_radius"))
    }

    fn first(&self, name: &str) -> f64 {
        self.get(name)
            .iter()
            .copied()
            .find(|value| value.is_finite())
            .unwrap_or(0.0)
    }

    /// The change of a column since its first value, over `scale`.
    fn drift(&self, name: &str, scale: f64) -> Vec<(f64, f64)> {
        let first = self.first(name);
        self.points(name, |value| (value - first) / scale)
    }

    /// The length of the change of a vector since its first value, over `scale`.
    fn vector_drift(&self, name: &str, scale: f64) -> Vec<(f64, f64)> {
        let names = ["x", "y", "z"].map(|axis| format!("{name}_{axis}"));
        let first = names.each_ref().map(|name| self.first(name));
        let [x, y, z] = names.each_ref().map(|name| self.get(name));
        let rows = self.get("time").iter().zip(x).zip(y).zip(z);
        // A row with an unreadable number is omitted.
        let length = |(((t, x), y), z): (((&f64, &f64), &f64), &f64)| {
            let change = [x - first[0], y - first[1], z - first[2]];
            (*t, change.iter().map(|c| c * c).sum::<f64>().sqrt() / scale)
        };
        rows.map(length).filter(|(_, length)| length.is_finite()).collect()
    }

    fn length(&self, name: &str) -> f64 {
        let parts = ["x", "y", "z"].map(|axis| self.first(&format!("{name}_{axis}")));
        parts.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE)
    }
}

/// Draws the diagnostics of the run in `folder`, which may still be running, to the file `to`.
///
/// # Errors
/// [`Error::Folder`] if the table cannot be read, [`Error::Plot`] or [`Error::File`] if the chart cannot be written.
pub fn draw_diagnostics(case: &Case, folder: &Path, to: &Path) -> Result<(), Error> {
    let columns = Columns(read_columns(&folder.join("diagnostics.csv"))?);
    let grid = match &case.vortex {
        None if case.flow.is_some() => super::flow_charts::charts(&columns, case),
        None if case.plane.is_some() => plane_charts(&columns, case),
        Some(vortex) => vortex_charts(&columns, case, vortex),
        None => gravity_charts(&columns, case),
    };
    let bytes = grid.to_png()?;
    Ok(farfield_io::write_bytes_atomically(to, &bytes)?)
}

/// The values of a column against time.
type Line = (String, Vec<(f64, f64)>);

/// A chart of selected columns of one or several runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// The name of each run and its columns.
    runs: Vec<(String, Vec<Line>)>,
}

impl Chart {
    /// Adds the columns of a run.
    ///
    /// # Errors
    /// [`Error::Folder`] if the table cannot be read or has no such column.
    pub fn add(&mut self, name: String, folder: &Path, wanted: &[String]) -> Result<(), Error> {
        let columns = Columns(read_columns(&folder.join("diagnostics.csv"))?);
        let mut found = Vec::new();
        for column in wanted {
            if !columns.0.iter().any(|(name, _)| name == column) {
                let names: Vec<&str> = columns.0.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Error::Folder {
                    folder: folder.to_owned(),
                    why: format!("diagnostics.csv has no column `{column}`, only {}", names.join(", ")),
                });
            }
            found.push((column.clone(), columns.points(column, |value| value)));
        }
        self.runs.push((name, found));
        Ok(())
    }

    /// A chart for each column, with a line for each run.
    pub fn grid(&self, title: &str) -> ChartGrid {
        let columns = self.runs.first().map_or(0, |(_, columns)| columns.len());
        let mut grid = ChartGrid::new(title).columns(if columns > 1 { 2 } else { 1 });
        for k in 0..columns {
            let label = &self.runs[0].1[k].0;
            let mut chart = chart(label, label);
            for (j, (name, columns)) in self.runs.iter().enumerate() {
                let name = if self.runs.len() == 1 { "" } else { name.as_str() };
                chart = chart.series(line(name, &columns[k].1, Color::PALETTE[j % Color::PALETTE.len()]));
            }
            grid = grid.chart(chart);
        }
        let rows = columns.div_ceil(2).max(1) as u32;
        grid.size(1200, if columns > 1 { (450 * rows).min(8000) } else { 700 })
    }

    /// The same data as CSV: run, time and the columns.
    pub fn table(&self) -> String {
        let mut text = String::from("run,time");
        for (column, _) in self.runs.first().map_or(&[][..], |(_, columns)| columns) {
            text.push_str(&format!(",{column}"));
        }
        text.push('\n');
        for (name, columns) in &self.runs {
            let mut times: Vec<f64> = columns
                .iter()
                .flat_map(|(_, points)| points.iter().map(|p| p.0))
                .collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            for time in times {
                text.push_str(&format!("{name},{time}"));
                for (_, points) in columns {
                    let value = points.iter().find(|point| point.0 == time);
                    text.push_str(&value.map_or_else(|| ",".to_owned(), |point| format!(",{:?}", point.1)));
                }
                text.push('\n');
            }
        }
        text
    }
}

fn plane_charts(columns: &Columns, case: &Case) -> ChartGrid {
    let viscous = case.plane.as_ref().is_some_and(|plane| plane.viscosity > 0.0);
    let mut place = chart("Paths of the parts", "y").x_axis(Axis::linear("x"));
    let mut radius = chart("Radius", "root mean square");
    for (k, part) in columns.parts().take(8).enumerate() {
        let color = Color::PALETTE[k % Color::PALETTE.len()];
        let (x, y) = (columns.get(&format!("{part}_x")), columns.get(&format!("{part}_y")));
        let points = x.iter().zip(y).map(|(x, y)| (*x, *y));
        let path: Vec<(f64, f64)> = points.filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
        place = place.series(line(&label_of(part), &path, color));
        let radii = columns.points(&format!("{part}_radius"), |v| v);
        radius = radius.series(line(&label_of(part), &radii, color));
    }
    let mut kept = vec![("circulation", 3), ("impulse_x", 1), ("impulse_y", 2)];
    if !viscous {
        kept.extend([("angular_impulse", 4), ("hamiltonian", 0)]);
    }
    let mut drifts = chart("Drift of invariants", "change");
    for (name, color) in kept {
        let label = name.replace('_', " ");
        drifts = drifts.series(line(&label, &columns.drift(name, 1.0), Color::PALETTE[color]));
    }
    let angular = chart("Angular impulse", "angular impulse").series(line(
        "",
        &columns.points("angular_impulse", |value| value),
        Color::PALETTE[4],
    ));
    ChartGrid::new(title(case))
        .columns(2)
        .chart(place)
        .chart(radius)
        .chart(drifts)
        .chart(angular)
        .size(1200, 900)
}

/// A name such as `ring1` as a label, "ring 1".
fn label_of(name: &str) -> String {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    format!("{} {}", &name[..digits], &name[digits..]).trim().to_owned()
}

pub(super) fn line(name: &str, points: &[(f64, f64)], color: Color) -> Series {
    Series::new(name)
        .points(points)
        .style(LineStyle::Solid, Marker::None)
        .color(color)
}

pub(super) fn dashed(name: &str, points: &[(f64, f64)]) -> Series {
    Series::new(name)
        .points(points)
        .style(LineStyle::Dashed, Marker::None)
        .color(Color::INK)
}

fn chart(title: &str, unit: &str) -> LineChart {
    LineChart::new(title)
        .x_axis(Axis::linear("time"))
        .y_axis(Axis::linear(unit))
}

fn vortex_charts(columns: &Columns, case: &Case, vortex: &Vortex) -> ChartGrid {
    let end = columns.get("time").last().copied().unwrap_or(case.time.end);
    let theory = thin_rings_of(vortex).map(|rings| thin_rings(&rings, end.max(1e-9), 2000));
    let theory_of = |k: usize, value: fn(&ThinRing) -> f64| -> Vec<(f64, f64)> {
        let path = theory.iter().flatten();
        path.filter_map(|(t, rings)| rings.get(k).map(|ring| (*t, value(ring))))
            .collect()
    };
    let axis = vortex
        .rings
        .first()
        .map_or([0.0, 0.0, 1.0], |ring| crate::vec3::unit(ring.axis));
    let main = (0..3)
        .max_by(|&i, &j| axis[i].abs().total_cmp(&axis[j].abs()))
        .unwrap_or(2);
    let letter = ["x", "y", "z"][main];
    let (mut place, mut radius) = (chart("Position along the axis", letter), chart("Radius", "radius"));
    for (k, name) in columns.parts().take(12).enumerate() {
        let color = Color::PALETTE[k % Color::PALETTE.len()];
        let label = label_of(name);
        place = place.series(line(&label, &columns.points(&format!("{name}_{letter}"), |v| v), color));
        radius = radius.series(line(&label, &columns.points(&format!("{name}_radius"), |v| v), color));
    }
    if theory.is_some() {
        for k in 0..vortex.rings.len() {
            let label = if k == 0 { "thin rings" } else { "" };
            // The position in theory is along the axis of the first ring; the column is a coordinate.
            let sign = axis[main].signum();
            let places: Vec<(f64, f64)> = theory_of(k, |ring| ring.place)
                .iter()
                .map(|(t, z)| (*t, sign * z))
                .collect();
            place = place.series(dashed(label, &places));
            radius = radius.series(dashed(label, &theory_of(k, |ring| ring.radius)));
        }
    }
    let energy = columns.first("energy").abs().max(f64::MIN_POSITIVE);
    // The sum of the magnitudes, because the total impulse of two rings that meet head on is zero.
    let rings = vortex.rings.iter().map(|ring| (ring.circulation, ring.radius));
    let knots = vortex.knots.iter().map(|knot| (knot.circulation, knot.radius));
    let impulse: f64 = rings
        .chain(knots)
        .map(|(gamma, r)| std::f64::consts::PI * gamma.abs() * r * r)
        .sum();
    let relative = |name: &str| columns.vector_drift(name, impulse.max(f64::MIN_POSITIVE));
    let mut drifts = chart("Drift of invariants", "relative");
    // Viscosity dissipates energy.
    if vortex.viscosity == 0.0 {
        drifts = drifts.series(line("energy", &columns.drift("energy", energy), Color::PALETTE[0]));
    }
    let drifts = drifts
        .series(line("impulse", &relative("impulse"), Color::PALETTE[1]))
        .series(line("angular impulse", &relative("angular_impulse"), Color::PALETTE[2]))
        .series(line("total vorticity", &relative("total_vorticity"), Color::PALETTE[3]));
    let enstrophy = columns.first("enstrophy").abs().max(f64::MIN_POSITIVE);
    let of_enstrophy = columns.points("enstrophy", |value| value / enstrophy);
    let growth = if vortex.viscosity == 0.0 {
        chart("Enstrophy", "relative to its initial value").series(line("", &of_enstrophy, Color::PALETTE[4]))
    } else {
        let of_energy = columns.points("energy", |value| value / energy);
        chart("Energy and enstrophy", "relative to their initial values")
            .series(line("energy", &of_energy, Color::PALETTE[0]))
            .series(line("enstrophy", &of_enstrophy, Color::PALETTE[4]))
    };
    ChartGrid::new(title(case))
        .columns(2)
        .chart(place)
        .chart(radius)
        .chart(drifts)
        .chart(growth)
        .size(1200, 900)
}

fn gravity_charts(columns: &Columns, case: &Case) -> ChartGrid {
    let energy = columns.first("energy").abs().max(f64::MIN_POSITIVE);
    let spin = columns.length("angular_momentum");
    let ends = |value: f64| {
        [
            (0.0, value),
            (columns.get("time").last().copied().unwrap_or(1.0), value),
        ]
    };
    let kept = chart("Energy", "relative change")
        .series(line("", &columns.drift("energy", energy), Color::PALETTE[0]))
        .series(dashed("conserved", &ends(0.0)));
    let parts = chart("Kinetic and potential energy", "energy")
        .series(line(
            "kinetic",
            &columns.points("kinetic_energy", |v| v),
            Color::PALETTE[1],
        ))
        .series(line(
            "potential",
            &columns.points("potential_energy", |v| v),
            Color::PALETTE[2],
        ));
    let virial = chart("Virial ratio 2 K / |W|", "ratio")
        .series(line("", &columns.points("virial_ratio", |v| v), Color::PALETTE[3]))
        .series(dashed("equilibrium", &ends(1.0)));
    let momenta = chart("Momentum and angular momentum", "change")
        .series(line(
            "momentum",
            &columns.vector_drift("momentum", 1.0),
            Color::PALETTE[4],
        ))
        .series(line(
            "angular momentum, relative",
            &columns.vector_drift("angular_momentum", spin),
            Color::PALETTE[5],
        ));
    ChartGrid::new(title(case))
        .columns(2)
        .chart(kept)
        .chart(parts)
        .chart(virial)
        .chart(momenta)
        .size(1200, 900)
}

pub(super) fn title(case: &Case) -> String {
    if case.title.is_empty() {
        "Diagnostics".to_owned()
    } else {
        case.title.clone()
    }
}
