//! The readers of cases and checkpoints, fed with damaged ones: they may refuse, they must not panic.
//! `FARFIELD_FUZZ_SECONDS` makes each target run that long instead of a fixed number of times.

use farfield_sim::case::{self, BuiltIn, Override, SCHEMA};
use farfield_sim::checkpoint::Checkpoint;
use farfield_sim::run::{Control, Run, Silent};
use std::time::{Duration, Instant};

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

const WORDS: [&str; 16] = [
    "nan",
    "inf",
    "-1",
    "1e400",
    "18446744073709551616",
    "0",
    "\n",
    "[",
    "]",
    "=",
    "\"",
    "true",
    "{}",
    "[[]]",
    "1e6",
    "#",
];

/// A few changes to a text, at places where a character begins.
fn mutate(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(chars.len() + 1);
        let end = (at + 1 + dice.below(20)).min(chars.len());
        match dice.below(5) {
            0 => chars
                .splice(at..at, WORDS[dice.below(WORDS.len())].chars())
                .for_each(drop),
            1 if at < end => chars.drain(at..end).for_each(drop),
            2 if at < end => {
                let piece = chars[at..end].to_vec();
                let to = dice.below(chars.len());
                chars.splice(to..to, piece).for_each(drop);
            }
            3 if at < chars.len() => chars[at] = char::from(32 + dice.below(95) as u8),
            _ => {
                // A number becomes another.
                if let Some(digit) = (at..chars.len()).find(|k| chars[*k].is_ascii_digit()) {
                    chars.splice(digit..=digit, WORDS[dice.below(6)].chars()).for_each(drop);
                }
            }
        }
    }
    chars.into_iter().collect()
}

fn fuzz(name: &str, mut once: impl FnMut(&mut Dice) -> bool) {
    let seconds = std::env::var("FARFIELD_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    let (start, mut dice) = (Instant::now(), Dice(0x9e37_79b9_7f4a_7c15));
    let (mut fed, mut fine) = (0u64, 0u64);
    loop {
        let enough = match seconds {
            Some(seconds) => start.elapsed() > Duration::from_secs(seconds),
            None => fed >= 1500,
        };
        if enough {
            break;
        }
        fed += 1;
        fine += u64::from(once(&mut dice));
    }
    println!("{name}: {fed} damaged inputs, {fine} of them read, none panicked");
    assert!(fed > 0 && fine < fed, "damage must be seen now and then");
}

#[test]
fn damaged_cases() {
    let mut seeds: Vec<&str> = BuiltIn::ALL.iter().map(|case| case.text).collect();
    seeds.push(SCHEMA);
    fuzz("cases", |dice| {
        let seed = seeds[dice.below(seeds.len())];
        case::read(&mutate(seed, dice), "damaged", &[]).is_ok()
    });
}

#[test]
fn damaged_overrides() {
    let keys = [
        "time.end=2",
        "vortex.rings.0.radius=0.5",
        "size=large",
        "output.views=[]",
        "tracers.count=1e6",
    ];
    let text = BuiltIn::find("leapfrog").unwrap().text;
    fuzz("overrides", |dice| {
        let changed = mutate(keys[dice.below(keys.len())], dice);
        Override::parse(&changed).is_ok_and(|change| case::read(text, "leapfrog", &[change]).is_ok())
    });
}

#[test]
fn damaged_checkpoints_with_sound_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[time]\nend = 0.02\nstep = 0.01\nscheme = \"leapfrog\"\n[output]\nviews = []\n[[gravity.plummer]]\ncount = 5\n";
    let case = case::read(text, "test", &[]).unwrap();
    let run = Run::new(case, folder.path(), farfield::tuning::MachineProfile::default()).unwrap();
    run.go(&Control::default(), &mut Silent).unwrap();
    let seed = std::fs::read(folder.path().join("checkpoints/checkpoint-000000002.ckpt")).unwrap();
    fuzz("checkpoints", |dice| {
        let mut bytes = seed[..seed.len() - 4].to_vec();
        for _ in 0..=dice.below(3) {
            let at = dice.below(bytes.len());
            match dice.below(3) {
                0 => bytes[at] = dice.next() as u8,
                1 => bytes.truncate(at.max(20)),
                _ => bytes.insert(at, dice.next() as u8),
            }
        }
        // The checksum is made right, or it alone would be tested.
        if dice.below(4) > 0 {
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        }
        Checkpoint::from_bytes(&bytes).is_ok()
    });
}
