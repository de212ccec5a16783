//! A planned sum: the points are fixed, the strengths change from call to call.

use crate::status::{Failure, farfield_status, guarded, numbers};
use crate::sum::{farfield_sum, no_sum};
use farfield::names::FromWords;
use farfield::plane::Plane;
use farfield::{PlanOf, Precision, Space};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::c_char;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A planned sum. Made by farfield_plan_f64 or farfield_plan_f32, freed by farfield_plan_free.
pub struct farfield_plan {
    plan: AnyPlan,
    pool: Option<ThreadPool>,
}

/// A plan of either precision.
enum AnyPlan {
    Single(Box<dyn Planned<f32>>),
    Double(Box<dyn Planned<f64>>),
}

/// `float` or `double`: connects a precision with the plans of that precision.
pub(crate) trait Scalar: Precision {
    fn any(plan: Box<dyn Planned<Self>>) -> farfield_any_plan;
    fn of(plan: &farfield_plan) -> Result<&dyn Planned<Self>, Failure>;
}

/// The result of [`Scalar::any`]: a wrapper, because [`AnyPlan`] is private and the trait is not.
#[allow(missing_debug_implementations)]
pub(crate) struct farfield_any_plan(AnyPlan);

fn other_precision(made: &str, asked: &str) -> Failure {
    Failure::argument(format!(
        "plan: was made for {made}: call the function that ends in _{made}, not _{asked}"
    ))
}

impl Scalar for f32 {
    fn any(plan: Box<dyn Planned<f32>>) -> farfield_any_plan {
        farfield_any_plan(AnyPlan::Single(plan))
    }

    fn of(plan: &farfield_plan) -> Result<&dyn Planned<f32>, Failure> {
        match &plan.plan {
            AnyPlan::Single(plan) => Ok(plan.as_ref()),
            AnyPlan::Double(_) => Err(other_precision("f64", "f32")),
        }
    }
}

impl Scalar for f64 {
    fn any(plan: Box<dyn Planned<f64>>) -> farfield_any_plan {
        farfield_any_plan(AnyPlan::Double(plan))
    }

    fn of(plan: &farfield_plan) -> Result<&dyn Planned<f64>, Failure> {
        match &plan.plan {
            AnyPlan::Double(plan) => Ok(plan.as_ref()),
            AnyPlan::Single(_) => Err(other_precision("f32", "f64")),
        }
    }
}

/// A plan in space or in the plane, with the data needed to verify it.
pub(crate) trait Planned<T>: Send + Sync {
    /// Evaluates the sum; returns the values of each output.
    fn evaluate(&self, strengths: &[T]) -> Result<Vec<Vec<T>>, Failure>;
    /// Evaluates the sum and measures the relative error of each output at random targets.
    fn verify(&self, strengths: &[T], samples: usize, seed: u64) -> Result<Vec<f64>, Failure>;
    /// The length of each output.
    fn lengths(&self) -> &[usize];
    /// The plan's report as JSON.
    fn report(&self) -> String;
}

/// A plan and the points it was made for. Concurrent callers wait for each other.
struct Kept<T: Precision, G: FromWords> {
    plan: Mutex<PlanOf<T, G>>,
    sum: farfield_sum,
    sources: Vec<T>,
    targets: Option<Vec<T>>,
    lengths: Vec<usize>,
}

impl<T: Precision, G: FromWords> Planned<T> for Kept<T, G>
where
    PlanOf<T, G>: Send,
{
    fn evaluate(&self, strengths: &[T]) -> Result<Vec<Vec<T>>, Failure> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(plan.evaluate(strengths)?.into_values())
    }

    fn verify(&self, strengths: &[T], samples: usize, seed: u64) -> Result<Vec<f64>, Failure> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let field = plan.evaluate(strengths)?;
        let sum = self.sum.between::<T, G>(&self.sources, self.targets.as_deref())?;
        let errors = sum.verify(strengths, &field, samples, seed)?;
        Ok(errors.into_iter().map(|error| error.relative_l2).collect())
    }

    fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    fn report(&self) -> String {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        // A report consists of numbers and strings: it always serialises.
        serde_json::to_string(&plan.report()).unwrap_or_default()
    }
}

impl farfield_plan {
    /// Validates the input, plans the sum and copies the points.
    pub(crate) fn make<T: Scalar>(sum: &farfield_sum, sources: &[T], targets: Option<&[T]>) -> Result<Self, Failure> {
        refuse_forked()?;
        let pool = sum.threads.map(pool).transpose()?;
        let planned = in_pool(pool.as_ref(), || {
            if sum.is_plane() {
                kept::<T, Plane>(sum, sources, targets)
            } else {
                kept::<T, Space>(sum, sources, targets)
            }
        })?;
        Ok(Self {
            plan: T::any(planned).0,
            pool,
        })
    }

    /// Evaluates the sum.
    pub(crate) fn evaluate<T: Scalar>(&self, strengths: &[T]) -> Result<Vec<Vec<T>>, Failure> {
        refuse_forked()?;
        let plan = T::of(self)?;
        in_pool(self.pool.as_ref(), || plan.evaluate(strengths))
    }

    fn lengths(&self) -> &[usize] {
        match &self.plan {
            AnyPlan::Single(plan) => plan.lengths(),
            AnyPlan::Double(plan) => plan.lengths(),
        }
    }
}

fn kept<T: Scalar, G: FromWords>(
    sum: &farfield_sum,
    sources: &[T],
    targets: Option<&[T]>,
) -> Result<Box<dyn Planned<T>>, Failure>
where
    PlanOf<T, G>: Send,
{
    let whole = sum.between::<T, G>(sources, targets)?;
    let (plan, request) = (whole.plan()?, whole.request());
    let count = targets.unwrap_or(sources).len() / G::COORDINATES;
    let length = |output: &G::Output| request.vectors * count * G::output_components(request.kernel, *output);
    let lengths = request.outputs.iter().map(length).collect();
    Ok(Box::new(Kept::<T, G> {
        plan: Mutex::new(plan),
        sum: sum.clone(),
        sources: sources.to_vec(),
        targets: targets.map(<[T]>::to_vec),
        lengths,
    }))
}

/// A pool of `threads` threads for one plan.
fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    if !(1..=4096).contains(&threads) {
        return Err(Failure::argument(format!(
            "threads = {threads} is outside its range 1 to 4096"
        )));
    }
    let made = ThreadPoolBuilder::new().num_threads(threads).build();
    made.map_err(|error| Failure::machine(format!("could not start {threads} threads: {error}")))
}

fn in_pool<R: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Refuses to work in a forked process: it lacks its parent's threads, and a sum would wait for them forever.
fn refuse_forked() -> Result<(), Failure> {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let process = std::process::id();
    if *FIRST.get_or_init(|| process) == process {
        return Ok(());
    }
    Err(Failure::machine(
        "this process was forked after its parent had used farfield, and lacks the parent's threads: fork before the \
         first sum, or start a new process",
    ))
}

/// # Safety
/// As `farfield_plan_f64`.
unsafe fn plan_of<T: Scalar>(
    sum: *const farfield_sum,
    (source_count, sources): (usize, *const T),
    (target_count, targets): (usize, *const T),
    plan: *mut *mut farfield_plan,
) -> farfield_status {
    guarded(|| {
        if plan.is_null() {
            return Err(Failure::argument("plan: is NULL"));
        }
        // SAFETY: not null, and by the contract it points to a pointer.
        unsafe { *plan = std::ptr::null_mut() };
        // SAFETY: by the contract.
        let sum = unsafe { sum.as_ref() }.ok_or_else(no_sum)?;
        let dimension = if sum.is_plane() { 2 } else { 3 };
        let length = |name: &str, count: usize| {
            let length = count.checked_mul(dimension);
            length.ok_or_else(|| Failure::argument(format!("{name}: {count} points do not fit in memory")))
        };
        // SAFETY: by the contract.
        let sources = unsafe { numbers("sources", sources, length("source_count", source_count)?) }?;
        let targets = match targets.is_null() && target_count == 0 {
            true => None,
            // SAFETY: by the contract.
            false => Some(unsafe { numbers("targets", targets, length("target_count", target_count)?) }?),
        };
        let made = farfield_plan::make(sum, sources, targets)?;
        // SAFETY: as above.
        unsafe { *plan = Box::into_raw(Box::new(made)) };
        Ok(())
    })
}

/// # Safety
/// As `farfield_evaluate_f64`.
unsafe fn evaluate_of<T: Scalar>(
    plan: *const farfield_plan,
    (strengths, length): (*const T, usize),
    (results, count): (*const *mut T, usize),
) -> farfield_status {
    guarded(|| {
        // SAFETY: by the contract.
        let plan = unsafe { plan.as_ref() }.ok_or_else(no_plan)?;
        // SAFETY: by the contract.
        let (strengths, places) = unsafe {
            (
                numbers("strengths", strengths, length)?,
                numbers("results", results, count)?,
            )
        };
        let outputs = plan.lengths().len();
        if count != outputs {
            return Err(Failure::argument(format!(
                "results: {count} arrays for {outputs} outputs"
            )));
        }
        let values = plan.evaluate(strengths)?;
        for (values, place) in values.iter().zip(places).filter(|(_, place)| !place.is_null()) {
            // SAFETY: by the contract there is room; the strengths are not read any more.
            unsafe { std::ptr::copy(values.as_ptr(), *place, values.len()) };
        }
        Ok(())
    })
}

/// # Safety
/// As `farfield_verify_f64`.
unsafe fn verify_of<T: Scalar>(
    plan: *const farfield_plan,
    (strengths, length): (*const T, usize),
    (samples, seed): (usize, u64),
    errors: *mut f64,
) -> farfield_status {
    guarded(|| {
        refuse_forked()?;
        // SAFETY: by the contract.
        let plan = unsafe { plan.as_ref() }.ok_or_else(no_plan)?;
        // SAFETY: by the contract.
        let strengths = unsafe { numbers("strengths", strengths, length) }?;
        if errors.is_null() {
            return Err(Failure::argument("errors: is NULL"));
        }
        let kept = T::of(plan)?;
        let found = in_pool(plan.pool.as_ref(), || kept.verify(strengths, samples, seed))?;
        // SAFETY: by the contract there is room for one error per output.
        unsafe { std::ptr::copy(found.as_ptr(), errors, found.len()) };
        Ok(())
    })
}

fn no_plan() -> Failure {
    Failure::argument("plan: is NULL")
}

/// Plans a sum in double precision: checks every number, builds the tree, chooses method and order. With `targets`
/// NULL and `target_count` 0, the sources are the targets, and the pair of a source with itself is left out. The
/// points are copied. `*plan` is set to the new plan, or to NULL if planning fails.
///
/// # Safety
/// `sum` comes from farfield_sum_new. `sources` and `targets` have 3 numbers for each point, 2 in the plane. `plan` is
/// NULL or points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_plan_f64(
    sum: *const farfield_sum,
    source_count: usize,
    sources: *const f64,
    target_count: usize,
    targets: *const f64,
    plan: *mut *mut farfield_plan,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { plan_of(sum, (source_count, sources), (target_count, targets), plan) }
}

/// As farfield_plan_f64, in single precision.
///
/// # Safety
/// As farfield_plan_f64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_plan_f32(
    sum: *const farfield_sum,
    source_count: usize,
    sources: *const f32,
    target_count: usize,
    targets: *const f32,
    plan: *mut *mut farfield_plan,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { plan_of(sum, (source_count, sources), (target_count, targets), plan) }
}

/// Frees a plan. NULL is allowed.
///
/// # Safety
/// `plan` is NULL, or comes from farfield_plan_f64 or farfield_plan_f32 and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_plan_free(plan: *mut farfield_plan) {
    if !plan.is_null() {
        guarded(|| {
            // SAFETY: it came from `Box::into_raw` and is freed once.
            drop(unsafe { Box::from_raw(plan) });
            Ok(())
        });
    }
}

/// Evaluates a plan for the given strengths. `strengths` has `strength_count` numbers, vector by vector and source by
/// source: one for each source, 3 for Biot-Savart, 4 (the charge, then the moment) for coulomb-dipoles, 2 for complex
/// strengths. `results` has `result_count` arrays, one for each output in the order of "outputs". Output `k` has
/// farfield_output_length(plan, k) numbers: vector by vector, target by target, component by component. An output whose
/// array is NULL is not written.
///
/// # Safety
/// `plan` comes from farfield_plan_f64; the arrays have the lengths given above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_evaluate_f64(
    plan: *const farfield_plan,
    strengths: *const f64,
    strength_count: usize,
    results: *const *mut f64,
    result_count: usize,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { evaluate_of(plan, (strengths, strength_count), (results, result_count)) }
}

/// As farfield_evaluate_f64, for a plan in single precision.
///
/// # Safety
/// As farfield_evaluate_f64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_evaluate_f32(
    plan: *const farfield_plan,
    strengths: *const f32,
    strength_count: usize,
    results: *const *mut f32,
    result_count: usize,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { evaluate_of(plan, (strengths, strength_count), (results, result_count)) }
}

/// Evaluates a plan and measures the relative L2 error of each output at `samples` random targets, against a direct
/// sum in double precision. `errors` receives one number per output.
///
/// # Safety
/// As farfield_evaluate_f64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_verify_f64(
    plan: *const farfield_plan,
    strengths: *const f64,
    strength_count: usize,
    samples: usize,
    seed: u64,
    errors: *mut f64,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { verify_of(plan, (strengths, strength_count), (samples, seed), errors) }
}

/// As farfield_verify_f64, for a plan in single precision.
///
/// # Safety
/// As farfield_verify_f64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_verify_f32(
    plan: *const farfield_plan,
    strengths: *const f32,
    strength_count: usize,
    samples: usize,
    seed: u64,
    errors: *mut f64,
) -> farfield_status {
    // SAFETY: the same contract.
    unsafe { verify_of(plan, (strengths, strength_count), (samples, seed), errors) }
}

/// Returns the number of outputs of a plan; 0 if `plan` is NULL.
///
/// # Safety
/// `plan` is NULL or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_output_count(plan: *const farfield_plan) -> usize {
    // SAFETY: as above.
    unsafe { plan.as_ref() }.map_or(0, |plan| plan.lengths().len())
}

/// Returns how many numbers an output has. `output` counts from 0; for an output that the plan lacks the result is 0.
///
/// # Safety
/// `plan` is NULL or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_output_length(plan: *const farfield_plan, output: usize) -> usize {
    // SAFETY: as above.
    let plan = unsafe { plan.as_ref() };
    plan.and_then(|plan| plan.lengths().get(output).copied()).unwrap_or(0)
}

/// Writes the plan's report as JSON: its method and parameters, and the times of the last evaluation. At most `size`
/// bytes are written, including the terminating NUL; a longer report is truncated. `needed` (NULL is allowed) is set
/// to the size of the whole report in bytes, including the NUL.
///
/// # Safety
/// `plan` is NULL or a plan; `buffer` has room for `size` bytes, and may be NULL if `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_report(
    plan: *const farfield_plan,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> farfield_status {
    guarded(|| {
        // SAFETY: by the contract.
        let plan = unsafe { plan.as_ref() }.ok_or_else(no_plan)?;
        let text = match &plan.plan {
            AnyPlan::Single(plan) => plan.report(),
            AnyPlan::Double(plan) => plan.report(),
        };
        // SAFETY: by the contract it is null or points to a `size_t`.
        if let Some(needed) = unsafe { needed.as_mut() } {
            *needed = text.len() + 1;
        }
        if size == 0 {
            return Ok(());
        }
        if buffer.is_null() {
            return Err(Failure::argument("buffer: is NULL"));
        }
        let length = text.len().min(size - 1);
        // SAFETY: there is room for `size` bytes; `length` < `size` bytes and the NUL are written.
        unsafe {
            std::ptr::copy(text.as_ptr(), buffer.cast(), length);
            *buffer.add(length) = 0;
        }
        Ok(())
    })
}
