//! Checks of what the caller hands in.

use super::{Method, Sum};
use crate::error::Error;
use crate::expansion::MAX_ORDER;
use crate::kernel::{Core, Kernel, Output, Sizes};
use crate::simd::{Real, SimdLevel};
use rayon::prelude::*;

impl<T: Real> Sum<'_, T> {
    /// The range of tolerances that can be honoured in this precision.
    pub fn tolerance_range() -> (f64, f64) {
        if T::EPSILON > 1e-10 {
            (1e-5, 1e-2)
        } else {
            (1e-12, 1e-2)
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_points("sources", self.sources)?;
        if let Some(targets) = self.targets {
            check_points("targets", targets)?;
        }
        self.check_sizes()?;
        self.check_outputs()?;
        check_tolerance::<T>(self.tolerance, self.order.is_some())?;
        if let Some(order) = self.order {
            parameter("order", order as f64, "0 to 52", order <= MAX_ORDER)?;
        }
        if let Some(theta) = self.theta {
            parameter("theta", theta, "0 <= theta < 1", (0.0..1.0).contains(&theta))?;
        }
        if let Some(capacity) = self.leaf_capacity {
            parameter("leaf_capacity", capacity as f64, "at least 1", capacity >= 1)?;
        }
        parameter(
            "vectors",
            self.vectors as f64,
            "1 to 1024",
            (1..=1024).contains(&self.vectors),
        )?;
        check_level(self.simd)?;
        if let Kernel::Gravity { constant } = self.kernel {
            parameter(
                "gravitational constant",
                constant,
                "a finite number",
                constant.is_finite(),
            )?;
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Error> {
        check_size_values(&self.sizes, self.sources.len())?;
        if let Kernel::BiotSavart { core } = self.kernel
            && core != Core::Singular
            && self.sizes == Sizes::None
        {
            return Err(Error::MissingSize { core: core.name() });
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), Error> {
        let available = self.kernel.outputs();
        for output in &self.outputs {
            if !available.contains(output) {
                let names: Vec<&str> = available.iter().map(|output| output.name()).collect();
                let (kernel, output) = (self.kernel.name(), *output);
                return Err(Error::Output {
                    kernel,
                    output,
                    available: names.join(", "),
                });
            }
        }
        let hu = self.kernel
            == Kernel::BiotSavart {
                core: Core::HuPolynomial,
            };
        if hu && self.outputs.contains(&Output::VelocityGradient) && !self.allow_unbounded_gradient {
            return Err(Error::UnboundedGradient);
        }
        Ok(())
    }

    /// The largest core size; zero if there is none.
    pub(super) fn largest_size(&self) -> f64 {
        if self.kernel == Kernel::Coulomb || self.kernel == (Kernel::BiotSavart { core: Core::Singular }) {
            return 0.0;
        }
        match &self.sizes {
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes.iter().map(|size| size.to_f64()).fold(0.0, f64::max),
        }
    }
}

/// Checks core sizes or softening lengths of so many sources.
pub(crate) fn check_size_values<T: Real>(sizes: &Sizes<T>, sources: usize) -> Result<(), Error> {
    let check = |index: usize, size: T| {
        if !size.is_finite() {
            return Err(Error::NotFinite {
                array: "core sizes",
                index,
                component: 0,
                value: size.to_f64(),
            });
        }
        if size < T::ZERO {
            return Err(Error::NegativeSize {
                index,
                value: size.to_f64(),
            });
        }
        Ok(())
    };
    match sizes {
        Sizes::None => {}
        Sizes::Global(size) => check(0, *size)?,
        Sizes::PerSource(sizes) => {
            if sizes.len() != sources {
                let why = "one per source".to_owned();
                let (found, expected) = (sizes.len(), sources);
                return Err(Error::Length {
                    array: "core sizes",
                    found,
                    expected,
                    why,
                });
            }
            sizes
                .iter()
                .enumerate()
                .try_for_each(|(index, size)| check(index, *size))?;
        }
    }
    Ok(())
}

/// Checks that a tolerance is in the range of the precision, unless an expert fixed the order.
pub(crate) fn check_tolerance<T: Real>(tolerance: f64, order_fixed: bool) -> Result<(), Error> {
    let (lowest, highest) = Sum::<T>::tolerance_range();
    let in_range = tolerance >= lowest * (1.0 - 1e-9) && tolerance <= highest * (1.0 + 1e-9);
    if in_range || order_fixed {
        return Ok(());
    }
    Err(Error::Tolerance {
        value: tolerance,
        lowest,
        highest,
        precision: T::NAME,
    })
}

/// [`Error::Parameter`] unless `fine`.
pub(crate) fn parameter(name: &'static str, value: f64, range: &'static str, fine: bool) -> Result<(), Error> {
    if fine {
        Ok(())
    } else {
        Err(Error::Parameter { name, value, range })
    }
}

/// Checks that this machine has the instruction set asked for.
pub(crate) fn check_level(level: Option<SimdLevel>) -> Result<(), Error> {
    match level {
        Some(level) if !level.is_supported() => Err(Error::Simd { level: level.name() }),
        _ => Ok(()),
    }
}

/// Checks that points can be numbered and are finite.
pub(crate) fn check_points<T: Real, const D: usize>(array: &'static str, points: &[[T; D]]) -> Result<(), Error> {
    if points.len() > u32::MAX as usize - 64 {
        return Err(Error::TooMany {
            array,
            count: points.len(),
            limit: u32::MAX as usize - 64,
        });
    }
    let bad = points
        .par_iter()
        .enumerate()
        .with_min_len(1 << 15)
        .find_first(|(_, p)| p.iter().any(|c| !c.is_finite()));
    match bad {
        None => Ok(()),
        Some((index, point)) => {
            let component = point.iter().position(|c| !c.is_finite()).unwrap_or(0);
            Err(Error::NotFinite {
                array,
                index,
                component,
                value: point[component].to_f64(),
            })
        }
    }
}

/// Checks the strengths of an evaluation.
pub(crate) fn check_strengths<T: Real>(
    strengths: &[T],
    sources: usize,
    components: usize,
    vectors: usize,
) -> Result<(), Error> {
    let expected = sources * components * vectors;
    if strengths.len() != expected {
        let why = format!("{sources} sources x {components} components x {vectors} vectors");
        return Err(Error::Length {
            array: "strengths",
            found: strengths.len(),
            expected,
            why,
        });
    }
    let bad = strengths
        .par_iter()
        .enumerate()
        .with_min_len(1 << 15)
        .find_first(|(_, s)| !s.is_finite());
    match bad {
        None => Ok(()),
        Some((at, value)) => {
            let (index, component) = (at / components, at % components);
            Err(Error::NotFinite {
                array: "strengths",
                index,
                component,
                value: value.to_f64(),
            })
        }
    }
}

impl Method {
    /// Whether it needs a tree.
    pub(super) fn has_tree(self) -> bool {
        matches!(self, Method::Treecode | Method::TreecodeOnNeighbours | Method::Fmm)
    }
}
