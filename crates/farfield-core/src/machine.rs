//! Properties of the machine.

mod limits;

/// The number of bytes that this process can still allocate, if the system reports it: the free memory of the machine,
/// or less if the process or its control group is limited.
pub fn available_memory() -> Option<u64> {
    [read_meminfo("MemAvailable:"), limits::left()]
        .into_iter()
        .flatten()
        .min()
}

/// The total memory in bytes, if the system reports it.
pub fn total_memory() -> Option<u64> {
    read_meminfo("MemTotal:")
}

/// The peak memory of this process so far, in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmHWM:")
}

/// Makes this process return arrays of a megabyte and more to the system when they are freed. By default glibc keeps
/// larger and larger ones, and the memory becomes fragmented. For programs that repeatedly allocate large arrays of
/// changing sizes. New arrays then take slightly longer.
pub fn return_freed_arrays() {
    crate::pages::return_freed_arrays();
}

/// The name of the processor, if the system reports it.
pub fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn read_meminfo(name: &str) -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/meminfo").ok()?, name)
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}
