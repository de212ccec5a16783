//! The loop that feeds a reader.

use crate::{Dice, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Feeds a reader with what `make` makes, so many times, or for the seconds that were asked for. `read` says whether the input
/// was accepted; `show` is how an input is printed that makes it panic.
///
/// # Panics
/// If the reader does, with the input; or if it accepts everything, so that no damage was seen.
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
    assert!(fed > 0 && accepted < fed, "{name}: damage must be seen now and then");
}

/// Feeds a reader with mutations of these bytes.
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

/// Feeds a reader with mutations of these texts.
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
    #[should_panic(expected = "damage must be seen")]
    fn a_reader_that_accepts_everything_is_not_tested() {
        feed_bytes("test", 10, &[vec![1, 2, 3]], |_| true);
    }
}
