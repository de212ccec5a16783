//! Who was busy when.

use crate::error::{DriverCall, Error};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who does a part of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The processor's cores.
    Cpu,
    /// The device.
    Gpu,
}

impl Who {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Who::Cpu => "cpu",
            Who::Gpu => "gpu",
        }
    }
}

/// One of the two at one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// Who.
    pub who: Who,
    /// At what: a phase of the sum (`tree`, `p2m`, ... `p2p`), or `lists`, `order`, `add` (the cores), `send`, `receive`
    /// (the device).
    pub phase: &'static str,
    /// Seconds from the beginning.
    pub start: f64,
    /// The same, of its end.
    pub end: f64,
}

/// Seconds of an evaluation, tree and lists apart.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Halves {
    /// The cores were busy.
    pub cpu: f64,
    /// The device was busy.
    pub gpu: f64,
    /// Both took, side by side.
    pub together: f64,
}

impl Halves {
    /// Of what was done between two moments.
    pub(super) fn of(spans: &[Span], began: Instant, ended: Instant) -> Self {
        let busy = |who: Who| {
            let spans = spans.iter().filter(|span| span.who == who && span.from >= began);
            spans.map(|span| (span.to - span.from).as_secs_f64()).sum()
        };
        Self {
            cpu: busy(Who::Cpu),
            gpu: busy(Who::Gpu),
            together: (ended - began).as_secs_f64(),
        }
    }
}

/// Ties the times of a stream to the host's.
#[derive(Debug)]
pub(super) struct Clock {
    stream: Arc<CudaStream>,
    event: CudaEvent,
    at: Instant,
}

impl Clock {
    /// Waits for the stream, which should be idle.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let event = event(stream)?;
        event.synchronize().map_err(Error::driver("start a timer"))?;
        Ok(Self {
            stream: stream.clone(),
            event,
            at: Instant::now(),
        })
    }

    /// Marks where the stream is.
    pub fn mark(&self) -> Result<CudaEvent, Error> {
        event(&self.stream)
    }

    /// When the stream passed a mark; it must have.
    pub fn time_of(&self, mark: &CudaEvent) -> Result<Instant, Error> {
        let elapsed = self.event.elapsed_ms(mark).map_err(Error::driver("read a timer"))?;
        Ok(self.at + Duration::from_secs_f64(1e-3 * f64::from(elapsed).max(0.0)))
    }
}

fn event(stream: &Arc<CudaStream>) -> Result<CudaEvent, Error> {
    stream
        .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
        .map_err(Error::driver("record an event"))
}

/// What was done between two moments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub who: Who,
    pub phase: &'static str,
    pub from: Instant,
    pub to: Instant,
}

impl Span {
    /// In seconds from an origin.
    pub fn since(&self, origin: Instant) -> Busy {
        let seconds = |at: Instant| at.saturating_duration_since(origin).as_secs_f64();
        Busy {
            who: self.who,
            phase: self.phase,
            start: seconds(self.from),
            end: seconds(self.to),
        }
    }
}
