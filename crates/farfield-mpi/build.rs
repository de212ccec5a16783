//! Looks for MPI. Where there is one, a few lines of C are compiled with it and the program can be run under `mpirun`; where there is none,
//! the library is built without it, and so is everything else in the workspace.
//!
//! The compiler is `$MPICC`, else `mpicc`, else `cc` of a Cray; `FARFIELD_NO_MPI=1` builds without MPI whatever is there.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHIM: &str = "src/communicator/shim.c";

fn main() {
    println!("cargo:rustc-check-cfg=cfg(farfield_has_mpi)");
    for variable in ["MPICC", "FARFIELD_NO_MPI", "CRAY_MPICH_DIR", "PATH"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rerun-if-changed={SHIM}");
    if env::var_os("FARFIELD_NO_MPI").is_some() {
        return;
    }
    let asked = env::var("MPICC").ok();
    let compiler = asked.clone().unwrap_or_else(|| {
        let cray = env::var_os("CRAY_MPICH_DIR").is_some();
        if cray { "cc" } else { "mpicc" }.to_owned()
    });
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    match build(&compiler, &folder) {
        Ok(()) => println!("cargo:rustc-cfg=farfield_has_mpi"),
        // Somebody who names a compiler wants MPI.
        Err(reason) if asked.is_some() => panic!("MPICC={compiler}: {reason}"),
        Err(_) => {}
    }
}

/// Compiles the shim and says what is to be linked with it.
fn build(compiler: &str, folder: &Path) -> Result<(), String> {
    let object = folder.join("shim.o");
    let library = folder.join("libfarfield_mpi_shim.a");
    let arguments = ["-c", "-O2", "-fPIC", SHIM, "-o"];
    run(Command::new(compiler).args(arguments).arg(&object))?;
    // An archive that is there already would keep what is old.
    let _ = std::fs::remove_file(&library);
    run(Command::new("ar").arg("crs").arg(&library).arg(&object))?;
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=farfield_mpi_shim");
    link(&run(Command::new(compiler).arg("-show"))?)
}

/// From the line that the wrapper would run: `-L`, `-l`, and options for the linker.
fn link(line: &str) -> Result<(), String> {
    let mut found = false;
    for word in line.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
            found = true;
        } else if word.starts_with("-Wl,-rpath") {
            println!("cargo:rustc-link-arg={word}");
        }
    }
    if found {
        Ok(())
    } else {
        Err(format!("no library in `{line}`"))
    }
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
