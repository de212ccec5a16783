//! Recorded moments that viewers choose from: the end of a run, the folder of a run, one file.

use crate::Error;
use crate::files::{self, grid_of, read_cloud};
use crate::frame::{Encoder, Frame, Want};
use crate::hub::Hub;
use crate::still::Still;
use farfield_sim::case::{self, Case};
use farfield_sim::diagnostics::read_columns;
use farfield_sim::flow::Setup;
use farfield_sim::run::references;
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of moments read from files that are cached.
const KEPT: usize = 4;
/// The interval between checks of a folder for new files.
const PAUSE: Duration = Duration::from_millis(500);
/// The clouds that field files may hold; the first one found is drawn.
const CLOUDS: [&str; 3] = ["tracers", "bodies", "elements"];
/// The prefix of files with a flow's fields on one level.
const CUT: &str = "cut";

/// Moments to choose from.
pub trait Moments: Send + Sync {
    /// Step and time of each moment.
    fn list(&self) -> Vec<(u64, f64)>;
    /// Writes the frame of a moment for one viewer; an index beyond the last means the last.
    ///
    /// # Errors
    /// A message if the moment cannot be read.
    fn frame(&self, moment: usize, want: &Want, encoder: &mut Encoder) -> Result<Frame, String>;
}

/// One moment in memory.
pub struct OneMoment {
    still: Still,
}

impl OneMoment {
    /// A recording of this moment.
    pub fn new(still: Still) -> Self {
        Self { still }
    }
}

impl Moments for OneMoment {
    fn list(&self) -> Vec<(u64, f64)> {
        vec![(self.still.step, self.still.time)]
    }

    fn frame(&self, _moment: usize, want: &Want, encoder: &mut Encoder) -> Result<Frame, String> {
        self.still.frame(encoder, want).map_err(|error| error.to_string())
    }
}

/// The field files in the folder of a run, including files that are added later.
pub struct Recording {
    folder: PathBuf,
    /// The time of each step that has field files.
    steps: Mutex<BTreeMap<u64, f64>>,
    kept: Mutex<Vec<Arc<Still>>>,
}

impl Recording {
    /// Opens the run in a folder.
    ///
    /// # Errors
    /// [`Error::File`] if the folder holds no run.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        if !folder.join("case.toml").is_file() {
            return Err(Error::File {
                path: folder.to_owned(),
                why: "not the folder of a run: it holds no case.toml".to_owned(),
            });
        }
        let recording = Self {
            folder: folder.to_owned(),
            steps: Mutex::default(),
            kept: Mutex::default(),
        };
        recording.look();
        Ok(recording)
    }

    /// Checks the folder for new steps; returns whether the list has changed.
    fn look(&self) -> bool {
        let times = self.times();
        let mut found = BTreeMap::new();
        for name in names(&self.folder.join("fields")) {
            let Some((kind, step)) = step_of(&name) else { continue };
            // A file gets its name when it is complete, and the cloud that is drawn is written first.
            if CLOUDS.contains(&kind) || kind == CUT {
                let time = times.get(&step).copied().unwrap_or(step as f64);
                found.insert(step, time);
            }
        }
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = *steps != found;
        *steps = found;
        is_new
    }

    /// The time of every step, from the diagnostics.
    fn times(&self) -> BTreeMap<u64, f64> {
        let columns = read_columns(&self.folder.join("diagnostics.csv")).unwrap_or_default();
        let column = |name: &str| {
            columns
                .iter()
                .find(|(found, _)| found == name)
                .map_or(&[][..], |(_, v)| v)
        };
        column("step")
            .iter()
            .zip(column("time"))
            .map(|(step, time)| (*step as u64, *time))
            .collect()
    }

    fn case(&self) -> Option<Case> {
        let text = std::fs::read_to_string(self.folder.join("case.toml")).ok()?;
        case::read(&text, "case.toml", &[]).ok()
    }

    /// Reads the moment of a step from its files.
    fn load(&self, step: u64, time: f64) -> Result<Arc<Still>, String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(still) = kept.iter().find(|still| still.step == step) {
            return Ok(still.clone());
        }
        let fields = self.folder.join("fields");
        let mut still = Still {
            step,
            time,
            ..Still::default()
        };
        for kind in CLOUDS {
            let path = ["npz", "vtp"]
                .iter()
                .map(|extension| fields.join(format!("{kind}-{step:06}.{extension}")))
                .find(|path| path.is_file());
            if let Some(path) = path {
                still
                    .clouds
                    .push(read_cloud(&path, kind).map_err(|error| error.to_string())?);
            }
        }
        let cut = fields.join(format!("{CUT}-{step:06}.npz"));
        if cut.is_file() {
            still.volumes = grid_of(&cut).map_err(|error| error.to_string())?;
            self.add_bodies(&mut still);
        }
        if still.clouds.is_empty() && still.volumes.is_empty() {
            return Err(format!(
                "the files of step {step} cannot be shown; set `output.npz = true` to write files that can"
            ));
        }
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        let still = Arc::new(still);
        kept.push(still.clone());
        Ok(still)
    }

    /// Adds the interior of bodies, which field files do not contain, from the case.
    fn add_bodies(&self, still: &mut Still) {
        let bodies = self
            .case()
            .and_then(|case| Setup::new(&case).ok())
            .map(|setup| setup.bodies);
        let (Some(bodies), Some((_, first))) = (bodies.filter(|bodies| !bodies.is_empty()), still.volumes.first())
        else {
            return;
        };
        let (origin, spacing, size, time) = (first.origin, first.spacing, first.size, still.time);
        let inside = |k: usize| {
            let at = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]];
            let x = std::array::from_fn(|axis| origin[axis] + at[axis] as f64 * spacing);
            let shares = bodies.iter().map(|body| body.inside(x, time, spacing) as f32);
            shares.fold(0.0, f32::max)
        };
        let inside: Vec<f32> = (0..first.values.len()).into_par_iter().map(inside).collect();
        for (_, volume) in &mut still.volumes {
            volume.inside.clone_from(&inside);
        }
    }

    /// Sends description, diagnostics and status of the run to the hub.
    fn tell(&self, hub: &Hub) {
        let columns = read_columns(&self.folder.join("diagnostics.csv")).unwrap_or_default();
        let measured = columns.get(5..).unwrap_or_default();
        let names: Vec<&String> = measured.iter().map(|(name, _)| name).collect();
        let last = self.list().last().copied();
        let still = last
            .and_then(|(step, time)| self.load(step, time).ok())
            .unwrap_or_default();
        let case = self.case();
        let kind = match &case {
            Some(case) if case.flow.is_some() => "flow",
            Some(case) if case.gravity.is_some() => "gravity",
            _ => "vortex",
        };
        let curves = case
            .iter()
            .flat_map(references)
            .map(|curve| json!({ "column": curve.column, "label": curve.label, "points": curve.points }));
        hub.set_about(json!({
            "title": case.as_ref().map_or("", |case| &case.title),
            "kind": kind,
            "source": "recording",
            "end": case.as_ref().map_or(0.0, |case| case.time.end),
            "device": self.folder.display().to_string(),
            "columns": names,
            "values": still.value_names(),
            "volumes": still.volumes.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "tracers": false,
            "references": curves.collect::<Vec<_>>(),
            "changeable": [],
            "version": env!("CARGO_PKG_VERSION"),
        }));
        let count = columns.first().map_or(0, |(_, steps)| steps.len());
        hub.set_rows((0..count).map(|k| {
            let at = |(_, values): &(String, Vec<f64>)| values.get(k).copied().unwrap_or(f64::NAN);
            columns[..2].iter().chain(measured).map(at).collect()
        }));
        let (step, time) = last.unwrap_or_default();
        let is_finished = case.is_some_and(|case| time >= case.time.end);
        hub.set_status(json!({ "step": step, "time": time, "finished": is_finished, "remark": "" }));
    }

    /// Shows the folder through a hub until `stop` is set, including files that another program adds meanwhile.
    pub fn follow(self: &Arc<Self>, hub: &Arc<Hub>, stop: &AtomicBool) {
        self.tell(hub);
        hub.set_moments(self.clone());
        while !stop.load(Ordering::Relaxed) {
            hub.wait(PAUSE);
            if self.look() {
                self.tell(hub);
                hub.moments_changed();
            }
        }
    }
}

impl Moments for Recording {
    fn list(&self) -> Vec<(u64, f64)> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.iter().map(|(step, time)| (*step, *time)).collect()
    }

    fn frame(&self, moment: usize, want: &Want, encoder: &mut Encoder) -> Result<Frame, String> {
        let list = self.list();
        let at = moment.min(list.len().saturating_sub(1));
        let (step, time) = *list
            .get(at)
            .ok_or("there are no field files yet; output.fields_every sets how often they are written")?;
        let still = self.load(step, time)?;
        still.frame(encoder, want).map_err(|error| error.to_string())
    }
}

/// Shows one file of points or of a grid through a hub.
///
/// # Errors
/// As [`files::read_file`].
pub fn show_file(path: &Path, hub: &Hub) -> Result<(), Error> {
    let still = files::read_file(path)?;
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    hub.set_about(json!({
        "title": name,
        "kind": "file",
        "source": "recording",
        "end": 0.0,
        "device": path.display().to_string(),
        "columns": [],
        "values": still.value_names(),
        "volumes": still.volumes.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "tracers": false,
        "references": [],
        "changeable": [],
        "version": env!("CARGO_PKG_VERSION"),
    }));
    hub.set_status(json!({ "step": 0, "time": 0.0, "finished": true, "remark": "" }));
    hub.set_moments(Arc::new(OneMoment::new(still)));
    Ok(())
}

/// Splits the name of a field file into cloud and step: `tracers-000100.npz` gives `tracers` and 100.
fn step_of(name: &str) -> Option<(&str, u64)> {
    let stem = name.strip_suffix(".npz").or_else(|| name.strip_suffix(".vtp"))?;
    let (kind, step) = stem.rsplit_once('-')?;
    Some((kind, step.parse().ok()?))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_field_files_are_parsed() {
        assert_eq!(step_of("tracers-000100.npz"), Some(("tracers", 100)));
        assert_eq!(step_of("elements-1234567.vtp"), Some(("elements", 1_234_567)));
        for name in ["tracers.pvd", "tracers-.npz", ".tracers-000100.npz.tmp", "a"] {
            assert_eq!(step_of(name), None);
        }
    }

    #[test]
    fn the_body_of_a_flow_is_taken_from_its_case() {
        use farfield_io::{Array, NamedArray, Precision, write_arrays};
        let folder = tempfile::tempdir().unwrap();
        let fields = folder.path().join("fields");
        std::fs::create_dir(&fields).unwrap();
        let sphere = case::BuiltIn::find("sphere").unwrap();
        std::fs::write(folder.path().join("case.toml"), sphere.text).unwrap();
        // 9 points along each axis from -1 to 1; the sphere of radius 1/2 is in the middle.
        let arrays = [
            NamedArray::new("origin", Array::from_rows(&[[-1.0; 3]])),
            NamedArray::new("spacing", Array::column(vec![0.25])),
            NamedArray::new("size", Array::from_rows(&[[9.0; 3]])),
            NamedArray::new("vorticity", Array::from_rows(&[[0.0, 0.0, 1.0]; 729])),
        ];
        write_arrays(fields.join("cut-000004.npz"), &arrays, Precision::Double).unwrap();
        let recording = Recording::open(folder.path()).unwrap();
        let still = recording.load(4, 0.1).unwrap();
        let inside = &still.volumes[0].1.inside;
        assert_eq!((inside.len(), inside[0], inside[364]), (729, 0.0, 1.0));
        assert_eq!(recording.list(), [(4, 4.0)]);
    }
}
