//! A sum described by names and numbers, without points.

use crate::status::{Failure, farfield_status, guarded, numbers, text};
use farfield::kernel::Sizes;
use farfield::names::{self, FromWords, Words};
use farfield::{Device, Options, Precision, Request, SumOf};
use std::ffi::c_char;

/// Describes a sum. Made by farfield_sum_new, changed by farfield_set_text, farfield_set_number and farfield_set_sizes,
/// freed by farfield_sum_free. One thread at a time may change it. Any number of plans can be made from it.
#[derive(Debug, Clone)]
pub struct farfield_sum {
    kernel: String,
    outputs: Vec<String>,
    core: Option<String>,
    size: Option<f64>,
    sizes: Option<Vec<f64>>,
    constant: f64,
    pub(crate) vectors: usize,
    complex: bool,
    pub(crate) threads: Option<usize>,
    options: Options,
}

impl farfield_sum {
    /// A sum with the kernel's first output and defaults for everything else.
    pub(crate) fn new(kernel: &str) -> Self {
        Self {
            kernel: kernel.to_owned(),
            outputs: Vec::new(),
            core: None,
            size: None,
            sizes: None,
            constant: 1.0,
            vectors: 1,
            complex: false,
            threads: None,
            options: Options::default(),
        }
    }

    /// Whether it is a sum in the plane.
    pub(crate) fn is_plane(&self) -> bool {
        self.words().is_plane()
    }

    pub(crate) fn set_text(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        match key {
            "outputs" => self.outputs = value.split(',').map(|name| name.trim().to_owned()).collect(),
            "core" | "softening_kernel" => self.core = Some(value.to_owned()),
            "method" => self.options.method = names::method(value)?,
            "device" => self.options.device = device(value)?,
            _ => return Err(no_key(key, "outputs, core, softening_kernel, method, device")),
        }
        Ok(())
    }

    pub(crate) fn set_number(&mut self, key: &str, value: f64) -> Result<(), Failure> {
        let count = || whole(key, value);
        match key {
            "tolerance" => self.options.tolerance = Some(value),
            "core_size" | "softening" => self.size = Some(value),
            "gravitational_constant" => self.constant = value,
            "theta" => self.options.theta = Some(value),
            "order" => self.options.order = Some(count()? as usize),
            "leaf_capacity" => self.options.leaf_capacity = Some(count()? as usize),
            "memory_limit" => self.options.memory_limit = Some(count()?),
            "threads" => self.threads = Some(count()? as usize),
            "vectors" => self.vectors = count()? as usize,
            "complex" => self.complex = value != 0.0,
            "allow_unbounded_gradient" => self.options.allow_unbounded_gradient = value != 0.0,
            _ => {
                return Err(no_key(
                    key,
                    "tolerance, core_size, softening, gravitational_constant, theta, order, leaf_capacity, memory_limit, \
                     threads, vectors, complex, allow_unbounded_gradient",
                ));
            }
        }
        Ok(())
    }

    fn sizes<T: Precision>(&self) -> Sizes<T> {
        match (&self.sizes, self.size) {
            (Some(sizes), _) => Sizes::PerSource(sizes.iter().map(|size| T::from_f64(*size)).collect()),
            (None, Some(size)) => Sizes::Global(T::from_f64(size)),
            (None, None) => Sizes::None,
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            kernel: &self.kernel,
            core: self.core.as_deref(),
            constant: self.constant,
            complex: self.complex,
            outputs: &self.outputs,
        }
    }

    /// The request that was described.
    pub(crate) fn request<G: FromWords>(&self) -> Result<Request<G>, Failure> {
        let request = G::request(&self.words())?;
        Ok(Request {
            vectors: self.vectors,
            options: self.options.clone(),
            ..request
        })
    }

    /// The whole sum.
    pub(crate) fn between<'a, T: Precision, G: FromWords>(
        &self,
        sources: &'a [T],
        targets: Option<&'a [T]>,
    ) -> Result<SumOf<'a, T, G>, Failure> {
        let sum = SumOf::of(self.request()?, G::points(sources)).sizes(self.sizes());
        Ok(match targets {
            Some(targets) => sum.targets(G::points(targets)),
            None => sum,
        })
    }
}

fn no_key(key: &str, keys: &str) -> Failure {
    Failure::argument(format!("key: unknown key `{key}`; known keys: {keys}"))
}

fn device(name: &str) -> Result<Device, Failure> {
    name.parse()
        .map_err(|text| Failure::argument(format!("device: {text}")))
}

/// `value` as a count.
fn whole(key: &str, value: f64) -> Result<u64, Failure> {
    // Above 2^53 not every integer is representable as a double.
    if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
        return Ok(value as u64);
    }
    Err(Failure::argument(format!(
        "{key} = {value}: must be a non-negative integer"
    )))
}

/// Makes a sum with the kernel "coulomb", "coulomb-dipoles", "gravity" or "biot-savart" in space, or "harmonic2d" or
/// "log2d" in the plane. Returns NULL only if `kernel` is NULL or not UTF-8: an unknown kernel is reported when the
/// sum is planned.
///
/// # Safety
/// `kernel` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_sum_new(kernel: *const c_char) -> *mut farfield_sum {
    let mut sum = std::ptr::null_mut();
    guarded(|| {
        // SAFETY: as above.
        let kernel = unsafe { text("kernel", kernel) }?;
        sum = Box::into_raw(Box::new(farfield_sum::new(kernel)));
        Ok(())
    });
    sum
}

/// Frees a sum. NULL is allowed.
///
/// # Safety
/// `sum` is NULL, or comes from farfield_sum_new and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_sum_free(sum: *mut farfield_sum) {
    if !sum.is_null() {
        guarded(|| {
            // SAFETY: it came from `Box::into_raw` and is freed once.
            drop(unsafe { Box::from_raw(sum) });
            Ok(())
        });
    }
}

/// Sets "outputs" (comma-separated names: "potential,gradient"), "core", "softening_kernel", "method" ("auto",
/// "direct", "treecode", "fmm") or "device" ("cpu", "cuda", "cuda:1", "auto").
///
/// Outputs of Coulomb are "potential", "gradient" and "hessian" (xx, xy, xz, yy, yz, zz), of gravity "potential" and
/// "acceleration", of Biot-Savart "velocity" and "velocity-gradient", in the plane "potential", "derivative" and
/// "second-derivative".
///
/// # Safety
/// `sum` comes from farfield_sum_new; `key` and `value` are NUL-terminated strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_set_text(
    sum: *mut farfield_sum,
    key: *const c_char,
    value: *const c_char,
) -> farfield_status {
    guarded(|| {
        // SAFETY: as above, and no other thread uses the sum meanwhile.
        let (sum, key, value) = unsafe { (sum.as_mut(), text("key", key)?, text("value", value)?) };
        sum.ok_or_else(no_sum)?.set_text(key, value)
    })
}

/// Sets "tolerance", "core_size", "softening", "gravitational_constant", "theta", "order", "leaf_capacity",
/// "memory_limit" (in bytes), "threads", "vectors" (the number of strength vectors that one call evaluates),
/// "complex" (1: strengths in the plane are complex) or "allow_unbounded_gradient" (1: accept the unbounded velocity
/// gradient of the hu-polynomial core).
///
/// # Safety
/// `sum` comes from farfield_sum_new; `key` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_set_number(
    sum: *mut farfield_sum,
    key: *const c_char,
    value: f64,
) -> farfield_status {
    guarded(|| {
        // SAFETY: as above, and no other thread uses the sum meanwhile.
        let (sum, key) = unsafe { (sum.as_mut(), text("key", key)?) };
        sum.ok_or_else(no_sum)?.set_number(key, value)
    })
}

/// Sets a core size or softening length for each source. The numbers are copied.
///
/// # Safety
/// `sum` comes from farfield_sum_new; `sizes` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farfield_set_sizes(
    sum: *mut farfield_sum,
    sizes: *const f64,
    count: usize,
) -> farfield_status {
    guarded(|| {
        // SAFETY: as above, and no other thread uses the sum meanwhile.
        let (sum, sizes) = unsafe { (sum.as_mut(), numbers("sizes", sizes, count)?) };
        sum.ok_or_else(no_sum)?.sizes = Some(sizes.to_vec());
        Ok(())
    })
}

pub(crate) fn no_sum() -> Failure {
    Failure::argument("sum: is NULL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield::Space;
    use farfield::kernel::Output;

    #[test]
    fn errors_of_settings_list_the_known_names() {
        let mut sum = farfield_sum::new("coulomb");
        let message = |done: Result<(), Failure>| format!("{:?}", done.unwrap_err());
        assert!(message(sum.set_text("metod", "fmm")).contains("method"));
        assert!(message(sum.set_text("method", "magic")).contains("treecode, fmm"));
        assert!(message(sum.set_text("device", "gpu")).contains("cuda:N"));
        assert!(message(sum.set_number("tol", 1.0)).contains("tolerance"));
        for wrong in [-1.0, 0.5, f64::NAN, f64::INFINITY, 1e300] {
            assert!(message(sum.set_number("order", wrong)).contains("order"), "{wrong}");
        }
        sum.set_text("outputs", "potential, gradients").unwrap();
        assert!(format!("{:?}", sum.between::<f64, Space>(&[], None).unwrap_err()).contains("gradients"));
        let sum = farfield_sum::new("columb");
        assert!(format!("{:?}", sum.between::<f64, Space>(&[], None).unwrap_err()).contains("coulomb-dipoles"));
    }

    #[test]
    fn names_may_have_underscores() {
        let mut sum = farfield_sum::new("biot_savart");
        sum.set_text("core", "winckelmans_leonard").unwrap();
        sum.set_text("outputs", "velocity,velocity_gradient").unwrap();
        sum.set_number("core_size", 0.1).unwrap();
        let request = sum.request::<Space>().unwrap();
        assert_eq!(request.outputs, [Output::Velocity, Output::VelocityGradient]);
        let points = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        assert!(sum.between::<f64, Space>(&points, None).unwrap().validate().is_ok());
        assert!(farfield_sum::new("log2d").is_plane() && !sum.is_plane());
    }
}
