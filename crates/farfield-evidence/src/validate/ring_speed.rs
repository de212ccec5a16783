//! The speed of single rings against $U = \frac{\Gamma}{4\pi R}(\ln\frac{8R}{a}-C)$, and of thick ones against the
//! integral that the formula is the thin limit of.

use super::{Claim, Validation, case};
use farfield::kernel::Core;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, Color, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::case::CoreName;
use farfield_sim::reference::{GAUSSIAN_CORE, filament_constant, gaussian_ring_speed, ring_speed};
use farfield_sim::vortex::VortexModel;

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
        let mut model = VortexModel::new(&case(RING, &set)?, MachineProfile::default())?;
        Ok(model.rings()?[0].speed)
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

    fn row(&self, label: String, speed: f64) -> (String, Vec<f64>) {
        let thin = self.thin_speed();
        let (layers, around) = (self.layers as f64, self.around as f64);
        (label, vec![self.a, layers, around, speed, thin, speed / thin - 1.0])
    }
}

pub fn run() -> Result<Validation, Error> {
    let mut found = Found::default();
    for core in [CoreName::WinckelmansLeonard, CoreName::Gaussian, CoreName::HuPolynomial] {
        filaments(core, &mut found)?;
    }
    resolved_cores(&mut found)?;
    refined_cores(&mut found)?;
    let mut chart = LineChart::new("Speed of a vortex ring, over that of a thin one")
        .subtitle("thin rings: U = Γ/4πR (ln 8R/a - C)")
        .x_axis(Axis::log("core radius over ring radius a/R"))
        .y_axis(Axis::linear("speed over that of a thin ring"));
    for series in found.series {
        chart = chart.series(series);
    }
    Ok(Validation {
        title: "Speed of single vortex rings against theory".to_owned(),
        columns: vec![
            "ring",
            "core",
            "layers",
            "elements_around",
            "speed",
            "thin_ring_speed",
            "relative_difference",
        ],
        rows: found.rows,
        figure: Box::new(chart),
        claims: found.claims,
    })
}

#[derive(Default)]
struct Found {
    rows: Vec<(String, Vec<f64>)>,
    claims: Vec<Claim>,
    series: Vec<Series>,
}

impl Found {
    fn draw(&mut self, label: &str, points: &[(f64, f64)], line: LineStyle, marker: Marker) {
        let color = Color::PALETTE[self.series.len()];
        self.series
            .push(Series::new(label).points(points).style(line, marker).color(color));
    }
}

/// Single filaments, for which the formula is made, with the constant of their core.
fn filaments(core: CoreName, found: &mut Found) -> Result<(), Error> {
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
        found.rows.push(tube.row(label.clone(), speed));
        points.push((a, speed / tube.thin_speed()));
        found.claims.push(Claim::below(
            format!("{label}, a/R = {a}: relative difference from the formula"),
            (speed / tube.thin_speed() - 1.0).abs(),
            0.01,
        ));
    }
    found.draw(&label, &points, LineStyle::Solid, Marker::Circle);
    Ok(())
}

/// Resolved Gaussian cores: against the formula where rings are thin, against the integral everywhere.
fn resolved_cores(found: &mut Found) -> Result<(), Error> {
    let (mut points, mut exact_points) = (Vec::new(), Vec::new());
    for a in [0.06, 0.1, 0.15, 0.2] {
        let tube = Tube {
            core: CoreName::Gaussian,
            a,
            layers: 3,
            around: (13.0 / a).ceil() as usize,
        };
        let (speed, exact, thin) = (tube.speed()?, gaussian_ring_speed(a), tube.thin_speed());
        found.rows.push(tube.row("gaussian, resolved core".to_owned(), speed));
        let row = vec![a, 0.0, 0.0, exact, thin, exact / thin - 1.0];
        found.rows.push(("gaussian core, integral".to_owned(), row));
        points.push((a, speed / thin));
        exact_points.push((a, exact / thin));
        if a <= 0.1 {
            found.claims.push(Claim::below(
                format!("gaussian, resolved core, a/R = {a}: relative difference from the formula"),
                (speed / thin - 1.0).abs(),
                0.01,
            ));
        }
        found.claims.push(Claim::below(
            format!("gaussian, resolved core, a/R = {a}: relative difference from the integral"),
            (speed / exact - 1.0).abs(),
            0.005,
        ));
    }
    found.draw("gaussian, resolved core", &points, LineStyle::None, Marker::Square);
    found.draw(
        "gaussian core, integral",
        &exact_points,
        LineStyle::Dashed,
        Marker::None,
    );
    Ok(())
}

/// More layers come closer to the integral.
fn refined_cores(found: &mut Found) -> Result<(), Error> {
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
        found.rows.push(tube.row("gaussian, refined core".to_owned(), speed));
        errors.push((speed / exact - 1.0).abs());
    }
    let falls = errors.windows(2).all(|pair| pair[1] < 0.6 * pair[0]);
    let list: Vec<String> = errors.iter().map(|error| format!("{error:.1e}")).collect();
    found.claims.push(Claim {
        text: format!(
            "gaussian, a/R = {a}, with 1, 2, 4 layers: relative differences from the integral {}",
            list.join(", ")
        ),
        holds: falls,
    });
    Ok(())
}
