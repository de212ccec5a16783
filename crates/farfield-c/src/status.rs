//! What went wrong: a code, and a sentence for the thread that asked.

use farfield::Error;
use farfield::names::UnknownName;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended. After anything but FARFIELD_OK, `farfield_message` has the reason.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farfield_status {
    /// It worked.
    FARFIELD_OK = 0,
    /// An argument is wrong: the message names it, and where in an array the wrong number is.
    FARFIELD_ARGUMENT = 1,
    /// There is not enough memory; the message has the forecast.
    FARFIELD_MEMORY = 2,
    /// A graphics processor, a thread or the instruction set could not be used.
    FARFIELD_DEVICE = 3,
    /// A defect of farfield, please report it. The process can go on.
    FARFIELD_DEFECT = 4,
}

use farfield_status::{FARFIELD_ARGUMENT, FARFIELD_DEFECT, FARFIELD_DEVICE, FARFIELD_MEMORY, FARFIELD_OK};

/// Why there is no result.
#[derive(Debug)]
pub struct Failure {
    status: farfield_status,
    message: String,
}

impl Failure {
    /// An argument is wrong; the sentence names it.
    pub fn argument(message: impl Into<String>) -> Self {
        Self {
            status: FARFIELD_ARGUMENT,
            message: message.into(),
        }
    }

    /// The machine could not.
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
        // The library speaks to users of the program where it names a remedy.
        let message = error.to_string().replace("--device cpu", "device \"cpu\"");
        Self { status, message }
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Does the work of a function that C calls: nothing unwinds into C, and the reason of a failure is kept.
pub fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> farfield_status {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(defect(panic.as_ref())));
    let Err(failure) = done else {
        return FARFIELD_OK;
    };
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    // While a thread ends its message is gone already; the status is still right.
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
        message: format!("a defect of farfield, please report it: {text}"),
    }
}

/// What the last call of this thread that failed complained about; an empty text if none did. It is valid until the
/// thread's next call fails or the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn farfield_message() -> *const c_char {
    let empty: &'static CStr = c"";
    MESSAGE
        .try_with(|message| message.borrow().as_ptr())
        .unwrap_or(empty.as_ptr())
}

/// The version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn farfield_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The text that a pointer from C points to; `name` is the argument.
///
/// # Safety
/// It points to a text that ends with a zero, or is null.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name}: is NULL")));
    }
    // SAFETY: by the contract it ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::argument(format!("{name}: is not UTF-8")))
}

/// The numbers that a pointer from C points to; `name` is the argument.
///
/// # Safety
/// It points to so many numbers that nobody writes meanwhile, or is null.
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
            "{name}: {length} numbers are more than memory can hold"
        )));
    }
    // SAFETY: not null and aligned; by the contract there are so many numbers.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: the message ends with a zero and stays until the next failure.
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
    fn pointers_that_cannot_be_read_are_refused() {
        // SAFETY: nothing is read of any of these.
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
                    .contains("more than memory")
            );
            assert!(text("kernel", std::ptr::null()).unwrap_err().message.contains("kernel"));
        }
    }
}
