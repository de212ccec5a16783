//! `farfield sample`: fields of a run on a grid, computed from its particles.

use crate::args::SampleArgs;
use crate::failure::Failure;
use crate::{layout, threads};
use farfield_sim::model::{Model, Show};
use farfield_sim::run::{MomentOfRun, Run};
use farfield_sim::sample::{Quantity, Region, sample};
use std::fmt::Write;

/// The share by which the box around the vortices is enlarged on every side.
const ROOM: f64 = 0.25;

/// Runs the command.
pub fn run(args: &SampleArgs) -> Result<String, Failure> {
    let slice = args.slice.as_deref().map(parse_slice).transpose()?;
    threads::start(args.threads)?;
    let MomentOfRun {
        mut model, step, time, ..
    } = Run::state_of(&args.folder, args.step)?;
    let (low, high) = match (corner("low", &args.low)?, corner("high", &args.high)?) {
        (Some(low), Some(high)) => (low, high),
        _ => around(&mut *model)?,
    };
    let region = Region::new(low, high, args.resolution).map_err(Failure::Usage)?;
    let region = match slice {
        Some((axis, at)) => region.slice(axis, at),
        None => region,
    };
    let quantities: Vec<Quantity> = args
        .quantity
        .iter()
        .filter_map(|name| Quantity::ALL.into_iter().find(|quantity| quantity.name() == name))
        .collect();
    let sampled = sample(&mut *model, region, &quantities)?;
    let stem = args
        .output
        .clone()
        .unwrap_or_else(|| args.folder.join(format!("sample-{step:06}")));
    let written = sampled.write(&stem, time)?;
    let [x, y, z] = region.size;
    let mut text = format!(
        "step          {step}, time {time}\ngrid          {x} x {y} x {z} points, {:.4} apart\n",
        region.spacing
    );
    for path in written {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "written       {}", path.display());
    }
    Ok(layout::fit(text))
}

/// Reads `z=0` as an axis and a coordinate.
pub fn parse_slice(text: &str) -> Result<(usize, f64), Failure> {
    let wrong = || Failure::Usage(format!("--slice {text}: write x=0, y=0.5 or z=-1"));
    let (axis, place) = text.split_once('=').ok_or_else(wrong)?;
    let axis = ["x", "y", "z"]
        .iter()
        .position(|name| *name == axis.trim())
        .ok_or_else(wrong)?;
    let place: f64 = place.trim().parse().map_err(|_| wrong())?;
    if place.is_finite() {
        Ok((axis, place))
    } else {
        Err(wrong())
    }
}

fn corner(name: &str, numbers: &[f64]) -> Result<Option<[f64; 3]>, Failure> {
    match numbers {
        [] => Ok(None),
        [x, y, z] => Ok(Some([*x, *y, *z])),
        _ => Err(Failure::Usage(format!(
            "--{name}: three numbers are needed, separated by commas"
        ))),
    }
}

/// The box around all points, enlarged by `ROOM`. A flat box of a plane flow stays flat.
fn around(model: &mut dyn Model) -> Result<([f64; 3], [f64; 3]), Failure> {
    let snapshot = model.snapshot(Show::Everything)?;
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in snapshot.clouds.iter().flat_map(|cloud| &cloud.points) {
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    for axis in 0..3 {
        if high[axis] > low[axis] {
            low[axis] -= ROOM * longest;
            high[axis] += ROOM * longest;
        }
    }
    Ok((low, high))
}
