//! The built program, run as a user would.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `farfield` with these arguments and two threads, without a machine profile of the user.
pub fn farfield<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Output {
    command(arguments).output().expect("the program starts")
}

/// The command that [`farfield`] runs, not yet started.
pub fn command<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farfield"));
    command
        .args(arguments)
        .env_remove("FARFIELD_PROFILE")
        .env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// Splits at spaces.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs a command line that must succeed and returns its standard output.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn succeed(line: &str) -> String {
    let output = farfield(words(line));
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs a command line that must succeed and returns its JSON.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn json(line: &str) -> Value {
    serde_json::from_str(&succeed(line)).expect("one JSON object")
}

/// Runs a command line that must fail with exit code `code`, print every part of `says` on standard error, and nothing
/// on standard output.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn fail(line: &str, code: i32, says: &[&str]) {
    let output = farfield(words(line));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    for part in says {
        assert!(message.contains(part), "{line}: no {part:?} in {message:?}");
    }
    assert!(!message.contains("panicked"), "{line}: {message}");
    assert!(
        output.stdout.is_empty(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names of the files in a folder, sorted.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
