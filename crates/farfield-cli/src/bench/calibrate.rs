//! `farfield bench --calibrate`: measures this machine's costs and stores them where plans look for them.

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::print;
use crate::profile::{self, Profile};
use farfield::bench;
use farfield::cuda::hybrid;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use std::path::{Path, PathBuf};

/// The operators on the CPU. What the file knows of a graphics processor stays.
pub fn cpu(args: &BenchArgs) -> Result<String, Failure> {
    let path = path(args)?;
    print::progress("measuring operator costs");
    let known = known(&path).and_then(|profile| profile.device);
    let profile = MachineProfile {
        device: known,
        ..bench::calibrate(SimdLevel::best())?
    };
    store(path, &profile)
}

/// What a graphics processor does beside the cores. What the file knows of the CPU stays.
pub fn device(args: &BenchArgs) -> Result<String, Failure> {
    let path = path(args)?;
    let gpu = farfield::open(args.device.gpu().unwrap_or(0))?;
    print::progress("measuring pairs on the device and the far field on the cores");
    let profile = MachineProfile {
        device: Some(hybrid::calibrate(&gpu)?),
        ..known(&path).unwrap_or_default()
    };
    store(path, &profile)
}

fn path(args: &BenchArgs) -> Result<PathBuf, Failure> {
    args.profile.clone().or_else(profile::default_path).ok_or_else(|| {
        Failure::Usage("no configuration folder is known: say where the profile goes with --profile FILE".to_owned())
    })
}

/// What is stored there, if it can be read.
fn known(path: &Path) -> Option<MachineProfile> {
    path.exists()
        .then(|| Profile::load(Some(path)).ok())
        .flatten()
        .map(|profile| profile.costs)
}

fn store(path: PathBuf, profile: &MachineProfile) -> Result<String, Failure> {
    let text = toml::to_string_pretty(profile).map_err(|error| Failure::Data(format!("no TOML: {error}")))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Failure::Data(format!("{}: {error}", folder.display())))?;
    }
    let header = "# Nanoseconds per operation on one thread, measured by `farfield bench --calibrate`; of a device, pairs of \
                  points and bytes a second, measured by `farfield bench --calibrate --device cuda`.\n";
    farfield_io::write_text_atomically(&path, &format!("{header}{text}"))?;
    Ok(format!("{text}\nwritten to {}\n", path.display()))
}
