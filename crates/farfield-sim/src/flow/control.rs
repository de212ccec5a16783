//! The force on bodies from the impulse in a control box around them and the flux through its faces.
//!
//! Let $I$ be half the integral of $x\times\omega$ over a fixed box that contains the bodies, and $n$ the normals of
//! its faces. Then
//! $$F=-\frac{dI}{dt}+\oint\Bigl[\tfrac12u^2n-u(u\cdot n)
//! +\tfrac12x\times\bigl(n\times(u\times\omega-\nu\nabla\times\omega)\bigr)-\nu n\times\omega\Bigr]dS.$$
//! This follows from the vorticity equation by
//! $\frac12\int x\times(\nabla\times a)=\int a+\frac12\oint x\times(n\times a)$; it is the impulse equation of Noca,
//! Shiels and Jeon. Vorticity may leave the box, and no pressure is needed.

use super::body::Body;
use super::clean::FADE;
use super::model::{OMEGA, Solver, VELOCITY};
use super::penalise::place;
use crate::error::Error;
use crate::vec3::{Vec3, add, add_scaled, cross, dot, scale, sub};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_SIDE, BlockId, Domain, Ghosted, Read};

/// The distance of the faces from the bodies, in reference lengths.
const MARGIN: f64 = 0.25;
/// The ghost layers that values on faces need.
const REACH: usize = 2;

/// A box whose faces coincide with faces of cells on every level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ControlBox {
    low: Vec3,
    high: Vec3,
}

/// The impulse in the control box and the flux through its faces.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Passing {
    /// Half the integral of $x\times\omega$.
    pub impulse: Vec3,
    /// The integral over the faces.
    pub flux: Vec3,
}

impl ControlBox {
    /// A box from `low` to `high`, snapped outwards to cells of level 0.
    pub fn new(domain: &Domain, low: Vec3, high: Vec3) -> Self {
        let h = domain.spacing(0);
        let snapped = |x: f64, axis: usize, outwards: fn(f64) -> f64| {
            let origin = domain.origin()[axis];
            origin + h * outwards((x - origin) / h)
        };
        Self {
            low: std::array::from_fn(|axis| snapped(low[axis], axis, |cells| (cells + 1e-9).floor())),
            high: std::array::from_fn(|axis| snapped(high[axis], axis, |cells| (cells - 1e-9).ceil())),
        }
    }

    /// A box around bodies at rest; `None` if one moves, or if the box would reach the rim in which vorticity fades.
    pub fn around(bodies: &[Body], domain: &Domain, finest: f64, length: f64) -> Option<Self> {
        if bodies.is_empty() || bodies.iter().any(Body::moves) {
            return None;
        }
        let extent = |axis: usize, side: f64| {
            let ends = bodies
                .iter()
                .map(|body| side * body.centre(0.0)[axis] + body.reach() + MARGIN * length);
            side * ends.fold(f64::NEG_INFINITY, f64::max)
        };
        let found = Self::new(
            domain,
            std::array::from_fn(|axis| extent(axis, -1.0)),
            std::array::from_fn(|axis| extent(axis, 1.0)),
        );
        let rim = FADE * finest;
        let inside = (0..3).all(|axis| {
            let origin = domain.origin()[axis];
            found.low[axis] > origin + rim && found.high[axis] < origin + domain.size()[axis] - rim
        });
        inside.then_some(found)
    }

    /// The cells of a block that are in the box, as a half-open range along each axis, possibly empty.
    fn cells(&self, domain: &Domain, block: BlockId) -> [(usize, usize); 3] {
        let (h, corner) = (domain.spacing(block.level), domain.corner(block));
        let cell = |x: f64, axis: usize| ((x - corner[axis]) / h).round().clamp(0.0, BLOCK_SIDE as f64) as usize;
        [0, 1, 2].map(|axis| (cell(self.low[axis], axis), cell(self.high[axis], axis)))
    }

    /// The faces of the box at the cells of a block: axis, side, and the cell after the face.
    fn faces(&self, domain: &Domain, block: BlockId) -> Vec<(usize, f64, isize)> {
        let (h, corner) = (domain.spacing(block.level), domain.corner(block));
        let side = BLOCK_SIDE as isize;
        let mut faces = Vec::new();
        if self.is_empty(domain, block) {
            return faces;
        }
        for axis in 0..3 {
            let low = ((self.low[axis] - corner[axis]) / h).round() as isize;
            let high = ((self.high[axis] - corner[axis]) / h).round() as isize;
            if (0..side).contains(&low) {
                faces.push((axis, -1.0, low));
            }
            if (1..=side).contains(&high) {
                faces.push((axis, 1.0, high));
            }
        }
        faces
    }

    fn is_empty(&self, domain: &Domain, block: BlockId) -> bool {
        self.cells(domain, block).iter().any(|(from, to)| from >= to)
    }
}

impl<T: Precision> Solver<T> {
    /// The impulse in the control box and the flux through its faces at the current time. Positions are relative to the
    /// centre of the first body.
    pub(super) fn passing(&self, control: &ControlBox) -> Result<Passing, Error> {
        let (domain, offset, about) = (*self.grid.domain(), self.grid.wavelet().offset(), self.middle());
        let inside = self.grid.look_where(
            &[Read::new(OMEGA, 0)],
            |block| !control.is_empty(&domain, block),
            |inputs| {
                let (h, corner) = (inputs[0].spacing(), domain.corner(inputs[0].block()));
                let [x, y, z] = control.cells(&domain, inputs[0].block());
                let w = [inputs[0].values(0), inputs[0].values(1), inputs[0].values(2)];
                let mut sum = [0.0; 3];
                for k in z.0..z.1 {
                    for j in y.0..y.1 {
                        for i in x.0..x.1 {
                            let at = (k * BLOCK_SIDE + j) * BLOCK_SIDE + i;
                            let omega = [w[0][at].to_f64(), w[1][at].to_f64(), w[2][at].to_f64()];
                            sum = add(sum, cross(sub(place(corner, h, offset, at), about), omega));
                        }
                    }
                }
                scale(sum, 0.5 * h * h * h)
            },
        )?;
        let through = self.grid.look_where(
            &[Read::new(OMEGA, REACH), Read::new(VELOCITY, REACH)],
            |block| !control.faces(&domain, block).is_empty(),
            |inputs| {
                let block = inputs[0].block();
                let mut sum = [0.0; 3];
                for (axis, side, cell) in control.faces(&domain, block) {
                    let mut face = Face {
                        omega: &inputs[0],
                        velocity: &inputs[1],
                        axis,
                        side,
                        viscosity: self.setup.viscosity,
                        from: sub(domain.corner(block), about),
                        at: [0; 3],
                    };
                    let cells = control.cells(&domain, block);
                    let (right, up) = ((axis + 1) % 3, (axis + 2) % 3);
                    face.at[axis] = cell;
                    for j in cells[up].0..cells[up].1 {
                        for i in cells[right].0..cells[right].1 {
                            (face.at[right], face.at[up]) = (i as isize, j as isize);
                            sum = add(sum, face.passing());
                        }
                    }
                }
                scale(sum, inputs[0].spacing().powi(2))
            },
        )?;
        let total = |parts: Vec<Option<Vec3>>| parts.into_iter().flatten().fold([0.0; 3], add);
        Ok(Passing {
            impulse: total(inside),
            flux: total(through),
        })
    }
}

/// The centre of a face of a cell.
struct Face<'a, T> {
    omega: &'a Ghosted<T>,
    velocity: &'a Ghosted<T>,
    axis: usize,
    /// 1 if the normal points along the axis, else -1.
    side: f64,
    viscosity: f64,
    /// The corner of the block, relative to the centre of the first body.
    from: Vec3,
    /// The cell after the face.
    at: [isize; 3],
}

impl<T: Precision> Face<'_, T> {
    /// The flux through it per unit area.
    fn passing(&self) -> Vec3 {
        let mut n = [0.0; 3];
        n[self.axis] = self.side;
        let of = |field: &Ghosted<T>| {
            let at = field.index(self.at);
            [
                self.mean(field, 0, at),
                self.mean(field, 1, at),
                self.mean(field, 2, at),
            ]
        };
        let (u, omega) = (of(self.velocity), of(self.omega));
        let h = self.omega.spacing();
        let x: Vec3 = std::array::from_fn(|a| {
            let cell = self.at[a] as f64 + if a == self.axis { 0.0 } else { 0.5 };
            self.from[a] + cell * h
        });
        let carried = add_scaled(cross(u, omega), -self.viscosity, self.curl());
        let pressure = add_scaled(scale(n, 0.5 * dot(u, u)), -dot(u, n), u);
        let moved = add_scaled(pressure, 0.5, cross(x, cross(n, carried)));
        add_scaled(moved, -self.viscosity, cross(n, omega))
    }

    fn stride(&self, axis: usize) -> usize {
        self.omega.side().pow(axis as u32)
    }

    /// The fourth-order interpolated value on the face.
    fn mean(&self, field: &Ghosted<T>, component: usize, at: usize) -> f64 {
        let (f, s) = (field.values(component), self.stride(self.axis));
        let near = f[at].to_f64() + f[at - s].to_f64();
        (9.0 * near - f[at + s].to_f64() - f[at - 2 * s].to_f64()) / 16.0
    }

    /// The curl of the vorticity on the face.
    fn curl(&self) -> Vec3 {
        let (at, h) = (self.omega.index(self.at), self.omega.spacing());
        let slope = |component: usize, axis: usize| {
            let s = self.stride(axis);
            if axis == self.axis {
                let f = self.omega.values(component);
                let near = f[at].to_f64() - f[at - s].to_f64();
                (27.0 * near - f[at + s].to_f64() + f[at - 2 * s].to_f64()) / (24.0 * h)
            } else {
                (self.mean(self.omega, component, at + s) - self.mean(self.omega, component, at - s)) / (2.0 * h)
            }
        };
        [
            slope(2, 1) - slope(1, 2),
            slope(0, 2) - slope(2, 0),
            slope(1, 0) - slope(0, 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;
    use crate::flow::setup::Setup;
    use crate::summation::Summation;
    use farfield::tuning::MachineProfile;

    /// A ring that moves and diffuses, on a grid of finest level `level`.
    fn ring(level: u8) -> Solver<f64> {
        let text = format!(
            "[time]\nend = 1.0\nstep = 0.02\n[sum]\ntolerance = 1e-5\n[flow]\nviscosity = 0.002\nprecision = \"f64\"\nsource_cutoff = 0.0\n\
             [grid]\norigin = [-1.0, -1.0, -1.0]\nroots = [2, 2, 2]\nside = 1.0\nlevel = {level}\nrefine = 0.002\ncompress = 0.00002\n\
             [[ring]]\nradius = 0.4\ncore = 0.15\ncirculation = 1.0\naxis = [1.0, 0.0, 0.0]\n"
        );
        let case = case::read(&text, "ring", &[]).unwrap();
        let setup = Setup::new(&case).unwrap();
        let summation = Summation::new(case.sum.clone(), MachineProfile::default());
        Solver::new(setup, summation).unwrap()
    }

    /// The measured force, which should be zero, over the flux through the faces.
    fn error(level: u8, step: f64) -> f64 {
        let mut solver = ring(level);
        // One face passes through the core, another cuts the ring in two.
        let control = ControlBox::new(solver.grid.domain(), [0.0, -0.25, -0.75], [0.75; 3]);
        let mut seen = Vec::new();
        for number in 1..=3 {
            let moment = solver.look_at().unwrap();
            seen.push(solver.passing(&control).unwrap());
            solver.now = Some(moment);
            solver.step(step, number).unwrap();
        }
        let [before, now] = [seen[1], seen[2]];
        let change = scale(sub(now.impulse, before.impulse), 1.0 / step);
        let flux = scale(add(now.flux, before.flux), 0.5);
        let size = flux.iter().map(|c| c.abs()).fold(0.0, f64::max);
        assert!(size > 0.05, "the flux is too small for a test: {flux:?}");
        let force = sub(flux, change);
        println!("level {level}: change {change:?}, flux {flux:?}");
        force.iter().map(|c| c.abs()).fold(0.0, f64::max) / size
    }

    #[test]
    fn the_force_is_zero_without_a_body_while_a_ring_crosses_the_faces() {
        let [coarse, fine] = [error(0, 0.02), error(1, 0.01)];
        println!("errors {coarse:.4} and {fine:.4}");
        // Measured 0.0170, and 0.0071 with half the spacing and half the step. The error of a wrong term would not
        // shrink.
        assert!(coarse < 0.03 && fine < 0.5 * coarse, "{coarse} {fine}");
    }
}
