//! Runs work with the GIL released, so that other Python threads run and Ctrl-C is handled.

use crate::failure::Failure;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// The interval between checks for signals.
const POLL: Duration = Duration::from_millis(50);

/// Turns a panic into an error, so that it does not end the Python session.
fn caught<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure::Panic(text.unwrap_or_else(|| "no message".to_owned())))
    })
}

/// Runs short work on this thread with the GIL released. Signals are not checked.
pub fn short<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<R, Failure> + Send) -> Result<R, Failure> {
    py.detach(|| caught(work))
}

/// Runs long work on another thread with the GIL released, and checks for signals meanwhile.
///
/// The exception of a signal (KeyboardInterrupt) is raised at once. The work then continues to its end in the
/// background, keeps its data alive until then, and its result is dropped.
pub fn long<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<R, Failure> + Send + 'static,
) -> PyResult<Result<R, Failure>> {
    watched(py, work, |_, signal| signal)
}

/// As [`long`], but `look` decides what a signal does: it is called every 50 ms with the result of checking for
/// signals.
pub fn watched<'py, R: Send + 'static>(
    py: Python<'py>,
    work: impl FnOnce() -> Result<R, Failure> + Send + 'static,
    mut look: impl FnMut(Python<'py>, PyResult<()>) -> PyResult<()>,
) -> PyResult<Result<R, Failure>> {
    let (sender, mut receiver) = sync_channel(1);
    let worker = move || {
        // After an interrupt the receiver is gone.
        let _ = sender.send(caught(work));
    };
    let started = thread::Builder::new().name("farfield".to_owned()).spawn(worker);
    if let Err(error) = started {
        return Ok(Err(Failure::Machine(format!("could not start a thread: {error}"))));
    }
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(POLL)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => look(py, py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Failure::Panic("a thread ended without a result".to_owned())));
            }
        }
    }
}
