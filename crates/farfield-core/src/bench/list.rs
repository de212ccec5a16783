//! The rate of every operator, for every kernel, core and output, next to its bound.

use super::{Benchmark, PointOperator};
use crate::expansion::coefficient_count;
use crate::kernel::{Core, Form, Kernel};
use crate::p2p::accuracy_for;
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};

/// The rate of one operator.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorRate {
    /// The operator with its kernel or order.
    pub name: String,
    /// Nanoseconds per operation on one thread.
    pub nanoseconds: f64,
    /// Vector instructions on floats per operation and lane, counted from the source; a fused multiply-add is one.
    pub instructions: f64,
    /// The fraction of the instruction ceiling that was reached.
    pub share_of_ceiling: f64,
}

/// The names of the kernel and its core.
fn name(kernel: Kernel) -> String {
    match kernel.description().regularisation {
        Some(core) => format!("{} {}", kernel.name(), core.name),
        None => kernel.name().to_owned(),
    }
}

/// The names of the outputs with up to `derivatives` derivatives of the potential.
fn outputs(kernel: Kernel, derivatives: usize) -> &'static str {
    match (kernel.form() == Form::Vortex, derivatives) {
        (false, 0) => "potential",
        (false, 1) => "potential+gradient",
        (false, _) => "potential+gradient+hessian",
        (true, 0 | 1) => "velocity",
        (true, _) => "velocity+gradient",
    }
}

/// The numbers of derivatives for which the kernel has outputs.
fn derivatives_of(kernel: Kernel) -> std::ops::RangeInclusive<usize> {
    let most = kernel.outputs().iter().map(|output| output.derivatives()).max();
    usize::from(kernel.form() == Form::Vortex)..=most.unwrap_or(0)
}

/// Measures every operator in precision `T`.
pub fn operators<T: Real>(level: SimdLevel) -> Vec<OperatorRate> {
    let ceiling = Benchmark::FmaRate.measure::<T>(level);
    let rate = |name: String, seconds: f64, instructions: f64| OperatorRate {
        name,
        nanoseconds: 1e9 * seconds,
        instructions,
        share_of_ceiling: instructions / seconds / ceiling,
    };
    let mut rates = pairs::<T>(level, &rate);
    rates.extend(translations::<T>(level, &rate));
    rates.extend(points::<T>(level, &rate));
    rates
}

type Rate<'a> = &'a dyn Fn(String, f64, f64) -> OperatorRate;

/// P2P.
fn pairs<T: Real>(level: SimdLevel, rate: Rate) -> Vec<OperatorRate> {
    let tight = if T::EPSILON > 1e-10 { 1e-5 } else { 1e-9 };
    let one = |name: &str, kernel: Kernel, derivatives: usize, (leaf, leaves): (usize, usize)| {
        let pairs = Benchmark::PairRate {
            kernel,
            derivatives,
            tolerance: tight,
            leaf,
            leaves,
        }
        .measure::<T>(level);
        let what = outputs(kernel, derivatives);
        let accuracy = accuracy_for::<T>(level, tight, derivatives);
        rate(
            format!("p2p {name} {what}, leaves of {leaf}"),
            1.0 / pairs,
            pair_instructions(kernel, derivatives, accuracy),
        )
    };
    let mut rates = Vec::new();
    for sizes in [(1024, 4), (32, 27)] {
        for derivatives in [0, 1] {
            rates.push(one("coulomb", Kernel::Coulomb, derivatives, sizes));
        }
    }
    for kernel in Kernel::all() {
        for derivatives in derivatives_of(kernel) {
            rates.push(one(&name(kernel), kernel, derivatives, (64, 27)));
        }
    }
    rates
}

/// M2L, M2M, L2L: independent of the kernel, except for the number of expansions.
fn translations<T: Real>(level: SimdLevel, rate: Rate) -> Vec<OperatorRate> {
    let mut rates = Vec::new();
    for order in [4, 6, 8, 10, 12, 16, 20, 24] {
        let seconds = Benchmark::M2l { order }.measure::<T>(level);
        rates.push(rate(
            format!("m2l order {order}"),
            seconds,
            translation_instructions(order, false),
        ));
    }
    for order in [4, 6, 8, 10, 12, 16] {
        let seconds = Benchmark::MirroredM2l { order }.measure::<T>(level);
        let coefficients = coefficient_count(order) as f64;
        // For eight together: three sums or differences per coefficient of each, and one product.
        let instructions = coefficients * (3.0 + coefficients / 8.0);
        rates.push(rate(format!("m2l of 8 mirrored order {order}"), seconds, instructions));
    }
    for order in [6, 12] {
        for (name, what) in [("m2m", Benchmark::M2m { order }), ("l2l", Benchmark::L2l { order })] {
            let seconds = what.measure::<T>(level);
            rates.push(rate(
                format!("{name} order {order}"),
                seconds,
                translation_instructions(order, true),
            ));
        }
    }
    rates
}

/// P2M, P2L, L2P, M2P: for scalar and vector strengths, and all outputs.
fn points<T: Real>(level: SimdLevel, rate: Rate) -> Vec<OperatorRate> {
    use PointOperator::{L2p, M2p, P2l, P2m};
    let mut rates = Vec::new();
    let vortex = Kernel::BiotSavart { core: Core::Singular };
    for (name, kernel) in [("coulomb", Kernel::Coulomb), ("biot-savart", vortex)] {
        for order in [6, 13] {
            let mut one = |operator: PointOperator, text: String, derivatives: usize| {
                let (points, coefficients) = (64, coefficient_count(order) as f64);
                let seconds = Benchmark::Point {
                    operator,
                    kernel,
                    derivatives,
                    order,
                    points,
                }
                .measure::<T>(level);
                // The recurrence takes three instructions for two coefficients; weighting a source takes two more.
                let each = match operator {
                    P2m | P2l => 2.5 + kernel.strength_components() as f64,
                    L2p | M2p => 1.5 + kernel.form().sums(derivatives) as f64,
                };
                rates.push(rate(
                    format!("{text}, order {order}, {points} points"),
                    seconds,
                    each * coefficients,
                ));
            };
            one(P2m, format!("p2m {name}"), 1);
            one(P2l, format!("p2l {name}"), 1);
            for derivatives in derivatives_of(kernel) {
                let what = outputs(kernel, derivatives);
                one(L2p, format!("l2p {name} {what}"), derivatives);
                one(M2p, format!("m2p {name} {what}"), derivatives);
            }
        }
    }
    rates
}

/// Vector instructions on floats of one translation, per lane. Shifts between parent and child use triangular
/// matrices.
fn translation_instructions(order: usize, triangular: bool) -> f64 {
    let n = order as f64;
    let rotations: f64 = (0..=order).map(|n| ((n + 1) * (n + 1) + n * n) as f64).sum();
    let shifts: f64 = (0..=order)
        .map(|m| {
            let size = order - m + 1;
            let entries = if triangular { size * (size + 1) / 2 } else { size * size };
            (entries * if m == 0 { 1 } else { 2 }) as f64
        })
        .sum();
    2.0 * rotations + shifts + 2.0 * 2.0 * n * (n + 1.0) + (n + 1.0) * (n + 1.0)
}

/// Vector instructions on floats of one pair.
fn pair_instructions(kernel: Kernel, derivatives: usize, accuracy: RsqrtAccuracy) -> f64 {
    let root = |accuracy: RsqrtAccuracy| match accuracy {
        RsqrtAccuracy::Estimate => 1.0,
        RsqrtAccuracy::Newton => 5.0,
        RsqrtAccuracy::Cubic => 6.0,
        RsqrtAccuracy::Full => 9.0,
    };
    let form = kernel.form();
    let sums = match (form, derivatives) {
        (Form::Charge, 0) => 1.0,
        (Form::Charge, 1) => 7.0,
        (Form::Charge, _) => 23.0,
        (Form::Dipole, 0) => 7.0,
        (Form::Dipole, 1) => 19.0,
        (Form::Dipole, _) => 45.0,
        (Form::Vortex, 0 | 1) => 11.0,
        (Form::Vortex, _) => 31.0,
    };
    // Second derivatives are computed with full accuracy.
    let accuracy = if derivatives < 2 { accuracy } else { RsqrtAccuracy::Full };
    // `pair_cost` is the cost of a core relative to the singular kernel.
    (6.0 + root(accuracy) + sums) * kernel.description().pair_cost(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_operator_kernel_core_and_output_once() {
        let names: Vec<String> = operators::<f32>(SimdLevel::best())
            .into_iter()
            .map(|rate| rate.name)
            .collect();
        for (k, name) in names.iter().enumerate() {
            assert!(!names[..k].contains(name), "{name} occurs twice");
        }
        for operator in ["p2p", "p2m", "m2m", "m2l", "l2l", "l2p", "m2p", "p2l"] {
            let of = |name: &&String| name.split(' ').next() == Some(operator);
            assert!(names.iter().any(|name| of(&name)), "{operator}");
        }
        for what in [
            "gaussian velocity+gradient",
            "hu-polynomial velocity",
            "hessian",
            "plummer potential+gradient",
        ] {
            assert!(names.iter().any(|name| name.contains(what)), "{what}");
        }
    }
}
