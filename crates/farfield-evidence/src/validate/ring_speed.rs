//! The speed of single rings against $U = \frac{\Gamma}{4\pi R}(\ln\frac{8R}{a}-C)$, and of thick ones against the
//! integral that the formula is the thin limit of.

use super::{Validation, chart, dashed, line, markers, vortices};
use crate::Error;
use farfield::kernel::Core;
use farfield_plot::{Axis, Color, LineChart, Marker};
use farfield_sim::case::CoreName;
use farfield_sim::reference::{GAUSSIAN_CORE, filament_constant, gaussian_ring_speed, ring_speed};

const RING: &str = "time = { end = 1.0, step = 0.1 }\n[sum]\nmethod = \"direct\"\ntolerance = 1e-10\n\
                    [vortex]\n[[vortex.rings]]\nradius = 1.0\ncore = 0.1\n";

/// A ring of radius and circulation one.
#[derive(Debug, Clone, Copy)]
struct Tube {
    core: CoreName,
    a: f64,
    layers: usize,
    around: usize,
}

impl Tube {
    /// The speed of its centre.
    fn speed(&self) -> Result<f64, Error> {
        let set = [
            format!("vortex.core={}", Core::from(self.core).name()),
            format!("vortex.layers={}", self.layers),
            format!("vortex.around={}", self.around),
            format!("vortex.rings.0.core={}", self.a),
        ];
        Ok(vortices(RING, &set)?.1.rings()?[0].speed)
    }

    /// The speed of a thin ring with this core.
    fn thin_speed(&self) -> f64 {
        let constant = if self.layers == 0 {
            filament_constant(self.core)
        } else {
            GAUSSIAN_CORE
        };
        ring_speed(1.0, 1.0, self.a, constant)
    }

    fn add_to(&self, found: &mut Validation, label: &str, speed: f64) {
        let thin = self.thin_speed();
        let (layers, around) = (self.layers as f64, self.around as f64);
        found.row(label, [self.a, layers, around, speed, thin, speed / thin - 1.0]);
    }
}

pub fn run() -> Result<Validation, Error> {
    let columns = [
        "ring",
        "core",
        "layers",
        "elements_around",
        "speed",
        "thin_ring_speed",
        "relative_difference",
    ];
    let mut found = Validation::new("Speed of single vortex rings against theory", &columns);
    let x = Axis::log("core radius over ring radius a/R");
    let y = Axis::linear("speed over that of a thin ring");
    let mut chart =
        chart("Speed of a vortex ring, over that of a thin one", x, y).subtitle("thin rings: U = Γ/4πR (ln 8R/a - C)");
    let cores = [CoreName::WinckelmansLeonard, CoreName::Gaussian, CoreName::HuPolynomial];
    for (k, core) in cores.into_iter().enumerate() {
        chart = filaments(core, k, &mut found, chart)?;
    }
    chart = resolved_cores(&mut found, chart)?;
    refined_cores(&mut found)?;
    Ok(found.with(chart))
}

/// Single filaments, for which the formula is made, with the constant of their core; drawn in colour `k`.
fn filaments(core: CoreName, k: usize, found: &mut Validation, chart: LineChart) -> Result<LineChart, Error> {
    let label = format!("{} filament", Core::from(core).name());
    let mut points = Vec::new();
    for a in [0.02, 0.05, 0.1, 0.2] {
        let tube = Tube {
            core,
            a,
            layers: 0,
            // Elements closer than their size.
            around: (26.0 / a).ceil() as usize,
        };
        let speed = tube.speed()?;
        let ratio = speed / tube.thin_speed();
        tube.add_to(found, &label, speed);
        points.push((a, ratio));
        let text = format!("{label}, a/R = {a}: relative difference from the formula");
        found.below(text, (ratio - 1.0).abs(), 0.01);
    }
    Ok(chart.series(line(label, &points, k, Marker::Circle)))
}

/// Resolved Gaussian cores: against the formula where rings are thin, against the integral everywhere.
fn resolved_cores(found: &mut Validation, chart: LineChart) -> Result<LineChart, Error> {
    let label = "gaussian, resolved core";
    let (mut points, mut exact_points) = (Vec::new(), Vec::new());
    for a in [0.06, 0.1, 0.15, 0.2] {
        let tube = Tube {
            core: CoreName::Gaussian,
            a,
            layers: 3,
            around: (13.0 / a).ceil() as usize,
        };
        let (speed, exact, thin) = (tube.speed()?, gaussian_ring_speed(a), tube.thin_speed());
        tube.add_to(found, label, speed);
        found.row(
            "gaussian core, integral",
            [a, 0.0, 0.0, exact, thin, exact / thin - 1.0],
        );
        points.push((a, speed / thin));
        exact_points.push((a, exact / thin));
        if a <= 0.1 {
            let text = format!("{label}, a/R = {a}: relative difference from the formula");
            found.below(text, (speed / thin - 1.0).abs(), 0.01);
        }
        let text = format!("{label}, a/R = {a}: relative difference from the integral");
        found.below(text, (speed / exact - 1.0).abs(), 0.005);
    }
    Ok(chart.series(markers(label, &points, 3, Marker::Square)).series(dashed(
        "gaussian core, integral",
        &exact_points,
        Color::PALETTE[4],
    )))
}

/// More layers come closer to the integral.
fn refined_cores(found: &mut Validation) -> Result<(), Error> {
    let a = 0.1;
    let exact = gaussian_ring_speed(a);
    let mut errors = Vec::new();
    for layers in [1, 2, 4] {
        let tube = Tube {
            core: CoreName::Gaussian,
            a,
            layers,
            around: 200,
        };
        let speed = tube.speed()?;
        tube.add_to(found, "gaussian, refined core", speed);
        errors.push((speed / exact - 1.0).abs());
    }
    let falls = errors.windows(2).all(|pair| pair[1] < 0.6 * pair[0]);
    let list: Vec<String> = errors.iter().map(|error| format!("{error:.1e}")).collect();
    let list = list.join(", ");
    found.claim(
        format!("gaussian, a/R = {a}, with 1, 2, 4 layers: relative differences from the integral {list}"),
        falls,
    );
    Ok(())
}
