//! An impulsively started sphere, Reynolds number 550, against a reference at three resolutions: drag by three methods,
//! friction, and the wake.

use super::{Validation, chart, dashed, line};
use crate::Error;
use crate::case::built_in;
use farfield::Device;
use farfield::tuning::MachineProfile;
use farfield_grid::poisson::PoissonDevice;
use farfield_plot::{Axis, ChartGrid, Color, Figure, LineChart, Marker};
use farfield_sim::case::Case;
use farfield_sim::flow::FlowModel;
use farfield_sim::reference::sphere_drag::{Row, TABLE, at};

/// A run of the built-in case.
struct Resolution {
    /// Points across the diameter.
    points: u32,
    /// The setting of the built-in case.
    set: &'static str,
    /// The T from which on the drag is compared, and the largest relative error.
    drag: Option<(f64, f64)>,
}

const EIGHTH: Resolution = Resolution {
    points: 16,
    set: "grid.level=0",
    drag: None,
};
const QUARTER: Resolution = Resolution {
    points: 32,
    set: "grid.level=1",
    drag: Some((1.0, 0.08)),
};
const DEFAULT: Resolution = Resolution {
    points: 64,
    set: "grid.level=2",
    drag: Some((0.2, 0.03)),
};
const FINE: Resolution = Resolution {
    points: 100,
    set: "size=fine",
    drag: Some((0.05, 0.03)),
};

/// Rows of the reference that are compared, in T.
const FROM: f64 = 0.05;
const TO: f64 = 5.0;
/// Errors of different resolutions are compared from this T on. Earlier the layer on the wall is thinner than a coarse
/// spacing.
const ALL_RESOLVE_FROM: f64 = 0.5;
/// The wake is compared from this T on. Earlier it is no longer than a few spacings.
const WAKE_FROM: f64 = 1.0;
/// The largest errors of the angle in degrees, of the length of the wake in spacings, and of friction, relative.
const ANGLE: f64 = 3.0;
const WAKE: f64 = 0.5;
const FRICTION: f64 = 0.06;
/// The largest lift over the drag.
const LIFT: f64 = 1e-3;

/// The diagnostics that make a [`Moment`].
const COLUMNS: [&str; 9] = [
    "T",
    "drag_penalty",
    "drag_impulse",
    "drag_control",
    "drag_friction",
    "separation",
    "wake_length",
    "lift_y",
    "lift_z",
];

/// The methods of the drag, in the order of a [`Moment`].
const WAYS: [&str; 3] = ["penalisation", "impulse", "control volume"];

/// A moment of a run.
#[derive(Debug, Clone, Copy)]
struct Moment {
    t: f64,
    /// In the order of [`WAYS`].
    drag: [f64; 3],
    friction: f64,
    separation: f64,
    wake: f64,
    lift: f64,
}

/// Every step.
type Course = Vec<Moment>;

pub fn run(device: PoissonDevice) -> Result<Validation, Error> {
    let resolutions = match device {
        PoissonDevice::One(Device::Cpu) => [EIGHTH, QUARTER, DEFAULT],
        _ => [QUARTER, DEFAULT, FINE],
    };
    let mut courses: Vec<(&Resolution, Course)> = Vec::new();
    // The last T that is compared; T is twice the time.
    let end = format!("time.end={}", 0.5 * TO);
    for resolution in &resolutions {
        courses.push((
            resolution,
            simulate(&built_in("sphere", &[resolution.set, &end])?, device)?,
        ));
    }
    let columns = [
        "T",
        "reference",
        "penalty_coarse",
        "impulse_coarse",
        "control_coarse",
        "penalty_middle",
        "impulse_middle",
        "control_middle",
        "penalty_finest",
        "impulse_finest",
        "control_finest",
        "friction_reference",
        "friction",
        "separation_reference",
        "separation",
        "wake_length_reference",
        "wake_length",
    ];
    let mut found = Validation::new("Drag of a sphere, Reynolds number 550, against a reference", &columns);
    found.rows = rows_from(FROM).map(|known| table_row(known, &courses)).collect();
    claim(&mut found, &courses);
    Ok(found.with(figure(&courses)))
}

/// The rows of the reference that are compared.
fn rows_from(from: f64) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.t >= from && row.t <= TO)
}

fn table_row(known: &Row, courses: &[(&Resolution, Course)]) -> (String, Vec<f64>) {
    let mut values = vec![known.drag];
    values.extend(courses.iter().flat_map(|(_, course)| moment_at(course, known.t).drag));
    if let Some((_, finest)) = courses.last() {
        let found = moment_at(finest, known.t);
        values.extend([known.friction, found.friction, known.separation, found.separation]);
        values.extend([known.wake, found.wake]);
    }
    (known.t.to_string(), values)
}

fn simulate(case: &Case, device: PoissonDevice) -> Result<Course, Error> {
    let mut model = FlowModel::new(case, MachineProfile::default())?;
    model.summation().device = device;
    let names = model.columns();
    let places = COLUMNS.map(|name| names.iter().position(|found| found == name).unwrap_or(0));
    let (mut course, mut time, mut step) = (Vec::new(), 0.0, 0);
    while time < case.time.end {
        model.evaluate()?;
        let left = case.time.end - time;
        let dt = model.choose_step(&case.time)?.dt.min(left);
        step += 1;
        model.advance(dt, step)?;
        model.evaluate()?;
        let row = model.measure(false)?;
        let [t, penalty, impulse, control, friction, separation, wake, lift_y, lift_z] = places.map(|k| row[k]);
        course.push(Moment {
            t,
            drag: [penalty, impulse, control],
            friction,
            separation,
            wake,
            lift: lift_y.hypot(lift_z),
        });
        time = if dt == left { case.time.end } else { time + dt };
    }
    Ok(course)
}

/// The moment at T = `t`, linear between steps; NaN after the last.
fn moment_at(course: &Course, t: f64) -> Moment {
    let after = course.iter().position(|moment| moment.t >= t - 1e-9);
    let (before, after) = match after {
        Some(k) => (&course[k.saturating_sub(1)], &course[k]),
        None => {
            return Moment {
                t,
                drag: [f64::NAN; 3],
                friction: f64::NAN,
                separation: f64::NAN,
                wake: f64::NAN,
                lift: f64::NAN,
            };
        }
    };
    let share = match after.t > before.t {
        true => (t - before.t) / (after.t - before.t),
        false => 0.0,
    };
    let between = |of: fn(&Moment) -> f64| of(before) + share * (of(after) - of(before));
    Moment {
        t,
        drag: std::array::from_fn(|k| before.drag[k] + share * (after.drag[k] - before.drag[k])),
        friction: between(|m| m.friction),
        separation: between(|m| m.separation),
        wake: between(|m| m.wake),
        lift: between(|m| m.lift),
    }
}

/// The largest difference from the reference from T = `from` on; NaN if any difference is.
fn largest(course: &Course, from: f64, difference: impl Fn(&Moment, &Row) -> f64) -> f64 {
    let differences = rows_from(from).map(|known| difference(&moment_at(course, known.t), known).abs());
    differences.fold(0.0, |most, now| if now > most || now.is_nan() { now } else { most })
}

fn claim(found: &mut Validation, courses: &[(&Resolution, Course)]) {
    for (way, name) in WAYS.iter().enumerate() {
        let error =
            |course: &Course, from: f64| largest(course, from, |found, known| found.drag[way] / known.drag - 1.0);
        for (resolution, course) in courses {
            if let Some((from, within)) = resolution.drag {
                let points = resolution.points;
                let text =
                    format!("drag from {name}, {points} points across, T from {from} to {TO}: largest relative error");
                found.below(text, error(course, from), within);
            }
        }
        let errors: Vec<f64> = courses
            .iter()
            .map(|(_, course)| error(course, ALL_RESOLVE_FROM))
            .collect();
        found.claim(
            format!("drag from {name}, T from {ALL_RESOLVE_FROM} on: errors fall with the resolution: {errors:.4?}"),
            errors.windows(2).all(|pair| pair[1] < pair[0]),
        );
    }
    if let Some((finest, course)) = courses.last() {
        let mut below = |what: &str, from: f64, value: f64, limit: f64| {
            let text = format!("{what}, {} points across, T from {from} on", finest.points);
            found.below(text, value, limit);
        };
        let friction = largest(course, ALL_RESOLVE_FROM, |found, known| {
            found.friction / known.friction - 1.0
        });
        below("friction: largest relative error", ALL_RESOLVE_FROM, friction, FRICTION);
        let angle = largest(course, WAKE_FROM, |found, known| found.separation - known.separation);
        below("angle of separation: largest error in degrees", WAKE_FROM, angle, ANGLE);
        let points = f64::from(finest.points);
        let wake = largest(course, WAKE_FROM, |found, known| points * (found.wake - known.wake));
        below("length of the wake: largest error in spacings", WAKE_FROM, wake, WAKE);
        let later = course.iter().filter(|moment| moment.t >= FROM);
        let lift = later
            .map(|moment| (moment.lift / moment.drag[1]).abs())
            .fold(0.0, f64::max);
        below("lift over drag", FROM, lift, LIFT);
    }
}

fn figure(courses: &[(&Resolution, Course)]) -> ChartGrid {
    /// A value of a moment, and the same of the reference.
    type Line = (fn(&Moment) -> f64, Option<fn(&Row) -> f64>);
    let panel = |title: &str, axis: Axis, from: f64, (value, reference): Line| {
        let empty: LineChart = chart(title, Axis::linear("T = U t / R"), axis);
        let chart = courses
            .iter()
            .enumerate()
            .fold(empty, |chart, (k, (resolution, course))| {
                let moments = course.iter().filter(|moment| moment.t >= from);
                let points: Vec<_> = moments.map(|moment| (moment.t, value(moment))).collect();
                chart.series(line(format!("D/h = {}", resolution.points), &points, k, Marker::None))
            });
        let Some(reference) = reference else { return chart };
        let points: Vec<_> = rows_from(from).map(|row| (row.t, reference(row))).collect();
        chart.series(dashed("reference", &points, Color::INK))
    };
    let coefficient = Axis::linear("coefficient").range(0.4, 1.6);
    let error = Axis::linear("error").range(-0.2, 0.2);
    let degrees = Axis::linear("degrees").range(100.0, 160.0);
    ChartGrid::new("Sphere, impulsively started, Reynolds number 550")
        .columns(2)
        .chart(panel(
            "Drag coefficient from the impulse",
            coefficient,
            0.1,
            (|moment| moment.drag[1], Some(|row| row.drag)),
        ))
        .chart(panel(
            "Relative error",
            error,
            0.1,
            (|moment| moment.drag[1] / at(moment.t) - 1.0, None),
        ))
        .chart(panel(
            "Angle of separation",
            degrees,
            0.7,
            (|moment| moment.separation, Some(|row| row.separation)),
        ))
        .chart(panel(
            "Length of the wake",
            Axis::linear("diameters"),
            0.7,
            (|moment| moment.wake, Some(|row| row.wake)),
        ))
        .size(1200, 900)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments as the reference has them, with a drag and a wake that are off.
    fn course(drag: f64, wake: f64) -> Course {
        let moment = |row: &Row| Moment {
            t: row.t,
            drag: [drag * row.drag; 3],
            friction: row.friction,
            separation: row.separation,
            wake: wake * row.wake,
            lift: 0.0,
        };
        TABLE.iter().map(moment).collect()
    }

    #[test]
    fn claims_hold_where_errors_fall_and_are_small_and_nowhere_else() {
        let [coarse, middle] = [course(1.05, 1.0), course(1.01, 1.0)];
        let failing = |finest: Course| -> Vec<String> {
            let courses = [(&QUARTER, coarse.clone()), (&DEFAULT, middle.clone()), (&FINE, finest)];
            let mut found = Validation::new("", &[]);
            claim(&mut found, &courses);
            let failing = found.claims.into_iter().filter(|(_, holds)| !holds);
            failing.map(|(text, _)| text).collect()
        };
        assert_eq!(failing(course(1.001, 1.0)), Vec::<String>::new());
        let worse = failing(course(1.04, 1.0));
        assert!(worse.iter().all(|text| text.starts_with("drag from")), "{worse:?}");
        assert_eq!(worse.len(), 6);
        let longer = failing(course(1.001, 1.1));
        assert!(
            matches!(&longer[..], [only] if only.starts_with("length of the wake")),
            "{longer:?}"
        );
        // A run that ended early shows nothing about later times.
        let mut short = course(1.001, 1.0);
        short.truncate(10);
        assert!(failing(short).len() >= 9);
    }

    #[test]
    fn moments_between_steps_are_interpolated() {
        let course = course(1.0, 1.0);
        let found = moment_at(&course, 1.3);
        assert!((found.drag[0] - 0.5 * (0.59671 + 0.60107)).abs() < 1e-9);
        assert!((found.wake - 0.5 * (0.0805 + 0.1072)).abs() < 1e-9);
        assert!(moment_at(&course, 11.0).drag[0].is_nan());
    }
}
