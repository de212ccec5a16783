//! The truncation error of M2L for every shift and order.

use std::sync::LazyLock;

#[allow(clippy::approx_constant, reason = "measured numbers that happen to look like others")]
#[path = "truncation_table.rs"]
mod table;

/// The number of classes of shifts. Shifts that differ only in the order and signs of their components form a class
/// and have the same error.
pub const CLASSES: usize = 16;

/// The highest order in the table. Beyond it, the error is extrapolated from the last orders of the table.
pub const MAX_TABLE_ORDER: usize = 36;

/// The class of a shift, in box sides; `None` for boxes that touch.
pub fn class_of(shift: [i32; 3]) -> Option<usize> {
    let mut s = shift.map(i32::abs);
    s.sort_unstable();
    let [c, b, a] = s;
    match a {
        2 => Some((b * (b + 1) / 2 + c) as usize),
        3 => Some((6 + b * (b + 1) / 2 + c) as usize),
        _ => None,
    }
}

/// A shift of the class, largest component first.
pub fn shift_of_class(class: usize) -> [i32; 3] {
    let (a, mut k) = if class < 6 { (2, class) } else { (3, class - 6) };
    let mut b = 0;
    while k > b {
        k -= b + 1;
        b += 1;
    }
    [a, b as i32, k as i32]
}

/// The root mean square error of M2L of order `order` between unit boxes, for a unit charge and uniformly distributed
/// sources and targets: of the potential (0 derivatives), the gradient (1) or the Hessian (2). The error of third
/// derivatives, for the Hessian of a dipole, exceeds that of second ones by about the same factor as these exceed
/// first ones.
pub fn truncation_error(class: usize, order: usize, derivatives: usize) -> f64 {
    if derivatives > 2 {
        let second = truncation_error(class, order, 2);
        return second * (second / truncation_error(class, order, 1)).max(1.0);
    }
    static ERRORS: LazyLock<Vec<f64>> = LazyLock::new(|| {
        table::LOG10_ERROR
            .as_flattened()
            .as_flattened()
            .iter()
            .map(|log| 10f64.powf(f64::from(*log)))
            .collect()
    });
    let at = |order: usize| ERRORS[(derivatives * CLASSES + class) * (MAX_TABLE_ORDER + 1) + order];
    match order.checked_sub(MAX_TABLE_ORDER) {
        None | Some(0) => at(order.min(MAX_TABLE_ORDER)),
        Some(above) => at(MAX_TABLE_ORDER) * (at(MAX_TABLE_ORDER) / at(MAX_TABLE_ORDER - 6)).powf(above as f64 / 6.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::coefficient_count;
    use crate::expansion::harmonics::Recurrence;
    use crate::expansion::translation::{Translations, workspace_len};
    use crate::kernel::{FarOutputs, Kernel, Side, reference};
    use crate::points::Random;
    use crate::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};
    use rayon::prelude::*;

    /// Measures the errors of one class for all orders from random pairs.
    struct Measure {
        class: usize,
        orders: Vec<usize>,
        samples: usize,
    }

    /// A coordinate in [-1/2, 1/2] and the inverse of its density. Half of the samples are concentrated at the ends,
    /// because at high orders a few pairs near the corners cause most of the error.
    fn coordinate(random: &mut Random) -> (f64, f64) {
        let v = random.uniform().max(1e-6);
        let sign = if random.uniform() < 0.5 { 1.0 } else { -1.0 };
        let from_end = if random.uniform() < 0.5 {
            0.5 * v
        } else {
            0.5 * v * v * v
        };
        let crowded = (2.0 * from_end).powf(-2.0 / 3.0) / 3.0;
        (sign * (0.5 - from_end), 1.0 / (0.5 + 0.5 * crowded))
    }

    impl<T: Real> Vectorized<T> for Measure {
        type Output = Vec<[f64; 3]>;
        fn run<V: Lanes<Elem = T>>(self) -> Vec<[f64; 3]> {
            let shift = shift_of_class(self.class);
            let most = *self.orders.iter().max().unwrap();
            let tables = Translations::<T>::m2l(most, &[shift]);
            let recurrence = Recurrence::<T>::new(most);
            let mut random = Random::new(self.class as u64 + 1);
            let mut sums = vec![[0.0; 3]; self.orders.len()];
            let mut workspace = vec![V::zero(); workspace_len(most)];
            let full = coefficient_count(most);
            let outputs: Vec<_> = self
                .orders
                .iter()
                .map(|order| FarOutputs::<T>::new(Kernel::Coulomb.form(), 2, *order, Side::Local))
                .collect();
            let batches = self.samples / (V::LANES * V::LANES);
            for _ in 0..batches {
                // One register of sources and one of targets, all sources acting on all targets.
                let mut points = || -> Vec<([T; 3], f64)> {
                    let mut point = || {
                        let coordinates: [(f64, f64); 3] = std::array::from_fn(|_| coordinate(&mut random));
                        (
                            coordinates.map(|(u, _)| T::from_f64(u)),
                            coordinates.iter().map(|(_, w)| w).product(),
                        )
                    };
                    (0..V::LANES).map(|_| point()).collect()
                };
                let (sources, targets) = (points(), points());
                let lanes = |points: &[([T; 3], f64)]| -> [V; 3] {
                    std::array::from_fn(|axis| {
                        let column: Vec<T> = points.iter().map(|(p, _)| p[axis]).collect();
                        V::from_slice(&column)
                    })
                };
                let (mut basis, mut multipoles) = (vec![V::zero(); full], vec![T::ZERO; V::LANES * full]);
                let [x, y, z] = lanes(&sources);
                recurrence.regular(most, x, y, z, &mut basis);
                for (k, basis) in basis.iter().enumerate() {
                    let mut column = [T::ZERO; 16];
                    basis.write_partial(&mut column, V::LANES);
                    for (l, value) in column.iter().enumerate().take(V::LANES) {
                        multipoles[l * full + k] = *value;
                    }
                }
                let [x, y, z] = lanes(&targets);
                recurrence.regular(most, x, y, z, &mut basis);
                let starts: Vec<usize> = (0..V::LANES).map(|l| l * full).collect();
                for ((order, outputs), sum) in self.orders.iter().zip(&outputs).zip(&mut sums) {
                    let mut locals = vec![T::ZERO; V::LANES * full];
                    tables.apply::<V>(0, *order, &multipoles, &starts, &mut locals, &starts, &mut workspace);
                    let mut derived = vec![T::ZERO; outputs.derived_len()];
                    for (l, (source, source_weight)) in sources.iter().enumerate() {
                        outputs.derive(&locals[l * full..], full, &mut derived);
                        let values: Vec<[T; 16]> = (0..10)
                            .map(|k| {
                                let mut lanes = [T::ZERO; 16];
                                let value = outputs
                                    .sum(&derived, k)
                                    .iter()
                                    .zip(&basis)
                                    .fold(V::zero(), |sum, (c, b)| V::splat(*c).mul_add(*b, sum));
                                value.write_partial(&mut lanes, V::LANES);
                                lanes
                            })
                            .collect();
                        for (lane, (target, target_weight)) in targets.iter().enumerate() {
                            let d =
                                std::array::from_fn(|a| f64::from(shift[a]) + target[a].to_f64() - source[a].to_f64());
                            let mut at = 0;
                            for (k, output) in Kernel::Coulomb.outputs().iter().enumerate() {
                                let mut want = vec![0.0; output.components()];
                                reference::add_pair(Kernel::Coulomb, *output, d, &[1.0], 0.0, &mut want);
                                for want in want {
                                    sum[k] +=
                                        source_weight * target_weight * (values[at][lane].to_f64() - want).powi(2);
                                    at += 1;
                                }
                            }
                        }
                    }
                }
            }
            let count = (batches * V::LANES * V::LANES) as f64;
            sums.into_iter().map(|s| s.map(|s| (s / count).sqrt())).collect()
        }
    }

    #[test]
    fn classes_cover_all_shifts_between_boxes_that_do_not_touch() {
        let mut seen = [0; CLASSES];
        for index in 0..crate::tree::lists::SHIFTS {
            let shift = crate::tree::lists::shift_of(index);
            match class_of(shift) {
                Some(class) => seen[class] += 1,
                None => assert!(shift.iter().all(|c| c.abs() <= 1)),
            }
        }
        assert_eq!(seen.iter().sum::<usize>(), 343 - 27);
        assert!((0..CLASSES).all(|class| class_of(shift_of_class(class)) == Some(class) && seen[class] > 0));
    }

    #[test]
    fn table_agrees_with_a_fresh_measurement() {
        for class in [0, 3, 5, 9, 15] {
            let orders = vec![2, 7, 12];
            let measured = dispatch::<f64, _>(
                SimdLevel::best(),
                Measure {
                    class,
                    orders: orders.clone(),
                    samples: 30_000,
                },
            );
            for (order, errors) in orders.into_iter().zip(measured) {
                for (derivatives, error) in errors.into_iter().enumerate() {
                    let ratio = error / truncation_error(class, order, derivatives);
                    assert!(
                        (0.5..2.0).contains(&ratio),
                        "class {class} order {order} derivatives {derivatives}: {ratio}"
                    );
                }
            }
        }
    }

    /// Prints `truncation_table.rs`.
    #[test]
    #[ignore = "rewrites the table: cargo test --release print_truncation_table -- --ignored --nocapture"]
    fn print_truncation_table() {
        let orders: Vec<usize> = (0..=12).chain((14..=MAX_TABLE_ORDER).step_by(2)).collect();
        let classes: Vec<_> = (0..CLASSES)
            .into_par_iter()
            .map(|class| {
                let measure = Measure {
                    class,
                    orders: orders.clone(),
                    samples: 30_000,
                };
                let measured = dispatch::<f64, _>(SimdLevel::best(), measure);
                // Odd orders above 12 lie between their neighbours.
                let at = |order: usize| measured[if order <= 12 { order } else { 12 + (order - 12) / 2 }];
                let between = |order: usize| {
                    let (a, b) = (at(order - 1), at(order + 1));
                    std::array::from_fn(|d| (a[d] * b[d]).sqrt())
                };
                (0..=MAX_TABLE_ORDER)
                    .map(|order| {
                        if order > 12 && order % 2 == 1 {
                            between(order)
                        } else {
                            at(order)
                        }
                    })
                    .collect::<Vec<[f64; 3]>>()
            })
            .collect();
        println!(
            "//! Made by the test `print_truncation_table`: log10 of the root mean square error over 30,000 pairs.\n"
        );
        println!(
            "#[rustfmt::skip]\npub const LOG10_ERROR: [[[f32; {}]; {CLASSES}]; 3] = [",
            MAX_TABLE_ORDER + 1
        );
        for derivatives in 0..3 {
            println!("    [");
            for (class, errors) in classes.iter().enumerate() {
                let row: Vec<String> = errors
                    .iter()
                    .map(|e| format!("{:.2}", e[derivatives].log10()))
                    .collect();
                println!(
                    "        // shift {:?}\n        [{}],",
                    shift_of_class(class),
                    row.join(", ")
                );
            }
            println!("    ],");
        }
        println!("];");
    }
}
