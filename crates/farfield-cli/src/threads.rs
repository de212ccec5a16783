//! The thread pool of the program.

use crate::failure::Failure;

/// Starts `threads` threads, or one for each core.
pub fn start(threads: Option<usize>) -> Result<(), Failure> {
    // Explicitly, so that a system that cannot start threads gives an error instead of a panic at first use.
    let asked = threads.unwrap_or(0);
    let built = rayon::ThreadPoolBuilder::new().num_threads(asked).build_global();
    built.map_err(|error| {
        farfield::Error::Threads {
            threads: asked,
            reason: error.to_string(),
        }
        .into()
    })
}
