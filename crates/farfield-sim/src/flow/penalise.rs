//! Penalisation: bodies impose their own velocity on the flow inside them.
//!
//! A body acts on the flow by an acceleration $A$ inside it, which changes the vorticity by $\Delta t\,\nabla\times A$
//! in a step: one half before transport, one half after it. The velocity between the halves, which the Poisson problem
//! gives, is therefore the mean over the jumps of a step. Inside a body it shows the slip $s=u-u_s$, which should be
//! zero. Feedback with memory makes it so:
//! $$A_n=m\Bigl[A_{n-1}-\tfrac32\alpha\frac{s_n}{\Delta t_n}+\alpha\frac{s_{n-1}}{\Delta t_{n-1}}\Bigr],\qquad
//! m=\frac{\lambda\Delta t\chi}{1+\lambda\Delta t\chi}.$$
//! The acceleration of the last step is also right for the next one, up to a correction. In steady flow
//! $A=-\frac\alpha2\lambda\chi s$, Brinkman's law, for any step. Without memory a pass can only remove existing slip,
//! and a slip of the order of the step remains.
//!
//! The velocity keeps only the divergence-free part of a change $\Delta t A$, the fraction $K$: one half to two thirds
//! on a sphere, all of it on a wall along the stream. Where $m$ is nearly one, the slip changes from step to step by
//! the roots of $z^2-(2-\frac32\alpha K)z+1-\alpha K=0$. With $\alpha=1.3$ it shrinks by the factor 0.6 on a sphere and
//! on a wall; from $\alpha=1.6$ on it grows.
//!
//! A larger $\lambda$ is not better: central differences hardly resolve the shortest waves of $A$, and only the fading
//! of memory, $1-m$, stops their growth.

use super::body::{BAND, Body, INSET};
use super::model::{FORCE, OMEGA, PREVIOUS, Solver, VELOCITY};
use crate::error::Error;
use crate::vec3::{Vec3, add, add_scaled, cross, sub};
use farfield_grid::operators::{CURL_GHOSTS, add_curl};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, BLOCK_SIDE, BlockId, Domain, Ghosted, Read};

/// The gain of the current slip over that of the previous slip.
const PRESENT: f64 = 1.5;
/// $\lambda\Delta t$ of the passes at an impulsive start.
const START_STRENGTH: f64 = 1e3;

/// The integral of the acceleration, and of its moment about the centre of the first body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Pull {
    pub momentum: Vec3,
    pub moment: Vec3,
}

impl Pull {
    fn with(self, other: Self) -> Self {
        Self {
            momentum: add(self.momentum, other.momentum),
            moment: add(self.moment, other.moment),
        }
    }
}

/// Bodies at a given time.
#[derive(Clone, Copy)]
struct Bodies<'a> {
    bodies: &'a [Body],
    time: f64,
}

impl Bodies<'_> {
    /// Whether any body reaches the block or its ghosts.
    fn touch(&self, domain: &Domain, block: BlockId) -> bool {
        let h = domain.spacing(block.level);
        let half = (0.5 * BLOCK_SIDE as f64 + CURL_GHOSTS as f64) * h;
        let corner = domain.corner(block);
        let middle = corner.map(|c| c + 0.5 * BLOCK_SIDE as f64 * h);
        let reach = 3f64.sqrt() * half + (0.5 * BAND - INSET).max(0.0) * h;
        self.bodies.iter().any(|body| body.distance(middle, self.time) < reach)
    }

    /// The characteristic function of all bodies at a point, and the velocity of their material there; `None` outside.
    #[inline]
    fn at(&self, x: Vec3, h: f64) -> Option<(f64, Vec3)> {
        let (mut total, mut velocity) = (0.0, [0.0; 3]);
        for body in self.bodies {
            let inside = body.inside(x, self.time, h);
            if inside > 0.0 {
                total += inside;
                if body.moves() {
                    velocity = add_scaled(velocity, inside, body.velocity_at(x, self.time));
                }
            }
        }
        let mean = |c: usize| velocity[c] / total;
        (total > 0.0).then(|| (total, [mean(0), mean(1), mean(2)]))
    }
}

/// The feedback law that gives the acceleration from the slip.
#[derive(Clone, Copy)]
pub(super) struct Feedback<'a> {
    now: Bodies<'a>,
    /// The bodies before the last step, and the length of that step.
    before: Option<(Bodies<'a>, f64)>,
    step: f64,
    /// $\lambda\Delta t$.
    strength: f64,
    /// $\alpha$.
    gain: f64,
    /// Whether all bodies are at rest.
    at_rest: bool,
}

impl Feedback<'_> {
    /// Whether any body reaches the block or its ghosts, now or before the last step.
    fn touches(&self, domain: &Domain, block: BlockId) -> bool {
        self.now.touch(domain, block) || self.before.is_some_and(|(before, _)| before.touch(domain, block))
    }

    /// The acceleration at the point `x`. If the point is in a body, `values` gives the last acceleration, the current
    /// velocity and the previous velocity there.
    #[inline(always)]
    fn acceleration(&self, x: Vec3, h: f64, values: impl FnOnce() -> [Vec3; 3]) -> Vec3 {
        let Some((inside, held)) = self.now.at(x, h) else {
            return [0.0; 3];
        };
        let [last, u, previous] = values();
        let share = self.strength * inside / (1.0 + self.strength * inside);
        let present = match self.before {
            Some(_) => PRESENT * self.gain / self.step,
            None => self.gain / self.step,
        };
        let (mut past, mut then) = (0.0, [0.0; 3]);
        if let Some((before, step)) = self.before {
            let known = match self.at_rest {
                true => Some((inside, held)),
                false => before.at(x, h),
            };
            if let Some((_, held)) = known {
                (past, then) = (self.gain / step, held);
            }
        }
        let of = |c: usize| share * (last[c] - present * (u[c] - held[c]) + past * (previous[c] - then[c]));
        [of(0), of(1), of(2)]
    }
}

impl<T: Precision> Solver<T> {
    fn feedback<'a>(&self, bodies: &'a [Body], step: f64) -> Feedback<'a> {
        let at = |time: f64| Bodies { bodies, time };
        Feedback {
            now: at(self.time),
            before: (self.last_step > 0.0).then(|| (at(self.time - self.last_step), self.last_step)),
            step,
            strength: self.setup.lambda * step,
            gain: self.setup.flow.relaxation,
            at_rest: !bodies.iter().any(Body::moves),
        }
    }

    /// The integral of the acceleration at the start of a step of this length.
    pub(super) fn pull(&self, step: f64) -> Result<Pull, Error> {
        let (domain, offset) = (*self.grid.domain(), self.grid.wavelet().offset());
        let feedback = self.feedback(&self.setup.bodies, step);
        let about = self.middle();
        let parts = self.grid.look_where(
            &[Read::new(FORCE, 0), Read::new(VELOCITY, 0), Read::new(PREVIOUS, 0)],
            |block| feedback.now.touch(&domain, block),
            |inputs| {
                let (h, corner) = (inputs[0].spacing(), domain.corner(inputs[0].block()));
                let mut sum = Pull::default();
                let (last, now, before) = (
                    Vectors::of(&inputs[0]),
                    Vectors::of(&inputs[1]),
                    Vectors::of(&inputs[2]),
                );
                for k in 0..BLOCK_POINTS {
                    let x = place(corner, h, offset, k);
                    let held = feedback.acceleration(x, h, || [last.at(k), now.at(k), before.at(k)]);
                    sum = sum.with(moment_of(sub(x, about), held));
                }
                scaled(sum, h * h * h)
            },
        )?;
        Ok(parts.into_iter().flatten().fold(Pull::default(), Pull::with))
    }

    /// Sets the acceleration for a step of this length. Returns its integral.
    fn set_force(&mut self, step: f64) -> Result<Pull, Error> {
        let (domain, offset) = (*self.grid.domain(), self.grid.wavelet().offset());
        let bodies = self.setup.bodies.clone();
        let feedback = self.feedback(&bodies, step);
        let about = self.middle();
        let parts = self.grid.sweep_where(
            &[Read::new(VELOCITY, 0), Read::new(PREVIOUS, 0)],
            FORCE,
            |block| feedback.touches(&domain, block),
            |inputs, force| {
                let (h, corner) = (inputs[0].spacing(), domain.corner(inputs[0].block()));
                let mut sum = Pull::default();
                let (now, before) = (Vectors::of(&inputs[0]), Vectors::of(&inputs[1]));
                for k in 0..BLOCK_POINTS {
                    let x = place(corner, h, offset, k);
                    let next = feedback.acceleration(x, h, || {
                        let last = |c: usize| force[c * BLOCK_POINTS + k].to_f64();
                        [[last(0), last(1), last(2)], now.at(k), before.at(k)]
                    });
                    for c in 0..3 {
                        force[c * BLOCK_POINTS + k] = T::from_f64(next[c]);
                    }
                    sum = sum.with(moment_of(sub(x, about), next));
                }
                scaled(sum, h * h * h)
            },
        )?;
        Ok(parts.into_iter().flatten().fold(Pull::default(), Pull::with))
    }

    /// Applies the acceleration to the vorticity for the duration `time`.
    pub(super) fn push(&mut self, time: f64) -> Result<(), Error> {
        if self.setup.bodies.is_empty() {
            return Ok(());
        }
        let domain = *self.grid.domain();
        let bodies = self.setup.bodies.clone();
        let now = Bodies {
            bodies: &bodies,
            time: self.time,
        };
        self.grid.sweep_where(
            &[Read::new(FORCE, CURL_GHOSTS)],
            OMEGA,
            |block| now.touch(&domain, block),
            |inputs, output| add_curl(time, &inputs[0], output),
        )?;
        Ok(())
    }

    /// Sets the acceleration for a step and applies its first half to the vorticity. The second half is applied by
    /// `push` after transport.
    pub(super) fn penalise(&mut self, step: f64) -> Result<(), Error> {
        if self.setup.bodies.is_empty() {
            return Ok(());
        }
        self.held = self.set_force(step)?;
        self.push(0.5 * step)
    }

    /// One pass of the impulsive start: reduces the slip inside the bodies as far as one pass can.
    pub(super) fn stop_at_once(&mut self) -> Result<(), Error> {
        let step = START_STRENGTH / self.setup.lambda;
        self.set_force(step)?;
        self.push(step)?;
        self.grid.values_mut(FORCE)?.fill(T::ZERO);
        Ok(())
    }

    /// The centre of the first body; the origin without bodies.
    pub(super) fn middle(&self) -> Vec3 {
        let first = self.setup.bodies.first();
        first.map_or([0.0; 3], |body| body.centre(self.time))
    }
}

/// The position of point `k` of a block.
#[inline]
pub(super) fn place(corner: Vec3, h: f64, offset: f64, k: usize) -> Vec3 {
    let along = |axis: usize, c: usize| corner[axis] + (c as f64 + offset) * h;
    [
        along(0, k % BLOCK_SIDE),
        along(1, k / BLOCK_SIDE % BLOCK_SIDE),
        along(2, k / BLOCK_SIDE / BLOCK_SIDE),
    ]
}

fn moment_of(arm: Vec3, momentum: Vec3) -> Pull {
    Pull {
        momentum,
        moment: cross(arm, momentum),
    }
}

fn scaled(pull: Pull, factor: f64) -> Pull {
    Pull {
        momentum: pull.momentum.map(|c| factor * c),
        moment: pull.moment.map(|c| factor * c),
    }
}

/// The vectors of a block, point by point.
struct Vectors<'a, T>([&'a [T]; 3]);

impl<'a, T: Precision> Vectors<'a, T> {
    /// The vectors of a channel that was read without ghosts.
    fn of(input: &'a Ghosted<T>) -> Self {
        Self([0, 1, 2].map(|c| &input.values(c)[..BLOCK_POINTS]))
    }

    #[inline(always)]
    fn at(&self, k: usize) -> Vec3 {
        let [x, y, z] = self.0;
        [x[k].to_f64(), y[k].to_f64(), z[k].to_f64()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{BodySettings, ShapeName};

    const LAMBDA: f64 = 1e4;

    fn ball() -> Body {
        Body::new(&BodySettings {
            shape: ShapeName::Sphere,
            centre: [0.0; 3],
            radius: Some(0.5),
            radii: None,
            size: None,
            length: None,
            tube: None,
            axis: [0.0, 0.0, 1.0],
            file: None,
            scale: 1.0,
            velocity: [0.0; 3],
            turning: [0.0; 3],
        })
        .unwrap()
    }

    /// Slip and acceleration along x at time 1, in a flow with the external acceleration 1 that keeps the fraction
    /// `kept` of the body's acceleration.
    fn held(kept: f64, step: f64, gain: f64) -> (f64, f64) {
        let bodies = [ball()];
        let now = Bodies {
            bodies: &bodies,
            time: 0.0,
        };
        let feedback = Feedback {
            now,
            before: Some((now, step)),
            step,
            strength: LAMBDA * step,
            gain,
            at_rest: true,
        };
        let (mut acceleration, mut slip, mut before) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        for _ in 0..(1.0 / step).round() as usize {
            acceleration = feedback.acceleration([0.1; 3], 0.01, || [acceleration, slip, before]);
            before = slip;
            slip[0] += step * (1.0 + kept * acceleration[0]);
        }
        (slip[0], acceleration[0])
    }

    #[test]
    fn the_remaining_slip_follows_brinkmans_law_for_any_step() {
        for kept in [0.5, 2.0 / 3.0, 1.0] {
            for step in [0.02, 0.005] {
                let (slip, acceleration) = held(kept, step, 1.3);
                assert!(
                    (acceleration * kept + 1.0).abs() < 1e-6,
                    "{kept} {step}: {acceleration}"
                );
                let brinkman = 1.0 / (0.65 * LAMBDA * kept);
                assert!((slip / brinkman - 1.0).abs() < 1e-3, "{kept} {step}: {slip} {brinkman}");
            }
        }
    }

    #[test]
    fn feedback_is_stable_over_the_whole_range_of_relaxation() {
        for gain in [0.25, 1.5] {
            for kept in [0.4, 1.0] {
                let (slip, acceleration) = held(kept, 0.002, gain);
                assert!(
                    (acceleration * kept + 1.0).abs() < 1e-3,
                    "{gain} {kept}: {slip} {acceleration}"
                );
            }
        }
    }
}
