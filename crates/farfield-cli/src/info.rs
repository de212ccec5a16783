//! `farfield info`: describes the machine.

use crate::args::InfoArgs;
use crate::failure::Failure;
use crate::layout;
use crate::profile::{self, Profile};
use farfield::machine;
use farfield::simd::SimdLevel;
use farfield_io::units;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct Info {
    version: &'static str,
    cpu: Option<String>,
    cores: usize,
    simd: &'static str,
    simd_available: Vec<&'static str>,
    lanes: Lanes,
    memory_total_bytes: Option<u64>,
    memory_available_bytes: Option<u64>,
    gpus: Vec<String>,
    /// The devices on which this build can sum here.
    devices: Vec<&'static str>,
    /// The GPUs it can use, or why it cannot use any.
    cuda: Cuda,
    profile: String,
}

#[derive(Serialize)]
struct Cuda {
    devices: Vec<CudaDevice>,
    unavailable: Option<String>,
}

#[derive(Serialize)]
struct CudaDevice {
    name: String,
    architecture: String,
    multiprocessors: usize,
    memory_bytes: u64,
    driver: String,
}

#[derive(Serialize)]
struct Lanes {
    f32: usize,
    f64: usize,
}

/// Runs the command.
pub fn run(args: &InfoArgs) -> Result<String, Failure> {
    if let Some(folder) = &args.folder {
        return crate::run::folder_info::run(folder, args.json);
    }
    let profile = Profile::load(args.profile.as_deref())?;
    let simd = SimdLevel::best();
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        cpu: machine::cpu_model(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        simd: simd.name(),
        simd_available: SimdLevel::available().into_iter().map(SimdLevel::name).collect(),
        lanes: Lanes {
            f32: simd.lanes::<f32>(),
            f64: simd.lanes::<f64>(),
        },
        memory_total_bytes: machine::total_memory(),
        memory_available_bytes: machine::available_memory(),
        gpus: gpus(),
        devices: devices(),
        cuda: cuda(),
        profile: profile.origin(),
    };
    if args.json {
        let text = serde_json::to_string_pretty(&info).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(layout::fit(info.text(&profile)))
}

impl Info {
    fn text(&self, profile: &Profile) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:14}{value}");
        };
        line("farfield", self.version);
        line("cpu", self.cpu.as_deref().unwrap_or("unknown"));
        line("cores", &self.cores.to_string());
        let lanes = format!("{} lanes in f32, {} in f64", self.lanes.f32, self.lanes.f64);
        line(
            "simd",
            &format!("{} ({lanes}); available: {}", self.simd, self.simd_available.join(", ")),
        );
        let memory = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), units::bytes);
        let (total, available) = (memory(self.memory_total_bytes), memory(self.memory_available_bytes));
        line("memory", &format!("{total}, {available} of it available"));
        if self.gpus.is_empty() {
            line("gpu", "none found");
        }
        for gpu in &self.gpus {
            line("gpu", gpu);
        }
        match (&self.cuda.unavailable, self.cuda.devices.first()) {
            (None, Some(gpu)) => line(
                "device",
                &format!(
                    "cpu, cuda: {} ({}, {} multiprocessors, {}, CUDA {})",
                    gpu.name,
                    gpu.architecture,
                    gpu.multiprocessors,
                    units::bytes(gpu.memory_bytes),
                    gpu.driver
                ),
            ),
            (reason, _) => line(
                "device",
                &format!("cpu; no cuda: {}", reason.as_deref().unwrap_or("no device")),
            ),
        }
        let place = match (&profile.file, profile::default_path()) {
            (None, Some(path)) => format!("built-in (no {})", path.display()),
            _ => self.profile.clone(),
        };
        line("profile", &place);
        text
    }
}

fn devices() -> Vec<&'static str> {
    if farfield::cuda::Device::all().is_ok() {
        vec!["cpu", "cuda"]
    } else {
        vec!["cpu"]
    }
}

fn cuda() -> Cuda {
    match farfield::cuda::Device::all() {
        Ok(devices) => Cuda {
            devices: devices
                .into_iter()
                .map(|gpu| CudaDevice {
                    name: gpu.name,
                    architecture: format!("sm_{}", gpu.architecture),
                    multiprocessors: gpu.multiprocessors,
                    memory_bytes: gpu.memory_bytes,
                    driver: format!("{}.{}", gpu.driver / 1000, gpu.driver % 1000 / 10),
                })
                .collect(),
            unavailable: None,
        },
        Err(error) => Cuda {
            devices: Vec::new(),
            unavailable: Some(error.to_string()),
        },
    }
}

/// The GPUs that `nvidia-smi -L` lists, else the devices of the driver.
fn gpus() -> Vec<String> {
    let listed = nvidia_smi().unwrap_or_default();
    if !listed.is_empty() {
        return listed;
    }
    let Ok(entries) = std::fs::read_dir("/dev") else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name.strip_prefix("nvidia")
                .is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| Path::new("/dev").join(name).display().to_string())
        .collect()
}

/// The lines of `nvidia-smi -L`, or `None` if the program is missing, fails, or hangs on a broken driver.
fn nvidia_smi() -> Option<Vec<String>> {
    let mut child = Command::new("nvidia-smi")
        .arg("-L")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if start.elapsed() < Duration::from_secs(10) => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(
        text.lines()
            .map(str::trim)
            .filter(|line| line.starts_with("GPU "))
            .map(str::to_owned)
            .collect(),
    )
}
