//! The peak memory of a flow, including checkpoints, files and pictures.

use farfield::tuning::MachineProfile;
use farfield_sim::case::{self, BuiltIn, Override};
use farfield_sim::run::{Control, Run, Silent};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest number of allocated bytes per grid point in single precision, by method. Part of the memory that the FMM
/// allocates is not resident: zeroed pages that are not touched yet, and local expansions that were released.
const ALLOWED: [(&str, f64); 2] = [("treecode", 250.0), ("fmm", 260.0)];

/// An allocator that counts the allocated bytes of all threads, and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller fulfils the contract of this trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new memory may exist at the same time.
        grown(size);
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        moved
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn peak_memory_with_checkpoints_files_and_pictures_is_as_forecast() {
    // One after the other, because allocations are counted for the whole process.
    for (method, allowed) in ALLOWED {
        check(method, allowed);
    }
}

fn check(method: &str, allowed: f64) {
    let method = format!("sum.method={method}");
    let set = [
        method.as_str(),
        "grid.level=1",
        "time.end=0.004",
        "time.step=0.002",
        "time.adaptive=false",
        "output.checkpoint_every=1",
        "output.fields_every=1",
        "output.frames_every=1",
    ];
    let set = set.map(|text| Override::parse(text).unwrap());
    let case = case::read(BuiltIn::find("sphere").unwrap().text, "sphere", &set).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let run = Run::new(case, &folder.path().join("run"), MachineProfile::default()).unwrap();
    let description = run.describe();
    let forecast = description
        .split(" MiB")
        .next()
        .and_then(|text| text.split(' ').next_back());
    let forecast = forecast.unwrap().parse::<f64>().unwrap() * 1048576.0;
    let outcome = run.go(&Control::default(), &mut Silent).unwrap();
    let most = (MOST.load(Ordering::Relaxed) - before) as f64;
    let points = outcome.columns.iter().position(|name| name == "points").unwrap();
    let bytes = most / outcome.last[points];
    assert!(bytes < allowed, "{method}: {bytes:.0} bytes per point");
    let share = most / forecast;
    assert!(
        (0.75..1.15).contains(&share),
        "{method}: {share:.2} of the forecast, {description}"
    );
    // All files were written.
    for file in [
        "checkpoints/checkpoint-000000001.ckpt",
        "fields/blocks-000001.vtu",
        "fields/cut-000001.npz",
    ] {
        assert!(folder.path().join("run").join(file).exists(), "{file}");
    }
}
