//! The start of a run: new or from a checkpoint, on the CPU or on a device.

use super::blocks::GridFiles;
use super::change::changes;
use super::{Folder, Run, case_text, subset};
use crate::case::{self, Case};
use crate::checkpoint::{Checkpoint, FoundTogether, Store};
use crate::diagnostics::{Table, Watch};
use crate::error::Error;
use crate::flow::FlowModel;
use crate::gravity::GravityModel;
use crate::model::{Limit, Model, Show, Snapshot};
use crate::particles::import;
use crate::plane::PlaneModel;
use crate::ranks::{Alone, Ranks, agree, from_first, speaks};
use crate::vortex::VortexModel;
use farfield::memory::{Memory, Traffic};
use farfield::tuning::MachineProfile;
use farfield_grid::poisson::PoissonDevice;
use std::path::Path;
use std::sync::Arc;

/// The model that a case describes, in its initial state.
///
/// # Errors
/// [`Error::Case`] for an invalid case, [`Error::Grid`] if there is not enough memory for its grid.
pub fn model_of(case: &Case, profile: &MachineProfile) -> Result<Box<dyn Model>, Error> {
    model_of_rank(case, profile, &Alone)
}

/// As [`model_of`], but only this rank's part of the points. Does not communicate.
fn model_of_rank(case: &Case, profile: &MachineProfile, ranks: &dyn Ranks) -> Result<Box<dyn Model>, Error> {
    if case.flow.is_some() {
        return FlowModel::new(case, profile.clone());
    }
    if case.plane.is_some() {
        return Ok(Box::new(PlaneModel::new(case, profile.clone())?));
    }
    Ok(if case.gravity.is_some() {
        Box::new(GravityModel::of_rank(case, profile.clone(), ranks)?)
    } else {
        Box::new(VortexModel::of_rank(case, profile.clone(), ranks)?)
    })
}

/// The state of a run at one step.
pub struct MomentOfRun {
    /// The state.
    pub model: Box<dyn Model>,
    /// The case.
    pub case: Case,
    /// The step.
    pub step: u64,
    /// The time.
    pub time: f64,
}

/// The names of the first columns of the table.
fn names_of(case: &Case) -> [&'static str; 5] {
    match case.flow {
        Some(_) => ["step", "time", "dt", "limit", "seconds"],
        None => ["step", "time", "dt", "dt_limit", "wall_seconds"],
    }
}

impl Run {
    /// Prepares a new run in its own folder. The initial checkpoint is written before anything is computed, so that an
    /// unusable folder is detected immediately.
    ///
    /// # Errors
    /// [`Error::Case`] for an invalid case, [`Error::Folder`] for a folder that holds a run or cannot be written,
    /// [`Error::File`] if the disk is full.
    pub fn new(case: Case, folder: &Path, profile: MachineProfile) -> Result<Self, Error> {
        Self::shared(&(Arc::new(Alone) as Arc<dyn Ranks>), case, folder, profile)
    }

    /// As [`new`](Self::new), for ranks that share the run. Called by all ranks together.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`Error::OneProcess`]; the same on all ranks.
    pub fn shared(ranks: &Arc<dyn Ranks>, case: Case, folder: &Path, profile: MachineProfile) -> Result<Self, Error> {
        let model = super::forecast::check(&case, ranks.size()).and_then(|()| model_of_rank(&case, &profile, &**ranks));
        let model = agree(&**ranks, model)?;
        let folder = Folder::of_all(&**ranks, folder, || Folder::create(folder, &case))?;
        Self::begin(ranks, case, model, folder, profile)
    }

    /// The state of a run as a model, from the checkpoint of `step` or the newest. Does not lock the folder.
    ///
    /// # Errors
    /// [`Error::Folder`] or [`Error::Checkpoint`] if there is no such state.
    pub fn state_of(folder: &Path, step: Option<u64>) -> Result<MomentOfRun, Error> {
        let store = Store::new(folder.join("checkpoints"));
        let Checkpoint { header, state } = store.of_step(step)?.checkpoint;
        let mut model = model_of(&header.case.clone().located_in(folder), &header.profile)?;
        model.restore(&state).map_err(|why| Error::Folder {
            folder: folder.to_owned(),
            why,
        })?;
        Ok(MomentOfRun {
            model,
            case: header.case,
            step: header.step,
            time: header.time,
        })
    }

    /// Starts a new run in its folder.
    fn begin(
        ranks: &Arc<dyn Ranks>,
        case: Case,
        mut model: Box<dyn Model>,
        folder: Folder,
        profile: MachineProfile,
    ) -> Result<Self, Error> {
        let case = with_own_files(&**ranks, case, &folder)?;
        let (columns, initial) = (model.columns(), pictured(&**ranks, &mut *model, true)?);
        model.share(ranks)?;
        if ranks.size() > 1 {
            model.deal()?;
        }
        let table = if speaks(&**ranks) {
            Table::create(&folder.diagnostics(), names_of(&case), &columns)
        } else {
            Ok(Table::elsewhere(0))
        };
        let table = agree(&**ranks, table)?;
        let mut run = Self {
            ranks: ranks.clone(),
            watch: Watch {
                energy_jump: case.alarm.energy_jump,
                last_energy: None,
            },
            grid_files: GridFiles::new(&case, folder.path()),
            case,
            model,
            folder,
            table,
            columns,
            profile,
            step: 0,
            time: 0.0,
            dt: 0.0,
            limit: Limit::Start,
            rows_before: 0,
            initial,
            sound: None,
            started_on: None,
            memory: Memory::host(),
            traffic_before: Traffic::default(),
        };
        let part = run.write_first_checkpoint()?;
        let probed = if speaks(&**ranks) {
            run.folder.probe(2 * ranks.size() * part as usize)
        } else {
            Ok(())
        };
        agree(&**ranks, probed)?;
        Ok(run)
    }

    /// Prepares to continue a run from its newest intact checkpoint. `change` may alter the case, for instance its end.
    /// Returns remarks for the user; they and every change are also logged. A run that was killed before its first
    /// checkpoint starts from the beginning.
    ///
    /// # Errors
    /// [`Error::Folder`] or [`Error::Checkpoint`] if there is no intact checkpoint, [`Error::Unchangeable`] for a
    /// change of the initial state or an end in the past, and the errors of `change`.
    pub fn resume(
        folder: &Path,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        Self::resume_with(folder, MachineProfile::default(), change)
    }

    /// As [`resume`](Self::resume), with the machine profile for a run that starts from the beginning.
    ///
    /// # Errors
    /// As [`resume`](Self::resume).
    pub fn resume_with(
        folder: &Path,
        profile: MachineProfile,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        Self::resume_shared(&(Arc::new(Alone) as Arc<dyn Ranks>), folder, profile, change)
    }

    /// As [`resume_with`](Self::resume_with), for ranks that share the run. Any number of ranks may have started it.
    /// Called by all ranks together.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), and [`Error::OneProcess`]; the same on all ranks.
    pub fn resume_shared(
        ranks: &Arc<dyn Ranks>,
        folder: &Path,
        profile: MachineProfile,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        let mut leftovers = Vec::new();
        let folder = Folder::of_all(&**ranks, folder, || {
            let folder = Folder::open(folder)?;
            leftovers = folder.remove_leftovers();
            leftovers.iter().for_each(|remark| folder.log(remark));
            Ok(folder)
        })?;
        let holds_any = from_first(&**ranks, vec![folder.store().holds_any().into()]);
        if holds_any == [1] {
            return Self::go_on(ranks, folder, leftovers, change);
        }
        let begun = folder.kept_case().and_then(change).and_then(|case| {
            super::forecast::check(&case, ranks.size())?;
            let model = model_of(&case.clone().located_in(folder.path()), &profile)?;
            Ok((case, model))
        });
        let (case, model) = agree(&**ranks, begun)?;
        agree(&**ranks, folder.keep_case(&case))?;
        let remark = "the run was stopped before its first checkpoint: it starts from the beginning".to_owned();
        folder.log(&remark);
        let run = Self::begin(ranks, case, model, folder, profile)?;
        Ok((run, vec![remark]))
    }

    /// Continues from the newest intact checkpoint.
    fn go_on(
        ranks: &Arc<dyn Ranks>,
        folder: Folder,
        mut remarks: Vec<String>,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        let logged = remarks.len();
        let FoundTogether {
            header,
            state,
            parts,
            remarks: found,
        } = folder.store().newest_together(&**ranks)?;
        remarks.extend(found);
        let (simd, warning) = header.simd_level();
        remarks.extend(warning);
        if header.program != env!("CARGO_PKG_VERSION") {
            remarks.push(format!(
                "the run was started with version {}, this is {}: results may differ in the last bits",
                header.program,
                env!("CARGO_PKG_VERSION")
            ));
        }
        let changed = change(header.case.clone()).and_then(|case| {
            let changed = changes(&header.case, &case, header.time, folder.path())?;
            super::forecast::check(&case, ranks.size())?;
            let located = case.clone().located_in(folder.path());
            // A checkpoint of one process is read as a whole and then distributed.
            let makers: &dyn Ranks = if parts.is_some() { &**ranks } else { &Alone };
            let model = model_of_rank(&located, &header.profile, makers)?;
            Ok((case, changed, model))
        });
        let (case, changed, mut model) = agree(&**ranks, changed)?;
        let initial = pictured(&**ranks, &mut *model, parts.is_some())?;
        let restored = |restored: Result<(), String>| {
            restored.map_err(|why| Error::Checkpoint {
                path: folder.path().join(format!("checkpoints of step {}", header.step)),
                why,
            })
        };
        if parts.is_none() {
            agree(&**ranks, restored(model.restore(&state)))?;
        }
        model.share(ranks)?;
        if parts.is_some() {
            agree(&**ranks, restored(model.restore(&state)))?;
        }
        if ranks.size() > 1 && parts != Some(ranks.size()) {
            // Otherwise every rank keeps its part, and the run ends with the same bits.
            model.deal()?;
        }
        model.summation().simd = simd;
        let columns = model.columns();
        let table = if !speaks(&**ranks) {
            Ok(Table::elsewhere(header.rows))
        } else if folder.diagnostics().exists() {
            Table::reopen(&folder.diagnostics(), header.rows)
        } else {
            remarks.push("diagnostics.csv is missing: a new one starts here".to_owned());
            Table::create(&folder.diagnostics(), names_of(&case), &columns)
        };
        let table = agree(&**ranks, table)?;
        agree(&**ranks, folder.keep_case(&case))?;
        let resumed = format!(
            "resumed from step {}, time {}, with version {}",
            header.step,
            header.time,
            env!("CARGO_PKG_VERSION")
        );
        let lines = remarks[logged..].iter().chain([&resumed]);
        lines.for_each(|line| folder.log(line));
        changed.iter().for_each(|line| folder.log(&format!("changed {line}")));
        let run = Self {
            watch: Watch {
                energy_jump: case.alarm.energy_jump,
                last_energy: header.last_energy,
            },
            rows_before: table.rows(),
            columns,
            grid_files: GridFiles::new(&case, folder.path()),
            case,
            ranks: ranks.clone(),
            model,
            folder,
            table,
            profile: header.profile,
            step: header.step,
            time: header.time,
            dt: header.dt,
            limit: header.limit,
            initial,
            sound: None,
            started_on: Some(header.device),
            memory: Memory::host(),
            traffic_before: Traffic::default(),
        };
        Ok((run, remarks))
    }

    /// Sets the device of all sums. The state of particles stays in the memory of a GPU; the state of a flow on a grid
    /// stays on the host, as does every state that ranks share. Returns remarks for the user. Must be called before
    /// [`go`](Self::go).
    ///
    /// # Errors
    /// [`Error::Hybrid`] as [`Case::check_device`]; [`Error::Device`] if the state does not fit or the device fails.
    pub fn compute_on(&mut self, device: impl Into<PoissonDevice>) -> Result<Vec<String>, Error> {
        // The state stays in one memory, so one device is chosen for the whole run.
        let device = device.into().resolved();
        self.case.check_device(device)?;
        agree(
            &*self.ranks,
            farfield::check_device(device.of_sums()).map_err(Error::from),
        )?;
        if self.model.can_stay_on_a_gpu() && self.ranks.size() == 1 {
            self.memory = Memory::of(device.of_sums())?;
        }
        self.traffic_before = self.memory.traffic();
        if self.memory.is_on_gpu() {
            self.model.stay_in(&self.memory)?;
        }
        self.model.summation().device = device;
        Ok(going_on_elsewhere(
            self.started_on.as_ref(),
            device_name(device).as_ref(),
        ))
    }
}

/// Copies the files of a case into the run's folder, so that the folder can be moved and resumed by itself. Returns the
/// case with the paths of the copies. Called by all ranks together.
fn with_own_files(ranks: &dyn Ranks, mut case: Case, folder: &Folder) -> Result<Case, Error> {
    let files = case.files_mut();
    if files.is_empty() {
        return Ok(case);
    }
    let imported = if speaks(ranks) {
        import(files, folder.path()).map_err(Error::from)
    } else {
        Ok(())
    };
    let kept = imported.and_then(|()| folder.keep_case(&case));
    agree(ranks, kept)?;
    if ranks.size() == 1 {
        return Ok(case);
    }
    // The other ranks receive the names of the copies.
    let text = from_first(ranks, case_text(&case, folder.path())?.into_bytes());
    Ok(case::read(&String::from_utf8_lossy(&text), "case.toml", &[])?)
}

/// The initial state on the rank that draws, for the scale of pictures. If every rank has only a part (`in_parts`), the
/// subset that is drawn. Called by all ranks together.
fn pictured(ranks: &dyn Ranks, model: &mut dyn Model, in_parts: bool) -> Result<Snapshot, Error> {
    if in_parts && ranks.size() > 1 {
        let own = agree(ranks, model.snapshot(Show::Picture))?;
        return Ok(subset::of_all(ranks, &own));
    }
    if speaks(ranks) {
        model.snapshot(Show::Picture)
    } else {
        Ok(Snapshot::default())
    }
}

/// The name of the device in checkpoints; `None` for the CPU.
pub(super) fn device_name(device: PoissonDevice) -> Option<String> {
    let gpu = device.gpu()?;
    let name = farfield::open(gpu).map_or_else(|_| device.to_string(), |gpu| gpu.properties().name.clone());
    Some(match device {
        PoissonDevice::Hybrid(_) => format!("{name} and the CPU"),
        _ => name,
    })
}

/// The remark on a run that continues on another device.
fn going_on_elsewhere(before: Option<&Option<String>>, now: Option<&String>) -> Vec<String> {
    let named = |device: Option<&String>| device.cloned().unwrap_or_else(|| "the CPU".to_owned());
    match before {
        Some(before) if before.as_ref() != now => vec![format!(
            "the run was started on {} and continues on {}: results will differ in the last bits",
            named(before.as_ref()),
            named(now)
        )],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_reports_a_change_of_device() {
        let (gpu, cpu) = (Some("H200".to_owned()), None);
        let remarks = going_on_elsewhere(Some(&gpu), None);
        assert!(remarks.len() == 1 && remarks[0].contains("H200") && remarks[0].contains("the CPU"));
        assert_eq!(going_on_elsewhere(Some(&cpu), gpu.as_ref()).len(), 1);
        assert!(going_on_elsewhere(Some(&gpu), gpu.as_ref()).is_empty());
        assert!(going_on_elsewhere(Some(&cpu), None).is_empty());
        assert!(going_on_elsewhere(None, gpu.as_ref()).is_empty());
    }
}
