//! Finds libnvrtc and compiles programs with it.

use farfield_cuda::Error;
use farfield_cuda::compile::{Nvrtc, Places, Program};
use std::path::PathBuf;

/// The usual places and the folder CI installs the compiler to.
pub fn places() -> Places {
    let mut places = Places::of_environment();
    places.pythons.insert(
        0,
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/ci-tools/nvrtc")),
    );
    places
}

/// Whether a test without a compiler has failed: where CI says so, or whoever sets FARFIELD_REQUIRE_NVRTC.
fn is_required() -> bool {
    let set = |name: &str| std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    set("CI") || set("FARFIELD_REQUIRE_NVRTC")
}

/// The compiler; `None`, said aloud, without one.
///
/// # Panics
/// If there is none where one is required.
pub fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::load(&places()) {
        Ok(nvrtc) => Some(nvrtc),
        Err(error @ Error::NoNvrtc { .. }) => {
            assert!(!is_required(), "CI or FARFIELD_REQUIRE_NVRTC is set: {error}");
            skipped(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Says on the terminal itself, past the test harness, that nothing was tested.
fn skipped(why: &str) {
    use std::io::Write;
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("SKIPPED, nothing was compiled: {name}: {why}\n");
    // The harness captures what is printed, not what is written to the stream.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Compiles programs for a GPU architecture; 90 is compute capability 9.0.
pub fn compile_all(programs: impl IntoIterator<Item = Program>, architecture: i32) {
    let Some(nvrtc) = nvrtc() else { return };
    if !nvrtc.supports(architecture) {
        assert!(!is_required(), "this libnvrtc does not know sm_{architecture}");
        return skipped(&format!("this libnvrtc does not know sm_{architecture}"));
    }
    for program in programs {
        let program = program.define("FARFIELD_CHECK_LAYOUT", 1);
        match nvrtc.compile(&program, architecture) {
            Ok(code) => assert!(code.starts_with(b"\x7fELF"), "{program:?}"),
            Err(error) => panic!("{program:?}: {error}"),
        }
    }
}
