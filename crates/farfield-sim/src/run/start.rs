//! How a run begins: anew or from a checkpoint, on the CPU or on a device.

use super::change::changes;
use super::{Folder, Run};
use crate::case::Case;
use crate::checkpoint::{Checkpoint, Found, Store};
use crate::diagnostics::{Table, Watch};
use crate::error::Error;
use crate::flow::FlowModel;
use crate::gravity::GravityModel;
use crate::model::{Limit, Model, Show};
use crate::particles::import;
use crate::plane::PlaneModel;
use crate::vortex::VortexModel;
use farfield::Device;
use farfield::memory::{Memory, Traffic};
use farfield::tuning::MachineProfile;
use std::path::Path;

/// The model that a case describes, in its initial state.
///
/// # Errors
/// [`Error::Case`] for a case that cannot be, or what its first state takes that is not there.
pub fn model_of(case: &Case, profile: &MachineProfile) -> Result<Box<dyn Model>, Error> {
    if case.flow.is_some() {
        return FlowModel::new(case, profile.clone());
    }
    if case.plane.is_some() {
        return Ok(Box::new(PlaneModel::new(case, profile.clone())?));
    }
    Ok(if case.gravity.is_some() {
        Box::new(GravityModel::new(case, profile.clone())?)
    } else {
        Box::new(VortexModel::new(case, profile.clone())?)
    })
}

/// The state of a run at a step.
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

/// The names of the table's first columns.
fn names_of(case: &Case) -> [&'static str; 5] {
    match case.flow {
        Some(_) => ["step", "time", "dt", "limit", "seconds"],
        None => ["step", "time", "dt", "dt_limit", "wall_seconds"],
    }
}

impl Run {
    /// Prepares a new run in a folder of its own. The initial checkpoint is written before anything is computed, so
    /// that a folder that cannot be written is known at once.
    ///
    /// # Errors
    /// [`Error::Case`] for a case that cannot be built, [`Error::Folder`] for a folder that holds a run or cannot be
    /// written, [`Error::File`] if the disk is full.
    pub fn new(case: Case, folder: &Path, profile: MachineProfile) -> Result<Self, Error> {
        super::forecast::check(&case)?;
        let model = model_of(&case, &profile)?;
        let folder = Folder::create(folder, &case)?;
        Self::begin(case, model, folder, profile)
    }

    /// The state of a run as a model, without its folder being locked: that of a checkpoint's step, or the newest.
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

    /// A new run in its folder.
    fn begin(
        mut case: Case,
        mut model: Box<dyn Model>,
        folder: Folder,
        profile: MachineProfile,
    ) -> Result<Self, Error> {
        let files = case.files_mut();
        if !files.is_empty() {
            // The run has copies of its own, so that its folder can be moved and resumed alone.
            import(files, folder.path())?;
            folder.keep_case(&case)?;
        }
        let (columns, initial) = (model.columns(), model.snapshot(Show::Picture)?);
        let table = Table::create(&folder.diagnostics(), names_of(&case), &columns)?;
        let mut run = Self {
            watch: Watch {
                energy_jump: case.alarm.energy_jump,
                last_energy: None,
            },
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
        let first = run.checkpoint()?;
        run.folder.store().write(&first)?;
        run.folder.probe(2 * first.to_bytes().map_or(0, |bytes| bytes.len()))?;
        Ok(run)
    }

    /// Prepares to go on with a run from its newest sound checkpoint; `change` may alter the case, for instance its
    /// end. Remarks say what was found; they and every change go into the log. A run that was killed before its first
    /// checkpoint begins anew.
    ///
    /// # Errors
    /// [`Error::Folder`] or [`Error::Checkpoint`] if there is nothing to go on from, [`Error::Unchangeable`] if a change
    /// would change nothing or the past, and what `change` fails with.
    pub fn resume(
        folder: &Path,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        Self::resume_with(folder, MachineProfile::default(), change)
    }

    /// [`resume`](Self::resume), with the machine profile for a run that begins anew.
    ///
    /// # Errors
    /// As [`resume`](Self::resume).
    pub fn resume_with(
        folder: &Path,
        profile: MachineProfile,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        let folder = Folder::open(folder)?;
        let leftovers = folder.remove_leftovers();
        leftovers.iter().for_each(|remark| folder.log(remark));
        if folder.store().holds_any() {
            return Self::go_on(folder, leftovers, change);
        }
        let case = change(folder.kept_case()?)?;
        super::forecast::check(&case)?;
        folder.keep_case(&case)?;
        let remark = "the run was stopped before its first checkpoint: it begins anew".to_owned();
        folder.log(&remark);
        let model = model_of(&case.clone().located_in(folder.path()), &profile)?;
        let run = Self::begin(case, model, folder, profile)?;
        Ok((run, vec![remark]))
    }

    /// Goes on from the newest sound checkpoint.
    fn go_on(
        folder: Folder,
        mut remarks: Vec<String>,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        let logged = remarks.len();
        let Found {
            checkpoint,
            path,
            remarks: found,
        } = folder.store().newest()?;
        remarks.extend(found);
        let Checkpoint { header, state } = checkpoint;
        let (simd, warning) = header.simd_level();
        remarks.extend(warning);
        if header.program != env!("CARGO_PKG_VERSION") {
            remarks.push(format!(
                "the run was started with version {}, this is {}: results may differ in the last bits",
                header.program,
                env!("CARGO_PKG_VERSION")
            ));
        }
        let case = change(header.case.clone())?;
        let changed = changes(&header.case, &case, header.time, folder.path())?;
        super::forecast::check(&case)?;
        let mut model = model_of(&case.clone().located_in(folder.path()), &header.profile)?;
        let initial = model.snapshot(Show::Picture)?;
        model.restore(&state).map_err(|why| Error::Checkpoint { path, why })?;
        model.summation().simd = simd;
        let columns = model.columns();
        let table = if folder.diagnostics().exists() {
            Table::reopen(&folder.diagnostics(), header.rows)?
        } else {
            remarks.push("diagnostics.csv is gone: a new one begins here".to_owned());
            Table::create(&folder.diagnostics(), names_of(&case), &columns)?
        };
        folder.keep_case(&case)?;
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
            case,
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

    /// Has all sums done on a device. With a graphics processor alone the state stays in its memory; shared with the cores
    /// it stays on the host. Remarks say what is noteworthy. To be called before the run goes, if at all.
    ///
    /// # Errors
    /// [`Error::Device`] if the state does not fit or the device fails.
    pub fn compute_on(&mut self, device: Device) -> Result<Vec<String>, Error> {
        let device = match device {
            // The state stays in one place, so one is chosen for the whole run.
            Device::Auto if Device::all_gpus().is_ok_and(|gpus| !gpus.is_empty()) => Device::Cuda(0),
            Device::Auto => Device::Cpu,
            device => device,
        };
        device.check()?;
        if self.model.can_stay_on_a_gpu() {
            self.memory = Memory::of(device)?;
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

/// The device as checkpoints name it; `None` for the CPU.
pub(super) fn device_name(device: Device) -> Option<String> {
    let gpu = device.gpu()?;
    let name = farfield::open(gpu).map_or_else(|_| device.to_string(), |gpu| gpu.properties().name.clone());
    Some(match device {
        Device::Hybrid(_) => format!("{name} and the CPU"),
        _ => name,
    })
}

/// The remark on a run that was stopped on one device and goes on on another.
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
    fn continuing_on_another_device_is_said() {
        let (gpu, cpu) = (Some("H200".to_owned()), None);
        let remarks = going_on_elsewhere(Some(&gpu), None);
        assert!(remarks.len() == 1 && remarks[0].contains("H200") && remarks[0].contains("the CPU"));
        assert_eq!(going_on_elsewhere(Some(&cpu), gpu.as_ref()).len(), 1);
        assert!(going_on_elsewhere(Some(&gpu), gpu.as_ref()).is_empty());
        assert!(going_on_elsewhere(Some(&cpu), None).is_empty());
        assert!(going_on_elsewhere(None, gpu.as_ref()).is_empty());
    }
}
