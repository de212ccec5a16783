//! The loop that feeds damaged inputs to a reader.

use crate::{Dice, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Feeds inputs from `make` to a reader, `rounds` times or for `FARFIELD_FUZZ_SECONDS`. `read` returns whether the
/// input was accepted; `show` prints an input that makes the reader panic.
///
/// # Panics
/// If the reader panics, with the input in the message; or if the reader accepts every input, so that nothing was
/// tested.
pub fn feed<I>(
    name: &str,
    rounds: u64,
    mut make: impl FnMut(&mut Dice) -> I,
    show: impl Fn(&I) -> String,
    mut read: impl FnMut(&I) -> bool,
) {
    let limit = number("FARFIELD_FUZZ_SECONDS").map(Duration::from_secs);
    let mut dice = Dice::new(number("FARFIELD_FUZZ_SEED").unwrap_or(1));
    let (start, mut fed, mut accepted) = (Instant::now(), 0u64, 0u64);
    while limit.map_or(fed < rounds, |limit| start.elapsed() < limit) {
        let input = make(&mut dice);
        fed += 1;
        match catch_unwind(AssertUnwindSafe(|| read(&input))) {
            Ok(fine) => accepted += u64::from(fine),
            Err(_) => panic!("{name}: input {fed} made the reader panic:\n{}", show(&input)),
        }
    }
    let seconds = start.elapsed().as_secs();
    println!("{name}: {fed} damaged inputs in {seconds} s, {accepted} of them accepted, 0 panics");
    assert!(fed > 0 && accepted < fed, "{name}: the reader accepted every input");
}

/// Feeds mutations of the byte strings `seeds` to a reader.
///
/// # Panics
/// As [`feed`].
pub fn feed_bytes(name: &str, rounds: u64, seeds: &[Vec<u8>], mut read: impl FnMut(&[u8]) -> bool) {
    feed(
        name,
        rounds,
        |dice| {
            let seed = dice.pick(seeds);
            mutate::bytes(seed, dice)
        },
        |input| input.escape_ascii().to_string(),
        |input| read(input),
    );
}

/// Feeds mutations of the texts `seeds` to a reader.
///
/// # Panics
/// As [`feed`].
pub fn feed_text(name: &str, rounds: u64, seeds: &[&str], mut read: impl FnMut(&str) -> bool) {
    feed(
        name,
        rounds,
        |dice| {
            let seed = dice.pick(seeds);
            mutate::text(seed, dice)
        },
        Clone::clone,
        |input| read(input),
    );
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_panics_is_reported_with_its_input() {
        let caught = catch_unwind(|| {
            feed_text("test", 100_000, &["length = 5"], |text| {
                assert!(!text.contains("nan"), "not a number");
                text == "length = 5"
            });
        });
        let message = caught.unwrap_err().downcast::<String>().unwrap();
        assert!(
            message.contains("made the reader panic") && message.contains("nan"),
            "{message}"
        );
    }

    #[test]
    #[should_panic(expected = "accepted every input")]
    fn a_reader_that_accepts_everything_fails() {
        feed_bytes("test", 10, &[vec![1, 2, 3]], |_| true);
    }
}
