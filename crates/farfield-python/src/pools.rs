//! Which threads compute, and what a forked process may do.
//!
//! A fork copies the memory of a process but none of its threads: work handed to rayon's own pool would wait for ever in
//! the child. A child therefore sums with a pool that it makes itself.

use crate::failure::Failure;
use farfield::Device;
use farfield_grid::poisson::PoissonDevice;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that loaded the module.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Notes which process this is.
pub fn remember_process() {
    LOADED_BY.get_or_init(std::process::id);
}

/// Whether this process was forked from the one that loaded the module.
pub fn is_forked() -> bool {
    LOADED_BY.get().is_some_and(|process| *process != std::process::id())
}

/// Refuses a graphics processor after a fork: CUDA does not survive one.
pub fn check_device<D>(device: D) -> Result<D, Failure>
where
    D: Copy + Display + From<Device> + Into<PoissonDevice>,
{
    match device.into() {
        PoissonDevice::One(Device::Auto) if is_forked() => Ok(Device::Cpu.into()),
        gpu if gpu.gpu().is_some() && is_forked() => Err(Failure::Machine(format!(
            "device=\"{device}\": this process was forked from one that had loaded farfield, and CUDA does not survive a \
             fork. Use multiprocessing's start method \"spawn\", import farfield in the child alone, or device=\"cpu\""
        ))),
        _ => Ok(device),
    }
}

/// The most threads that can be asked for.
const MOST: usize = 4096;

/// Does `work` with so many threads; with rayon's own, as many as there are cores, if not said.
pub fn with_threads<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    if threads.is_none() && !is_forked() {
        return Ok(work());
    }
    Ok(pool(threads.unwrap_or(0))?.install(work))
}

/// The pools of a process, by their number of threads. Zero stands for as many as there are cores.
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
        // The threads of a parent's pools are not here: nothing is left to be ended.
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
