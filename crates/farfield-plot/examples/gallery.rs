//! Writes sample charts with invented data into the folder given as the first argument (default: the current one).

use std::path::Path;

use farfield_plot::{Axis, BarChart, Color, Error, Figure, LineChart, LineStyle, Marker, Part, ReferenceLine, Series};

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let path = |name: &str| Path::new(&folder).join(format!("{name}.png"));
    scaling().save(&path("scaling"))?;
    errors().save(&path("errors"))?;
    phases().save(&path("phases"))?;
    scaling().size(600, 400).save(&path("scaling-small"))?;
    LineChart::new("").save(&path("empty"))
}

fn powers(f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=8)
        .map(|i| 10f64.powf(3.0 + 0.5 * f64::from(i)))
        .map(|n| (n, f(n)))
        .collect()
}

fn scaling() -> LineChart {
    let direct = powers(|n| 2e-9 * n * n + 1e-4);
    LineChart::new("Evaluation time of direct sum, treecode and FMM")
        .subtitle("sample data, not measured")
        .x_axis(Axis::log("number of bodies N"))
        .y_axis(Axis::log("time (s)"))
        .series(Series::new("direct sum").points(&direct[..6]))
        .series(Series::new("treecode").points(&powers(|n| 4e-7 * n * n.ln() + 2e-3)))
        .series(Series::new("FMM").points(&powers(|n| 2.2e-6 * n + 4e-3)))
        .series(
            Series::new("O(N^{2})")
                .points(&powers(|n| 6e-10 * n * n)[..7])
                .style(LineStyle::Dotted, Marker::None)
                .color(Color::GREY),
        )
        .reference(ReferenceLine::vertical(3e3).label("crossover"))
        .reference(ReferenceLine::horizontal(1e-3).label("1 ms"))
}

fn errors() -> LineChart {
    let orders = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0];
    let curve = |base: f64, floor: f64| -> Vec<(f64, f64)> {
        orders.iter().map(|&p| (p, base.powf(-p) * 0.05 + floor)).collect()
    };
    let mut chart = LineChart::new("Relative error against truncation order")
        .subtitle("sample data, not measured")
        .x_axis(Axis::linear("truncation order p").ticks(orders))
        .y_axis(Axis::log("relative L_{2} error"));
    for (name, base, floor, line) in [
        ("double, N = 10^{4}", 3.2, 1e-15, LineStyle::Solid),
        ("double, N = 10^{6}", 3.6, 1e-15, LineStyle::Solid),
        ("single, N = 10^{4}", 3.2, 4e-7, LineStyle::Dashed),
        ("single, N = 10^{6}", 3.6, 1.2e-7, LineStyle::Dashed),
    ] {
        let marker = if line == LineStyle::Solid {
            Marker::Circle
        } else {
            Marker::Square
        };
        chart = chart.series(Series::new(name).points(&curve(base, floor)).style(line, marker));
    }
    chart.reference(ReferenceLine::horizontal(f64::from(f32::EPSILON)).label("single precision ε"))
}

fn phases() -> BarChart {
    BarChart::new("Time by phase for N = 10^{7}")
        .subtitle("sample data, not measured")
        .y_label("time (s)")
        .categories(["treecode", "FMM"])
        .part(Part::new("sort", &[0.8, 0.8]))
        .part(Part::new("other", &[1.6, 1.9]))
        .part(Part::new("P2M", &[0.5, 0.9]))
        .part(Part::new("M2M", &[0.1, 0.2]))
        .part(Part::new("M2P", &[6.3]))
        .part(Part::new("M2L", &[0.0, 5.1]))
        .part(Part::new("L2L", &[0.0, 0.2]))
        .part(Part::new("L2P", &[0.0, 0.7]))
        .part(Part::new("P2P", &[4.9, 4.9]))
        .reference(ReferenceLine::horizontal(12.0).label("limit"))
}
