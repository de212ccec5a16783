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

/// The compiler; `None`, said aloud, without one.
pub fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::load(&places()) {
        Ok(nvrtc) => Some(nvrtc),
        Err(Error::NoNvrtc { .. }) => {
            println!("skipped: no libnvrtc");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Compiles programs for a GPU architecture; 90 is compute capability 9.0.
pub fn compile_all(programs: impl IntoIterator<Item = Program>, architecture: i32) {
    let Some(nvrtc) = nvrtc() else { return };
    if !nvrtc.supports(architecture) {
        println!("skipped: this libnvrtc does not know sm_{architecture}");
        return;
    }
    for program in programs {
        match nvrtc.compile(&program, architecture) {
            Ok(code) => assert!(code.starts_with(b"\x7fELF"), "{program:?}"),
            Err(error) => panic!("{program:?}: {error}"),
        }
    }
}
