//! What is measured: invariants of the flow, rings, the table of it all, and the alarm.

mod alarm;
mod invariants;
mod rings;
mod table;

pub use alarm::Watch;
pub use invariants::Invariants;
pub use rings::{Members, RingMeasure, measure_ring};
pub use table::{Table, read_columns};
