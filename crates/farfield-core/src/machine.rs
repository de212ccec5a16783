//! What the machine has.

mod limits;

/// Bytes of memory that this process can still use, where the system tells: what the machine has free, or less where the
/// process or its control group is limited.
pub fn available_memory() -> Option<u64> {
    [read_meminfo("MemAvailable:"), limits::left()]
        .into_iter()
        .flatten()
        .min()
}

/// Bytes of memory in all, where the system tells.
pub fn total_memory() -> Option<u64> {
    read_meminfo("MemTotal:")
}

/// The most memory this process has used so far, in bytes, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmHWM:")
}

/// Has this process return arrays of a megabyte and more to the system when they are freed. By itself glibc keeps ever larger ones, in
/// pieces that do not fit the next. For programs that make large arrays of changing sizes over and over; new arrays then cost them a
/// little more time.
pub fn return_freed_arrays() {
    crate::pages::return_freed_arrays();
}

/// The processor's name, where the system tells.
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
