//! How a run begins: anew or from a checkpoint, on the CPU or on a device.

use super::{Folder, Run};
use crate::case::Case;
use crate::checkpoint::{Checkpoint, Found};
use crate::device::{Device, Traffic};
use crate::diagnostics::{Table, Watch};
use crate::error::Error;
use crate::flow::FlowModel;
use crate::gravity::GravityModel;
use crate::model::{Limit, Model, Show};
use crate::vortex::VortexModel;
use farfield::tuning::MachineProfile;
use farfield_grid::poisson::Processor;
use std::path::Path;
use std::sync::Arc;

fn model_of(case: &Case, profile: &MachineProfile) -> Result<Box<dyn Model>, Error> {
    if case.flow.is_some() {
        return FlowModel::new(case, profile.clone());
    }
    Ok(if case.gravity.is_some() {
        Box::new(GravityModel::new(case, profile.clone())?)
    } else {
        Box::new(VortexModel::new(case, profile.clone())?)
    })
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
        let mut model = model_of(&case, &profile)?;
        let folder = Folder::create(folder, &case)?;
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
            traffic_before: Traffic::default(),
        };
        let first = run.checkpoint()?;
        run.folder.store().write(&first)?;
        run.folder.probe(2 * first.to_bytes().map_or(0, |bytes| bytes.len()))?;
        Ok(run)
    }

    /// Prepares to go on with a run from its newest sound checkpoint; `change` may alter the case, for instance its
    /// end. Remarks say what was found.
    ///
    /// # Errors
    /// [`Error::Folder`] or [`Error::Checkpoint`] if there is nothing to go on from, and what `change` fails with.
    pub fn resume(
        folder: &Path,
        change: impl FnOnce(Case) -> Result<Case, Error>,
    ) -> Result<(Self, Vec<String>), Error> {
        let folder = Folder::open(folder)?;
        let mut remarks = folder.store().remove_leftovers();
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
        let mut model = model_of(&case, &header.profile)?;
        let initial = model.snapshot(Show::Picture)?;
        model.restore(&state).map_err(|why| Error::Checkpoint { path, why })?;
        model.summation().simd = simd;
        let table = Table::reopen(&folder.diagnostics(), header.rows)?;
        folder.keep_case(&case)?;
        let run = Self {
            watch: Watch {
                energy_jump: case.alarm.energy_jump,
                last_energy: header.last_energy,
            },
            columns: model.columns(),
            case,
            model,
            folder,
            table,
            profile: header.profile,
            step: header.step,
            time: header.time,
            dt: header.dt,
            limit: header.limit,
            rows_before: header.rows,
            initial,
            sound: None,
            started_on: Some(header.device),
            traffic_before: Traffic::default(),
        };
        Ok((run, remarks))
    }

    /// Has the Poisson problem of a flow solved there. To be called before the run goes, if at all.
    pub fn solve_on(&mut self, processor: Processor) {
        self.model.solve_on(processor);
    }

    /// Has all sums done on a device, and keeps the state there if it has memory for states. Remarks say what is
    /// noteworthy. To be called before the run goes, if at all.
    ///
    /// # Errors
    /// [`Error::Device`] if the state does not fit or the device fails.
    pub fn compute_on(&mut self, device: Option<Arc<dyn Device>>) -> Result<Vec<String>, Error> {
        let name = device.as_ref().map(|device| device.name());
        if let Some(device) = device {
            self.traffic_before = device.traffic();
            if let Some(memory) = device.memory()? {
                self.model.stay_in(memory)?;
            }
            self.model.summation().device = Some(device);
        }
        let cpu = || "the CPU".to_owned();
        Ok(match &self.started_on {
            Some(before) if *before != name => vec![format!(
                "the run was started on {} and goes on on {}: it will differ in the last bits",
                before.clone().unwrap_or_else(cpu),
                name.unwrap_or_else(cpu)
            )],
            _ => Vec::new(),
        })
    }
}
