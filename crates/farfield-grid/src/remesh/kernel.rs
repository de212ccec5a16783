//! The kernels that distribute a particle over grid points.

use std::fmt;

/// A remeshing kernel: a product of one factor along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RemeshKernel {
    /// Two points to each side; third order, preserves moments up to the second.
    M4Prime,
    /// Three points to each side; preserves moments up to the fourth and is smoother.
    #[default]
    M6Prime,
}

impl RemeshKernel {
    /// All kernels.
    pub const ALL: [RemeshKernel; 2] = [RemeshKernel::M4Prime, RemeshKernel::M6Prime];

    /// Points to each side of a particle.
    pub fn reach(self) -> usize {
        match self {
            RemeshKernel::M4Prime => 2,
            RemeshKernel::M6Prime => 3,
        }
    }

    /// The name in case files.
    pub fn name(self) -> &'static str {
        match self {
            RemeshKernel::M4Prime => "m4",
            RemeshKernel::M6Prime => "m6",
        }
    }

    /// The factor at `distance`, in spacings.
    pub fn at(self, distance: f64) -> f64 {
        let x = distance.abs();
        match self {
            RemeshKernel::M4Prime => match x {
                x if x < 1.0 => 1.0 - 2.5 * x * x + 1.5 * x * x * x,
                x if x < 2.0 => 0.5 * (2.0 - x) * (2.0 - x) * (1.0 - x),
                _ => 0.0,
            },
            RemeshKernel::M6Prime => match x {
                x if x < 1.0 => -(x - 1.0) * ((((25.0 * x - 38.0) * x - 3.0) * x + 12.0) * x + 12.0) / 12.0,
                x if x < 2.0 => (x - 1.0) * (x - 2.0) * (((25.0 * x - 114.0) * x + 153.0) * x - 48.0) / 24.0,
                x if x < 3.0 => -(x - 2.0) * (x - 3.0).powi(3) * (5.0 * x - 8.0) / 24.0,
                _ => 0.0,
            },
        }
    }
}

impl fmt::Display for RemeshKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_preserve_the_promised_moments() {
        for (kernel, moments) in [(RemeshKernel::M4Prime, 3), (RemeshKernel::M6Prime, 5)] {
            for place in [0.0, 0.13, 0.5, 0.77] {
                for power in 0..moments {
                    let sum: f64 = (-4..=5)
                        .map(|i| (f64::from(i) - place).powi(power) * kernel.at(f64::from(i) - place))
                        .sum();
                    let want = if power == 0 { 1.0 } else { 0.0 };
                    assert!((sum - want).abs() < 1e-12, "{kernel} {place} {power}: {sum}");
                }
            }
        }
    }

    #[test]
    fn a_particle_on_a_point_stays_there() {
        for kernel in RemeshKernel::ALL {
            assert_eq!(kernel.at(0.0), 1.0);
            for k in 1..4 {
                assert!(kernel.at(f64::from(k)).abs() < 1e-15, "{kernel} {k}");
            }
        }
    }
}
