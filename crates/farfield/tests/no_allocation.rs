//! Further evaluations of a plan allocate nothing.

use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Sum};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// Tests share the counter, so they run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: forwards every call to the system's allocator, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: forwarded.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_second_evaluation_allocates_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let points = PointSet::Plummer.generate::<f64>(30_000, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(30_000, 1);
    for method in [Method::Fmm, Method::Treecode, Method::Direct] {
        let outputs = [Output::Potential, Output::Gradient];
        let points = if method == Method::Direct {
            &points[..3000]
        } else {
            &points[..]
        };
        let charges = &charges[..points.len()];
        let mut plan = Sum::new(Kernel::Coulomb, points)
            .outputs(&outputs)
            .method(method)
            .plan()
            .unwrap();
        let mut field = plan.field();
        // The first rounds also fill the thread pool's own queues.
        for _ in 0..3 {
            plan.evaluate_into(charges, &mut field).unwrap();
        }
        // The pool may enlarge a queue once more, but an evaluation that allocates does so every time.
        let fewest = (0..5)
            .map(|_| {
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                plan.evaluate_into(charges, &mut field).unwrap();
                ALLOCATIONS.load(Ordering::Relaxed) - before
            })
            .min();
        assert_eq!(fewest, Some(0), "{method}");
    }
}

#[test]
fn a_second_evaluation_of_merged_points_allocates_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut points = PointSet::Cube.generate::<f64>(20_000, 1);
    let place = points[0];
    points[..8000].fill(place);
    let charges = ChargeDistribution::Signed.generate::<f64>(20_000, 1);
    let mut plan = Sum::new(Kernel::Coulomb, &points).method(Method::Fmm).plan().unwrap();
    assert!(plan.notes().iter().any(|note| note.contains("merged")));
    let mut field = plan.field();
    for _ in 0..3 {
        plan.evaluate_into(&charges, &mut field).unwrap();
    }
    let fewest = (0..5)
        .map(|_| {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            plan.evaluate_into(&charges, &mut field).unwrap();
            ALLOCATIONS.load(Ordering::Relaxed) - before
        })
        .min();
    assert_eq!(fewest, Some(0));
}
