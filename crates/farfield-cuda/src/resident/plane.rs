//! Sums in the plane between points that are on the device; results stay there.

use super::{Array, DevicePoints, Resident, Summed, same_length};
use crate::device::Precision;
use crate::error::Error;
use crate::plane::{Plan, PointsInPlane};
use farfield_core::kernel::Sizes;
use farfield_core::plane::{Kernel, Sum};
use std::time::Instant;

impl<T: Precision> Resident<T> {
    /// Plans and evaluates a sum in the plane, as [`sum`](Self::sum) does in space; points have two numbers each. Core, outputs and
    /// the rest are what `wishes` adds to a sum and its sizes; where each source has its own size, `sizes` is the largest for
    /// all.
    ///
    /// # Errors
    /// As [`Plan::new`] and [`Plan::evaluate`]; numbers that are not finite are found on the device.
    pub fn sum_in_plane(
        &self,
        kernel: Kernel,
        sizes: Sizes<T>,
        points: &DevicePoints<T>,
        strengths: &Array<T>,
        wishes: impl for<'s> FnOnce(Sum<'s, T>, Sizes<T>) -> Sum<'s, T>,
    ) -> Result<Summed<T>, Error> {
        let start = Instant::now();
        let count = points.sources.len() / 2;
        same_length(count, strengths.len())?;
        if let Some(sizes) = points.sizes {
            same_length(count, sizes.len())?;
        }
        let mut arrays = vec![("sources", points.sources, 2)];
        arrays.extend(points.targets.map(|targets| ("targets", targets, 2)));
        arrays.push(("strengths", strengths, 1));
        let largest = self.look_at_each(&arrays)?;
        // Of points on the device a sum needs the number alone: memory that is asked for and never touched.
        let places = vec![[T::ZERO; 2]; count];
        let others = points.targets.map(|targets| vec![[T::ZERO; 2]; targets.len() / 2]);
        let sizes = match (points.sizes, sizes) {
            (Some(_), Sizes::Global(largest)) => Sizes::PerSource(vec![largest; count]),
            (_, sizes) => sizes,
        };
        let mut sum = wishes(Sum::new(kernel, &places), sizes);
        if let Some(others) = &others {
            sum = sum.targets(others);
        }
        let input = PointsInPlane {
            sources: self.values(points.sources)?,
            targets: points.targets.map(|targets| self.values(targets)).transpose()?,
            sizes: points
                .sizes
                .map_or(Ok(crate::device::Values::Host(&[])), |sizes| self.values(sizes))?,
        };
        let plan = Plan::of_points_on_device(self.buffers.clone(), &sum, &input)?;
        let parameters = *plan.parameters();
        let checked = sum.checked();
        let lengths: Vec<usize> = checked
            .outputs
            .iter()
            .map(|output| checked.target_count() * output.components(checked.kernel, checked.complex))
            .collect();
        let values = plan.evaluate_on_device(self.values(strengths)?)?;
        let outputs: Vec<Array<T>> = values
            .into_iter()
            .zip(lengths)
            .map(|(values, length)| Array { values, length })
            .collect();
        for (output, survey) in checked
            .outputs
            .iter()
            .zip(self.survey(&outputs.iter().collect::<Vec<_>>())?)
        {
            if let Some(at) = survey.not_finite() {
                return Err(Error::Overflow {
                    output: output.name(),
                    target: at / output.components(checked.kernel, checked.complex),
                    largest: T::LARGEST,
                    strengths: largest,
                    precision: T::NAME,
                    hint: if T::DOUBLE { "" } else { ", or f64" },
                });
            }
        }
        Ok(Summed {
            outputs,
            parameters,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Refuses numbers that are not finite; returns the largest of the last array, the strengths.
    fn look_at_each(&self, arrays: &[(&'static str, &Array<T>, usize)]) -> Result<f64, Error> {
        let found = self.survey(&arrays.iter().map(|(_, array, _)| *array).collect::<Vec<_>>())?;
        for ((name, array, components), survey) in arrays.iter().zip(&found) {
            self.refuse(name, array, *components, survey)?;
        }
        Ok(found.last().map_or(0.0, super::survey::Survey::largest))
    }
}
