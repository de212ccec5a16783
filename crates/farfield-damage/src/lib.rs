//! Damaged inputs for the tests of readers: dice, mutations of bytes and texts, and the loop that feeds a reader with them.
//! A reader may refuse, it may read, it must not panic.
//!
//! `FARFIELD_FUZZ_SECONDS` makes every loop run that long instead of a fixed number of rounds; `FARFIELD_FUZZ_SEED` throws
//! other dice. docs/notes/robustness.md has what was run.

mod dice;
mod feed;
mod mutate;

pub use dice::Dice;
pub use feed::{feed, feed_bytes, feed_text};
pub use mutate::{WORDS, bytes, text};
