//! The most common sums in one call.

use crate::plan::{Scalar, farfield_plan};
use crate::status::{Failure, farfield_status, guarded, numbers, text};
use crate::sum::farfield_sum;
use std::ffi::c_char;

/// Sources with their strengths, and targets.
struct Points<T> {
    source_count: usize,
    sources: *const T,
    strengths: *const T,
    /// Numbers per strength.
    width: usize,
    target_count: usize,
    targets: *const T,
}

/// Plans and evaluates the sum, and writes every output whose pointer is not null.
///
/// # Safety
/// The arrays have the lengths that `points` gives; every non-null pointer in `places` has room for all targets.
unsafe fn sum_up<T: Scalar>(
    sum: &mut farfield_sum,
    points: &Points<T>,
    places: &[(&str, *mut T)],
) -> Result<(), Failure> {
    let wanted: Vec<_> = places.iter().filter(|(_, place)| !place.is_null()).collect();
    if wanted.is_empty() {
        return Err(Failure::argument(format!(
            "{}: is NULL, and so is every other result",
            places[0].0
        )));
    }
    let names: Vec<_> = wanted.iter().map(|(name, _)| *name).collect();
    sum.set_text("outputs", &names.join(","))?;
    let length = |name: &str, count: usize, width: usize| {
        let length = count.checked_mul(width);
        length.ok_or_else(|| Failure::argument(format!("{name}: {count} points do not fit in memory")))
    };
    // SAFETY: by the contract.
    let sources = unsafe {
        numbers(
            "sources",
            points.sources,
            length("source_count", points.source_count, 3)?,
        )
    }?;
    let targets = match points.targets.is_null() && points.target_count == 0 {
        true => None,
        // SAFETY: by the contract.
        false => Some(unsafe {
            numbers(
                "targets",
                points.targets,
                length("target_count", points.target_count, 3)?,
            )
        }?),
    };
    let count = length("source_count", points.source_count, points.width)?;
    // SAFETY: by the contract.
    let strengths = unsafe { numbers("strengths", points.strengths, count) }?;
    let values = farfield_plan::make(sum, sources, targets)?.evaluate(strengths)?;
    for (values, (_, place)) in values.iter().zip(wanted) {
        // SAFETY: by the contract there is room for all values.
        unsafe { std::ptr::copy(values.as_ptr(), *place, values.len()) };
    }
    Ok(())
}

/// Sets the tolerance; zero keeps the default.
fn set_tolerance(sum: &mut farfield_sum, tolerance: f64) -> Result<(), Failure> {
    if tolerance == 0.0 {
        return Ok(());
    }
    sum.set_number("tolerance", tolerance)
}

/// Computes the potential of charges, `sum q/|r|`, and its gradient (3 numbers for each target). Pass NULL for a
/// result that is not wanted. With `targets` NULL and `target_count` 0, the sources are the targets. `tolerance` 0
/// stands for 1e-6.
///
/// # Safety
/// `sources` and `targets` have 3 numbers for each point, `charges` has 1 for each source. Each result that is not
/// NULL has room for all targets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_coulomb_f64(
    source_count: usize,
    sources: *const f64,
    charges: *const f64,
    target_count: usize,
    targets: *const f64,
    tolerance: f64,
    potential: *mut f64,
    gradient: *mut f64,
) -> farfield_status {
    guarded(|| {
        let mut sum = farfield_sum::new("coulomb");
        set_tolerance(&mut sum, tolerance)?;
        let points = Points {
            source_count,
            sources,
            strengths: charges,
            width: 1,
            target_count,
            targets,
        };
        // SAFETY: the same contract.
        unsafe { sum_up(&mut sum, &points, &[("potential", potential), ("gradient", gradient)]) }
    })
}

/// Computes the potential `-G sum m/|r|` of masses and the acceleration (3 numbers for each target), with Plummer
/// softening. Pass NULL for a result that is not wanted. With `targets` NULL and `target_count` 0, the sources are
/// the targets. `tolerance` 0 stands for 1e-6.
///
/// # Safety
/// `sources` and `targets` have 3 numbers for each point, `masses` has 1 for each source. Each result that is not
/// NULL has room for all targets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_gravity_f64(
    source_count: usize,
    sources: *const f64,
    masses: *const f64,
    target_count: usize,
    targets: *const f64,
    gravitational_constant: f64,
    softening: f64,
    tolerance: f64,
    potential: *mut f64,
    acceleration: *mut f64,
) -> farfield_status {
    guarded(|| {
        let mut sum = farfield_sum::new("gravity");
        set_tolerance(&mut sum, tolerance)?;
        sum.set_number("gravitational_constant", gravitational_constant)?;
        sum.set_number("softening", softening)?;
        let points = Points {
            source_count,
            sources,
            strengths: masses,
            width: 1,
            target_count,
            targets,
        };
        // SAFETY: the same contract.
        unsafe {
            sum_up(
                &mut sum,
                &points,
                &[("potential", potential), ("acceleration", acceleration)],
            )
        }
    })
}

/// Computes the velocity `1/(4 pi) sum gamma x r K(|r|)` of vortex elements (3 numbers for each target) and its
/// gradient (9, row by row). `core` is "singular" (or NULL), "winckelmans-leonard" or "gaussian", of size
/// `core_size`. Pass NULL for a result that is not wanted. With `targets` NULL and `target_count` 0, the sources are
/// the targets. `tolerance` 0 stands for 1e-6.
///
/// # Safety
/// `sources` and `targets` have 3 numbers for each point, `strengths` has 3 for each source. Each result that is not
/// NULL has room for all targets. `core` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_biot_savart_f64(
    source_count: usize,
    sources: *const f64,
    strengths: *const f64,
    target_count: usize,
    targets: *const f64,
    core: *const c_char,
    core_size: f64,
    tolerance: f64,
    velocity: *mut f64,
    velocity_gradient: *mut f64,
) -> farfield_status {
    guarded(|| {
        let mut sum = farfield_sum::new("biot-savart");
        set_tolerance(&mut sum, tolerance)?;
        if !core.is_null() {
            // SAFETY: by the contract.
            sum.set_text("core", unsafe { text("core", core) }?)?;
            sum.set_number("core_size", core_size)?;
        }
        let points = Points {
            source_count,
            sources,
            strengths,
            width: 3,
            target_count,
            targets,
        };
        let places = [("velocity", velocity), ("velocity-gradient", velocity_gradient)];
        // SAFETY: the same contract.
        unsafe { sum_up(&mut sum, &points, &places) }
    })
}
