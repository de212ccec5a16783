//! Errors: a status code from every call, and a message for the calling thread.

use farfield::names::UnknownName;
use farfield::{Error, Remedy};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call. After anything but FARFIELD_OK, `farfield_message` returns the reason.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farfield_status {
    /// The call succeeded.
    FARFIELD_OK = 0,
    /// An argument is invalid. The message names it and, in an array, the index of the invalid number.
    FARFIELD_ARGUMENT = 1,
    /// There is not enough memory. The message states how much is needed.
    FARFIELD_MEMORY = 2,
    /// A GPU, a thread or the SIMD instruction set could not be used.
    FARFIELD_DEVICE = 3,
    /// A bug in farfield; please report it. The process can continue.
    FARFIELD_DEFECT = 4,
}

use farfield_status::{FARFIELD_ARGUMENT, FARFIELD_DEFECT, FARFIELD_DEVICE, FARFIELD_MEMORY, FARFIELD_OK};

/// An error: the status to return and its message.
#[derive(Debug)]
pub struct Failure {
    status: farfield_status,
    message: String,
}

impl Failure {
    /// An argument is invalid; `message` names it.
    pub fn argument(message: impl Into<String>) -> Self {
        Self {
            status: FARFIELD_ARGUMENT,
            message: message.into(),
        }
    }

    /// The machine failed: a GPU, a thread, a process.
    pub fn machine(message: impl Into<String>) -> Self {
        Self {
            status: FARFIELD_DEVICE,
            message: message.into(),
        }
    }
}

impl From<UnknownName> for Failure {
    fn from(unknown: UnknownName) -> Self {
        Self::argument(unknown.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Memory { .. } | Error::DeviceMemory { .. } => FARFIELD_MEMORY,
            Error::Threads { .. } | Error::Simd(_) => FARFIELD_DEVICE,
            error if error.is_of_the_device() => FARFIELD_DEVICE,
            _ => FARFIELD_ARGUMENT,
        };
        let message = match error.remedy() {
            Some(Remedy::Device(device)) => format!("{error} (device \"{device}\")"),
            _ => error.to_string(),
        };
        Self { status, message }
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function that C calls. A panic does not unwind into C; the message of an error is kept for
/// `farfield_message`.
pub fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> farfield_status {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(defect(panic.as_ref())));
    let Err(failure) = done else {
        return FARFIELD_OK;
    };
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    // While a thread exits, its message may be gone already; the status is still right.
    let _ = MESSAGE.try_with(|message| message.replace(text));
    failure.status
}

fn defect(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Failure {
        status: FARFIELD_DEFECT,
        message: format!("this is a bug in farfield, please report it: {text}"),
    }
}

/// Returns the message of the last failed call of this thread, or an empty string if none failed. The pointer is valid
/// until the thread's next call fails or the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn farfield_message() -> *const c_char {
    let empty: &'static CStr = c"";
    MESSAGE
        .try_with(|message| message.borrow().as_ptr())
        .unwrap_or(empty.as_ptr())
}

/// Returns the version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn farfield_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The string behind a pointer from C; `name` is the argument's name for the message.
///
/// # Safety
/// `pointer` is null or points to a NUL-terminated string.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name}: is NULL")));
    }
    // SAFETY: by the contract it is NUL-terminated.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::argument(format!("{name}: is not UTF-8")))
}

/// The numbers behind a pointer from C; `name` is the argument's name for the message.
///
/// # Safety
/// `pointer` is null or points to `length` numbers that are not written while the slice is in use.
pub unsafe fn numbers<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failure::argument(format!(
            "{name}: is NULL, but {length} numbers are needed"
        )));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{name}: is not aligned")));
    }
    if length > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::argument(format!(
            "{name}: {length} numbers do not fit in memory"
        )));
    }
    // SAFETY: not null and aligned; by the contract there are `length` numbers.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: the message is NUL-terminated and valid until the next failure.
        unsafe { CStr::from_ptr(farfield_message()) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        assert_eq!(guarded(|| panic!("seven {}", 7)), FARFIELD_DEFECT);
        assert!(message().contains("seven 7"), "{}", message());
        assert_eq!(guarded(|| Ok(())), FARFIELD_OK);
    }

    #[test]
    fn messages_belong_to_the_thread_that_failed() {
        guarded(|| Err(Failure::argument("here")));
        let other = std::thread::spawn(|| {
            let before = message();
            guarded(|| Err(Failure::machine("there\0")));
            (before, message())
        });
        assert_eq!(other.join().unwrap(), (String::new(), "there ".to_owned()));
        assert_eq!(message(), "here");
    }

    #[test]
    fn invalid_pointers_are_refused() {
        // SAFETY: none of these pointers is read.
        unsafe {
            assert!(
                numbers::<f64>("q", std::ptr::null(), 3)
                    .unwrap_err()
                    .message
                    .contains("q: is NULL")
            );
            assert_eq!(numbers::<f64>("q", std::ptr::null(), 0).unwrap(), &[] as &[f64]);
            let odd = std::ptr::without_provenance::<f64>(9);
            assert!(numbers("q", odd, 3).unwrap_err().message.contains("aligned"));
            let huge = std::ptr::without_provenance::<f64>(8);
            assert!(
                numbers("q", huge, usize::MAX)
                    .unwrap_err()
                    .message
                    .contains("do not fit in memory")
            );
            assert!(text("kernel", std::ptr::null()).unwrap_err().message.contains("kernel"));
        }
    }
}
