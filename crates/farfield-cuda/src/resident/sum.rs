//! Sums between points on the device; results stay there.

use super::survey::Survey;
use super::{Array, Resident, same_length};
use crate::device::{Precision, Values};
use crate::error::Error;
use crate::plan::{PlannedOnDevice, PointsOnDevice};
use cudarc::driver::CudaSlice;
use farfield_core::check::Check;
use farfield_core::kernel::{Output, Sizes};
use farfield_core::plan::Parameters;
use farfield_core::{Geometry, Points, Request, Space, Sum};
use std::time::Instant;

/// The points of a sum, three numbers each; in the plane two.
#[derive(Debug, Clone)]
pub struct DevicePoints<'a, T> {
    /// The sources.
    pub sources: &'a Array<T>,
    /// The targets, unless they are the sources.
    pub targets: Option<&'a Array<T>>,
    /// The core size of all sources, or the largest if each has its own.
    pub size: Sizes<T>,
    /// Core sizes, if each source has its own.
    pub sizes: Option<&'a Array<T>>,
}

impl<'a, T> DevicePoints<'a, T> {
    /// Sources that are also the targets, without sizes.
    pub fn of(sources: &'a Array<T>) -> Self {
        Self {
            sources,
            targets: None,
            size: Sizes::None,
            sizes: None,
        }
    }
}

impl<T: Precision> DevicePoints<'_, T> {
    /// The sum over these points as the host knows it: without points, but with the largest size.
    pub(super) fn asked<'a, G: Geometry>(&'a self, request: &'a Request<G>) -> Sum<'a, T, G> {
        let targets = self.targets.map(|_| &[][..]);
        request.over(Points::new(&[], targets, &self.size))
    }
}

/// The results of a sum.
#[derive(Debug)]
pub struct Results<T> {
    /// The values of each output, in the caller's order.
    pub outputs: Vec<Array<T>>,
    /// The parameters of the first plan, before any correction.
    pub parameters: Parameters,
    /// The measured error; `None` if the check is off.
    pub check: Option<Check>,
    /// Seconds from the call to the end of the last kernel.
    pub seconds: f64,
}

impl<T: Precision> Resident<T> {
    /// Plans and evaluates a sum.
    ///
    /// # Errors
    /// As [`crate::Plan::new`] and [`crate::Plan::evaluate`]; values that are not finite are found on the device. Distinct points
    /// whose squared distance underflows are not detected: such a pair is skipped.
    pub fn sum(
        &self,
        request: &Request<Space>,
        points: &DevicePoints<T>,
        strengths: &Array<T>,
    ) -> Result<Results<T>, Error> {
        let start = Instant::now();
        let sum = points.asked(request);
        sum.validate()?;
        let (count, components) = (points.sources.len() / 3, request.kernel.strength_components());
        same_length(count * components * request.vectors, strengths.len())?;
        let (extent, largest) = self.look_at(points, 3, Some((strengths, components)))?;
        let extent = if extent > 0.0 { extent } else { sum.largest_size() };
        let plan = Space::plan_resident(self.buffers.clone(), &sum, &self.input(points)?, extent)?;
        let parameters = *plan.parameters();
        let (values, check) = plan.evaluate_on_device(self.values(strengths)?)?;
        let outputs = self.outputs(values, points, request);
        let about = |output: &Output| (output.name(), output.components());
        let named: Vec<_> = request.outputs.iter().map(about).collect();
        self.check_results(&named, &outputs, largest)?;
        Ok(Results {
            outputs,
            parameters,
            check,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Checks points with `coordinates` coordinates, and strengths with their components; returns the extent of the
    /// points and the largest strength. In the plane, it may be the range of x and y together.
    pub(super) fn look_at(
        &self,
        points: &DevicePoints<T>,
        coordinates: usize,
        strengths: Option<(&Array<T>, usize)>,
    ) -> Result<(f64, f64), Error> {
        if let Some(sizes) = points.sizes {
            same_length(points.sources.len() / coordinates, sizes.len())?;
        }
        let mut arrays = vec![("sources", points.sources, coordinates)];
        arrays.extend(points.targets.map(|targets| ("targets", targets, coordinates)));
        arrays.extend(strengths.map(|(strengths, components)| ("strengths", strengths, components)));
        let mut found = self.finite(&arrays)?;
        let largest = strengths.and_then(|_| found.pop()).unwrap_or_default().largest();
        let extent = found.iter().fold(Survey::default(), |all, set| all.join(set)).extent();
        Ok((extent, largest))
    }

    /// Surveys arrays, each with its name and the number of values in a row; refuses values that are not finite.
    pub(super) fn finite(&self, arrays: &[(&'static str, &Array<T>, usize)]) -> Result<Vec<Survey>, Error> {
        let found = self.survey(&arrays.iter().map(|(_, array, _)| *array).collect::<Vec<_>>())?;
        for ((name, array, components), survey) in arrays.iter().zip(&found) {
            self.refuse(name, array, *components, survey)?;
        }
        Ok(found)
    }

    /// An array in the form that plans take.
    pub(super) fn values<'a>(&self, array: &'a Array<T>) -> Result<Values<'a, T>, Error> {
        Ok(Values::on_device(self.own(array)?, array.len()))
    }

    pub(super) fn input<'a>(&self, points: &DevicePoints<'a, T>) -> Result<PointsOnDevice<'a, T>, Error> {
        let optional = |array: Option<&'a Array<T>>| array.map(|array| self.values(array)).transpose();
        Ok(PointsOnDevice {
            sources: self.values(points.sources)?,
            targets: optional(points.targets)?,
            sizes: optional(points.sizes)?,
        })
    }

    /// Result arrays with their lengths.
    fn outputs(&self, values: Vec<CudaSlice<T>>, points: &DevicePoints<T>, request: &Request<Space>) -> Vec<Array<T>> {
        let targets = points.targets.unwrap_or(points.sources).len() / 3;
        let length = |output: &Output| request.vectors * targets * output.components();
        let lengths = request.outputs.iter().map(length);
        values
            .into_iter()
            .zip(lengths)
            .map(|(values, length)| Array { values, length })
            .collect()
    }

    /// The error that names the first value of an array that is not finite.
    pub(super) fn refuse(
        &self,
        name: &'static str,
        array: &Array<T>,
        components: usize,
        survey: &Survey,
    ) -> Result<(), Error> {
        let Some(at) = survey.not_finite() else {
            return Ok(());
        };
        let mut value = [T::ZERO];
        self.buffers.read_at(self.own(array)?, at, &mut value)?;
        Err(Error::NotFinite {
            array: name,
            index: at / components,
            component: at % components,
            value: value[0].to_f64(),
        })
    }

    /// Checks that results are finite, as [`farfield_core::Field::from_values`] does; each has its name and its number
    /// of values at a target.
    pub(super) fn check_results(
        &self,
        outputs: &[(&'static str, usize)],
        values: &[Array<T>],
        strengths: f64,
    ) -> Result<(), Error> {
        let surveys = self.survey(&values.iter().collect::<Vec<_>>())?;
        for ((output, components), survey) in outputs.iter().zip(surveys) {
            if let Some(at) = survey.not_finite() {
                return Err(Error::Overflow {
                    output,
                    target: at / components,
                    largest: T::LARGEST,
                    strengths,
                    precision: T::NAME,
                    hint: if T::DOUBLE { "" } else { ", or f64" },
                });
            }
        }
        Ok(())
    }
}
