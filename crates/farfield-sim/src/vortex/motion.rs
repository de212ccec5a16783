//! The equations of motion: rates of change of positions and strengths.

use super::borrowed::Borrowed;
use super::diffusion::strength_exchange;
use super::profile::own_vorticity;
use crate::case::{Diffusion, Stretching};
use crate::error::Error;
use crate::integrate::System;
use crate::ranks::{Ranks, count_all, max_all};
use crate::summation::{Summation, Task};
use crate::vec3::{Vec3, add_scaled};
use farfield::Request;
use farfield::kernel::{Core, Kernel, Output};
use farfield::memory::{Array, ArrayPoints, ArraySizes, Memory, StrengthLaw};

/// The arrays that change in time; also used for their rates of change. All three are in one memory.
#[derive(Debug, Default)]
pub struct Flow {
    /// Positions of the elements; as a rate, their velocities.
    pub positions: Array<f64>,
    /// Strengths of the elements; as a rate, their stretching and diffusion.
    pub strengths: Array<f64>,
    /// Positions of the tracers; as a rate, their velocities.
    pub tracers: Array<f64>,
}

impl Flow {
    /// A flow of these elements and tracers.
    ///
    /// # Errors
    /// [`Error::Device`] if it does not fit into the memory.
    pub fn new(memory: &Memory<f64>, positions: &[Vec3], strengths: &[Vec3], tracers: &[Vec3]) -> Result<Self, Error> {
        let store = |vectors: &[Vec3]| memory.store(vectors.as_flattened().to_vec());
        Ok(Self {
            positions: store(positions)?,
            strengths: store(strengths)?,
            tracers: store(tracers)?,
        })
    }

    /// The same flow in another memory.
    ///
    /// # Errors
    /// As [`Flow::new`].
    pub fn moved_to(&self, memory: &Memory<f64>) -> Result<Self, Error> {
        Ok(Self {
            positions: self.positions.moved_to(memory)?,
            strengths: self.strengths.moved_to(memory)?,
            tracers: self.tracers.moved_to(memory)?,
        })
    }

    /// Whether all numbers are finite.
    ///
    /// # Errors
    /// [`Error::Device`] if it is on a device that fails.
    pub fn is_finite(&self) -> Result<bool, Error> {
        let arrays = [&self.positions, &self.strengths, &self.tracers];
        Ok(self.positions.memory().all_finite(&arrays)?)
    }
}

impl System for Flow {
    type Error = Error;

    fn copy(&self) -> Result<Self, Error> {
        Ok(Self {
            positions: self.positions.copy()?,
            strengths: self.strengths.copy()?,
            tracers: self.tracers.copy()?,
        })
    }

    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        self.positions.add_scaled(h, &rates.positions)?;
        self.strengths.add_scaled(h, &rates.strengths)?;
        Ok(self.tracers.add_scaled(h, &rates.tracers)?)
    }
}

/// Core sizes and volumes of the elements, which the flow does not change.
#[derive(Debug, Default)]
pub struct Cores {
    /// The core size of each element.
    pub sizes: Vec<f64>,
    /// The volume of each element.
    pub volumes: Vec<f64>,
    /// The sizes in the memory of the flow; `None` if all sizes on all ranks are equal.
    each: Option<Array<f64>>,
    /// The largest size on any rank.
    largest: f64,
}

impl Cores {
    /// The cores of elements whose flow is in `memory`. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::Device`] if they do not fit into the memory.
    pub fn new(ranks: &dyn Ranks, memory: &Memory<f64>, sizes: Vec<f64>, volumes: Vec<f64>) -> Result<Self, Error> {
        // The largest, and the smallest with its sign changed.
        let mut extremes = [
            sizes.iter().copied().fold(0.0, f64::max),
            sizes.iter().map(|size| -size).fold(f64::NEG_INFINITY, f64::max),
        ];
        max_all(ranks, &mut extremes);
        // The engine is faster with one size for all.
        let all_equal = extremes[0] == -extremes[1] || extremes[1] == f64::NEG_INFINITY;
        let each = if all_equal {
            None
        } else {
            Some(memory.store(sizes.clone())?)
        };
        Ok(Self {
            largest: extremes[0],
            sizes,
            volumes,
            each,
        })
    }

    fn of_sum(&self) -> ArraySizes<'_, f64> {
        match &self.each {
            Some(each) => ArraySizes::PerSource {
                each,
                largest: self.largest,
            },
            None => ArraySizes::Global(self.largest),
        }
    }
}

/// The equations of motion of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// The core of the elements.
    pub core: Core,
    /// The form of the stretching term.
    pub stretching: Stretching,
    /// The kinematic viscosity.
    pub viscosity: f64,
    /// The diffusion scheme.
    pub diffusion: Diffusion,
    /// The rate of relaxation towards the vorticity.
    pub relaxation: f64,
    /// The tolerance of the tracers' velocities; `None` for that of the run.
    pub tracer_tolerance: Option<f64>,
}

/// Rates of change and the velocity gradients at the elements.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// The rates.
    pub rates: Flow,
    /// The velocity gradient at each element; entry `3 i + j` is the derivative of u_i along x_j.
    pub gradients: Array<f64>,
}

impl Motion {
    /// The rates of change of a flow whose elements have the given cores, in the memory of the flow.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine rejects a sum, [`Error::Device`] if the flow is on a device that fails.
    pub fn rates(&self, flow: &Flow, cores: &Cores, summation: &mut Summation) -> Result<Evaluated, Error> {
        let request = self.sum_of_elements(flow, cores);
        let [velocities, gradients] = summation.evaluate(&request)?;
        let rates = Flow {
            positions: velocities,
            strengths: self.strength_rates(flow, cores, &gradients, &*summation.ranks)?,
            tracers: self.tracer_velocities(&request, flow, summation)?,
        };
        Ok(Evaluated { rates, gradients })
    }

    /// The velocity and its gradient at targets that are in the memory of the flow.
    ///
    /// # Errors
    /// As [`rates`](Self::rates).
    pub fn flow_at(
        &self,
        flow: &Flow,
        cores: &Cores,
        targets: &Array<f64>,
        summation: &mut Summation,
    ) -> Result<[Array<f64>; 2], Error> {
        let mut task = self.sum_of_elements(flow, cores);
        (task.what, task.points.targets) = ("samples", Some(targets));
        summation.evaluate(&task)
    }

    /// The sum over the elements, at the elements.
    pub(super) fn sum_of_elements<'a>(&self, flow: &'a Flow, cores: &'a Cores) -> Task<'a> {
        let mut request = Request::new(Kernel::BiotSavart { core: self.core });
        request.outputs = vec![Output::Velocity, Output::VelocityGradient];
        Task {
            what: "elements",
            request,
            points: ArrayPoints {
                sizes: cores.of_sum(),
                ..ArrayPoints::of(&flow.positions)
            },
            strengths: &flow.strengths,
        }
    }

    /// The sum over the elements, at the tracers. `of_elements` is the sum at the elements.
    pub(super) fn sum_at_tracers<'a>(&self, of_elements: &Task<'a>, flow: &'a Flow) -> Task<'a> {
        let mut task = of_elements.clone();
        (task.what, task.points.targets) = ("tracers", Some(&flow.tracers));
        task.request.outputs = vec![Output::Velocity];
        task.request.options.tolerance = self.tracer_tolerance;
        task
    }

    fn strength_rates(
        &self,
        flow: &Flow,
        cores: &Cores,
        gradients: &Array<f64>,
        ranks: &dyn Ranks,
    ) -> Result<Array<f64>, Error> {
        let law = self.strength_law(cores.largest);
        let mut rates = law.rates(&flow.strengths, gradients, cores.each.as_ref())?;
        if self.diffusion == Diffusion::Pse {
            // The neighbour search runs on the host.
            let (positions, strengths) = (flow.positions.vectors()?, flow.strengths.vectors()?);
            let elements = Borrowed::own(positions, strengths, &cores.sizes, &cores.volumes);
            let exchanged = strength_exchange(ranks, elements, cores.largest, self.viscosity);
            let exchanged = rates.memory().store(exchanged.as_flattened().to_vec())?;
            rates.add_scaled(1.0, &exchanged)?;
        }
        Ok(rates)
    }

    fn strength_law(&self, size: f64) -> StrengthLaw {
        let (classical, transpose) = match self.stretching {
            Stretching::Classical => (1.0, 0.0),
            Stretching::Transpose => (0.0, 1.0),
            Stretching::Mixed => (0.5, 0.5),
        };
        StrengthLaw {
            classical,
            transpose,
            relaxation: self.relaxation,
            own_vorticity: own_vorticity(self.core, 1.0),
            size,
        }
    }

    /// The velocities of the tracers. `of_elements` is the sum at the elements.
    fn tracer_velocities(
        &self,
        of_elements: &Task<'_>,
        flow: &Flow,
        summation: &mut Summation,
    ) -> Result<Array<f64>, Error> {
        if count_all(&*summation.ranks, flow.tracers.len()) == 0 {
            return Ok(flow.tracers.copy()?);
        }
        let [velocities] = summation.evaluate(&self.sum_at_tracers(of_elements, flow))?;
        Ok(velocities)
    }

    /// Whether core sizes change in time.
    pub fn spreads_cores(&self) -> bool {
        self.diffusion == Diffusion::CoreSpreading
    }

    /// The core sizes after a time `later`. With core spreading, $\sigma^2$ grows by $2\nu t$, like a diffusing
    /// Gaussian.
    pub fn sizes_later(&self, sizes: &[f64], later: f64) -> Vec<f64> {
        if !self.spreads_cores() {
            return sizes.to_vec();
        }
        let growth = 2.0 * self.viscosity * later;
        sizes.iter().map(|size| (size * size + growth).sqrt()).collect()
    }
}

/// The vorticity at an element: the curl of the velocity, including the element's own contribution.
pub fn vorticity(core: Core, g: &[f64; 9], strength: Vec3, size: f64) -> Vec3 {
    let others = [g[7] - g[5], g[2] - g[6], g[3] - g[1]];
    add_scaled(others, own_vorticity(core, size), strength)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{MethodName, SumSettings};
    use crate::ranks::Alone;
    use crate::vec3::{norm, scale, sum};
    use farfield::points::{PointSet, Random};
    use farfield::tuning::MachineProfile;

    fn random_flow(tracers: usize) -> Flow {
        let mut random = Random::new(7);
        let mut strengths: Vec<Vec3> = (0..12).map(|_| std::array::from_fn(|_| random.normal())).collect();
        let mean = scale(sum(strengths.iter().copied()), 1.0 / 12.0);
        strengths
            .iter_mut()
            .for_each(|strength| *strength = add_scaled(*strength, -1.0, mean));
        let points = |n, seed| PointSet::Cube.generate::<f64>(n, seed);
        Flow::new(&Memory::host(), &points(12, 5), &strengths, &points(tracers, 6)).unwrap()
    }

    fn cores() -> Cores {
        Cores::new(&Alone, &Memory::host(), vec![0.3; 12], vec![1.0; 12]).unwrap()
    }

    fn motion(stretching: Stretching) -> Motion {
        Motion {
            core: Core::WinckelmansLeonard,
            stretching,
            viscosity: 0.0,
            diffusion: Diffusion::None,
            relaxation: 0.0,
            tracer_tolerance: None,
        }
    }

    fn direct() -> Summation {
        let settings = SumSettings {
            method: MethodName::Direct,
            tolerance: 1e-12,
            ..SumSettings::default()
        };
        Summation::new(settings, MachineProfile::default())
    }

    #[test]
    fn only_the_transpose_form_conserves_the_total_strength() {
        let flow = random_flow(0);
        let drift = |form| {
            let evaluated = motion(form).rates(&flow, &cores(), &mut direct()).unwrap();
            let rates: &[Vec3] = evaluated.rates.strengths.vectors().unwrap();
            let scale: f64 = rates.iter().map(|rate| norm(*rate)).sum();
            norm(sum(rates.iter().copied())) / scale
        };
        assert!(drift(Stretching::Transpose) < 1e-14, "{}", drift(Stretching::Transpose));
        assert!(drift(Stretching::Classical) > 1e-4);
        assert!(drift(Stretching::Mixed) > 1e-4);
    }

    #[test]
    fn tracers_do_not_affect_the_elements() {
        let mut summation = Summation::new(SumSettings::default(), MachineProfile::default());
        let motion = motion(Stretching::Transpose);
        let mut rates = |tracers| {
            motion
                .rates(&random_flow(tracers), &cores(), &mut summation)
                .unwrap()
                .rates
        };
        let (alone, with) = (rates(0), rates(5000));
        assert_eq!(alone.positions.values(), with.positions.values());
        assert_eq!(alone.strengths.values(), with.strengths.values());
        assert_eq!(with.tracers.len(), 3 * 5000);
    }

    #[test]
    fn a_global_size_and_equal_sizes_per_element_give_the_same_rates() {
        let flow = random_flow(7);
        let mut sizes = vec![0.3; 12];
        let one = Cores::new(&Alone, &Memory::host(), sizes.clone(), vec![1.0; 12]).unwrap();
        sizes[11] = 0.3 + 1e-13;
        let each = Cores::new(&Alone, &Memory::host(), sizes, vec![1.0; 12]).unwrap();
        assert!(one.each.is_none() && each.each.is_some());
        let relaxed = Motion {
            relaxation: 0.5,
            ..motion(Stretching::Mixed)
        };
        let [a, b] = [one, each].map(|cores| relaxed.rates(&flow, &cores, &mut direct()).unwrap().rates);
        for (a, b) in [
            (&a.positions, &b.positions),
            (&a.strengths, &b.strengths),
            (&a.tracers, &b.tracers),
        ] {
            for (x, y) in a.values().unwrap().iter().zip(b.values().unwrap()) {
                assert!((x - y).abs() < 1e-10, "{x} {y}");
            }
        }
    }
}
