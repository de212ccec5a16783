//! Goude, figure 5.9: robustness of the adaptive mesh.

use super::goude::Vortices;
use super::measure::Measured;
use super::published::{GOUDE_FIGURE_5_9, GOUDE_HARDWARE, GOUDE_ORDER};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield::report::Phase;
use farfield_io::units;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine, Series};

/// Standard deviations, the widest first.
const SPREADS: [f64; 10] = [1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005];

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(1_000_000, 10_000);
    let spreads = if context.quick { &SPREADS[3..6] } else { &SPREADS[..] };
    let square = Vortices::new(PlaneSet::Square, n);
    let mut fastest: Option<Measured> = None;
    let mut table = Table::new([
        ("sigma", "sigma"),
        ("normal", "normal/uniform"),
        ("normal_p2p", "its P2P/uniform total"),
        ("layer", "layer/uniform"),
        ("layer_p2p", "its P2P/uniform total"),
        ("gpu_device_normal", "GPU, device only, normal/uniform"),
        ("gpu_device_layer", "GPU, device only, layer/uniform"),
    ]);
    let (mut normal_curve, mut layer_curve) = (Vec::new(), Vec::new());
    let (mut gpu_normal, mut gpu_layer) = (Vec::new(), Vec::new());
    let on_gpu = |vortices: &Vortices| -> Result<Option<f64>, Error> {
        let measured = vortices.fmm().measure_on_gpu(context, 0)?;
        Ok(measured.map(|measured| measured.in_phases()))
    };
    for spread in spreads {
        context.step(format_args!("sigma = {spread}"));
        // Again for every spread: a machine is not equally fast all the time.
        let uniform = square.fmm().measure(context, 0)?;
        let total = |measured: &Measured| measured.seconds.total / uniform.seconds.total;
        let p2p = |measured: &Measured| measured.seconds.of(Phase::P2p) / uniform.seconds.total;
        let [normal_set, layer_set] =
            [PlaneSet::Normal, PlaneSet::Layer].map(|set| Vortices::with_spread(set, n, *spread));
        let normal = normal_set.fmm().measure(context, 0)?;
        let layer = layer_set.fmm().measure(context, 0)?;
        let uniform_on_gpu = on_gpu(&square)?;
        let gpu_ratio =
            |vortices| -> Result<Option<f64>, Error> { Ok(on_gpu(vortices)?.zip(uniform_on_gpu).map(|(a, b)| a / b)) };
        let (normal_on_gpu, layer_on_gpu) = (gpu_ratio(&normal_set)?, gpu_ratio(&layer_set)?);
        table.row([
            Cell::Number(*spread),
            Cell::Number(total(&normal)),
            Cell::Number(p2p(&normal)),
            Cell::Number(total(&layer)),
            Cell::Number(p2p(&layer)),
            normal_on_gpu.into(),
            layer_on_gpu.into(),
        ]);
        gpu_normal.extend(normal_on_gpu.map(|ratio| (*spread, ratio)));
        gpu_layer.extend(layer_on_gpu.map(|ratio| (*spread, ratio)));
        normal_curve.push((*spread, total(&normal)));
        layer_curve.push((*spread, total(&layer)));
        if fastest.is_none_or(|fastest| uniform.seconds.total < fastest.seconds.total) {
            fastest = Some(uniform);
        }
    }
    let uniform = fastest.map(|fastest| fastest.seconds).unwrap_or_default();
    let mut chart = LineChart::new("Timing of less uniform points")
        .subtitle(format!(
            "harmonic potential, N = {}, p = {GOUDE_ORDER}; as in Goude and Engblom, figure 5.9",
            units::count(n as u64)
        ))
        .x_axis(Axis::log("standard deviation \u{3c3}"))
        .y_axis(Axis::linear("time, uniform = 1"))
        .series(Series::new("normal, CPU").points(&normal_curve))
        .series(Series::new("layer, CPU").points(&layer_curve))
        .reference(ReferenceLine::horizontal(1.0).label("uniform"));
    for (name, curve) in [("normal, GPU", &gpu_normal), ("layer, GPU", &gpu_layer)] {
        if !curve.is_empty() {
            chart = chart.series(Series::new(name).points(curve));
        }
    }
    Ok(Reproduction {
        title: format!(
            "Goude, figure 5.9: time of {} points against their spread, f64",
            units::count(n as u64)
        ),
        hardware: GOUDE_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!(
                "the uniform set takes {}, {} of it for P2P; p = {GOUDE_ORDER}",
                units::seconds(uniform.total),
                units::seconds(uniform.of(Phase::P2p))
            ),
            format!("the paper prints no values; it says: {GOUDE_FIGURE_5_9}"),
        ],
        png: chart.to_png()?,
    })
}
