//! Radial functions of the cores that the simulation needs in addition to those of the engine.

use farfield::kernel::Core;
use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

/// $q$ in $\psi = \frac{1}{4\pi}\gamma\\,q(r)$, the vector potential of an element; $q' = -r K$.
pub fn potential(core: Core, r: f64, size: f64) -> f64 {
    match core {
        Core::Singular => 1.0 / r,
        Core::WinckelmansLeonard => {
            let s2 = r * r + size * size;
            (s2 + 0.5 * size * size) / (s2 * s2.sqrt())
        }
        Core::Gaussian if r == 0.0 => FRAC_2_SQRT_PI / (SQRT_2 * size),
        Core::Gaussian => libm::erf(r / (SQRT_2 * size)) / r,
        Core::HuPolynomial if r < size => (2.0 * size - r) / (size * size),
        Core::HuPolynomial => 1.0 / r,
    }
}

/// The distance beyond which the potential of an element equals $1/r$ to a relative 4e-5, or 1e-6 for the Gaussian
/// core.
pub fn reach(core: Core, size: f64) -> f64 {
    match core {
        Core::Singular => 0.0,
        // 3/8 (size/r)^4
        Core::WinckelmansLeonard => 10.0 * size,
        // erfc(r / (sqrt 2 size))
        Core::Gaussian => 5.0 * size,
        Core::HuPolynomial => size,
    }
}

/// A table of the potential within its reach, many times faster than [`potential`] where that needs erf. Every core
/// scales as $q_\sigma(r) = q_1(r/\sigma)/\sigma$, so one table serves all sizes.
pub struct PotentialTable {
    values: Vec<f64>,
    per_size: f64,
}

impl PotentialTable {
    /// Linear pieces per core size. The error is a few 1e-7 of the value at the centre.
    const PIECES: usize = 1024;

    /// Tabulates a core.
    pub fn new(core: Core) -> Self {
        let per_size = Self::PIECES as f64;
        let count = (reach(core, 1.0) * per_size).ceil() as usize + 2;
        // A singular core has no reach and needs no table.
        let value = |k: usize| potential(core, k as f64 / per_size, 1.0);
        Self {
            values: (0..count).map(value).collect(),
            per_size,
        }
    }

    /// The potential at distance `r` of an element of core size `size`. Beyond the reach it is $1/r$.
    #[inline]
    pub fn at(&self, r: f64, size: f64) -> f64 {
        let x = r / size * self.per_size;
        let k = x as usize;
        match self.values.get(k..k + 2) {
            Some(&[low, high]) => (low + (x - k as f64) * (high - low)) / size,
            _ => 1.0 / r,
        }
    }
}

/// The vorticity of an element of strength 1 at its own centre: $2K(0)/4\pi$, the curl of its velocity. Zero for cores
/// where that is unbounded.
pub fn own_vorticity(core: Core, size: f64) -> f64 {
    let k = match core {
        Core::Singular | Core::HuPolynomial => 0.0,
        Core::WinckelmansLeonard => 2.5,
        Core::Gaussian => FRAC_2_SQRT_PI * 2.0 / 3.0 / (2.0 * SQRT_2),
    };
    k / (2.0 * PI * size.powi(3))
}

/// The factor $c$ by which elements of core size $s$ widen the core radius $a$ of a tube made of them, to
/// $\sqrt{a^2 + c s^2}$. Gaussian elements have $c = 2$: `exp(-r^2/a^2)` smoothed by `exp(-r^2/2 s^2)`. The other cores
/// follow from their second moment; the polynomial core is not smooth and counts as 0.
pub fn smoothing(core: Core) -> f64 {
    match core {
        Core::Gaussian => 2.0,
        Core::WinckelmansLeonard => 1.0,
        Core::Singular | Core::HuPolynomial => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield::Sum;
    use farfield::kernel::{Kernel, Output, Sizes};

    /// Compares the slope of the potential with the engine's velocity of one element.
    #[test]
    fn potentials_match_the_velocities_of_the_engine() {
        for core in [Core::WinckelmansLeonard, Core::Gaussian, Core::HuPolynomial] {
            for r in [0.05, 0.19, 0.25, 0.7] {
                let (size, h) = (0.2, 1e-5);
                let slope = (potential(core, r + h, size) - potential(core, r - h, size)) / (2.0 * h);
                let field = Sum::new(Kernel::BiotSavart { core }, &[[0.0, 0.0, 0.0]])
                    .sizes(Sizes::Global(size))
                    .targets(&[[r, 0.0, 0.0]])
                    .plan()
                    .and_then(|mut plan| plan.evaluate(&[0.0, 0.0, 1.0]))
                    .unwrap();
                let expected = field.velocity()[0][1] * 4.0 * PI;
                assert!(
                    (expected + slope).abs() < 1e-6 * expected.abs(),
                    "{core:?} {r}: {expected} {slope}"
                );
            }
            let far = potential(core, 50.0, 0.2) * 50.0;
            assert!((far - 1.0).abs() < 1e-9, "{core:?}");
        }
    }

    #[test]
    fn the_table_matches_the_function() {
        for core in [Core::WinckelmansLeonard, Core::Gaussian, Core::HuPolynomial] {
            let table = PotentialTable::new(core);
            for k in 0..500 {
                let r = reach(core, 0.2) * f64::from(k) / 500.0;
                let expected = potential(core, r, 0.2);
                assert!((table.at(r, 0.2) - expected).abs() < 1e-5 * expected, "{core:?} {r}");
            }
            assert_eq!(table.at(100.0, 0.2), 0.01);
        }
    }

    #[test]
    fn the_own_vorticity_is_the_curl_at_the_centre() {
        for core in [Core::WinckelmansLeonard, Core::Gaussian] {
            let field = Sum::new(Kernel::BiotSavart { core }, &[[0.0, 0.0, 0.0]])
                .sizes(Sizes::Global(0.2))
                .targets(&[[1e-6, 0.0, 0.0]])
                .outputs(&[Output::VelocityGradient])
                .plan()
                .and_then(|mut plan| plan.evaluate(&[0.0, 0.0, 1.0]))
                .unwrap();
            let gradient = field.velocity_gradient()[0];
            let curl = gradient[3] - gradient[1];
            assert!(
                (curl - own_vorticity(core, 0.2)).abs() < 1e-6 * curl,
                "{core:?}: {curl}"
            );
        }
    }
}
