//! libnvrtc, loaded at run time.

use super::program::Program;
use super::search::Places;
use crate::error::Error;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Status = c_int;
const SUCCESS: Status = 0;

/// The run-time compiler.
#[derive(Debug)]
pub struct Nvrtc {
    calls: Calls,
    path: PathBuf,
    version: (i32, i32),
    /// The library that `calls` points into; it stays loaded as long as they exist.
    _library: Library,
}

#[derive(Debug, Clone, Copy)]
struct Calls {
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    supported_count: unsafe extern "C" fn(*mut c_int) -> Status,
    supported: unsafe extern "C" fn(*mut c_int) -> Status,
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Handle) -> Status,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Status,
    log_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    log: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    cubin_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    cubin: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ptx_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    ptx: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
}

impl Calls {
    fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: the signatures match nvrtc.h, which is the same in CUDA 11.2 to 13.
        unsafe {
            Ok(Self {
                error_string: *library.get(b"nvrtcGetErrorString")?,
                version: *library.get(b"nvrtcVersion")?,
                supported_count: *library.get(b"nvrtcGetNumSupportedArchs")?,
                supported: *library.get(b"nvrtcGetSupportedArchs")?,
                create: *library.get(b"nvrtcCreateProgram")?,
                destroy: *library.get(b"nvrtcDestroyProgram")?,
                compile: *library.get(b"nvrtcCompileProgram")?,
                log_size: *library.get(b"nvrtcGetProgramLogSize")?,
                log: *library.get(b"nvrtcGetProgramLog")?,
                cubin_size: *library.get(b"nvrtcGetCUBINSize")?,
                cubin: *library.get(b"nvrtcGetCUBIN")?,
                ptx_size: *library.get(b"nvrtcGetPTXSize")?,
                ptx: *library.get(b"nvrtcGetPTX")?,
            })
        }
    }
}

impl Nvrtc {
    /// Loads the first library of `places` that works.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`] if none is found, [`Error::BadNvrtc`] if an existing file cannot be used.
    pub fn load(places: &Places) -> Result<Self, Error> {
        let mut bad = None;
        for path in places.candidates() {
            // SAFETY: loading runs the library's constructors; the path is that of NVIDIA's compiler or was given by
            // the user.
            match unsafe { Library::new(&path) } {
                Ok(library) => match Calls::of(&library) {
                    Ok(calls) => return Self::new(calls, path, library),
                    Err(error) => bad = bad.or(Some((path, error.to_string()))),
                },
                // A name that the loader does not find is skipped; a file that exists but does not load is an error.
                Err(error) if path.exists() || places.given.is_some() => bad = bad.or(Some((path, error.to_string()))),
                Err(_) => {}
            }
        }
        Err(match bad {
            Some((path, reason)) => Error::BadNvrtc { path, reason },
            None => {
                let folders: Vec<String> = places
                    .folders()
                    .iter()
                    .map(|folder| folder.display().to_string())
                    .collect();
                let searched = format!("the system's library path, {}", folders.join(", "));
                Error::NoNvrtc { searched }
            }
        })
    }

    fn new(calls: Calls, path: PathBuf, library: Library) -> Result<Self, Error> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid.
        let status = unsafe { (calls.version)(&mut major, &mut minor) };
        let nvrtc = Self {
            calls,
            path,
            version: (major, minor),
            _library: library,
        };
        match status {
            SUCCESS => Ok(nvrtc),
            status => Err(Error::BadNvrtc {
                reason: nvrtc.words(status),
                path: nvrtc.path,
            }),
        }
    }

    /// The version, for example (12, 9).
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The path of the library.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The supported architectures: 80, 90, 100 and so on.
    fn supported(&self) -> Vec<i32> {
        let mut count = 0;
        // SAFETY: the pointer is valid.
        if unsafe { (self.calls.supported_count)(&mut count) } != SUCCESS || count <= 0 {
            return Vec::new();
        }
        let mut list = vec![0; count as usize];
        // SAFETY: the list has the length that the library reported.
        match unsafe { (self.calls.supported)(list.as_mut_ptr()) } {
            SUCCESS => list,
            _ => Vec::new(),
        }
    }

    /// Whether it can generate machine code for this architecture.
    pub fn supports(&self, architecture: i32) -> bool {
        self.supported().contains(&architecture)
    }

    /// Compiles to machine code for the architecture, or, for a GPU newer than the compiler, to PTX of the latest
    /// supported architecture (zero-terminated), which the driver then translates.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's log.
    pub fn compile(&self, program: &Program, architecture: i32) -> Result<Vec<u8>, Error> {
        let supported = self.supported();
        let machine_code = supported.contains(&architecture);
        let target = match supported.iter().filter(|known| **known <= architecture).max() {
            Some(_) if machine_code => format!("sm_{architecture}"),
            Some(known) => format!("compute_{known}"),
            None => format!("compute_{architecture}"),
        };
        let mut options = program.options();
        options.push(format!("--gpu-architecture={target}"));
        self.compile_with(program, &options, machine_code)
            .map_err(|log| Error::Compile {
                program: program.name().to_owned(),
                architecture: target,
                log,
            })
    }

    fn compile_with(&self, program: &Program, options: &[String], machine_code: bool) -> Result<Vec<u8>, String> {
        let text = |text: &str| CString::new(text).map_err(|_| "a zero byte in the source".to_owned());
        let (source, name) = (text(&program.source())?, text(&format!("{}.cu", program.name()))?);
        let headers: Vec<(CString, CString)> = program
            .headers()
            .iter()
            .map(|(name, source)| Ok((text(name)?, text(source)?)))
            .collect::<Result<_, String>>()?;
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let sources: Vec<_> = headers.iter().map(|(_, source)| source.as_ptr()).collect();
        let options: Vec<CString> = options.iter().map(|option| text(option)).collect::<Result<_, _>>()?;
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let calls = &self.calls;

        let mut handle: Handle = null_mut();
        // SAFETY: every string is zero-terminated and lives until the call returns; both lists have the given length.
        let status = unsafe {
            (calls.create)(
                &mut handle,
                source.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                if headers.is_empty() { null() } else { sources.as_ptr() },
                if headers.is_empty() { null() } else { names.as_ptr() },
            )
        };
        if status != SUCCESS {
            return Err(self.words(status));
        }
        // SAFETY: the handle is valid until it is destroyed below, and the list has the given length.
        let status = unsafe { (calls.compile)(handle, options.len() as c_int, options.as_ptr()) };
        let result = if status == SUCCESS {
            let (size, get) = if machine_code {
                (calls.cubin_size, calls.cubin)
            } else {
                (calls.ptx_size, calls.ptx)
            };
            self.read(handle, size, get)
        } else {
            let log = self.read(handle, calls.log_size, calls.log).unwrap_or_default();
            Err(format!("{}\n{}", self.words(status), String::from_utf8_lossy(&log)))
        };
        // SAFETY: the handle is valid and not used again.
        unsafe { (calls.destroy)(&mut handle) };
        result
    }

    fn read(
        &self,
        handle: Handle,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        get: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: the handle and the pointer are valid.
        let status = unsafe { size(handle, &mut length) };
        if status != SUCCESS {
            return Err(self.words(status));
        }
        let mut bytes = vec![0u8; length];
        // SAFETY: the buffer has the length that the library reported.
        let status = unsafe { get(handle, bytes.as_mut_ptr().cast()) };
        if status == SUCCESS {
            Ok(bytes)
        } else {
            Err(self.words(status))
        }
    }

    fn words(&self, status: Status) -> String {
        // SAFETY: the library returns a static string for every status.
        let text = unsafe { (self.calls.error_string)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: not null and zero-terminated.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
