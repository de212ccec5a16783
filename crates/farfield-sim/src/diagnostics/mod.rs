//! Diagnostics: invariants of the flow, measurements of rings, the table of results, and the alarm.

mod alarm;
mod invariants;
mod rings;
mod table;

pub use alarm::Watch;
pub use invariants::Invariants;
pub use rings::{Members, RingMeasure, measure_ring};
pub use table::{Table, read_columns};
