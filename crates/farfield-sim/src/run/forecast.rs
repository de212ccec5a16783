//! Checks whether a case fits into memory before anything is allocated.

use crate::case::{Case, Gravity, Plane, Vortex};
use crate::error::Error;
use farfield::Sum;
use farfield::kernel::{Kernel, Output};
use farfield::plane;

/// Rejects a case whose points do not fit into memory if `processes` processes share them.
///
/// # Errors
/// [`Error::Memory`] if they do not fit.
pub(super) fn check(case: &Case, processes: usize) -> Result<(), Error> {
    let Some(available) = farfield::machine::available_memory() else {
        return Ok(());
    };
    let Forecast { what, bytes, remedy } = forecast(case);
    let bytes = bytes / processes as u64;
    if bytes <= available {
        return Ok(());
    }
    Err(Error::Memory {
        what,
        needed: bytes,
        available,
        remedy,
    })
}

/// The memory that a case needs.
struct Forecast {
    what: String,
    bytes: u64,
    remedy: &'static str,
}

fn forecast(case: &Case) -> Forecast {
    if let Some(vortex) = &case.vortex {
        of_vortices(case, vortex)
    } else if let Some(plane) = &case.plane {
        of_plane(case, plane)
    } else if let Some(gravity) = &case.gravity {
        of_bodies(case, gravity)
    } else {
        // The adaptive grid of a flow limits its own memory.
        Forecast {
            what: String::new(),
            bytes: 0,
            remedy: "",
        }
    }
}

/// Bytes per point in addition to the sum: the state, the stages and rates of a step, the last valid state, and copies
/// for pictures, files and checkpoints. Estimated by counting these arrays and rounding up. A step of `leapfrog` with a
/// million tracers peaked at 0.52 GB where 0.64 GB are forecast.
const EACH_ELEMENT: u64 = 1100;
const EACH_TRACER: u64 = 520;
const EACH_BODY: u64 = 560;
const EACH_VORTEX: u64 = 500;

fn of_vortices(case: &Case, vortex: &Vortex) -> Forecast {
    let filaments = 1 + 3 * vortex.layers * (vortex.layers + 1);
    let elements = (vortex.rings.len() + vortex.knots.len())
        .saturating_mul(vortex.around)
        .saturating_mul(filaments);
    let tracers = case.tracers.as_ref().map_or(0, |tracers| tracers.count);
    let kernel = Kernel::BiotSavart {
        core: vortex.core.into(),
    };
    let sum = |outputs: &[Output], targets| sum_bytes(case, kernel, outputs, elements, targets);
    let of_elements = sum(&[Output::Velocity, Output::VelocityGradient], None);
    let of_tracers = if tracers > 0 {
        sum(&[Output::Velocity], Some(tracers))
    } else {
        0
    };
    Forecast {
        what: format!("{elements} vortex elements and {tracers} tracers"),
        bytes: total(
            &[(elements, EACH_ELEMENT), (tracers, EACH_TRACER)],
            of_elements.max(of_tracers),
        ),
        remedy: "use fewer tracers (tracers.count) or elements (vortex.around, vortex.layers)",
    }
}

fn of_plane(case: &Case, of: &Plane) -> Forecast {
    let sheets = of.sheets.iter().map(|sheet| sheet.count);
    let patches = of.patches.iter().map(|patch| patch.count);
    let clouds = of.clouds.iter().map(|cloud| cloud.count);
    let parts = sheets.chain(patches).chain(clouds);
    let vortices = parts.fold(of.vortices.len(), usize::saturating_add);
    let tracers = case.tracers.as_ref().map_or(0, |tracers| tracers.count);
    let sum = plane::Sum::<f64>::new(plane::Kernel::Harmonic, &[])
        .outputs(&[plane::Output::Potential])
        .tolerance(case.sum.tolerance)
        .memory_forecast(vortices, (tracers > 0).then_some(tracers));
    Forecast {
        what: format!("{vortices} vortices and {tracers} tracers"),
        bytes: total(&[(vortices, EACH_VORTEX), (tracers, EACH_TRACER)], sum),
        remedy: "use fewer vortices or tracers (count)",
    }
}

fn of_bodies(case: &Case, gravity: &Gravity) -> Forecast {
    let plummer = gravity.plummer.iter().map(|cluster| cluster.count);
    let disks = gravity.disks.iter().map(|disk| disk.count);
    let bodies = plummer.chain(disks).fold(gravity.bodies.len(), usize::saturating_add);
    let kernel = Kernel::Gravity {
        constant: gravity.constant,
        softening: gravity.softening_kernel.into(),
    };
    let sum = sum_bytes(case, kernel, &[Output::Potential, Output::Acceleration], bodies, None);
    Forecast {
        what: format!("{bodies} bodies"),
        bytes: total(&[(bodies, EACH_BODY)], sum),
        remedy: "use fewer bodies (count)",
    }
}

fn total(points: &[(usize, u64)], sum: u64) -> u64 {
    let each = points
        .iter()
        .map(|(count, bytes)| (*count as u64).saturating_mul(*bytes));
    each.fold(sum, u64::saturating_add)
}

fn sum_bytes(case: &Case, kernel: Kernel, outputs: &[Output], sources: usize, targets: Option<usize>) -> u64 {
    let sum = Sum::<f64>::new(kernel, &[])
        .outputs(outputs)
        .tolerance(case.sum.tolerance)
        .method(case.sum.method.into())
        .allow_unbounded_gradient();
    sum.memory_forecast(sources, targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{BuiltIn, Override, read};

    fn bytes(name: &str, set: &str) -> u64 {
        let text = BuiltIn::find(name).unwrap().text;
        forecast(&read(text, name, &[Override::parse(set).unwrap()]).unwrap()).bytes
    }

    #[test]
    fn memory_grows_with_points_without_overflow() {
        for (name, key) in [("leapfrog", "tracers.count"), ("plummer", "gravity.plummer.0.count")] {
            let of = |count: u64| bytes(name, &format!("{key}={count}"));
            assert!(of(1_000_000) > 400_000_000, "{name}: {}", of(1_000_000));
            assert!(of(10_000_000) > 8 * of(1_000_000), "{name}");
            assert!(of(1 << 30) > 1 << 38, "{name}");
        }
        assert!(bytes("leapfrog", "vortex.around=1048576") > 1 << 30);
    }
}
