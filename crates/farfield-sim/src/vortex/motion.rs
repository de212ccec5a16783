//! How elements and tracers move and how strengths change: the right-hand side.

use super::diffusion::strength_exchange;
use super::profile::own_vorticity;
use crate::case::{Diffusion, Stretching};
use crate::error::Error;
use crate::integrate::Phase;
use crate::summation::{Request, Summation};
use crate::vec3::{Vec3, add, add_scaled, norm, scale};
use farfield::kernel::{Core, Kernel, Output, Sizes};
use rayon::prelude::*;

/// What changes in time; also its rate of change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    /// Positions of the elements; as a rate, their velocities.
    pub positions: Vec<Vec3>,
    /// Strengths of the elements; as a rate, their stretching and diffusion.
    pub strengths: Vec<Vec3>,
    /// Positions of the tracers; as a rate, their velocities.
    pub tracers: Vec<Vec3>,
}

impl Phase for Flow {
    type Error = Error;

    fn copy(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }

    fn add_scaled(&mut self, h: f64, rates: &Self) -> Result<(), Error> {
        let add = |values: &mut [Vec3], rates: &[Vec3]| {
            values
                .par_iter_mut()
                .zip(rates)
                .with_min_len(1 << 14)
                .for_each(|(value, rate)| *value = add_scaled(*value, h, *rate));
        };
        add(&mut self.positions, &rates.positions);
        add(&mut self.strengths, &rates.strengths);
        add(&mut self.tracers, &rates.tracers);
        Ok(())
    }
}

/// The laws of motion of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// The core of the elements.
    pub core: Core,
    /// The form of the stretching term.
    pub stretching: Stretching,
    /// The kinematic viscosity.
    pub viscosity: f64,
    /// How it acts.
    pub diffusion: Diffusion,
    /// The rate of relaxation towards the vorticity.
    pub relaxation: f64,
    /// The tolerance of the tracers' velocities, where it is not the run's.
    pub tracer_tolerance: Option<f64>,
}

/// Rates of change, and the velocity gradient they were made from.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// The rates.
    pub rates: Flow,
    /// At each element, row by row: `3 i + j` is the derivative of u_i along x_j.
    pub gradients: Vec<[f64; 9]>,
}

impl Motion {
    /// The rates of change of a flow whose elements have these sizes and volumes.
    ///
    /// # Errors
    /// [`Error::Sum`] if the engine refuses.
    pub fn rates(
        &self,
        flow: &Flow,
        sizes: &[f64],
        volumes: &[f64],
        summation: &mut Summation,
    ) -> Result<Evaluated, Error> {
        let field = summation.evaluate(Request {
            sources: &flow.positions,
            strengths: flow.strengths.as_flattened(),
            ..self.elements_sum(shared(sizes))
        })?;
        let gradients = field.velocity_gradient().to_vec();
        let rates = Flow {
            positions: field.velocity().to_vec(),
            strengths: self.strength_rates(flow, sizes, volumes, &gradients),
            tracers: self.tracer_velocities(flow, sizes, summation)?,
        };
        Ok(Evaluated { rates, gradients })
    }

    fn strength_rates(&self, flow: &Flow, sizes: &[f64], volumes: &[f64], gradients: &[[f64; 9]]) -> Vec<Vec3> {
        let mut rates: Vec<Vec3> = flow
            .strengths
            .par_iter()
            .zip(gradients)
            .zip(sizes)
            .with_min_len(1 << 12)
            .map(|((strength, gradient), size)| {
                let stretched = stretch(self.stretching, gradient, *strength);
                if self.relaxation == 0.0 {
                    return stretched;
                }
                let vorticity = vorticity(self.core, gradient, *strength, *size);
                add_scaled(stretched, self.relaxation, turn_towards(*strength, vorticity))
            })
            .collect();
        if self.diffusion == Diffusion::Pse {
            let exchanged = strength_exchange(&flow.positions, &flow.strengths, sizes, volumes, self.viscosity);
            for (rate, exchanged) in rates.iter_mut().zip(exchanged) {
                *rate = add(*rate, exchanged);
            }
        }
        rates
    }

    fn tracer_velocities(&self, flow: &Flow, sizes: &[f64], summation: &mut Summation) -> Result<Vec<Vec3>, Error> {
        if flow.tracers.is_empty() {
            return Ok(Vec::new());
        }
        let field = summation.evaluate(Request {
            sources: &flow.positions,
            strengths: flow.strengths.as_flattened(),
            targets: Some(&flow.tracers),
            ..self.tracers_sum(shared(sizes))
        })?;
        Ok(field.velocity().to_vec())
    }

    /// The sum for velocities and gradients at the elements, as yet without them.
    pub(super) fn elements_sum(&self, sizes: Sizes<f64>) -> Request<'static> {
        Request {
            what: "elements",
            kernel: Kernel::BiotSavart { core: self.core },
            sources: &[],
            sizes,
            strengths: &[],
            vectors: 1,
            targets: None,
            outputs: &[Output::Velocity, Output::VelocityGradient],
            tolerance: None,
        }
    }

    /// The sum for the tracers' velocities, as yet without points.
    pub(super) fn tracers_sum(&self, sizes: Sizes<f64>) -> Request<'static> {
        Request {
            what: "tracers",
            outputs: &[Output::Velocity],
            tolerance: self.tracer_tolerance,
            ..self.elements_sum(sizes)
        }
    }

    /// Sizes a time `later` from now: with spreading cores $\sigma^2$ grows by $2\nu t$, as a diffusing Gaussian does.
    pub fn sizes_later(&self, sizes: &[f64], later: f64) -> Vec<f64> {
        if self.diffusion != Diffusion::CoreSpreading {
            return sizes.to_vec();
        }
        let growth = 2.0 * self.viscosity * later;
        sizes.iter().map(|size| (size * size + growth).sqrt()).collect()
    }
}

/// One size where all are equal: the engine is faster with it.
pub(super) fn shared(sizes: &[f64]) -> Sizes<f64> {
    match sizes {
        [first, rest @ ..] if rest.iter().all(|size| size == first) => Sizes::Global(*first),
        _ => Sizes::PerSource(sizes.to_vec()),
    }
}

/// The stretching term for one element.
fn stretch(form: Stretching, g: &[f64; 9], s: Vec3) -> Vec3 {
    let classical = || std::array::from_fn(|i| g[3 * i] * s[0] + g[3 * i + 1] * s[1] + g[3 * i + 2] * s[2]);
    let transpose = || std::array::from_fn(|i| g[i] * s[0] + g[3 + i] * s[1] + g[6 + i] * s[2]);
    match form {
        Stretching::Classical => classical(),
        Stretching::Transpose => transpose(),
        Stretching::Mixed => scale(add(classical(), transpose()), 0.5),
    }
}

/// The vorticity at an element: the curl of the velocity, its own part included.
pub fn vorticity(core: Core, g: &[f64; 9], strength: Vec3, size: f64) -> Vec3 {
    let others = [g[7] - g[5], g[2] - g[6], g[3] - g[1]];
    add_scaled(others, own_vorticity(core, size), strength)
}

/// Pedrizzetti's term: from the strength to one of equal magnitude along the vorticity.
fn turn_towards(strength: Vec3, vorticity: Vec3) -> Vec3 {
    let size = norm(vorticity);
    if size > 0.0 {
        add_scaled(scale(vorticity, norm(strength) / size), -1.0, strength)
    } else {
        [0.0; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{MethodName, SumSettings};
    use crate::vec3::{dot, sum};
    use farfield::points::{PointSet, Random};
    use farfield::tuning::MachineProfile;

    fn random_flow(tracers: usize) -> Flow {
        let mut random = Random::new(7);
        let mut strengths: Vec<Vec3> = (0..12).map(|_| std::array::from_fn(|_| random.normal())).collect();
        let mean = scale(sum(strengths.iter().copied()), 1.0 / 12.0);
        strengths
            .iter_mut()
            .for_each(|strength| *strength = add_scaled(*strength, -1.0, mean));
        Flow {
            positions: PointSet::Cube.generate(12, 5),
            strengths,
            tracers: PointSet::Cube.generate(tracers, 6),
        }
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
    fn only_the_transpose_form_keeps_the_total_strength() {
        let flow = random_flow(0);
        let drift = |form| {
            let evaluated = motion(form)
                .rates(&flow, &[0.3; 12], &[1.0; 12], &mut direct())
                .unwrap();
            let scale: f64 = evaluated.rates.strengths.iter().map(|rate| norm(*rate)).sum();
            norm(sum(evaluated.rates.strengths)) / scale
        };
        assert!(drift(Stretching::Transpose) < 1e-14, "{}", drift(Stretching::Transpose));
        assert!(drift(Stretching::Classical) > 1e-4);
        assert!(drift(Stretching::Mixed) > 1e-4);
    }

    #[test]
    fn tracers_never_act_on_the_elements() {
        let mut summation = Summation::new(SumSettings::default(), MachineProfile::default());
        let motion = motion(Stretching::Transpose);
        let alone = motion
            .rates(&random_flow(0), &[0.3; 12], &[1.0; 12], &mut summation)
            .unwrap();
        let with = motion
            .rates(&random_flow(5000), &[0.3; 12], &[1.0; 12], &mut summation)
            .unwrap();
        assert_eq!(alone.rates.positions, with.rates.positions);
        assert_eq!(alone.rates.strengths, with.rates.strengths);
        assert_eq!(with.rates.tracers.len(), 5000);
    }

    #[test]
    fn relaxation_turns_strengths_and_keeps_their_size() {
        let turned = turn_towards([1.0, 0.0, 0.0], [0.0, 3.0, 0.0]);
        assert_eq!(turned, [-1.0, 1.0, 0.0]);
        assert_eq!(turn_towards([2.0, 0.0, 0.0], [5.0, 0.0, 0.0]), [0.0; 3]);
        assert!(dot(turn_towards([1.0, 2.0, 3.0], [0.0; 3]), [1.0; 3]) == 0.0);
    }
}
