//! `farfield bench --calibrate`: measures this machine's costs and stores them in the profile that plans read.

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::{print, profile};
use farfield::bench;
use farfield::simd::SimdLevel;

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<String, Failure> {
    let path = args.profile.clone().or_else(profile::default_path).ok_or_else(|| {
        Failure::Usage("no configuration folder is known: give --profile FILE to name the profile".to_owned())
    })?;
    print::progress("measuring operator costs");
    let profile = bench::calibrate(SimdLevel::best())?;
    let text = toml::to_string_pretty(&profile).map_err(|error| Failure::Data(format!("TOML: {error}")))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Failure::Data(format!("{}: {error}", folder.display())))?;
    }
    let header = "# Nanoseconds per operation on one thread, measured by `farfield bench --calibrate`.\n";
    farfield_io::write_text_atomically(&path, &format!("{header}{text}"))?;
    Ok(format!("{text}\nwritten to {}\n", path.display()))
}
