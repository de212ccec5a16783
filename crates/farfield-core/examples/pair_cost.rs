//! The cost of a pair of points: nanoseconds on one thread, for every kernel, core and output, in both precisions.
//!
//! ```sh
//! cargo run --release -p farfield-core --example pair_cost [TOLERANCE]
//! FARFIELD_SIMD=avx2 cargo run --release -p farfield-core --example pair_cost
//! ```
//!
//! Direct sums over points in a unit cube. With cores of 0.02 most pairs lie outside the core, with 0.2 few, with 2
//! none. Times are processor time, the least of several runs, as Linux reports it for this process.

use farfield_core::kernel::{Kernel, Output, Sizes};
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_core::simd::{Real, SimdLevel};
use farfield_core::{Method, Points, Request, Space};

/// Nanoseconds that the threads of this process have run.
fn processor_time() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ')
            .next()
            .and_then(|first| first.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    tasks.flatten().map(of).sum()
}

fn cost<T: Real>(kernel: Kernel, outputs: &[Output], size: f64, tolerance: f64) -> f64 {
    let n = 2000;
    let points = PointSet::Cube.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * kernel.strength_components(), 2);
    let sizes = if size > 0.0 {
        Sizes::Global(T::from_f64(size))
    } else {
        Sizes::None
    };
    let mut request = Request::<Space>::new(kernel);
    request.outputs = outputs.to_vec();
    request.options.tolerance = Some(tolerance);
    request.options.method = Method::Direct;
    request.options.allow_unbounded_gradient = true;
    let sum = request.over(Points::new(&points, None, &sizes));
    let mut plan = sum.plan().expect("a valid sum");
    let mut field = plan.field();
    let mut least = f64::INFINITY;
    for _ in 0..12 {
        let before = processor_time();
        plan.evaluate_into(&strengths, &mut field).expect("valid strengths");
        least = least.min(processor_time() - before);
    }
    least / (n * n) as f64
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let tolerance: f64 = asked.unwrap_or(1e-6);
    println!(
        "level {}, tolerance {tolerance:e} (f32: at least 1e-5), ns per pair",
        SimdLevel::best()
    );
    println!("{:<50} {:>8} {:>8}", "kernel, core, size, outputs up to", "f64", "f32");
    for kernel in Kernel::all() {
        let core = kernel.description().regularisation;
        let sizes: &[f64] = match core {
            Some(_) => &[0.02, 0.2, 2.0],
            None => &[0.0],
        };
        for outputs in (1..=kernel.outputs().len()).map(|count| &kernel.outputs()[..count]) {
            for size in sizes {
                let name = format!(
                    "{kernel} {} {size} {}",
                    core.map_or("", |core| core.name),
                    outputs[outputs.len() - 1]
                );
                let double = cost::<f64>(kernel, outputs, *size, tolerance);
                let single = cost::<f32>(kernel, outputs, *size, tolerance.max(1e-5));
                println!("{name:<50} {double:>8.3} {single:>8.3}");
            }
        }
    }
}
