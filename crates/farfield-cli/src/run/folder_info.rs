//! `farfield info DIR`: the contents and progress of a run's folder.

use crate::failure::Failure;
use crate::layout;
use crate::plot::case_of;
use farfield_io::units;
use farfield_sim::checkpoint::Store;
use farfield_sim::diagnostics::read_columns;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct FolderInfo {
    title: String,
    /// `running`, `finished`, `stopped` or `not begun`.
    state: &'static str,
    step: Option<u64>,
    time: Option<f64>,
    end: f64,
    checkpoints: Vec<u64>,
    /// Problems with the newest checkpoint, or the one used instead of it.
    remarks: Vec<String>,
    rows: usize,
    pictures: usize,
    field_files: usize,
    bytes: u64,
    started_with: String,
}

/// Describes a folder.
pub fn run(folder: &Path, json: bool) -> Result<String, Failure> {
    let case = case_of(folder)?;
    let store = Store::new(folder.join("checkpoints"));
    let newest = store.newest();
    let (header, remarks) = match newest {
        Ok(found) => (Some(found.checkpoint.header), found.remarks),
        Err(error) => (None, vec![error.to_string()]),
    };
    let rows =
        read_columns(&folder.join("diagnostics.csv")).map_or(0, |columns| columns.first().map_or(0, |c| c.1.len()));
    let running = is_locked(folder);
    let state = match (&header, running) {
        (_, true) => "running",
        (None, _) => "not begun",
        (Some(header), _) if header.time >= case.time.end => "finished",
        _ => "stopped",
    };
    let info = FolderInfo {
        title: case.title.clone(),
        state,
        step: header.as_ref().map(|header| header.step),
        time: header.as_ref().map(|header| header.time),
        end: case.time.end,
        checkpoints: store.steps(),
        remarks,
        rows,
        pictures: walk(&folder.join("frames")).0,
        field_files: walk(&folder.join("fields")).0,
        bytes: walk(folder).1,
        started_with: header.as_ref().map_or_else(String::new, |header| {
            format!(
                "version {}, {}",
                header.program,
                header.device.as_deref().unwrap_or(&header.simd)
            )
        }),
    };
    if json {
        let text = serde_json::to_string_pretty(&info).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(layout::fit(info.text(folder)))
}

impl FolderInfo {
    fn text(&self, folder: &Path) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:14}{value}");
        };
        line("run", format!("{} ({})", self.title, folder.display()));
        let reached = match (self.step, self.time) {
            (Some(step), Some(time)) => {
                let share = 100.0 * (time / self.end).clamp(0.0, 1.0);
                format!(
                    "{} at step {step}, time {time} of {} ({share:.0} %)",
                    self.state, self.end
                )
            }
            _ => self.state.to_owned(),
        };
        line("state", reached);
        if !self.started_with.is_empty() {
            line("with", self.started_with.clone());
        }
        let steps: Vec<String> = self.checkpoints.iter().map(u64::to_string).collect();
        line(
            "checkpoints",
            format!(
                "of steps {}",
                if steps.is_empty() {
                    "none".to_owned()
                } else {
                    steps.join(", ")
                }
            ),
        );
        for remark in &self.remarks {
            line("", remark.clone());
        }
        line("diagnostics", format!("{} rows", self.rows));
        line("pictures", self.pictures.to_string());
        line("fields", format!("{} files", self.field_files));
        line("size", units::bytes(self.bytes));
        if self.state == "stopped" || self.state == "not begun" {
            line("go on with", format!("farfield resume {}", folder.display()));
        }
        text
    }
}

/// Whether another program holds the folder.
fn is_locked(folder: &Path) -> bool {
    let Ok(file) = std::fs::File::open(folder.join(".lock")) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}

/// The number of files below a folder, without hidden ones, and their bytes.
fn walk(folder: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, 0), |(files, bytes), entry| {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        match entry.metadata() {
            Ok(found) if found.is_dir() => {
                let below = walk(&entry.path());
                (files + below.0, bytes + below.1)
            }
            Ok(found) if !hidden => (files + 1, bytes + found.len()),
            _ => (files, bytes),
        }
    })
}
