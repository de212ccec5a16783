//! The drag of a sphere that starts at once, Reynolds number 550, against a reference, at three resolutions.

use super::{Claim, Validation};
use farfield::Device;
use farfield::tuning::MachineProfile;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, LineStyle, Marker, Series};
use farfield_sim::Error;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::flow::FlowModel;
use farfield_sim::reference::sphere_drag::{CURVE, at};

/// Points across the diameter, what makes the built-in case have them, and from which T on its drag is to be how close.
struct Resolution {
    points: u32,
    set: &'static str,
    claim: Option<(f64, f64)>,
}

const EIGHTH: Resolution = Resolution {
    points: 16,
    set: "grid.level=0",
    claim: None,
};
const QUARTER: Resolution = Resolution {
    points: 32,
    set: "grid.level=1",
    claim: None,
};
const DEFAULT: Resolution = Resolution {
    points: 64,
    set: "grid.level=2",
    claim: Some((0.5, 0.08)),
};
const FINE: Resolution = Resolution {
    points: 100,
    set: "size=fine",
    claim: Some((0.3, 0.03)),
};

/// Where the table has rows.
const TIMES: [f64; 14] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0];
/// Errors of all resolutions are compared from here on.
const FROM: f64 = 0.5;
/// The most lift there may be over the drag.
const LIFT: f64 = 1e-3;

/// What is taken from each moment of a run, after T.
const COLUMNS: [&str; 5] = ["drag_penalty", "drag_impulse", "lift_y", "wake_length", "separation"];

/// T and the values of [`COLUMNS`] at every step.
type Course = Vec<(f64, [f64; 5])>;

pub fn run(device: Device) -> Result<Validation, Error> {
    let resolutions = match device {
        Device::Cpu => [EIGHTH, QUARTER, DEFAULT],
        _ => [QUARTER, DEFAULT, FINE],
    };
    let mut courses: Vec<(&Resolution, Course)> = Vec::new();
    for resolution in &resolutions {
        courses.push((resolution, simulate(&sphere(resolution.set)?, device)?));
    }
    let rows = TIMES.iter().map(|t| {
        let values = courses
            .iter()
            .flat_map(|(_, course)| [value_at(course, 0, *t), value_at(course, 1, *t)]);
        let (_, finest) = &courses[courses.len() - 1];
        let wake = [value_at(finest, 3, *t), value_at(finest, 4, *t)];
        (t.to_string(), [at(*t)].into_iter().chain(values).chain(wake).collect())
    });
    Ok(Validation {
        title: "Drag of a sphere, Reynolds number 550, against a reference".to_owned(),
        columns: vec![
            "T",
            "reference",
            "penalty_coarse",
            "impulse_coarse",
            "penalty_middle",
            "impulse_middle",
            "penalty_finest",
            "impulse_finest",
            "wake_length",
            "separation",
        ],
        rows: rows.collect(),
        figure: Box::new(figure(&courses)),
        claims: claims(&courses),
    })
}

fn sphere(set: &str) -> Result<Case, Error> {
    let built_in = BuiltIn::ALL.iter().find(|case| case.name == "sphere");
    let text = built_in.map_or("", |case| case.text);
    let set = [Override::parse(set)?];
    Ok(case::read(text, "sphere", &set)?)
}

fn simulate(case: &Case, device: Device) -> Result<Course, Error> {
    let mut model = FlowModel::new(case, MachineProfile::default())?;
    model.summation().device = device;
    let names = model.columns();
    let place = |name: &str| names.iter().position(|found| found == name).unwrap_or(0);
    let (at_t, places) = (place("T"), COLUMNS.map(place));
    let (mut course, mut time, mut step) = (Vec::new(), 0.0, 0);
    while time < case.time.end {
        model.evaluate()?;
        let left = case.time.end - time;
        let dt = model.choose_step(&case.time)?.dt.min(left);
        step += 1;
        model.advance(dt, step)?;
        model.evaluate()?;
        let row = model.measure(false)?;
        course.push((row[at_t], places.map(|k| row[k])));
        time = if dt == left { case.time.end } else { time + dt };
    }
    Ok(course)
}

/// A value at some T, linear between steps.
fn value_at(course: &Course, column: usize, t: f64) -> f64 {
    let after = course.iter().position(|(known, _)| *known >= t - 1e-9);
    match after {
        None => f64::NAN,
        Some(0) => course[0].1[column],
        Some(k) => {
            let ((t0, v0), (t1, v1)) = (&course[k - 1], &course[k]);
            v0[column] + (v1[column] - v0[column]) * (t - t0) / (t1 - t0)
        }
    }
}

fn largest_error(course: &Course, column: usize, from: f64) -> f64 {
    let errors = TIMES
        .iter()
        .filter(|t| **t >= from)
        .map(|t| (value_at(course, column, *t) / at(*t) - 1.0).abs());
    errors.fold(0.0, f64::max)
}

fn claims(courses: &[(&Resolution, Course)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (column, what) in [(0, "penalisation"), (1, "impulse")] {
        for (resolution, course) in courses {
            if let Some((from, within)) = resolution.claim {
                let points = resolution.points;
                claims.push(Claim::below(
                    format!("drag from {what}, {points} points across, T from {from} to 3: largest relative error"),
                    largest_error(course, column, from),
                    within,
                ));
            }
        }
        let errors: Vec<f64> = courses
            .iter()
            .map(|(_, course)| largest_error(course, column, FROM))
            .collect();
        claims.push(Claim {
            text: format!("drag from {what}: errors fall with the resolution: {errors:.4?}"),
            holds: errors.windows(2).all(|pair| pair[1] < pair[0]),
        });
    }
    if let Some((finest, course)) = courses.last() {
        let lift = course
            .iter()
            .filter(|(t, _)| *t >= FROM)
            .map(|(_, v)| (v[2] / v[1]).abs())
            .fold(0.0, f64::max);
        claims.push(Claim::below(
            format!("lift over drag, {} points across", finest.points),
            lift,
            LIFT,
        ));
    }
    claims
}

fn figure(courses: &[(&Resolution, Course)]) -> ChartGrid {
    let mut drag = LineChart::new("Drag coefficient from the impulse")
        .x_axis(Axis::linear("T = U t / R"))
        .y_axis(Axis::linear("coefficient").range(0.4, 1.6));
    let mut error = LineChart::new("Relative error")
        .x_axis(Axis::linear("T = U t / R"))
        .y_axis(Axis::linear("error").range(-0.2, 0.2));
    for (k, (resolution, course)) in courses.iter().enumerate() {
        let later = || course.iter().filter(|(t, _)| *t >= 0.1 && *t <= 3.0);
        let values: Vec<(f64, f64)> = later().map(|(t, v)| (*t, v[1])).collect();
        let errors: Vec<(f64, f64)> = later().map(|(t, v)| (*t, v[1] / at(*t) - 1.0)).collect();
        let series = |points_of: &[(f64, f64)]| {
            Series::new(format!("D/h = {}", resolution.points))
                .points(points_of)
                .style(LineStyle::Solid, Marker::None)
                .color(Color::PALETTE[k])
        };
        drag = drag.series(series(&values));
        error = error.series(series(&errors));
    }
    let known: Vec<(f64, f64)> = CURVE.iter().copied().filter(|(t, _)| (0.1..=3.0).contains(t)).collect();
    drag = drag.series(
        Series::new("reference")
            .points(&known)
            .style(LineStyle::Dashed, Marker::None)
            .color(Color::INK),
    );
    ChartGrid::new("Sphere, impulsively started, Reynolds number 550")
        .columns(2)
        .chart(drag)
        .chart(error)
        .size(1200, 500)
}
