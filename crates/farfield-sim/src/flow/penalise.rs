//! Bodies stop the flow inside them.
//!
//! In a step $\Delta t$ the velocity inside a body goes to $u_l=(u+\lambda\Delta t\chi u_s)/(1+\lambda\Delta t\chi)$, whatever
//! $\lambda$; the vorticity changes by $\alpha\nabla\times(u_l-u)$. The velocity of the new vorticity is not $u_l$ yet, as the
//! part of $u_l-u$ with a divergence is lost: on a sphere a third to a half of it. Of the slip a pass takes the share $f$, on a
//! sphere $\alpha/2$ to $2\alpha/3$. If the flow adds the slip $s$ in a step, it goes from $(1/f-1)s$ to $s/f$, with the mean
//! $(1/f-\frac12)s$, which vanishes for $f=2$, where passes just do not diverge. $\alpha=1.8$ leaves a mean of 0.35 to 0.6 of $s$ on a
//! sphere, where $\frac43$ left 0.6 to one, and is stable where all of the change acts, on a wall along the stream.

use super::body::{BAND, Body, INSET};
use super::model::{OMEGA, Solver, VELOCITY};
use crate::error::Error;
use crate::vec3::{Vec3, add, cross, sub};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, BLOCK_SIDE, BlockId, Domain, Ghosted, Read};

/// Ghosts of the curl.
const REACH: usize = 2;

/// Momentum and its moment about the middle of the first body, taken from the flow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Taken {
    pub momentum: Vec3,
    pub moment: Vec3,
}

/// Bodies at a moment, and how strongly they stop the flow.
#[derive(Clone, Copy)]
pub(super) struct Stopping<'a> {
    pub bodies: &'a [Body],
    pub time: f64,
    /// $\lambda\Delta t$.
    pub strength: f64,
}

impl Stopping<'_> {
    /// Whether any body reaches the block or its ghosts.
    pub fn touches(&self, domain: &Domain, block: BlockId) -> bool {
        let h = domain.spacing(block.level);
        let half = (0.5 * BLOCK_SIDE as f64 + REACH as f64) * h;
        let corner = domain.corner(block);
        let middle = corner.map(|c| c + 0.5 * BLOCK_SIDE as f64 * h);
        let reach = 3f64.sqrt() * half + (0.5 * BAND - INSET).max(0.0) * h;
        self.bodies.iter().any(|body| body.distance(middle, self.time) < reach)
    }

    /// $u_l-u$ at a place.
    #[inline]
    fn change(&self, x: Vec3, h: f64, u: Vec3) -> Vec3 {
        let (mut total, mut towards) = (0.0, [0.0; 3]);
        for body in self.bodies {
            let inside = body.inside(x, self.time, h);
            if inside > 0.0 {
                let own = body.velocity_at(x, self.time);
                total += inside;
                for c in 0..3 {
                    towards[c] += inside * (own[c] - u[c]);
                }
            }
        }
        let factor = self.strength / (1.0 + self.strength * total);
        towards.map(|c| factor * c)
    }

    /// $u_l-u$ on a block and its ghosts, component by component.
    fn changes<T: Precision>(&self, domain: &Domain, offset: f64, input: &Ghosted<T>) -> [Vec<f64>; 3] {
        let (side, width, h) = (input.side(), input.width() as f64, input.spacing());
        let corner = domain.corner(input.block());
        let mut changes = [0, 1, 2].map(|_| vec![0.0; side * side * side]);
        let velocity = [input.values(0), input.values(1), input.values(2)];
        let along = |axis: usize, c: usize| corner[axis] + (c as f64 - width + offset) * h;
        for k in 0..side * side * side {
            let x = [along(0, k % side), along(1, k / side % side), along(2, k / side / side)];
            let u = [
                velocity[0][k].to_f64(),
                velocity[1][k].to_f64(),
                velocity[2][k].to_f64(),
            ];
            let change = self.change(x, h, u);
            for c in 0..3 {
                changes[c][k] = change[c];
            }
        }
        changes
    }
}

impl<T: Precision> Solver<T> {
    /// What a penalisation over `step` takes from the flow as it is.
    pub(super) fn taken(&self, step: f64) -> Result<Taken, Error> {
        let (domain, offset) = (*self.grid.domain(), self.grid.wavelet().offset());
        let stopping = Stopping {
            bodies: &self.setup.bodies,
            time: self.time,
            strength: self.setup.lambda * step,
        };
        let about = self
            .setup
            .bodies
            .first()
            .map_or([0.0; 3], |body| body.centre(self.time));
        let parts = self.grid.look_where(
            &[Read::new(VELOCITY, 0)],
            |block| stopping.touches(&domain, block),
            |inputs| {
                let changes = stopping.changes(&domain, offset, &inputs[0]);
                sum_block(&domain, offset, &inputs[0], &changes, about)
            },
        )?;
        let factor = self.setup.flow.relaxation;
        let sum = parts.into_iter().flatten().fold(Taken::default(), |a, b| Taken {
            momentum: add(a.momentum, b.momentum),
            moment: add(a.moment, b.moment),
        });
        Ok(Taken {
            momentum: sum.momentum.map(|c| factor * c),
            moment: sum.moment.map(|c| factor * c),
        })
    }

    /// Stops the flow in the bodies over `step`: vorticity changes by the curl of the change of velocity, and the
    /// velocity by the change itself.
    pub(super) fn penalise(&mut self, step: f64) -> Result<(), Error> {
        if self.setup.bodies.is_empty() {
            return Ok(());
        }
        let (domain, offset) = (*self.grid.domain(), self.grid.wavelet().offset());
        let bodies = self.setup.bodies.clone();
        let stopping = Stopping {
            bodies: &bodies,
            time: self.time,
            strength: self.setup.lambda * step,
        };
        let factor = self.setup.flow.relaxation;
        self.grid.sweep_where(
            &[Read::new(VELOCITY, REACH)],
            OMEGA,
            |block| stopping.touches(&domain, block),
            |inputs, output| {
                let changes = stopping.changes(&domain, offset, &inputs[0]);
                add_curl(factor, &inputs[0], &changes, output);
            },
        )?;
        self.grid.update_blocks(VELOCITY, |block, values| {
            if !stopping.touches(&domain, block) {
                return;
            }
            let (h, corner) = (domain.spacing(block.level), domain.corner(block));
            for k in 0..BLOCK_POINTS {
                let x = place(corner, h, offset, k);
                let u = [0, 1, 2].map(|c| values[c * BLOCK_POINTS + k].to_f64());
                let change = stopping.change(x, h, u);
                for c in 0..3 {
                    values[c * BLOCK_POINTS + k] += T::from_f64(change[c]);
                }
            }
        })?;
        Ok(())
    }
}

/// Where point `k` of a block is.
#[inline]
pub(super) fn place(corner: Vec3, h: f64, offset: f64, k: usize) -> Vec3 {
    let along = |axis: usize, c: usize| corner[axis] + (c as f64 + offset) * h;
    [
        along(0, k % BLOCK_SIDE),
        along(1, k / BLOCK_SIDE % BLOCK_SIDE),
        along(2, k / BLOCK_SIDE / BLOCK_SIDE),
    ]
}

/// Adds `factor` times the curl of `field`, given with ghosts, of fourth order.
fn add_curl<T: Precision>(factor: f64, input: &Ghosted<T>, field: &[Vec<f64>; 3], output: &mut [T]) {
    let (side, h) = (input.side(), input.spacing());
    let strides = [1, side, side * side];
    for component in 0..3 {
        let (next, last) = ((component + 1) % 3, (component + 2) % 3);
        for k in 0..BLOCK_POINTS {
            let point = [k % BLOCK_SIDE, k / BLOCK_SIDE % BLOCK_SIDE, k / BLOCK_SIDE / BLOCK_SIDE];
            let at = input.index(point.map(|c| c as isize));
            let slope = |from: usize, axis: usize| {
                let (f, s) = (&field[from], strides[axis]);
                (8.0 * (f[at + s] - f[at - s]) - (f[at + 2 * s] - f[at - 2 * s])) / (12.0 * h)
            };
            let curl = slope(last, next) - slope(next, last);
            let value = &mut output[component * BLOCK_POINTS + k];
            *value = T::from_f64(value.to_f64() + factor * curl);
        }
    }
}

/// The momentum and moment that the change takes from a block.
fn sum_block<T: Precision>(
    domain: &Domain,
    offset: f64,
    input: &Ghosted<T>,
    changes: &[Vec<f64>; 3],
    about: Vec3,
) -> Taken {
    let (h, corner) = (input.spacing(), domain.corner(input.block()));
    let mut sum = Taken::default();
    for k in 0..BLOCK_POINTS {
        let taken = [0, 1, 2].map(|c| -changes[c][k]);
        sum.momentum = add(sum.momentum, taken);
        sum.moment = add(sum.moment, cross(sub(place(corner, h, offset, k), about), taken));
    }
    let volume = h * h * h;
    Taken {
        momentum: sum.momentum.map(|c| volume * c),
        moment: sum.moment.map(|c| volume * c),
    }
}
