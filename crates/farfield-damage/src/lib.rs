//! Damaged inputs for testing readers: random choices, mutations of bytes and texts, and the loop that feeds them to a
//! reader. A reader may accept or reject an input; it must not panic.
//!
//! `FARFIELD_FUZZ_SECONDS` runs every loop for that many seconds instead of a fixed number of rounds;
//! `FARFIELD_FUZZ_SEED` sets the random seed. docs/notes/robustness.md lists the runs that were made.

mod dice;
mod feed;
mod mutate;

pub use dice::Dice;
pub use feed::{feed, feed_bytes, feed_text};
pub use mutate::{WORDS, bytes, text};
