//! Every reader of files, fed with damaged ones: it may refuse, it may read, it must not panic or take memory that the
//! file cannot fill. `FARFIELD_FUZZ_SECONDS` makes each target run that long instead of a fixed number of times.

use farfield_io::vtk::{Compression, Encoding, PointSet, PvdSeries, read_pvd, read_vtp, write_vtp};
use farfield_io::{Array, NamedArray, Precision, read_points, read_strengths, read_table, read_targets, write_arrays};
use std::path::Path;
use std::time::{Duration, Instant};

/// A small generator of its own: tests must not depend on the library's.
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

/// What damaged files have had in them.
const WORDS: [&[u8]; 14] = [
    b"nan",
    b"inf",
    b"-1",
    b"1e400",
    b"18446744073709551616",
    b"0",
    b"\n",
    b",",
    b"\"",
    b"(",
    b")",
    b"<",
    b"=",
    b"\xff\xff\xff\xff",
];

/// One to four changes: a bit, a byte, a word, a piece gone, doubled or moved, the end gone.
fn mutate(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(out.len() + 1);
        let end = (at + 1 + dice.below(24)).min(out.len());
        match dice.below(7) {
            0 if at < out.len() => out[at] ^= 1 << dice.below(8),
            1 if at < out.len() => out[at] = dice.next() as u8,
            2 => out
                .splice(at..at, WORDS[dice.below(WORDS.len())].iter().copied())
                .for_each(drop),
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
    out
}

/// Feeds a reader; returns how many files it was fed and how many of them it read.
fn fuzz(name: &str, extension: &str, seeds: &[Vec<u8>], mut read: impl FnMut(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("damaged.{extension}"));
    let seconds = std::env::var("FARFIELD_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    let (start, mut dice) = (Instant::now(), Dice(0x2545_f491_4f6c_dd1d));
    let (mut fed, mut fine) = (0u64, 0u64);
    loop {
        let enough = match seconds {
            Some(seconds) => start.elapsed() > Duration::from_secs(seconds),
            None => fed >= 600,
        };
        if enough {
            break;
        }
        let bytes = mutate(&seeds[dice.below(seeds.len())], &mut dice);
        std::fs::write(&path, &bytes).unwrap();
        fed += 1;
        fine += u64::from(read(&path));
    }
    println!("{name}: {fed} damaged files, {fine} of them read, none panicked");
    assert!(fed > 0 && fine < fed, "damage must be seen now and then");
}

fn arrays() -> Vec<NamedArray> {
    let points: Vec<[f64; 3]> = (0..7).map(|k| [f64::from(k), 0.5, -1.0 / f64::from(k + 1)]).collect();
    vec![
        NamedArray::new("points", Array::from_rows(&points)),
        NamedArray::new("charges", Array::column(points.iter().map(|p| p[0]).collect())),
    ]
}

fn written(extension: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("seed.{extension}"));
    [Precision::Single, Precision::Double]
        .map(|precision| {
            write_arrays(&path, &arrays(), precision).unwrap();
            std::fs::read(&path).unwrap()
        })
        .to_vec()
}

/// All readers of points and tables.
fn read_all(path: &Path) -> bool {
    let table = read_table(path).is_ok();
    let _ = (
        read_points(path).is_ok(),
        read_targets(path).is_ok(),
        read_strengths(path).is_ok(),
    );
    table
}

#[test]
fn damaged_npy_files() {
    fuzz("npy", "npy", &written("npy"), read_all);
}

#[test]
fn damaged_npz_files() {
    fuzz("npz", "npz", &written("npz"), read_all);
}

#[test]
fn damaged_csv_files() {
    fuzz("csv", "csv", &written("csv"), read_all);
}

#[test]
fn damaged_vtp_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.vtp");
    let points: Vec<[f64; 3]> = (0..9).map(|k| [f64::from(k), 1.0, 2.0]).collect();
    let set = PointSet {
        points: &points,
        scalars: vec![("core_size", &[0.5; 9])],
        vectors: vec![("strength", &points)],
    };
    let seeds = [Compression::None, Compression::Zlib].map(|compression| {
        let encoding = Encoding {
            precision: Precision::Double,
            compression,
        };
        write_vtp(&path, &set, encoding).unwrap();
        std::fs::read(&path).unwrap()
    });
    fuzz("vtp", "vtp", &seeds, |path| read_vtp(path).is_ok());
}

#[test]
fn damaged_pvd_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.pvd");
    let mut series = PvdSeries::create(&path).unwrap();
    (0..3).for_each(|k| series.push(f64::from(k), format!("tracers-{k}.vtp")).unwrap());
    let seed = std::fs::read(&path).unwrap();
    fuzz("pvd", "pvd", &[seed], |path| read_pvd(path).is_ok());
}
