//! Explicit Runge-Kutta steps.

use crate::case::Scheme;

/// A point of phase space; its rates of change have the same shape.
pub trait System: Sized {
    /// The error of copying and adding.
    type Error;

    /// A copy of this state.
    ///
    /// # Errors
    /// If the memory that holds the state fails.
    fn copy(&self) -> Result<Self, Self::Error>;

    /// `self += h rates`
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Self::Error>;
}

/// For each stage, its time as a fraction of the step and its weight in the result. Stage `k` starts from the state
/// and follows the rates of stage `k - 1`.
fn tableau(scheme: Scheme) -> &'static [(f64, f64)] {
    match scheme {
        Scheme::Euler => &[(0.0, 1.0)],
        Scheme::Rk2 => &[(0.0, 0.5), (1.0, 0.5)],
        _ => &[(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)],
    }
}

/// One step from `state`, whose rates of change are `first`. `rates` is called with each stage and the time since the
/// start of the step.
///
/// # Errors
/// The errors of `rates` and of the state.
pub fn runge_kutta<P: System>(
    scheme: Scheme,
    state: &P,
    first: &P,
    dt: f64,
    mut rates: impl FnMut(&P, f64) -> Result<P, P::Error>,
) -> Result<P, P::Error> {
    let stages = tableau(scheme);
    let mut result = state.copy()?;
    result.add_scaled(dt * stages[0].1, first)?;
    let mut latest = None;
    for &(node, weight) in &stages[1..] {
        let mut stage = state.copy()?;
        stage.add_scaled(dt * node, latest.as_ref().unwrap_or(first))?;
        let slope = rates(&stage, dt * node)?;
        result.add_scaled(dt * weight, &slope)?;
        latest = Some(slope);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    struct Number(f64);

    impl System for Number {
        type Error = Infallible;

        fn copy(&self) -> Result<Self, Infallible> {
            Ok(Self(self.0))
        }

        fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Infallible> {
            self.0 += h * rates.0;
            Ok(())
        }
    }

    /// The error at t = 1 of y' = y cos(t), whose solution is exp(sin t).
    fn error(scheme: Scheme, steps: usize) -> f64 {
        let dt = 1.0 / steps as f64;
        let mut y = Number(1.0);
        for k in 0..steps {
            let t = k as f64 * dt;
            let rates = |y: &Number, at: f64| Ok(Number(y.0 * (t + at).cos()));
            let first = rates(&y, 0.0).unwrap();
            y = runge_kutta(scheme, &y, &first, dt, rates).unwrap();
        }
        (y.0 - 1.0f64.sin().exp()).abs()
    }

    #[test]
    fn orders_of_convergence() {
        for (scheme, order) in [(Scheme::Euler, 1.0), (Scheme::Rk2, 2.0), (Scheme::Rk4, 4.0)] {
            let measured = (error(scheme, 20) / error(scheme, 40)).log2();
            assert!((measured - order).abs() < 0.15, "{scheme:?}: {measured}");
        }
    }
}
