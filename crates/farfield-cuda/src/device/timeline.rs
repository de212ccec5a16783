//! The device time of each phase, measured by events.

use crate::error::{DriverCall, Error};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream};
use farfield_core::report::{Phase, Seconds};
use std::sync::Arc;

/// Events on a stream that mark the end of each phase.
#[derive(Debug)]
pub(crate) struct Timeline {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    ends: Vec<(Phase, CudaEvent)>,
}

impl Timeline {
    pub fn start(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Ok(Self {
            stream: stream.clone(),
            start: event(stream)?,
            ends: Vec::new(),
        })
    }

    /// Marks the end of a phase, which began at the end of the previous one.
    pub fn end(&mut self, phase: Phase) -> Result<(), Error> {
        self.ends.push((phase, event(&self.stream)?));
        Ok(())
    }

    /// Waits for the last event and adds the time of every phase to `seconds`.
    pub fn add_to(&self, seconds: &mut Seconds) -> Result<(), Error> {
        let mut before = &self.start;
        for (phase, end) in &self.ends {
            let elapsed = before.elapsed_ms(end).map_err(Error::driver("read a timer"))?;
            seconds.add(*phase, f64::from(elapsed) * 1e-3);
            before = end;
        }
        Ok(())
    }
}

fn event(stream: &Arc<CudaStream>) -> Result<CudaEvent, Error> {
    stream
        .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
        .map_err(Error::driver("record an event"))
}
