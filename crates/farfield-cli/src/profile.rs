//! The machine profile and where it comes from.

use crate::failure::Failure;
use farfield::tuning::MachineProfile;
use std::path::{Path, PathBuf};

/// A machine profile and the file it was read from.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The costs.
    pub costs: MachineProfile,
    /// The file; `None` for the built-in profile.
    pub file: Option<PathBuf>,
}

impl Profile {
    /// The profile named by `--profile`, else by `$FARFIELD_PROFILE`, else the one in the user's configuration folder,
    /// else the built-in one.
    pub fn load(asked: Option<&Path>) -> Result<Self, Failure> {
        let named = asked.map(Path::to_owned).or_else(|| path_from("FARFIELD_PROFILE"));
        let file = named.or_else(|| default_path().filter(|path| path.exists()));
        match file {
            None => Ok(Self::default()),
            Some(file) => Ok(Self {
                costs: read(&file)?,
                file: Some(file),
            }),
        }
    }

    /// The origin of the profile, for reports.
    pub fn origin(&self) -> String {
        self.file
            .as_ref()
            .map_or_else(|| "built-in".to_owned(), |file| file.display().to_string())
    }
}

/// The path of the profile in the user's configuration folder.
pub fn default_path() -> Option<PathBuf> {
    let folder = path_from("XDG_CONFIG_HOME").or_else(|| path_from("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("farfield").join("profile.toml"))
}

fn path_from(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn read(file: &Path) -> Result<MachineProfile, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Data(format!("{name}: cannot read the machine profile: {error}")))?;
    let profile: MachineProfile = toml::from_str(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let reason = error.message();
        Failure::Data(format!("{name}: line {line}: not a machine profile: {reason}"))
    })?;
    check(&profile).map_err(|(section, key)| {
        let line = line_of(&text, section, key);
        Failure::Data(format!(
            "{name}: line {line}: [{section}] {key}: every cost must be a positive number"
        ))
    })?;
    Ok(profile)
}

/// Checks that all costs are positive; otherwise returns the section and key of the first that is not.
fn check(profile: &MachineProfile) -> Result<(), (&'static str, &'static str)> {
    let positive = |section, key, values: &[f64]| {
        let fine = values.iter().all(|value| value.is_finite() && *value > 0.0);
        if fine { Ok(()) } else { Err((section, key)) }
    };
    for (section, in_plane, costs) in [("f32", "f32.plane", &profile.f32), ("f64", "f64.plane", &profile.f64)] {
        positive(section, "pair_scalar", &costs.pair_scalar)?;
        positive(section, "pair_vector", &costs.pair_vector)?;
        positive(section, "point_coefficient", &[costs.point_coefficient])?;
        // A coefficient of the fit may be zero or negative, but not the cost itself.
        positive(section, "m2l", &[costs.m2l(1), costs.m2l(10), costs.m2l(30)])?;
        let plane = &costs.plane;
        positive(in_plane, "pair_harmonic", &plane.pair_harmonic)?;
        positive(in_plane, "pair_log", &plane.pair_log)?;
        positive(in_plane, "point_coefficient", &[plane.point_coefficient])?;
        let m2l = |p: f64| plane.m2l[0] + p * (plane.m2l[1] + p * plane.m2l[2]);
        positive(in_plane, "m2l", &[m2l(1.0), m2l(17.0), m2l(60.0)])?;
    }
    Ok(())
}

/// The line, from 1, on which a section sets a key; if it is not found, the line of the section, or 1.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let mut inside = false;
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.starts_with('[') && !line.contains('=') {
            inside = line.trim_matches(['[', ']', ' ']) == section;
            if inside {
                last = number;
            }
        } else if inside && line.split('=').next().is_some_and(|name| name.trim() == key) {
            return number;
        }
    }
    last
}
