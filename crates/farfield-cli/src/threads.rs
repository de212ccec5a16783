//! The threads everything runs on.

use crate::failure::Failure;

/// Starts the threads: as many as asked for, else one for each core.
pub fn start(threads: Option<usize>) -> Result<(), Failure> {
    // Explicitly, so that a system without threads to give is an error and not a panic at first use.
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
