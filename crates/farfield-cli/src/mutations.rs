//! Damaged inputs for everything the program parses itself: command lines, profiles, Poisson cases, arrays of
//! vorticity, slices and values of a sweep. It may refuse them; it must not panic.

use crate::args::{Cli, Command};
use crate::poisson::{Case, Numbers, Settings};
use crate::profile::Profile;
use crate::sample::parse_slice;
use crate::sweep::combinations;
use clap::Parser;
use farfield_damage::{Dice, WORDS, feed, feed_bytes, feed_text, text};
use farfield_io::{Array, NamedArray, Precision, write_arrays};

const ROUNDS: u64 = 400;

#[test]
fn damaged_command_lines() {
    let lines = [
        "evaluate --kernel gravity --points plummer --n 1e6 --tolerance 1e-6 --outputs potential,acceleration --verify 200",
        "evaluate --kernel harmonic2d --points layer --core gaussian --core-size 0.01 --complex --precision f32 --seed 7",
        "poisson two-rings --component y --resolution 256 --tolerance 1e-4 --device hybrid --kernel regularised",
        "run leapfrog --set tracers.count=1e6 --device cuda:1 --steps 5 --threads 2 -o out",
        "resume out --set time.end=5 -q --json",
        "sample out --slice z=0 --quantity vorticity,q --resolution 64 --low -1,-1,-1 --high 1,1,1",
        "sweep case.toml --set time.step=0.1,0.05 --plot energy --most 20",
        "bench --calibrate --profile out.toml --quick",
    ];
    let make = |dice: &mut Dice| {
        let mut words: Vec<String> = dice.pick(&lines).split(' ').map(str::to_owned).collect();
        for _ in 0..=dice.below(3) {
            let at = dice.below(words.len());
            match dice.below(4) {
                0 => words[at] = (*dice.pick(&WORDS)).to_owned(),
                1 => words[at] = text(&words[at], dice),
                2 => words.insert(at, (*dice.pick(&WORDS)).to_owned()),
                _ => drop(words.remove(at)),
            }
            if words.is_empty() {
                break;
            }
        }
        words
    };
    feed(
        "command lines",
        ROUNDS,
        make,
        |words| format!("{words:?}"),
        |words| {
            let line = std::iter::once("farfield").chain(words.iter().map(String::as_str));
            // `--help` and `--version` do not parse to a command either.
            Cli::try_parse_from(line).is_ok()
        },
    );
}

#[test]
fn damaged_profiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("profile.toml");
    let whole = toml::to_string(&farfield::tuning::MachineProfile::default()).expect("a profile");
    feed_bytes("profiles", ROUNDS, &[whole.into_bytes()], |bytes| {
        std::fs::write(&file, bytes).expect("written");
        Profile::load(Some(&file)).is_ok()
    });
}

#[test]
fn damaged_poisson_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("case.toml");
    let seeds = [
        "[grid]\norigin = [0.0, 0.0, 0.0]\nroots = [2, 1, 1]\nside = 1.0\n[[ring]]\ncentre = [0.5, 0.5, 0.5]\n\
         axis = [0.0, 1.0, 0.0]\nradius = 0.2\ncore = 0.04\ncirculation = 2.0\n",
        "[[compact-ring]]\ncentre = [0.5, 0.5, 0.5]\nradius = 0.2\n",
        "vorticity = \"omega.npz\"\n[box]\nside = 2.0\n",
    ];
    feed_text("poisson cases", ROUNDS, &seeds, |text| {
        std::fs::write(&file, text).expect("written");
        Case::read(&file).is_ok()
    });
}

#[test]
fn damaged_arrays_of_vorticity() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("omega.npy");
    let name = file.display().to_string();
    let numbers = Array::column((0..16 * 16 * 16).map(|k| f64::from(k % 7)).collect());
    write_arrays(&file, &[NamedArray::new("omega", numbers)], Precision::Single).expect("written");
    let seed = std::fs::read(&file).expect("an array");
    feed_bytes("vorticity", ROUNDS, &[seed], |bytes| {
        std::fs::write(&file, bytes).expect("written");
        let Command::Poisson(args) = Cli::parse_from(["farfield", "poisson", &name]).command else {
            unreachable!("it is `poisson`");
        };
        Settings::new(*args).is_ok_and(|settings| Numbers::read(&settings, &file).is_ok())
    });
}

#[test]
fn damaged_slices() {
    let slices = ["z=0", "x=-1.5", "y=1e-3"];
    feed_text("slices", ROUNDS, &slices, |text| parse_slice(text).is_ok());
}

#[test]
fn damaged_values_of_sweeps() {
    let values = [
        "time.step=0.1,0.05",
        "output.views=[],[\"side\"]",
        "vortex.layers=1,2,3",
    ];
    feed_text("sweeps", ROUNDS, &values, |text| {
        combinations(&[text.to_owned()], 100).is_ok()
    });
}
