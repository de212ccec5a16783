//! Thread pools, and what a forked process may do.
//!
//! A fork copies the memory of a process but not its threads: work given to rayon's global pool would wait forever in
//! the child. A child therefore uses a pool of its own.

use crate::failure::Failure;
use farfield::Device;
use farfield_grid::poisson::PoissonDevice;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that loaded the module.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Records the id of this process.
pub fn remember_process() {
    LOADED_BY.get_or_init(std::process::id);
}

/// Whether this process was forked from the one that loaded the module.
pub fn is_forked() -> bool {
    LOADED_BY.get().is_some_and(|process| *process != std::process::id())
}

/// Refuses a GPU in a forked process, because CUDA does not survive a fork. `Auto` becomes the CPU there.
pub fn check_device<D>(device: D) -> Result<D, Failure>
where
    D: Copy + Display + From<Device> + Into<PoissonDevice>,
{
    match device.into() {
        PoissonDevice::One(Device::Auto) if is_forked() => Ok(Device::Cpu.into()),
        gpu if gpu.gpu().is_some() && is_forked() => Err(Failure::Machine(format!(
            "device=\"{device}\": this process was forked from one that had loaded farfield, and CUDA does not survive \
             a fork. Use multiprocessing's start method \"spawn\", import farfield only in the child, or use \
             device=\"cpu\""
        ))),
        _ => Ok(device),
    }
}

/// The most threads that can be asked for.
const MOST: usize = 4096;

/// Runs `work` on `threads` threads; for `None` on as many as there are cores (rayon's global pool unless forked).
pub fn with_threads<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    if threads.is_none() && !is_forked() {
        return Ok(work());
    }
    Ok(pool(threads.unwrap_or(0))?.install(work))
}

/// The pools of a process by number of threads; zero stands for the number of cores.
type Pools = BTreeMap<usize, Arc<ThreadPool>>;

fn pool(threads: usize) -> Result<Arc<ThreadPool>, Failure> {
    static POOLS: Mutex<(u32, Pools)> = Mutex::new((0, BTreeMap::new()));
    if threads > MOST {
        return Err(Failure::Argument(format!(
            "threads = {threads} is outside its range 1 to {MOST}"
        )));
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if pools.0 != std::process::id() {
        // The threads of the parent's pools do not exist in this process, so the pools cannot be shut down.
        std::mem::forget(std::mem::take(&mut pools.1));
        pools.0 = std::process::id();
    }
    if let Some(pool) = pools.1.get(&threads) {
        return Ok(pool.clone());
    }
    let name = |k| format!("farfield {k}");
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    let pool = Arc::new(pool.map_err(|error| farfield::Error::Threads {
        threads,
        reason: error.to_string(),
    })?);
    pools.1.insert(threads, pool.clone());
    Ok(pool)
}
