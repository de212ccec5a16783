//! Exit codes.

use farfield_cli::failure::Failure;

/// The exit code of a failure, for a rank that does not print.
pub fn of(failure: &Failure) -> u8 {
    match failure {
        Failure::Usage(_) => 2,
        Failure::Data(_) => 1,
        Failure::Exceeded(_) => 3,
        Failure::Interrupted(_) => 4,
    }
}
