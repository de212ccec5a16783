//! Standard output and standard error, without the panics of `println!`.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};

/// Writes the result to standard output. A reader that stops early (`| head`) is not an error.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Data(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error, and ignores errors of writing.
pub fn progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
