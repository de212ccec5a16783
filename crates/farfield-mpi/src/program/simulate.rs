//! `farfield-mpi run` and `farfield-mpi resume`: simulations whose state is distributed over the ranks.

use super::evaluate::{own_device, together};
use farfield_cli::args::{ResumeArgs, RunArgs, WatchArgs};
use farfield_cli::failure::Failure;
use farfield_cli::profile::Profile;
use farfield_cli::run::{change_of, go, list, resolve};
use farfield_cli::{device, print, threads};
use farfield_mpi::{Communicator, Mpi, OneThread};
use farfield_sim::ranks::{Alone, Ranks};
use farfield_sim::run::{PoissonDevice, Run};
use std::sync::Arc;

/// Starts a run, on every rank.
pub fn run(ranks: &Arc<OneThread<Mpi>>, args: RunArgs) -> Result<String, Failure> {
    let Some(name) = &args.case else {
        return Ok(list());
    };
    let machine = Machine::prepare(ranks, &args.watch, args.threads, args.device)?;
    let resolved = Profile::load(args.profile.as_deref()).and_then(|profile| Ok((profile, resolve(name, &args)?)));
    let (profile, (case, folder)) = together(ranks.get(), resolved)?;
    case.check_device(args.device)?;
    let run = Run::shared(&shared(ranks), case, &folder, profile.costs)?;
    machine.go(ranks.get(), run, args.watch, Vec::new())
}

/// Resumes a run, on every rank.
pub fn resume(ranks: &Arc<OneThread<Mpi>>, args: ResumeArgs) -> Result<String, Failure> {
    let machine = Machine::prepare(ranks, &args.watch, args.threads, args.device)?;
    let prepared = Profile::load(args.profile.as_deref()).and_then(|profile| Ok((profile, change_of(&args)?)));
    let (profile, change) = together(ranks.get(), prepared)?;
    let (run, remarks) = Run::resume_shared(&shared(ranks), &args.folder, profile.costs, change)?;
    machine.go(ranks.get(), run, args.watch, remarks)
}

/// The ranks that share the run; a single rank runs it as `farfield run` does.
fn shared(ranks: &Arc<OneThread<Mpi>>) -> Arc<dyn Ranks> {
    match ranks.get().size() {
        1 => Arc::new(Alone),
        _ => ranks.clone(),
    }
}

/// The share of a rank in its machine.
struct Machine {
    device: PoissonDevice,
    /// The number of ranks on this machine.
    ranks: usize,
}

impl Machine {
    fn prepare(
        ranks: &OneThread<Mpi>,
        watch: &WatchArgs,
        threads: Option<usize>,
        device: PoissonDevice,
    ) -> Result<Self, Failure> {
        let ranks = ranks.get();
        if watch.live {
            return Err(Failure::Usage(
                "--live: a run over ranks has no live page; view its pictures, or its folder with farfield view"
                    .to_owned(),
            ));
        }
        let (on_machine, of_machine) = ranks.on_machine();
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
        together(
            ranks,
            threads::start(Some(threads.unwrap_or((cores / of_machine).max(1)))),
        )?;
        let device = match device {
            PoissonDevice::One(device) => own_device(device, on_machine).into(),
            // Flows on a grid have one rank.
            hybrid => hybrid,
        };
        // A missing device must be reported before anything is written.
        together(ranks, device::check(device))?;
        Ok(Self {
            device,
            ranks: of_machine,
        })
    }

    fn go(self, ranks: &Mpi, mut run: Run, mut watch: WatchArgs, mut remarks: Vec<String>) -> Result<String, Failure> {
        run.share_memory(self.ranks);
        remarks.extend(run.compute_on(self.device)?);
        // Only the first rank prints.
        watch.quiet |= ranks.rank() > 0;
        if !watch.quiet {
            remarks.iter().for_each(|remark| print::progress(remark));
        }
        go(run, &watch)
    }
}
