//! Simulations whose state stays on a device, against the same steps on the CPU.

use super::Error;
use super::checks::Row;
use farfield::Device;
use farfield::memory::Memory;
use farfield::tuning::MachineProfile;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::gravity::GravityModel;
use farfield_sim::model::{Model, State};
use farfield_sim::plane::PlaneModel;
use farfield_sim::vortex::VortexModel;
use std::sync::Arc;

/// Steps of each simulation.
const STEPS: u64 = 4;

/// Two rings of different core sizes, 672 elements, 500 tracers.
const RINGS: [&str; 7] = [
    "vortex.around=48",
    "vortex.layers=1",
    "vortex.rings.0.core=0.25",
    "vortex.rings.1.core=0.26",
    "tracers.count=500",
    "sum.method=\"direct\"",
    "sum.tolerance=1e-12",
];

const CLUSTER: [&str; 3] = [
    "gravity.plummer.0.count=500",
    "sum.method=\"direct\"",
    "sum.tolerance=1e-12",
];

/// What to set, besides the size, and how much the results may differ.
type Check = (&'static str, &'static [&'static str], f64);

const VORTEX: [Check; 6] = [
    (
        "euler, classical",
        &["time.scheme=euler", "vortex.stretching=classical"],
        1e-9,
    ),
    ("rk2, mixed", &["time.scheme=rk2", "vortex.stretching=mixed"], 1e-9),
    (
        "rk4, relaxation",
        &["vortex.core=gaussian", "vortex.relaxation=0.5"],
        1e-9,
    ),
    (
        "rk4, core spreading",
        &[
            "vortex.core=gaussian",
            "vortex.viscosity=0.001",
            "vortex.diffusion=core-spreading",
        ],
        1e-9,
    ),
    (
        "rk4, strength exchange, remeshing",
        &[
            "vortex.viscosity=0.001",
            "vortex.diffusion=pse",
            "vortex.remesh_every=2",
            "vortex.remesh_cutoff=0.01",
        ],
        1e-9,
    ),
    (
        "rk4, FMM",
        &[
            "vortex.around=108",
            "vortex.layers=2",
            "vortex.rings.0.core=0.15",
            "vortex.rings.1.core=0.15",
            "vortex.core=hu-polynomial",
            "tracers.count=20000",
            "sum.method=\"fmm\"",
            "sum.tolerance=1e-6",
        ],
        1e-5,
    ),
];

const GRAVITY: [Check; 3] = [
    ("leapfrog", &["time.scheme=leapfrog"], 1e-9),
    ("yoshida4", &["time.scheme=yoshida4"], 1e-9),
    (
        "leapfrog, FMM",
        &[
            "gravity.plummer.0.count=20000",
            "sum.method=\"fmm\"",
            "sum.tolerance=1e-6",
        ],
        1e-6,
    ),
];

/// Two clouds in the plane whose blobs differ in size, and 200 tracers.
const CLOUDS: &str = "[time]\nend = 1.0\nstep = 0.02\n[sum]\nmethod = \"direct\"\ntolerance = 1e-12\n[plane]\n\
    [[plane.clouds]]\ncount = 400\nradius = 1.0\ncore = 0.05\nboth_signs = true\n\
    [[plane.clouds]]\ncount = 300\nradius = 0.5\ncore = 0.08\n[tracers]\ncount = 200\n";

const PLANE: [Check; 6] = [
    ("rk4, Gaussian blobs of two sizes", &[], 1e-9),
    ("rk4, Gaussian blobs of one size", &["plane.clouds.1.core=0.05"], 1e-9),
    (
        "rk2, algebraic blobs",
        &["plane.core=algebraic", "time.scheme=rk2"],
        1e-9,
    ),
    (
        "rk4, core spreading",
        &["plane.viscosity=0.01", "plane.diffusion=core-spreading"],
        1e-9,
    ),
    (
        "euler, random walk",
        &[
            "plane.viscosity=0.01",
            "plane.diffusion=random-walk",
            "time.scheme=euler",
        ],
        1e-9,
    ),
    ("rk4, FMM", &FMM_IN_PLANE, 1e-5),
];

const FMM_IN_PLANE: [&str; 6] = [
    "plane.clouds.0.count=20000",
    "plane.clouds.1.count=10000",
    "plane.clouds.0.core=0.005",
    "plane.clouds.1.core=0.008",
    "sum.method=\"fmm\"",
    "sum.tolerance=1e-6",
];

/// A core whose far field begins early, so that an FMM has levels.
const FMM: [&str; 4] = [
    "vortex.core=hu-polynomial",
    "sum.method=\"fmm\"",
    "sum.tolerance=1e-4",
    "tracers.count=20000",
];

/// Runs all checks and hands each row to `report` as it comes.
pub fn run(device: &Arc<farfield::cuda::Device>, report: &mut dyn FnMut(&Row)) -> Result<(), Error> {
    let device = Device::Cuda(device.properties().ordinal);
    for (what, set, allowed) in VORTEX {
        report(&against_cpu(what, &read("leapfrog", &RINGS, set)?, device, allowed)?);
    }
    for (what, set, allowed) in GRAVITY {
        report(&against_cpu(what, &read("plummer", &CLUSTER, set)?, device, allowed)?);
    }
    for (what, set, allowed) in PLANE {
        report(&against_cpu(
            what,
            &read_text(CLOUDS, "clouds", &[], set)?,
            device,
            allowed,
        )?);
    }
    for (fmm, direct) in [
        (read("leapfrog", &RINGS, &FMM)?, read("leapfrog", &RINGS, &[])?),
        (
            read_text(CLOUDS, "clouds", &[], &FMM_IN_PLANE)?,
            read_text(CLOUDS, "clouds", &[], &[])?,
        ),
    ] {
        report(&restored(&fmm, device)?);
        report(&not_a_number(&direct, device)?);
    }
    report(&shrunk(&read("leapfrog", &RINGS, &FMM)?, device)?);
    Ok(())
}

fn read(name: &str, size: &[&str], set: &[&str]) -> Result<Case, Error> {
    let built_in = BuiltIn::ALL.iter().find(|case| case.name == name);
    read_text(built_in.map_or("", |case| case.text), name, size, set)
}

fn read_text(text: &str, name: &str, size: &[&str], set: &[&str]) -> Result<Case, Error> {
    let texts = size.iter().chain(set).map(|text| Override::parse(text));
    let overrides = texts.collect::<Result<Vec<_>, _>>()?;
    Ok(case::read(text, name, &overrides)?)
}

fn model(case: &Case) -> Result<Box<dyn Model>, Error> {
    let profile = MachineProfile::default();
    Ok(if case.gravity.is_some() {
        Box::new(GravityModel::new(case, profile)?)
    } else if case.plane.is_some() {
        Box::new(PlaneModel::new(case, profile)?)
    } else {
        Box::new(VortexModel::new(case, profile)?)
    })
}

/// Sends the present state to a device.
fn place(model: &mut dyn Model, device: Device) -> Result<(), Error> {
    model.stay_in(&Memory::of(device)?)?;
    model.summation().device = device.into();
    Ok(())
}

fn steps(model: &mut dyn Model, case: &Case, which: std::ops::Range<u64>) -> Result<State, Error> {
    for step in which {
        model.advance(case.time.step, step + 1)?;
    }
    Ok(model.state()?)
}

/// The largest relative difference of an array, in the norm of the tolerance; infinite if lengths differ.
fn difference(a: &State, b: &State) -> f64 {
    let one = |a: &[f64], b: &[f64]| {
        if a.len() != b.len() {
            return f64::INFINITY;
        }
        let squares = a.iter().zip(b).map(|(x, y)| [(x - y) * (x - y), x * x]);
        let [different, all] = squares.fold([0.0, f64::MIN_POSITIVE], |[d, s], [x, y]| [d + x, s + y]);
        let relative = (different / all).sqrt();
        // Not a number is no small difference.
        if relative.is_nan() { f64::INFINITY } else { relative }
    };
    let arrays = a.arrays.iter().zip(&b.arrays);
    arrays.map(|(a, b)| one(&a.2, &b.2)).fold(0.0, f64::max)
}

fn against_cpu(what: &str, case: &Case, device: Device, allowed: f64) -> Result<Row, Error> {
    let (mut here, mut there) = (model(case)?, model(case)?);
    place(&mut *there, device)?;
    let here = steps(&mut *here, case, 0..STEPS)?;
    let there = steps(&mut *there, case, 0..STEPS)?;
    let system = match (&case.gravity, &case.plane) {
        (Some(_), _) => "gravity",
        (_, Some(_)) => "the plane",
        _ => "vortices",
    };
    let what = format!("steps on the device: {system}, {what}");
    Ok(row(&what, case, difference(&here, &there), allowed))
}

/// The numbers that differ between a run of all steps and one that was stopped and resumed in the middle.
fn restored(case: &Case, device: Device) -> Result<Row, Error> {
    let (mut whole, mut first, mut second) = (model(case)?, model(case)?, model(case)?);
    place(&mut *whole, device)?;
    place(&mut *first, device)?;
    let middle = steps(&mut *first, case, 0..STEPS / 2)?;
    second.restore(&middle)?;
    place(&mut *second, device)?;
    let whole = steps(&mut *whole, case, 0..STEPS)?;
    let second = steps(&mut *second, case, STEPS / 2..STEPS)?;
    let numbers = whole.arrays.iter().zip(&second.arrays);
    let different = numbers
        .flat_map(|(a, b)| a.2.iter().zip(&b.2))
        .filter(|(a, b)| a.to_bits() != b.to_bits())
        .count();
    let what = "steps on the device, stopped and resumed: bits that differ";
    Ok(row(what, case, different as f64, 0.0))
}

/// Zero if the device reports a number that is not finite with the words of the CPU.
fn not_a_number(case: &Case, device: Device) -> Result<Row, Error> {
    let spoilt = |on_device: bool| -> Result<String, Error> {
        let mut model = model(case)?;
        let mut state = model.state()?;
        state.arrays[0].2[7] = f64::NAN;
        model.restore(&state)?;
        if on_device {
            place(&mut *model, device)?;
        }
        Ok(model
            .evaluate()
            .err()
            .map_or_else(String::new, |error| error.to_string()))
    };
    let (here, there) = (spoilt(false)?, spoilt(true)?);
    let named = !here.is_empty() && here == there;
    let what = "steps on the device: a number that is not finite is reported";
    Ok(row(what, case, f64::from(u8::from(!named)), 0.0))
}

/// How far points and lengths that the device rounded for a picture are from their own, in roundings.
fn shrunk(case: &Case, device: Device) -> Result<Row, Error> {
    let mut model = model(case)?;
    place(&mut *model, device)?;
    model.evaluate()?;
    let mut farthest: f64 = 0.0;
    for cloud in model.shown() {
        // Rounded before the host has them, or it would not be asked for.
        let missing = || format!("the {} are not on the device", cloud.name);
        let rounded = cloud.points.shrunk_points()?.ok_or_else(missing)?;
        for (number, point) in rounded.numbers.iter().zip(cloud.points.vectors::<3>()?) {
            for axis in 0..3 {
                let step = (rounded.high[axis] - rounded.low[axis]) / 65535.0;
                let place = rounded.low[axis] + step * f64::from(number[axis]);
                farthest = farthest.max((place - point[axis]).abs() / step);
            }
        }
        for (_, vectors) in &cloud.vectors {
            let Some((longest, numbers)) = vectors.shrunk_lengths()? else {
                continue;
            };
            for (number, [x, y, z]) in numbers.iter().zip(vectors.vectors::<3>()?) {
                let length = (x * x + y * y + z * z).sqrt();
                farthest = farthest.max((length / longest * 255.0 - f64::from(*number)).abs());
            }
        }
    }
    let what = "points and lengths rounded on the device for a picture";
    Ok(row(what, case, farthest, 0.501))
}

fn row(what: &str, case: &Case, measured: f64, allowed: f64) -> Row {
    let points = match (&case.tracers, &case.plane) {
        (Some(tracers), Some(_)) => format!("clouds, {} tracers", tracers.count),
        (Some(tracers), None) => format!("rings, {} tracers", tracers.count),
        (None, _) => "plummer".to_owned(),
    };
    Row {
        what: what.to_owned(),
        precision: "f64",
        points,
        parameters: format!("{STEPS} steps, {:.0e}", case.sum.tolerance),
        measured,
        allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_the_self_test_can_be_read_and_built() {
        let vortex = VORTEX.iter().map(|(_, set, _)| read("leapfrog", &RINGS, set));
        let gravity = GRAVITY.iter().map(|(_, set, _)| read("plummer", &CLUSTER, set));
        let plane = PLANE.iter().map(|(_, set, _)| read_text(CLOUDS, "clouds", &[], set));
        for case in vortex
            .chain(gravity)
            .chain(plane)
            .chain([read("leapfrog", &RINGS, &FMM)])
        {
            assert!(model(&case.unwrap()).is_ok());
        }
    }

    #[test]
    fn differences_are_relative_and_never_hide_a_number_that_is_none() {
        let of = |values: &[f64]| {
            let mut state = State::default();
            state.push_numbers("sizes", values);
            state
        };
        let one = of(&[3.0, 4.0]);
        assert_eq!(difference(&one, &of(&[3.0, 4.5])), 0.1);
        assert_eq!(difference(&one, &of(&[3.0, f64::NAN])), f64::INFINITY);
        assert_eq!(difference(&one, &of(&[3.0])), f64::INFINITY);
    }
}
