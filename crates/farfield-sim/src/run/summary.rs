//! `diagnostics.png`: the diagnostics drawn, with what theory says as dashed lines.

use super::folder::Folder;
use crate::case::{Case, Vortex};
use crate::diagnostics::read_columns;
use crate::error::Error;
use crate::reference::{ThinRing, thin_rings, thin_rings_of};
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};

/// The columns of the table by name.
pub(super) struct Columns(Vec<(String, Vec<f64>)>);

impl Columns {
    pub(super) fn get(&self, name: &str) -> &[f64] {
        self.0
            .iter()
            .find(|(found, _)| found == name)
            .map_or(&[], |(_, values)| values)
    }

    /// A column against time, each value changed by `change`; values that were not measured are left out.
    pub(super) fn points(&self, name: &str, change: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let pairs = self.get("time").iter().zip(self.get(name));
        pairs
            .filter(|(_, v)| v.is_finite())
            .map(|(t, v)| (*t, change(*v)))
            .collect()
    }

    fn first(&self, name: &str) -> f64 {
        self.get(name)
            .iter()
            .copied()
            .find(|value| value.is_finite())
            .unwrap_or(0.0)
    }

    /// A column's change since the beginning, over `scale`.
    fn drift(&self, name: &str, scale: f64) -> Vec<(f64, f64)> {
        let first = self.first(name);
        self.points(name, |value| (value - first) / scale)
    }

    /// The length of a vector's change since the beginning, over `scale`.
    fn vector_drift(&self, name: &str, scale: f64) -> Vec<(f64, f64)> {
        let names = ["x", "y", "z"].map(|axis| format!("{name}_{axis}"));
        let first = names.each_ref().map(|name| self.first(name));
        let [x, y, z] = names.each_ref().map(|name| self.get(name));
        let rows = self.get("time").iter().zip(x).zip(y).zip(z);
        // A row in which one of the numbers cannot be read is left out whole.
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

/// Draws the diagnostics of a run so far.
pub fn draw(case: &Case, folder: &Folder) -> Result<(), Error> {
    let columns = Columns(read_columns(&folder.diagnostics())?);
    let grid = match &case.vortex {
        None if case.flow.is_some() => super::flow_charts::charts(&columns, case),
        Some(vortex) => vortex_charts(&columns, case, vortex),
        None => gravity_charts(&columns, case),
    };
    let bytes = grid.to_png()?;
    Ok(farfield_io::write_bytes_atomically(
        folder.path().join("diagnostics.png"),
        &bytes,
    )?)
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
    let names: Vec<String> = (1..=vortex.rings.len())
        .map(|k| format!("ring{k}"))
        .chain((1..=vortex.knots.len()).map(|k| format!("knot{k}")))
        .collect();
    for (k, name) in names.iter().enumerate() {
        let color = Color::PALETTE[k % Color::PALETTE.len()];
        let label = format!("{} {}", &name[..4], &name[4..]);
        place = place.series(line(&label, &columns.points(&format!("{name}_{letter}"), |v| v), color));
        radius = radius.series(line(&label, &columns.points(&format!("{name}_radius"), |v| v), color));
    }
    if theory.is_some() {
        for k in 0..vortex.rings.len() {
            let label = if k == 0 { "thin rings" } else { "" };
            // The theory's place is along the first axis; the column's along a coordinate.
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
    // Of all parts without their directions: two rings that meet head on have none together.
    let rings = vortex.rings.iter().map(|ring| (ring.circulation, ring.radius));
    let knots = vortex.knots.iter().map(|knot| (knot.circulation, knot.radius));
    let impulse: f64 = rings
        .chain(knots)
        .map(|(gamma, r)| std::f64::consts::PI * gamma.abs() * r * r)
        .sum();
    let relative = |name: &str| columns.vector_drift(name, impulse.max(f64::MIN_POSITIVE));
    let mut drifts = chart("Drift of what should stay", "relative");
    // Viscosity takes energy away, as it should.
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
        chart("Enstrophy", "over its first value").series(line("", &of_enstrophy, Color::PALETTE[4]))
    } else {
        let of_energy = columns.points("energy", |value| value / energy);
        chart("Energy and enstrophy", "over their first values")
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
        .series(dashed("kept", &ends(0.0)));
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
