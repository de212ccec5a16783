//! Whether a sum is done sooner on a device than on the CPU's cores, both guessed from models and nothing timed.

use crate::device::{Precision, Properties};
use crate::kernel::PairKind;
use crate::tuning::{self, Cores, Demand, Rates};
use farfield_core::expansion::coefficient_count;
use farfield_core::plan::CheckedSum;
use farfield_core::tuning::{CLASSES, MachineProfile, OperatorCosts, class_of, cube_orders};
use farfield_core::{Method, Sum, plane};

/// Seconds a device must save to be opened, which takes a fraction of a second once per process.
pub const LEAST_GAIN: f64 = 0.02;

/// Bytes a second between the host and a device, both ways the same.
const BUS: f64 = 2e10;

/// Seconds that a sum is expected to take on an open device, from host memory to host memory.
pub fn device_seconds<T: Precision>(properties: &Properties, sum: &Sum<T>) -> f64 {
    let checked = sum.checked();
    let kind = PairKind::of(&checked);
    let (sources, targets) = (checked.sources.len(), checked.target_count());
    let rates = Rates::of::<T>(properties, &kind);
    let direct = rates.overhead + sources as f64 * targets as f64 * checked.vectors as f64 / rates.pairs;
    let demand = Demand::of(&checked, &kind, sources.max(targets) as f64, Cores::default());
    let fmm = tuning::choose(&demand, &rates).seconds;
    let summing = match checked.method {
        Method::Direct => direct,
        Method::Auto => direct.min(fmm),
        _ => fmm,
    };
    let results: usize = checked.outputs.iter().map(|output| output.components()).sum();
    let other_targets = if checked.targets.is_some() { 3 * targets } else { 0 };
    let numbers = 3 * sources + other_targets + checked.vectors * (sources * kind.strengths() + targets * results);
    summing + (numbers * std::mem::size_of::<T>()) as f64 / BUS
}

/// Seconds that a sum is expected to take on so many threads of the CPU: pairs, or an FMM of points spread evenly in a
/// cube with the best of a few leaf sizes.
pub fn cpu_seconds<T: Precision>(profile: &MachineProfile, threads: usize, sum: &Sum<T>) -> f64 {
    let (checked, costs) = (sum.checked(), profile.of::<T>());
    let kind = PairKind::of(&checked);
    let (sources, targets) = (checked.sources.len() as f64, checked.target_count() as f64);
    let pair = pair_cost(&checked, &kind, costs);
    let direct = sources * targets * checked.vectors as f64 * pair;
    let leaves = [20.0, 40.0, 80.0, 160.0, 320.0];
    let fmm = leaves
        .iter()
        .map(|mean| fmm_cost(&checked, &kind, costs, *mean))
        .fold(f64::INFINITY, f64::min);
    let nanoseconds = match checked.method {
        Method::Direct => direct,
        Method::Auto => direct.min(fmm),
        _ => fmm,
    };
    1e-9 * nanoseconds / threads.max(1) as f64
}

/// Whether a device is expected to do a sum so much sooner than so many threads of the CPU that opening it pays.
pub fn pays<T: Precision>(properties: &Properties, profile: &MachineProfile, threads: usize, sum: &Sum<T>) -> bool {
    device_seconds(properties, sum) + LEAST_GAIN < cpu_seconds(profile, threads, sum)
}

/// [`pays`] of a sum in the plane; the costs of the CPU are those of the sum's profile.
pub fn pays_in_plane<T: Precision>(properties: &Properties, threads: usize, sum: &plane::Sum<T>) -> bool {
    device_seconds_in_plane(properties, sum) + LEAST_GAIN < sum.expected_seconds(threads)
}

/// [`device_seconds`] of a sum in the plane.
pub fn device_seconds_in_plane<T: Precision>(properties: &Properties, sum: &plane::Sum<T>) -> f64 {
    let checked = sum.checked();
    let (sources, targets) = (checked.sources.len(), checked.target_count());
    if sources == 0 || targets == 0 {
        return 0.0;
    }
    let kind = crate::plane::kind::PairKind::of(&checked);
    let rates = crate::plane::tuning::Rates::of::<T>(properties, &kind);
    let direct = rates.direct(sources as f64 * targets as f64 * checked.vectors as f64);
    let fmm = crate::plane::tuning::choose(&checked, &rates).seconds;
    let summing = match checked.method {
        Method::Direct => direct,
        Method::Auto => direct.min(fmm),
        _ => fmm,
    };
    let components = |output: &plane::Output| output.components(checked.kernel, checked.complex);
    let results: usize = checked.outputs.iter().map(components).sum();
    let strengths = if checked.complex { 2 } else { 1 };
    let numbers = 2 * checked.point_count() + checked.vectors * (sources * strengths + targets * results);
    summing + (numbers * std::mem::size_of::<T>()) as f64 / BUS
}

/// Nanoseconds of a pair of points on a thread.
fn pair_cost<T: Precision>(checked: &CheckedSum<T>, kind: &PairKind, costs: &OperatorCosts) -> f64 {
    let kernel = checked.kernel.description();
    costs.pair(kind.form, kind.derivatives) * kernel.pair_cost(checked.largest_size > 0.0)
}

/// Nanoseconds of an FMM with so many points in a leaf.
fn fmm_cost<T: Precision>(checked: &CheckedSum<T>, kind: &PairKind, costs: &OperatorCosts, mean: f64) -> f64 {
    let points = checked.sources.len().max(checked.target_count()) as f64;
    let (vectors, streams) = (checked.vectors as f64, (checked.vectors * kind.expansions()) as f64);
    let orders = match checked.order {
        Some(order) => ([order as u8; CLASSES], order),
        None => {
            let orders = cube_orders(
                points,
                mean,
                0.0,
                &checked.error_derivatives(),
                checked.tolerance,
                costs,
            );
            (orders.by_level.first().copied().unwrap_or([1; CLASSES]), orders.highest)
        }
    };
    let translations: f64 = (0..216)
        .filter_map(|k| class_of([k / 36 - 2, k / 6 % 6 - 2, k % 6 - 2]))
        .map(|class| costs.m2l(orders.0[class] as usize))
        .sum();
    let pairs = 27.0 * mean * vectors * pair_cost(checked, kind, costs);
    let expansions = 2.0 * streams * coefficient_count(orders.1) as f64 * costs.point_coefficient;
    // Coarser levels have an eighth of the boxes each.
    points * (pairs + expansions + 8.0 / 7.0 * streams * translations / mean)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use farfield_core::kernel::Kernel;
    use farfield_core::points::PointSet;

    /// A machine that tests have never seen.
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
            let sum = Sum::new(Kernel::Coulomb, &points);
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
        use farfield_core::plane::{Kernel, PlaneSet, Sum};
        let pays = |n: usize, tolerance: f64, threads: usize, method: Method| {
            let points = PlaneSet::Square.generate::<f64>(n, 1);
            let sum = Sum::new(Kernel::Harmonic, &points).tolerance(tolerance).method(method);
            pays_in_plane(&h200(), threads, &sum)
        };
        assert!(!pays(3000, 1e-6, 2, Method::Auto));
        assert!(pays(1_000_000, 1e-6, 2, Method::Auto));
        // Many cores do in their stead what little there is, all pairs they do not.
        assert!(!pays(30_000, 1e-6, 64, Method::Auto));
        assert!(pays(100_000, 1e-6, 64, Method::Direct));
        assert!(!pays(0, 1e-6, 1, Method::Auto));
    }

    #[test]
    fn in_the_plane_both_models_know_the_size_of_the_work() {
        use farfield_core::plane::{Kernel, PlaneSet, Sum};
        let points = PlaneSet::Square.generate::<f64>(1_000_000, 1);
        let sum = || Sum::new(Kernel::Harmonic, &points).tolerance(1e-6);
        // The CPU takes 0.22 s on two threads (docs/notes/performance.md), the H200 3 ms and the transfers (docs/notes/gpu.md).
        let (device, cpu) = (device_seconds_in_plane(&h200(), &sum()), sum().expected_seconds(2));
        assert!(
            (0.002..0.02).contains(&device) && (0.1..1.0).contains(&cpu),
            "{device} {cpu}"
        );
        let of_vectors = sum().vectors(4);
        assert!(of_vectors.expected_seconds(2) > 2.5 * cpu);
        assert!(device_seconds_in_plane(&h200(), &of_vectors) > 1.5 * device);
        assert!((sum().expected_seconds(4) / cpu - 0.5).abs() < 1e-12);
    }
}
