//! Whether a sum is faster on a device than on the CPU, by the cost model ([`farfield_core::cost`]).

use crate::device::{Precision, Properties};
use crate::kernel::PairKind;
use crate::tuning::{self, Cores, Demand};
use farfield_core::cost::space::EvenFmm;
use farfield_core::cost::{MachineProfile, Rates};
use farfield_core::tuning::{CubeOrders, cube_orders};
use farfield_core::{Geometry, Method, Plane, Space, Sum, plane};

/// Seconds that a device must save before it is opened, which takes a fraction of a second once per process.
pub const LEAST_GAIN: f64 = 0.02;

/// The expected seconds of a sum on an open device, from host memory to host memory.
pub fn device_seconds<T: Precision>(properties: &Properties, sum: &Sum<T, Space>) -> f64 {
    let kind = PairKind::of(sum);
    let (sources, targets) = (sum.points.sources.len(), sum.points.counts().targets());
    let rates = tuning::rates::<T>(properties, &kind);
    let direct = 1e-9 * rates.direct(sources as f64 * targets as f64 * sum.request.vectors as f64);
    let demand = Demand::of(sum, &kind, sources.max(targets) as f64, Cores::default());
    let fmm = tuning::choose(&demand, &rates).seconds;
    let results: usize = sum.request.outputs.iter().map(|output| output.components()).sum();
    let other_targets = if sum.points.targets.is_some() { 3 * targets } else { 0 };
    let numbers = 3 * sources + other_targets + sum.request.vectors * (sources * kind.strengths() + targets * results);
    by_method(sum.options().method, direct, fmm) + transfer::<T>(&rates, numbers)
}

/// The expected seconds of a sum on `threads` threads of the CPU: all pairs, or an FMM of points uniform in a cube.
pub fn cpu_seconds<T: Precision>(profile: &MachineProfile, threads: usize, sum: &Sum<T, Space>) -> f64 {
    let costs = profile.of::<T>();
    let kind = PairKind::of(sum);
    let core = sum.request.kernel.description().pair_cost(sum.largest_size() > 0.0);
    let rates = costs.in_space(kind.form, kind.derivatives, core);
    let (sources, targets) = (sum.points.sources.len() as f64, sum.points.counts().targets() as f64);
    let direct = rates.direct(sources * targets * sum.request.vectors as f64);
    let points = sources.max(targets);
    // Orders depend only slightly on the size of the leaves.
    let orders = match sum.options().order {
        Some(order) => CubeOrders::constant(order),
        None => cube_orders(points, 60.0, 0.0, &sum.error_derivatives(), sum.tolerance(), costs),
    };
    let fmm = EvenFmm {
        points,
        dimension: 3.0,
        pair_runs: sum.request.vectors as f64,
        streams: (sum.request.vectors * kind.expansions()) as f64,
        orders: &orders.by_level,
        highest: orders.highest,
    };
    let fmm = rates.fmm(&fmm.work(fmm.best_leaf_mean(&rates).clamp(4.0, 4000.0)));
    1e-9 * by_method(sum.options().method, direct, fmm) / threads.max(1) as f64
}

/// The time of the requested method, or of the faster one.
fn by_method(method: Method, direct: f64, fmm: f64) -> f64 {
    match method {
        Method::Direct => direct,
        Method::Auto => direct.min(fmm),
        _ => fmm,
    }
}

/// Seconds to transfer `numbers` values.
fn transfer<T>(rates: &Rates, numbers: usize) -> f64 {
    1e-9 * rates.byte * (numbers * std::mem::size_of::<T>()) as f64
}

/// Whether a device is expected to be so much faster than `threads` threads of the CPU that opening it pays off.
pub fn pays<T: Precision>(
    properties: &Properties,
    profile: &MachineProfile,
    threads: usize,
    sum: &Sum<T, Space>,
) -> bool {
    device_seconds(properties, sum) + LEAST_GAIN < cpu_seconds(profile, threads, sum)
}

/// [`pays`] for a sum in the plane, with the CPU costs of the sum's profile.
pub fn pays_in_plane<T: Precision>(properties: &Properties, threads: usize, sum: &Sum<T, Plane>) -> bool {
    device_seconds_in_plane(properties, sum) + LEAST_GAIN < sum.expected_seconds(threads)
}

/// [`device_seconds`] for a sum in the plane.
pub fn device_seconds_in_plane<T: Precision>(properties: &Properties, sum: &Sum<T, Plane>) -> f64 {
    let (sources, targets) = (sum.points.sources.len(), sum.points.counts().targets());
    if sources == 0 || targets == 0 {
        return 0.0;
    }
    let kind = crate::plane::kind::PairKind::of(sum);
    let rates = crate::plane::tuning::rates::<T>(properties, &kind);
    let direct = 1e-9 * rates.direct(sources as f64 * targets as f64 * sum.request.vectors as f64);
    let fmm = crate::plane::tuning::choose(sum, sum.points.counts(), &rates).seconds;
    let components = |output: &plane::Output| Plane::output_components(sum.request.kernel, *output);
    let results: usize = sum.request.outputs.iter().map(components).sum();
    let strengths = sum.request.kernel.strength_components();
    let numbers = 2 * sum.points.counts().points() + sum.request.vectors * (sources * strengths + targets * results);
    by_method(sum.options().method, direct, fmm) + transfer::<T>(&rates, numbers)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use farfield_core::Request;
    use farfield_core::kernel::Kernel;
    use farfield_core::points::PointSet;

    /// An H200, as a device that the test machine does not have.
    pub fn h200() -> Properties {
        Properties {
            ordinal: 0,
            name: "H200".to_owned(),
            architecture: 90,
            multiprocessors: 132,
            clock_khz: 1_980_000,
            memory_bytes: 140 << 30,
            cache_bytes: 50 << 20,
            shared_bytes: 227 << 10,
            driver: 12080,
        }
    }

    #[test]
    fn large_sums_pay_on_a_device_and_small_ones_do_not() {
        let profile = MachineProfile::default();
        let seconds = |n: usize| {
            let points = PointSet::Cube.generate::<f64>(n, 1);
            let request = Request::new(Kernel::Coulomb);
            let sum = request.between(&points);
            (device_seconds(&h200(), &sum), cpu_seconds(&profile, 2, &sum))
        };
        let (device, cpu) = seconds(2000);
        assert!(cpu < device + LEAST_GAIN, "{cpu} {device}");
        let (device, cpu) = seconds(1_000_000);
        assert!(cpu > device + LEAST_GAIN, "{cpu} {device}");
        // A million points take about a second on two cores and ten milliseconds there.
        assert!(
            (0.2..5.0).contains(&cpu) && (0.003..0.05).contains(&device),
            "{cpu} {device}"
        );
    }

    #[test]
    fn in_the_plane_large_sums_pay_on_a_device_and_small_ones_do_not() {
        use farfield_core::plane::{Kernel, PlaneSet};
        let pays = |n: usize, tolerance: f64, threads: usize, method: Method| {
            let points = PlaneSet::Square.generate::<f64>(n, 1);
            let request = Request::new(Kernel::Harmonic).with(|options| {
                (options.tolerance, options.method) = (Some(tolerance), method);
            });
            pays_in_plane(&h200(), threads, &request.between(&points))
        };
        assert!(!pays(3000, 1e-6, 2, Method::Auto));
        assert!(pays(1_000_000, 1e-6, 2, Method::Auto));
        // Many cores replace the device for a small FMM, but not for all pairs.
        assert!(!pays(30_000, 1e-6, 64, Method::Auto));
        assert!(pays(100_000, 1e-6, 64, Method::Direct));
        assert!(!pays(0, 1e-6, 1, Method::Auto));
    }

    #[test]
    fn in_the_plane_both_models_predict_the_measured_times() {
        use farfield_core::plane::{Kernel, PlaneSet};
        let points = PlaneSet::Square.generate::<f64>(1_000_000, 1);
        let request = Request::new(Kernel::Harmonic);
        let sum = request.between(&points);
        // The CPU takes 0.22 s on two threads (docs/notes/performance.md), the H200 3 ms and the transfers (docs/notes/gpu.md).
        let (device, cpu) = (device_seconds_in_plane(&h200(), &sum), sum.expected_seconds(2));
        assert!(
            (0.002..0.02).contains(&device) && (0.1..1.0).contains(&cpu),
            "{device} {cpu}"
        );
        let four = Request {
            vectors: 4,
            ..request.clone()
        };
        let of_vectors = four.between(&points);
        assert!(of_vectors.expected_seconds(2) > 2.5 * cpu);
        assert!(device_seconds_in_plane(&h200(), &of_vectors) > 1.5 * device);
        assert!((sum.expected_seconds(4) / cpu - 0.5).abs() < 1e-12);
    }
}
