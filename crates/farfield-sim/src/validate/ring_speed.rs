//! The speed of single rings against $U = \frac{\Gamma}{4\pi R}(\ln\frac{8R}{a}-C)$.

use super::{Claim, Figure, Validation, case};
use crate::case::CoreName;
use crate::error::Error;
use crate::reference::{GAUSSIAN_CORE, filament_constant, ring_speed};
use crate::vortex::VortexModel;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};

const RING: &str = "time = { end = 1.0, step = 0.1 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-10\n\
                    [vortex]\n[[vortex.rings]]\nradius = 1.0\ncore = 0.1\n";

/// The speed of a ring of radius and circulation one.
fn measured(core: f64, set: &[String]) -> Result<f64, Error> {
    let mut all = vec![format!("vortex.rings.0.core={core}")];
    all.extend_from_slice(set);
    let mut model = VortexModel::new(&case(RING, &all)?, MachineProfile::default())?;
    Ok(model.rings()?[0].speed)
}

pub fn run() -> Result<Validation, Error> {
    let kinds: [(&str, &str, usize, f64); 4] = [
        (
            "winckelmans-leonard filament",
            "winckelmans-leonard",
            0,
            filament_constant(CoreName::WinckelmansLeonard),
        ),
        (
            "gaussian filament",
            "gaussian",
            0,
            filament_constant(CoreName::Gaussian),
        ),
        (
            "hu-polynomial filament",
            "hu-polynomial",
            0,
            filament_constant(CoreName::HuPolynomial),
        ),
        ("gaussian, resolved core", "gaussian", 3, GAUSSIAN_CORE),
    ];
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    let mut chart = LineChart::new("Speed of a vortex ring, over that of a thin one")
        .subtitle("theory: U = Γ/4πR (ln 8R/a - C)")
        .x_axis(Axis::log("core radius over ring radius a/R"))
        .y_axis(Axis::linear("measured over theory"));
    for (k, (label, core, layers, constant)) in kinds.into_iter().enumerate() {
        let mut points = Vec::new();
        let sizes: &[f64] = if layers == 0 {
            &[0.02, 0.05, 0.1, 0.2]
        } else {
            &[0.06, 0.1, 0.15, 0.2]
        };
        for &a in sizes {
            // Filaments need elements closer than their size; layered tubes half of the core.
            let around = if layers == 0 {
                (26.0 / a).ceil()
            } else {
                (13.0 / a).ceil()
            };
            let set = [
                format!("vortex.core={core}"),
                format!("vortex.layers={layers}"),
                format!("vortex.around={around}"),
            ];
            let speed = measured(a, &set)?;
            let theory = ring_speed(1.0, 1.0, a, constant);
            rows.push((label.to_owned(), vec![a, around, speed, theory, speed / theory - 1.0]));
            points.push((a, speed / theory));
            if a <= 0.1 {
                claims.push(Claim::below(
                    format!("{label}, a/R = {a}: relative error"),
                    (speed / theory - 1.0).abs(),
                    0.01,
                ));
            }
        }
        chart = chart.series(
            Series::new(label)
                .points(&points)
                .style(LineStyle::Solid, Marker::Circle)
                .color(Color::PALETTE[k]),
        );
    }
    Ok(Validation {
        title: "Speed of single vortex rings against the thin-ring formula".to_owned(),
        columns: vec!["ring", "core", "elements_around", "speed", "theory", "relative_error"],
        rows,
        figure: Figure::Chart(Box::new(chart)),
        claims,
    })
}
