//! How large the truncation error of M2L is, for every shift and order.

#[path = "truncation_table.rs"]
mod table;

/// Shifts that differ only by the order and signs of their components have the same error: 16 classes.
pub const CLASSES: usize = 16;

/// Orders in the table: 0 to this.
pub const MAX_TABLE_ORDER: usize = 36;

/// The class of a shift, given in boxes; `None` for boxes that touch.
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

/// The root mean square error of M2L of the given order between unit boxes, over sources and targets spread evenly
/// in them, for a unit charge: of the potential (0 derivatives), the gradient (1) or the Hessian (2).
pub fn truncation_error(class: usize, order: usize, derivatives: usize) -> f64 {
    10f64.powf(f64::from(table::LOG10_ERROR[derivatives][class][order.min(MAX_TABLE_ORDER)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::coefficient_count;
    use crate::expansion::harmonics::{Recurrence, dot};
    use crate::expansion::translation::{Translations, workspace_len};
    use crate::kernel::{FarOutputs, Kernel, Output, Side, reference};
    use crate::points::Random;
    use crate::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

    /// Measures the errors of one class for all orders from random pairs.
    struct Measure {
        class: usize,
        orders: Vec<usize>,
        samples: usize,
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
            let outputs: Vec<_> =
                self.orders.iter().map(|order| FarOutputs::<T>::new(Kernel::Coulomb, 2, *order, Side::Local)).collect();
            for _ in 0..self.samples / V::LANES {
                let mut point = || -> [T; 3] { std::array::from_fn(|_| T::from_f64(random.uniform() - 0.5)) };
                let pairs: Vec<([T; 3], [T; 3])> = (0..V::LANES).map(|_| (point(), point())).collect();
                let mut multipoles = vec![T::ZERO; V::LANES * full];
                for (l, (source, _)) in pairs.iter().enumerate() {
                    let mut basis = vec![V::zero(); full];
                    let s = source.map(V::splat);
                    recurrence.regular(most, s[0], s[1], s[2], &mut basis);
                    for k in 0..full {
                        let mut lanes = [T::ZERO; 16];
                        basis[k].write_partial(&mut lanes, V::LANES);
                        multipoles[l * full + k] = lanes[0];
                    }
                }
                let starts: Vec<usize> = (0..V::LANES).map(|l| l * full).collect();
                for ((order, outputs), sum) in self.orders.iter().zip(&outputs).zip(&mut sums) {
                    let mut locals = vec![T::ZERO; V::LANES * full];
                    tables.apply::<V>(0, *order, &multipoles, &starts, &mut locals, &starts, &mut workspace);
                    for (l, (source, target)) in pairs.iter().enumerate() {
                        let mut derived = vec![T::ZERO; outputs.derived_len()];
                        outputs.derive(&locals[l * full..], full, &mut derived);
                        let mut basis = vec![V::zero(); full];
                        let t = target.map(V::splat);
                        recurrence.regular(*order, t[0], t[1], t[2], &mut basis);
                        let d = std::array::from_fn(|a| f64::from(shift[a]) + target[a].to_f64() - source[a].to_f64());
                        let mut at = 0;
                        for (k, output) in [Output::Potential, Output::Gradient, Output::Hessian].into_iter().enumerate() {
                            let mut want = vec![0.0; output.components()];
                            reference::add_pair(Kernel::Coulomb, output, d, &[1.0], 0.0, &mut want);
                            for want in want {
                                let value = dot(outputs.sum(&derived, at).0, &basis).sum().to_f64() / V::LANES as f64;
                                sum[k] += (value - want).powi(2);
                                at += 1;
                            }
                        }
                    }
                }
            }
            let count = (self.samples / V::LANES * V::LANES) as f64;
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
            let measured = dispatch::<f64, _>(SimdLevel::best(), Measure { class, orders: orders.clone(), samples: 4000 });
            for (order, errors) in orders.into_iter().zip(measured) {
                for (derivatives, error) in errors.into_iter().enumerate() {
                    let ratio = error / truncation_error(class, order, derivatives);
                    assert!((0.5..2.0).contains(&ratio), "class {class} order {order} derivatives {derivatives}: {ratio}");
                }
            }
        }
    }

    /// Prints `truncation_table.rs`.
    #[test]
    #[ignore = "rewrites the table: cargo test --release print_truncation_table -- --ignored --nocapture"]
    fn print_truncation_table() {
        let orders: Vec<usize> = (0..=MAX_TABLE_ORDER).collect();
        let classes: Vec<_> = (0..CLASSES)
            .map(|class| dispatch::<f64, _>(SimdLevel::best(), Measure { class, orders: orders.clone(), samples: 4_000 }))
            .collect();
        println!("//! Made by the test `print_truncation_table`: log10 of the root mean square error over 4,000 random pairs.\n");
        println!("#[rustfmt::skip]\npub const LOG10_ERROR: [[[f32; {}]; {CLASSES}]; 3] = [", orders.len());
        for derivatives in 0..3 {
            println!("    [");
            for (class, errors) in classes.iter().enumerate() {
                let row: Vec<String> = errors.iter().map(|e| format!("{:.2}", e[derivatives].log10())).collect();
                println!("        // shift {:?}\n        [{}],", shift_of_class(class), row.join(", "));
            }
            println!("    ],");
        }
        println!("];");
    }
}
