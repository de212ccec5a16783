//! Random changes to bytes and texts.

use crate::Dice;

/// Texts that mutations insert; the first seven stand for numbers.
pub const WORDS: [&str; 20] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "1e6",
    "18446744073709551616",
    "\n",
    ",",
    "=",
    "\"",
    "#",
    "(",
    ")",
    "[",
    "]",
    "{}",
    "<",
    "true",
    "é",
];

/// How many of [`WORDS`] stand for numbers.
const NUMBERS: usize = 7;

/// A copy of `input` with one to four changes.
pub fn bytes(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(out.len() + 1);
        if dice.below(6) == 0 && at < out.len() {
            out[at] ^= 1 << dice.below(8);
        } else {
            change(
                &mut out,
                at,
                |word| word.bytes().collect(),
                |dice| dice.roll() as u8,
                dice,
            );
        }
    }
    out
}

/// A copy of `input` with one to four changes, each at a character boundary.
pub fn text(input: &str, dice: &mut Dice) -> String {
    let mut out: Vec<char> = input.chars().collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(out.len() + 1);
        let number = (at..out.len()).find(|k| out[*k].is_ascii_digit());
        match number {
            // A digit becomes another number.
            Some(digit) if dice.below(4) == 0 => {
                let word = WORDS[dice.below(NUMBERS)];
                out.splice(digit..=digit, word.chars()).for_each(drop);
            }
            _ => change(
                &mut out,
                at,
                |word| word.chars().collect(),
                |dice| char::from(32 + dice.below(95) as u8),
                dice,
            ),
        }
    }
    out.into_iter().collect()
}

/// Makes one change at `at`: replaces an item, inserts a word, deletes, copies or reverses a piece, or truncates.
fn change<T: Clone>(
    out: &mut Vec<T>,
    at: usize,
    spell: impl Fn(&str) -> Vec<T>,
    any: impl Fn(&mut Dice) -> T,
    dice: &mut Dice,
) {
    let end = (at + 1 + dice.below(24)).min(out.len());
    match dice.below(7) {
        0 if at < out.len() => out[at] = any(dice),
        1 | 2 => {
            let word = spell(WORDS[dice.below(WORDS.len())]);
            out.splice(at..at, word).for_each(drop);
        }
        3 if at < end => out.drain(at..end).for_each(drop),
        4 if at < end => {
            let piece = out[at..end].to_vec();
            let to = dice.below(out.len());
            out.splice(to..to, piece).for_each(drop);
        }
        5 => out.truncate(at),
        6 if at < end => out[at..end].reverse(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_mutations_change_something_and_texts_stay_texts() {
        let seed = "time = { end = 1.0, step = 0.1 } # é";
        let mut dice = Dice::new(1);
        let changed = (0..500).filter(|_| text(seed, &mut dice) != seed).count();
        assert!(changed > 400, "{changed}");
        let changed = (0..500).filter(|_| bytes(seed.as_bytes(), &mut dice) != seed.as_bytes());
        assert!(changed.count() > 400);
        assert!((0..500).any(|_| bytes(b"", &mut dice) != b""));
    }
}
