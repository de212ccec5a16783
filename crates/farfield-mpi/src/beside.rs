//! Overlaps work on another thread with an exchange of messages on this one.

use std::time::Instant;

/// Seconds of work and of the overlapping exchange.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beside {
    /// The work.
    pub work: f64,
    /// The exchange.
    pub exchange: f64,
    /// The overlap: the shorter of the two.
    pub hidden: f64,
    /// Work that had to wait for both.
    pub after: f64,
}

/// Runs `work` and `exchange` concurrently, the exchange on this thread, because MPI may be callable only on the
/// thread that initialised it. Without other ranks (`is_shared` false) they run one after the other.
///
/// # Panics
/// If `work` or `exchange` panics.
pub fn beside<A: Send, B>(
    is_shared: bool,
    work: impl FnOnce() -> A + Send,
    exchange: impl FnOnce() -> B,
) -> (A, B, Beside) {
    let start = Instant::now();
    let timed = || {
        let done = work();
        (done, start.elapsed().as_secs_f64())
    };
    if !is_shared {
        let (done, seconds) = timed();
        let exchanged = exchange();
        let seconds = Beside {
            work: seconds,
            exchange: start.elapsed().as_secs_f64() - seconds,
            ..Beside::default()
        };
        return (done, exchanged, seconds);
    }
    let (worked, exchanged, exchange) = std::thread::scope(|scope| {
        let working = scope.spawn(timed);
        let exchanged = exchange();
        let seconds = start.elapsed().as_secs_f64();
        (working.join(), exchanged, seconds)
    });
    let (done, work) = worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let seconds = Beside {
        work,
        exchange,
        hidden: work.min(exchange),
        after: 0.0,
    };
    (done, exchanged, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn work_and_exchange_run_concurrently() {
        // Each waits for a message of the other: run one after the other, they would deadlock.
        let ((to_work, at_work), (to_exchange, at_exchange)) = (channel(), channel());
        let work = move || {
            to_exchange.send(3).unwrap();
            at_work.recv().unwrap()
        };
        let (worked, exchanged, seconds) = beside(true, work, || {
            to_work.send(4).unwrap();
            at_exchange.recv().unwrap()
        });
        assert_eq!((worked, exchanged), (4, 3));
        assert!(seconds.hidden <= seconds.work && seconds.hidden <= seconds.exchange);
    }
}
