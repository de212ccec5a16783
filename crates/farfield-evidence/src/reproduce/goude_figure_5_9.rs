//! Goude, figure 5.9: robustness of the adaptive mesh.

use super::chart::Lines;
use super::goude::Vortices;
use super::measure::{Measured, Problem};
use super::published::{GOUDE_FIGURE_5_9, GOUDE_HARDWARE, GOUDE_ORDER};
use super::table::Table;
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield::report::Phase;
use farfield_io::units;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine};

/// Standard deviations, the widest first.
const SPREADS: [f64; 10] = [1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005];

/// The uniform, the normal and the layer set at one spread.
struct Row {
    spread: f64,
    cpu: [Measured; 3],
    /// Seconds of the device.
    gpu: [Option<f64>; 3],
}

impl Row {
    fn total(&self, set: usize) -> f64 {
        self.cpu[set].seconds.total / self.cpu[0].seconds.total
    }

    fn p2p(&self, set: usize) -> f64 {
        self.cpu[set].seconds.of(Phase::P2p) / self.cpu[0].seconds.total
    }

    fn on_gpu(&self, set: usize) -> Option<f64> {
        Some(self.gpu[set]? / self.gpu[0]?)
    }
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(1_000_000, 10_000);
    let spreads = if context.quick { &SPREADS[3..6] } else { &SPREADS[..] };
    let square = Vortices::new(PlaneSet::Square, n);
    let on_gpu = |vortices: &Vortices| -> Result<Option<f64>, Error> {
        let measured = vortices.fmm().measure_on_gpu(context, 0)?;
        Ok(measured.map(|measured| measured.in_phases()))
    };
    let mut rows = Vec::new();
    for &spread in spreads {
        context.step(format_args!("sigma = {spread}"));
        let [normal, layer] = [PlaneSet::Normal, PlaneSet::Layer].map(|set| Vortices::with_spread(set, n, spread));
        // The uniform set again for every spread, as a machine is not equally fast all the time.
        rows.push(Row {
            spread,
            cpu: [
                square.fmm().measure(context, 0)?,
                normal.fmm().measure(context, 0)?,
                layer.fmm().measure(context, 0)?,
            ],
            gpu: [on_gpu(&square)?, on_gpu(&normal)?, on_gpu(&layer)?],
        });
    }
    let table = Table::of(&rows)
        .column("sigma", "sigma", |row| row.spread)
        .column("normal", "normal/uniform", |row| row.total(1))
        .column("normal_p2p", "its P2P/uniform total", |row| row.p2p(1))
        .column("layer", "layer/uniform", |row| row.total(2))
        .column("layer_p2p", "its P2P/uniform total", |row| row.p2p(2))
        .column("gpu_device_normal", "GPU, device only, normal/uniform", |row| {
            row.on_gpu(1)
        })
        .column("gpu_device_layer", "GPU, device only, layer/uniform", |row| {
            row.on_gpu(2)
        });
    let chart = LineChart::new("Timing of less uniform points")
        .subtitle(format!(
            "harmonic potential, N = {}, p = {GOUDE_ORDER}; as in Goude and Engblom, figure 5.9",
            count(n)
        ))
        .x_axis(Axis::log("standard deviation \u{3c3}"))
        .y_axis(Axis::linear("time, uniform = 1"))
        .line("normal, CPU", &rows, |row| Some((row.spread, row.total(1))))
        .line("layer, CPU", &rows, |row| Some((row.spread, row.total(2))))
        .line("normal, GPU", &rows, |row| Some((row.spread, row.on_gpu(1)?)))
        .line("layer, GPU", &rows, |row| Some((row.spread, row.on_gpu(2)?)))
        .reference(ReferenceLine::horizontal(1.0).label("uniform"));
    let uniform = rows.iter().map(|row| row.cpu[0].seconds);
    let uniform = uniform.min_by(|a, b| a.total.total_cmp(&b.total)).unwrap_or_default();
    let title = format!(
        "Goude, figure 5.9: time of {} points against their spread, f64",
        count(n)
    );
    Ok(Reproduction::new(title, GOUDE_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "the uniform set takes {}, {} of it for P2P; p = {GOUDE_ORDER}",
            units::seconds(uniform.total),
            units::seconds(uniform.of(Phase::P2p))
        ))
        .remark(format!("the paper prints no values; it says: {GOUDE_FIGURE_5_9}")))
}
