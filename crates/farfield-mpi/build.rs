//! Looks for MPI. If it is found, a few lines of C are compiled with it and the program can run under `mpirun`.
//! Otherwise the library is built without MPI.
//!
//! The compiler is `$MPICC`, else `cc` on a Cray, else `mpicc`. `FARFIELD_NO_MPI=1` builds without MPI in any case.

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
        // An explicitly named compiler must work.
        Err(reason) if asked.is_some() => panic!("MPICC={compiler}: {reason}"),
        Err(_) => {}
    }
}

/// Compiles the shim and tells cargo which libraries to link.
fn build(compiler: &str, folder: &Path) -> Result<(), String> {
    let object = folder.join("shim.o");
    let library = folder.join("libfarfield_mpi_shim.a");
    let arguments = ["-c", "-O2", "-fPIC", SHIM, "-o"];
    run(Command::new(compiler).args(arguments).arg(&object))?;
    // `ar` would keep the old members of an existing archive.
    let _ = std::fs::remove_file(&library);
    run(Command::new("ar").arg("crs").arg(&library).arg(&object))?;
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=farfield_mpi_shim");
    link(&run(Command::new(compiler).arg("-show"))?)
}

/// Passes `-L`, `-l` and `-rpath` of the command line that the compiler wrapper would run to cargo.
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
        Err(format!("`{line}` names no library"))
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
