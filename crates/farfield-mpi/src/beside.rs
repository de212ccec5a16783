//! Work beside an exchange: a thread of its own does it, while this one sends and receives.

use std::time::Instant;

/// Seconds of work and of the exchange beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beside {
    /// The work.
    pub work: f64,
    /// The exchange.
    pub exchange: f64,
    /// Both at the same time: what was hidden of the exchange, or of the work where that was the shorter.
    pub hidden: f64,
    /// Work that had to wait for both.
    pub after: f64,
}

/// Does `work` and `exchange` at the same time, the exchange on this thread: MPI may have to be called by the thread that started it. Where
/// there is nobody to exchange with, one after the other.
///
/// # Panics
/// If one of them does.
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
    fn work_and_exchange_go_on_at_the_same_time() {
        // Each waits for a word of the other: one after the other, both would wait for ever.
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
