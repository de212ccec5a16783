//! What a flow takes at its peak, checkpoints, files and pictures included.

use farfield::tuning::MachineProfile;
use farfield_sim::case::{self, BuiltIn, Override};
use farfield_sim::run::{Control, Run, Silent};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes for each point of the grid in single precision that may be allocated, by method. Of what is allocated while the FMM sums, a
/// part is not there: zeros that nobody has touched yet, and local expansions that were given back.
const ALLOWED: [(&str, f64); 2] = [("treecode", 250.0), ("fmm", 260.0)];

/// Counts what is allocated by all threads, and the most there was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller keeps the promises of this trait.
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
        // Old and new may both be there.
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
fn checkpoints_files_and_pictures_stay_within_the_memory_of_a_step() {
    // One after the other: what is allocated is counted for the whole process.
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
    let said = run.describe();
    let forecast = said.split(" MiB").next().and_then(|text| text.split(' ').next_back());
    let forecast = forecast.unwrap().parse::<f64>().unwrap() * 1048576.0;
    let outcome = run.go(&Control::default(), &mut Silent).unwrap();
    let most = (MOST.load(Ordering::Relaxed) - before) as f64;
    let points = outcome.columns.iter().position(|name| name == "points").unwrap();
    let bytes = most / outcome.last[points];
    assert!(bytes < allowed, "{method}: {bytes:.0} bytes a point");
    let share = most / forecast;
    assert!(
        (0.75..1.15).contains(&share),
        "{method}: {share:.2} of the forecast, {said}"
    );
    // All of it was written.
    for file in [
        "checkpoints/checkpoint-000000001.ckpt",
        "fields/blocks-000001.vtu",
        "fields/cut-000001.npz",
    ] {
        assert!(folder.path().join("run").join(file).exists(), "{file}");
    }
}
