//! Checks of what the caller hands in.

use super::{Method, Sum};
use crate::error::Error;
use crate::expansion::MAX_ORDER;
use crate::kernel::{Core, Kernel, Output, Sizes};
use crate::simd::Real;
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
        let (lowest, highest) = Self::tolerance_range();
        let in_range = self.tolerance >= lowest * (1.0 - 1e-9) && self.tolerance <= highest * (1.0 + 1e-9);
        if !in_range && self.order.is_none() {
            return Err(Error::Tolerance {
                value: self.tolerance,
                lowest,
                highest,
                precision: T::NAME,
            });
        }
        let parameter = |name, value: f64, range, fine: bool| {
            if fine {
                Ok(())
            } else {
                Err(Error::Parameter { name, value, range })
            }
        };
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
        if let Some(level) = self.simd
            && !level.is_supported()
        {
            return Err(Error::Simd { level: level.name() });
        }
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
        match &self.sizes {
            Sizes::None => {}
            Sizes::Global(size) => check(0, *size)?,
            Sizes::PerSource(sizes) => {
                if sizes.len() != self.sources.len() {
                    let why = "one per source".to_owned();
                    let (found, expected) = (sizes.len(), self.sources.len());
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

fn check_points<T: Real>(array: &'static str, points: &[[T; 3]]) -> Result<(), Error> {
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
pub(super) fn check_strengths<T: Real>(
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
