//! Opening a device, and compiling and loading programs for it.

use super::parameters::Function;
use super::staging::Staging;
use super::traffic::Transfers;
use crate::compile::{Compiler, Program};
use crate::error::{DriverCall, Error, describe};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, result};
use cudarc::nvrtc::Ptx;
use farfield_core::cost::Gpu;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The properties of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// The device number.
    pub ordinal: usize,
    /// The name.
    pub name: String,
    /// The compute capability: 90 is 9.0.
    pub architecture: i32,
    /// The number of multiprocessors.
    pub multiprocessors: usize,
    /// The highest clock rate of the multiprocessors.
    pub clock_khz: u32,
    /// The device memory in bytes.
    pub memory_bytes: u64,
    /// The second-level cache in bytes.
    pub cache_bytes: u64,
    /// The largest shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The CUDA version of the driver: 13000 is 13.0.
    pub driver: i32,
}

impl Properties {
    /// The cost model of this device.
    pub fn gpu(&self) -> Gpu {
        Gpu::new(self.multiprocessors)
    }
}

/// An open device. Plans share it; it may be used from several threads.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    properties: Properties,
    compiler: Compiler,
    modules: Mutex<HashMap<Program, Arc<CudaModule>>>,
    tables: Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>,
    staging: Mutex<Vec<Staging>>,
    traffic: Transfers,
}

/// The lowest compute capability that the kernels support.
const OLDEST: i32 = 80;

impl Device {
    /// Opens device `ordinal` with the default compiler and cache.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::DeviceNumber`], [`Error::TooOld`] or [`Error::Driver`].
    pub fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        Self::open_with(ordinal, Compiler::default())
    }

    /// [`Device::open`] with a given compiler and cache.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open_with(ordinal: usize, compiler: Compiler) -> Result<Arc<Self>, Error> {
        let count = device_count()?;
        if ordinal >= count {
            return Err(Error::DeviceNumber { asked: ordinal, count });
        }
        let properties = properties_of(ordinal)?;
        if properties.architecture < OLDEST {
            return Err(Error::TooOld {
                name: properties.name,
                major: properties.architecture / 10,
                minor: properties.architecture % 10,
            });
        }
        let context = CudaContext::new(ordinal).map_err(Error::driver("create a context"))?;
        // SAFETY: every plan does all its work on its own stream, so buffers need no events to be ordered.
        unsafe { context.disable_event_tracking() };
        keep_memory(&context)?;
        Ok(Arc::new(Self {
            context,
            properties,
            compiler,
            modules: Mutex::new(HashMap::new()),
            tables: Mutex::new(HashMap::new()),
            staging: Mutex::new(Vec::new()),
            traffic: Transfers::default(),
        }))
    }

    /// The properties of all devices, without opening them.
    ///
    /// # Errors
    /// [`Error::NoDriver`] or [`Error::NoDevice`].
    pub fn all() -> Result<Vec<Properties>, Error> {
        (0..device_count()?).map(properties_of).collect()
    }

    /// The properties of the device.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// The bytes copied between the host and this device so far.
    pub fn traffic(&self) -> &Transfers {
        &self.traffic
    }

    /// The compiler of the kernels.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Free memory in bytes, including memory in the pool that earlier plans released.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn free_memory(&self) -> Result<u64, Error> {
        let (free, _) = self
            .context
            .mem_get_info()
            .map_err(Error::driver("ask for free memory"))?;
        Ok(free as u64 + self.pooled_memory()?)
    }

    /// Unused memory in the pool, in bytes.
    pub(super) fn pooled_memory(&self) -> Result<u64, Error> {
        // SAFETY: the device is valid, and both attributes are 64-bit numbers.
        let pooled = || unsafe {
            let pool = result::device::get_default_mem_pool(self.context.cu_device())?;
            let (mut reserved, mut used) = (0u64, 0u64);
            use sys::CUmemPool_attribute_enum as Pool;
            let reserved_at: *mut u64 = &mut reserved;
            let used_at: *mut u64 = &mut used;
            sys::cuMemPoolGetAttribute(pool, Pool::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, reserved_at.cast())
                .result()?;
            sys::cuMemPoolGetAttribute(pool, Pool::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, used_at.cast()).result()?;
            Ok(reserved.saturating_sub(used))
        };
        pooled().map_err(Error::driver("ask for pooled memory"))
    }

    /// A stream for one plan.
    pub(crate) fn stream(&self) -> Result<Arc<CudaStream>, Error> {
        self.context.new_stream().map_err(Error::driver("create a stream"))
    }

    /// Compiles and loads programs in parallel, unless they are loaded already.
    pub(crate) fn load(&self, programs: &[&Program]) -> Result<(), Error> {
        let loaded = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&Program> = programs
            .iter()
            .copied()
            .filter(|program| !loaded.contains_key(*program))
            .collect();
        drop(loaded);
        if missing.len() < 2 {
            // A single missing program is loaded when its kernels are requested.
            return Ok(());
        }
        std::thread::scope(|scope| {
            let load = |program| scope.spawn(move || self.module(program).map(drop));
            let loading: Vec<_> = missing.into_iter().map(load).collect();
            loading
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// A kernel of a program by name. The program is compiled and loaded if necessary.
    pub(crate) fn function<P>(&self, program: &Program, name: &'static str) -> Result<Function<P>, Error> {
        let function = self
            .module(program)?
            .load_function(name)
            .map_err(Error::driver(format!("find the kernel {name}")))?;
        Ok(Function::new(function, name))
    }

    /// A table that plans share: the table stored under `key`, or a new one from `make`.
    pub(crate) fn keep<V: Any + Send + Sync>(
        &self,
        key: String,
        make: impl FnOnce() -> Result<V, Error>,
    ) -> Result<Arc<V>, Error> {
        let lock = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).cloned();
        if let Some(known) = known.and_then(|table| table.downcast().ok()) {
            return Ok(known);
        }
        // Created without the lock: at worst two threads create the same table, and the last one is kept.
        let table = Arc::new(make()?);
        lock().insert(key, table.clone());
        Ok(table)
    }

    /// Copies through pinned memory, with exclusive access to it; `None` if no pinned memory could be allocated.
    pub(super) fn stage<R>(
        &self,
        copy: impl FnOnce(&mut Staging) -> Result<R, result::DriverError>,
    ) -> Option<Result<R, result::DriverError>> {
        let lock = || self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = lock().pop();
        let mut staging = match unused {
            Some(staging) => staging,
            None => Staging::new(&self.context).ok()?,
        };
        let copied = copy(&mut staging);
        lock().push(staging);
        Some(copied)
    }

    fn module(&self, program: &Program) -> Result<Arc<CudaModule>, Error> {
        let (architecture, driver) = (self.properties.architecture, self.properties.driver);
        let lock = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = lock().get(program) {
            return Ok(module.clone());
        }
        // Compiled without the lock: at worst two threads compile the same program.
        let code = self.compiler.code(program, architecture, driver)?;
        let module = self
            .context
            .load_module(Ptx::from_binary(code))
            .map_err(Error::driver(format!("load the program {}", program.name())))?;
        Ok(lock().entry(program.clone()).or_insert(module).clone())
    }
}

/// The number of devices. Loads the driver.
fn device_count() -> Result<usize, Error> {
    // SAFETY: only asks the loader for the driver's library. Without this check cudarc panics if there is no driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let none = |reason: String| Error::NoDevice { reason };
    match CudaContext::device_count() {
        Ok(0) => Err(none("it reports 0 devices".to_owned())),
        Ok(count) => Ok(count as usize),
        Err(error) => Err(none(describe(&error))),
    }
}

fn properties_of(ordinal: usize) -> Result<Properties, Error> {
    let read = || -> Result<Properties, result::DriverError> {
        let device = result::device::get(ordinal as i32)?;
        // SAFETY: the device is valid.
        let attribute = |attribute: Attribute| unsafe { result::device::get_attribute(device, attribute) };
        let mut driver = 0;
        // SAFETY: the pointer is valid.
        unsafe { sys::cuDriverGetVersion(&mut driver) }.result()?;
        Ok(Properties {
            ordinal,
            name: result::device::get_name(device)?.trim_end_matches('\0').to_owned(),
            architecture: 10 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
                + attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize,
            clock_khz: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? as u32,
            // SAFETY: the device is valid.
            memory_bytes: unsafe { result::device::total_mem(device) }? as u64,
            cache_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as u64,
            shared_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32,
            driver,
        })
    };
    read().map_err(Error::driver(format!("read the properties of device {ordinal}")))
}

/// Lets the memory pool keep the memory that plans release: allocation from the system takes milliseconds.
fn keep_memory(context: &CudaContext) -> Result<(), Error> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut threshold = u64::MAX;
    let threshold_at: *mut u64 = &mut threshold;
    // SAFETY: the device is valid, and the attribute is a 64-bit number.
    unsafe {
        result::device::get_default_mem_pool(context.cu_device()).and_then(|pool| {
            use sys::CUmemPool_attribute_enum as Pool;
            sys::cuMemPoolSetAttribute(pool, Pool::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, threshold_at.cast()).result()
        })
    }
    .map_err(Error::driver("configure the memory pool"))
}
