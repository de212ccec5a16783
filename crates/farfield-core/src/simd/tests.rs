use super::*;

/// The stride of tests over ranges: larger under Miri, which is slow.
const SPARSE: usize = if cfg!(miri) { 60 } else { 1 };

/// Runs a check over every level of this machine and both precisions.
macro_rules! for_every_level {
    ($check:ident) => {
        for level in SimdLevel::available() {
            dispatch::<f32, _>(level, $check);
            dispatch::<f64, _>(level, $check);
        }
    };
}

fn numbers<T: Real>(count: usize, low: f64, high: f64) -> Vec<T> {
    (0..count)
        .map(|i| T::from_f64(low + (high - low) * ((i as f64 * 0.618_033_988_75) % 1.0)))
        .collect()
}

fn lanes_of<V: Lanes>(v: V) -> Vec<f64> {
    let mut out = [V::Elem::ZERO; MAX_LANES];
    v.write_partial(&mut out, V::LANES);
    out[..V::LANES].iter().map(|x| x.to_f64()).collect()
}

#[test]
fn arithmetic_matches_scalars_lane_by_lane() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let (a, b, c) = (
                numbers::<T>(16, -3.0, 3.0),
                numbers::<T>(16, 0.5, 2.0),
                numbers::<T>(16, -1.0, 9.0),
            );
            let (va, vb, vc) = (V::from_slice(&a), V::from_slice(&b), V::from_slice(&c));
            let close = |got: V, want: &dyn Fn(f64, f64, f64) -> f64| {
                for (l, x) in lanes_of(got).into_iter().enumerate() {
                    let w = want(a[l].to_f64(), b[l].to_f64(), c[l].to_f64());
                    assert!((x - w).abs() <= 8.0 * T::EPSILON * (1.0 + w.abs()), "lane {l}: {x} {w}");
                }
            };
            close(va + vb, &|a, b, _| a + b);
            close(va - vb, &|a, b, _| a - b);
            close(va * vb, &|a, b, _| a * b);
            close(va.mul_add(vb, vc), &|a, b, c| a * b + c);
            close(va.neg_mul_add(vb, vc), &|a, b, c| c - a * b);
            close(va.div(vb), &|a, b, _| a / b);
            close(va.max(vb), &|a, b, _| a.max(b));
            close(va.keep_where_positive(vc), &|a, _, c| if c > 0.0 { a } else { 0.0 });
            close(va.select_less(vb, vc, va), &|a, b, c| if a < b { c } else { a });
            let sum: f64 = lanes_of(va).iter().sum();
            assert!((va.sum().to_f64() - sum).abs() < 40.0 * T::EPSILON);
        }
    }
    for_every_level!(Check);
}

#[test]
fn rsqrt_has_its_documented_accuracy_over_the_whole_range() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let exponents = if T::EPSILON > 1e-10 { 30 } else { 300 };
            for exponent in (-exponents..=exponents).step_by(SPARSE) {
                let x = numbers::<T>(16, 1.0, 9.99)
                    .into_iter()
                    .map(|m| T::from_f64(m.to_f64() * 10f64.powi(exponent)))
                    .collect::<Vec<_>>();
                let v = V::from_slice(&x);
                let worst = |y: V| {
                    lanes_of(y)
                        .into_iter()
                        .zip(&x)
                        .map(|(y, x)| (y * x.to_f64().sqrt() - 1.0).abs())
                        .fold(0.0, f64::max)
                };
                let estimate = v.rsqrt_estimate();
                assert!(
                    worst(rsqrt::<V, { RsqrtAccuracy::Estimate as u8 }>(v, estimate))
                        <= V::RSQRT_ESTIMATE_ERROR + 2.0 * T::EPSILON
                );
                let newton = 1.5 * V::RSQRT_ESTIMATE_ERROR.powi(2) + 4.0 * T::EPSILON;
                assert!(worst(rsqrt::<V, { RsqrtAccuracy::Newton as u8 }>(v, estimate)) <= newton);
                let cubic = 2.5 * V::RSQRT_ESTIMATE_ERROR.powi(3) + 4.0 * T::EPSILON;
                assert!(worst(rsqrt::<V, { RsqrtAccuracy::Cubic as u8 }>(v, estimate)) <= cubic);
                assert!(
                    worst(rsqrt::<V, { RsqrtAccuracy::Full as u8 }>(v, estimate)) <= 4.0 * T::EPSILON,
                    "1e{exponent}"
                );
            }
        }
    }
    for_every_level!(Check);
}

#[test]
fn rsqrt_of_a_zeroed_lane_stays_zero() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let x = V::zero();
            let estimate = x.rsqrt_estimate().keep_where_positive(x);
            assert!(
                lanes_of(rsqrt::<V, { RsqrtAccuracy::Full as u8 }>(x, estimate))
                    .iter()
                    .all(|y| *y == 0.0)
            );
            assert!(
                lanes_of(rsqrt::<V, { RsqrtAccuracy::Newton as u8 }>(x, estimate))
                    .iter()
                    .all(|y| *y == 0.0)
            );
        }
    }
    for_every_level!(Check);
}

#[test]
fn exponential_matches_the_standard_library() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            for block in (0..200).step_by(SPARSE) {
                let x = numbers::<T>(16, -0.4 * block as f64 - 1.0, -0.4 * block as f64);
                for (y, x) in lanes_of(exp(V::from_slice(&x))).into_iter().zip(&x) {
                    let want = x.to_f64().exp();
                    assert!(
                        (y - want).abs() <= 8.0 * T::EPSILON * want + 1e-37,
                        "exp({x}) = {y}, not {want}"
                    );
                }
            }
            assert!(lanes_of(exp(V::splat(T::from_f64(-1000.0)))).iter().all(|y| *y == 0.0));
        }
    }
    for_every_level!(Check);
}

#[test]
fn logarithm_matches_the_standard_library() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let most = if T::EPSILON > 1e-10 { 37 } else { 300 };
            for power in (-most..=most).step_by(SPARSE) {
                let x: Vec<T> = numbers::<T>(16, 0.9, 9.5)
                    .iter()
                    .map(|m| T::from_f64(m.to_f64() * 10f64.powi(power)))
                    .collect();
                for (y, x) in lanes_of(ln(V::from_slice(&x))).into_iter().zip(&x) {
                    let want = x.to_f64().ln();
                    let error = (y - want).abs() / (1.0 + want.abs());
                    // Miri makes the standard library's functions inexact on purpose.
                    let allowed = if cfg!(miri) { 30.0 } else { 3.0 };
                    assert!(error < allowed * T::EPSILON, "ln({x}) = {y}, not {want}");
                }
            }
        }
    }
    for_every_level!(Check);
}

#[test]
fn reciprocal_has_its_documented_accuracy() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            let most = if T::EPSILON > 1e-10 { 30 } else { 300 };
            for power in (-most..=most).step_by(SPARSE) {
                let x: Vec<T> = numbers::<T>(16, 1.0, 9.9)
                    .iter()
                    .map(|m| T::from_f64(m.to_f64() * 10f64.powi(power)))
                    .collect();
                let v = V::from_slice(&x);
                let estimate = v.reciprocal_estimate();
                let close = |got: V, error: f64| {
                    for (y, x) in lanes_of(got).into_iter().zip(&x) {
                        assert!((y * x.to_f64() - 1.0).abs() <= error, "1/{x} = {y}");
                    }
                };
                close(estimate, V::RECIPROCAL_ESTIMATE_ERROR.max(T::EPSILON));
                close(reciprocal::<V, false>(v, estimate), 4e-9f64.max(2.0 * T::EPSILON));
                close(reciprocal::<V, true>(v, estimate), 2.0 * T::EPSILON);
            }
            let zeroed = V::zero().reciprocal_estimate().keep_where_positive(V::zero());
            assert!(
                lanes_of(reciprocal::<V, true>(V::zero(), zeroed))
                    .iter()
                    .all(|y| *y == 0.0)
            );
        }
    }
    for_every_level!(Check);
}

#[test]
fn rows_survive_a_round_trip_through_columns() {
    #[derive(Clone, Copy)]
    struct Check;
    impl<T: Real> Vectorized<T> for Check {
        type Output = ();
        fn run<V: Lanes<Elem = T>>(self) {
            round_trip::<V>();
            round_trip::<V::Broad>();
        }
    }
    fn round_trip<V: Lanes>() {
        type T<V> = <V as Lanes>::Elem;
        for count in [1, 3, 4, 8, 9, 16, 17, 33, 49] {
            let data: Vec<Vec<T<V>>> = (0..16)
                .map(|l| (0..count).map(|k| T::<V>::from_f64((100 * l + k) as f64)).collect())
                .collect();
            let rows: [*const T<V>; MAX_LANES] = std::array::from_fn(|l| data[l].as_ptr());
            let mut columns = vec![V::zero(); count];
            // SAFETY: every row holds `count` values.
            unsafe { V::gather_rows(&rows, count, &mut columns) };
            for (k, column) in columns.iter().enumerate() {
                for (l, x) in lanes_of(*column).into_iter().enumerate() {
                    assert_eq!(x, (100 * l + k) as f64);
                }
            }
            let mut sums = data.clone();
            let targets: [*mut T<V>; MAX_LANES] = std::array::from_fn(|l| sums[l].as_mut_ptr());
            // SAFETY: every row holds `count` values and they are separate vectors.
            unsafe { V::scatter_add_rows(&columns, count, &targets) };
            for l in 0..V::LANES {
                for k in 0..count {
                    assert_eq!(sums[l][k].to_f64(), 2.0 * (100 * l + k) as f64);
                }
            }
        }
    }
    for_every_level!(Check);
}
