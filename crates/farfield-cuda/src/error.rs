//! Errors of the driver as errors of a sum.

pub use farfield_core::Error;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// Names the attempted action when the driver fails: `call().map_err(Error::driver("copy the points"))`.
pub(crate) trait DriverCall {
    /// The error of a failed call that should have done `action`.
    fn driver(action: impl Into<String>) -> impl FnOnce(DriverError) -> Error;
}

impl DriverCall for Error {
    fn driver(action: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
        let action = action.into();
        move |error| Error::Driver {
            action,
            reason: describe(&error),
        }
    }
}

/// The driver's name and text of an error, and the usual remedy.
pub(crate) fn describe(error: &DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| text.map(|text| text.to_string_lossy().into_owned());
    let (Ok(name), Ok(words)) = (text(error.error_name()), text(error.error_string())) else {
        return format!("{:?}", error.0);
    };
    let hint = match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "; free device memory or use a smaller sum",
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "; the run-time compiler is newer than the driver: update the driver or use an older libnvrtc"
        }
        _ => "",
    };
    format!("{name}, {words}{hint}")
}
