//! Points and charges with structure, where no model of random charges holds: sums on the device measure their own error
//! and keep the tolerance, or say that they do not.

use super::Error;
use super::checks::{Checks, Extent, Row};
use farfield::Sum;
use farfield::cuda::device::Precision;
use farfield::cuda::{Device, Plan, plane};
use farfield_core::Method;
use farfield_core::check::Check;
use farfield_core::kernel::{Core, Kernel, Output};
use farfield_core::points::structured::{Structured, in_plane, in_space};
use std::sync::Arc;

/// Adds the checks of one precision.
pub(super) fn add_checks<T: Precision>(checks: &mut Checks, extent: Extent) {
    let (n, side) = match extent {
        Extent::Quick => (1000, 10),
        Extent::Full => (6000, 20),
    };
    let tolerances: &[f64] = match (extent, T::DOUBLE) {
        (Extent::Quick, _) => &[1e-3],
        (Extent::Full, false) => &[1e-2, 1e-3, 1e-5],
        (Extent::Full, true) => &[1e-2, 1e-4, 1e-6, 1e-9, 1e-12],
    };
    // In single precision a cube of 1e-12 at 0.7, or one at 1e8, is a few places.
    let fits = |name: &str| T::DOUBLE || !(name.starts_with("cube ") || name.starts_with("two cubes"));
    for set in in_space(n, side).into_iter().filter(|set| fits(set.name)) {
        let set = Arc::new(set);
        for tolerance in tolerances {
            let (charges, vortices) = (set.clone(), set.clone());
            checks.add(move |device| charges_in_space::<T>(device, &charges, *tolerance));
            checks.add(move |device| vortices_in_space::<T>(device, &vortices, *tolerance));
        }
    }
    let fits = |name: &str| T::DOUBLE || !name.starts_with("square ");
    for set in in_plane(n, 2 * side).into_iter().filter(|set| fits(set.name)) {
        let set = Arc::new(set);
        for tolerance in tolerances {
            for kernel in farfield_core::plane::Kernel::ALL {
                let set = set.clone();
                checks.add(move |device| charges_in_plane::<T>(device, &set, kernel, *tolerance));
            }
        }
    }
}

fn charges_in_space<T: Precision>(device: &Arc<Device>, set: &Structured<3>, tolerance: f64) -> Result<Row, Error> {
    let outputs = [Output::Potential, Output::Gradient];
    let strengths: Vec<T> = set.charges.iter().map(|charge| T::from_f64(*charge)).collect();
    in_space_of::<T>(device, set, (Kernel::Coulomb, &outputs), &strengths, tolerance)
}

fn vortices_in_space<T: Precision>(device: &Arc<Device>, set: &Structured<3>, tolerance: f64) -> Result<Row, Error> {
    let kernel = Kernel::BiotSavart { core: Core::Singular };
    let vortex = |charge: &f64| [0.3 * charge, -0.5 * charge, *charge].map(T::from_f64);
    let strengths: Vec<T> = set.charges.iter().flat_map(vortex).collect();
    in_space_of::<T>(device, set, (kernel, &[Output::Velocity]), &strengths, tolerance)
}

fn in_space_of<T: Precision>(
    device: &Arc<Device>,
    set: &Structured<3>,
    (kernel, outputs): (Kernel, &[Output]),
    strengths: &[T],
    tolerance: f64,
) -> Result<Row, Error> {
    let sources: Vec<[T; 3]> = set.points.iter().map(|point| point.map(T::from_f64)).collect();
    let sum = Sum::new(kernel, &sources)
        .outputs(outputs)
        .allow_unbounded_gradient()
        .method(Method::Fmm)
        .tolerance(tolerance);
    let mut plan = Plan::new(device, &sum.between())?;
    let field = plan.evaluate(strengths)?;
    let errors = sum.verify(strengths, &field, sources.len(), 1)?;
    let errors = errors.iter().map(|error| (error.output, error.relative_l2));
    let (measured, said) = exceeded(errors, field.check(), tolerance);
    Ok(Row {
        what: format!("structured, {kernel}"),
        precision: T::NAME,
        points: format!("{} {}", set.name, sources.len()),
        parameters: format!("{tolerance:e}, {}{said}", plan.parameters().method),
        measured,
        allowed: tolerance,
    })
}

fn charges_in_plane<T: Precision>(
    device: &Arc<Device>,
    set: &Structured<2>,
    kernel: farfield_core::plane::Kernel,
    tolerance: f64,
) -> Result<Row, Error> {
    use farfield::plane::{Output, Sum};
    let sources: Vec<[T; 2]> = set.points.iter().map(|point| point.map(T::from_f64)).collect();
    let strengths: Vec<T> = set.charges.iter().map(|charge| T::from_f64(*charge)).collect();
    let sum = Sum::new(kernel, &sources)
        .outputs(&Output::ALL)
        .method(Method::Fmm)
        .tolerance(tolerance);
    let mut plan = plane::Plan::new(device, &sum.between())?;
    let field = plan.evaluate(&strengths)?;
    let errors = sum.verify(&strengths, &field, sources.len(), 1)?;
    let errors = errors.iter().map(|error| (error.output, error.relative_l2));
    let (measured, said) = exceeded(errors, field.check(), tolerance);
    Ok(Row {
        what: format!("structured in the plane, {kernel}"),
        precision: T::NAME,
        points: format!("{} {}", set.name, sources.len()),
        parameters: format!("{tolerance:e}, {}{said}", plan.parameters().method),
        measured,
        allowed: tolerance,
    })
}

/// The largest error of the outputs that carry no warning, and how often it was summed. Without a check no number.
fn exceeded<'a>(errors: impl Iterator<Item = (&'a str, f64)>, check: Option<&Check>, tolerance: f64) -> (f64, String) {
    let Some(check) = check else {
        return (f64::NAN, ", no check".to_owned());
    };
    let warned = |output: &str| {
        let of = |warning: &farfield_core::check::Warning| warning.to_string().starts_with(output);
        check.warnings.iter().any(of)
    };
    let silent = errors.filter(|(output, error)| *error <= tolerance || !warned(output));
    let worst = silent.map(|(_, error)| error).fold(0.0, f64::max);
    let warnings = if check.warnings.is_empty() { "" } else { ", warned" };
    (worst, format!(", summed {} times{warnings}", check.attempts))
}
