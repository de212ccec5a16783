//! Second- and fourth-order finite differences.

use super::BlockOperator;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::Ghosted;
use farfield::simd::Real;

/// The width of a finite difference, which determines its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stencil {
    /// One point to each side: second order.
    Second,
    /// Two points to each side: fourth order.
    Fourth,
}

impl Stencil {
    fn width(self) -> usize {
        match self {
            Stencil::Second => 1,
            Stencil::Fourth => 2,
        }
    }

    /// Weights of the points 1, 2, ... to the right for a first derivative; those to the left have the opposite sign.
    fn first(self) -> &'static [f64] {
        match self {
            Stencil::Second => &[0.5],
            Stencil::Fourth => &[2.0 / 3.0, -1.0 / 12.0],
        }
    }

    /// Weights of the points 0, 1, ... to either side for a second derivative.
    fn second(self) -> &'static [f64] {
        match self {
            Stencil::Second => &[-2.0, 1.0],
            Stencil::Fourth => &[-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0],
        }
    }
}

/// $\nabla f$: a scalar in, a vector out.
#[derive(Debug, Clone, Copy)]
pub struct Gradient(pub Stencil);
/// $\nabla\cdot f$: a vector in, a scalar out.
#[derive(Debug, Clone, Copy)]
pub struct Divergence(pub Stencil);
/// $\nabla\times f$: a vector in, a vector out.
#[derive(Debug, Clone, Copy)]
pub struct Curl(pub Stencil);
/// $\nabla^2 f$, component by component.
#[derive(Debug, Clone, Copy)]
pub struct Laplacian(pub Stencil);

/// Adds `factor` times the derivative of component `from` along `axis` to the values of a block.
fn add_derivative<T: Real>(
    stencil: Stencil,
    input: &Ghosted<T>,
    (from, axis): (usize, usize),
    factor: f64,
    output: &mut [T],
) {
    let stride = input.side().pow(axis as u32);
    let values = input.values(from);
    for (k, weight) in stencil.first().iter().enumerate() {
        let (shift, weight) = ((k + 1) * stride, T::from_f64(factor * weight / input.spacing()));
        for_lines(input, output, |at, line| {
            let (left, right) = (&values[at - shift..], &values[at + shift..]);
            for (out, (l, r)) in line.iter_mut().zip(left.iter().zip(right)) {
                *out += weight * (*r - *l);
            }
        });
    }
}

/// Calls `work(index, line)` for every line along x of the output; `index` is that of the line's first point in the
/// input with its ghosts.
fn for_lines<T: Real>(input: &Ghosted<T>, output: &mut [T], mut work: impl FnMut(usize, &mut [T])) {
    for (k, line) in output.chunks_exact_mut(BLOCK_SIDE).enumerate() {
        let point = [0, (k % BLOCK_SIDE) as isize, (k / BLOCK_SIDE) as isize];
        work(input.index(point), line);
    }
}

impl<T: Real> BlockOperator<T> for Gradient {
    fn ghost_width(&self) -> usize {
        self.0.width()
    }

    fn input_components(&self, output: usize) -> Option<usize> {
        (output == 3).then_some(1)
    }

    fn apply(&self, input: &Ghosted<T>, output: &mut [T]) {
        output.fill(T::ZERO);
        for (axis, output) in output.chunks_exact_mut(BLOCK_POINTS).enumerate() {
            add_derivative(self.0, input, (0, axis), 1.0, output);
        }
    }
}

impl<T: Real> BlockOperator<T> for Divergence {
    fn ghost_width(&self) -> usize {
        self.0.width()
    }

    fn input_components(&self, output: usize) -> Option<usize> {
        (output == 1).then_some(3)
    }

    fn apply(&self, input: &Ghosted<T>, output: &mut [T]) {
        output.fill(T::ZERO);
        for axis in 0..3 {
            add_derivative(self.0, input, (axis, axis), 1.0, output);
        }
    }
}

impl<T: Real> BlockOperator<T> for Curl {
    fn ghost_width(&self) -> usize {
        self.0.width()
    }

    fn input_components(&self, output: usize) -> Option<usize> {
        (output == 3).then_some(3)
    }

    fn apply(&self, input: &Ghosted<T>, output: &mut [T]) {
        output.fill(T::ZERO);
        for (axis, output) in output.chunks_exact_mut(BLOCK_POINTS).enumerate() {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            add_derivative(self.0, input, (last, next), 1.0, output);
            add_derivative(self.0, input, (next, last), -1.0, output);
        }
    }
}

impl<T: Real> BlockOperator<T> for Laplacian {
    fn ghost_width(&self) -> usize {
        self.0.width()
    }

    fn input_components(&self, output: usize) -> Option<usize> {
        Some(output)
    }

    fn apply(&self, input: &Ghosted<T>, output: &mut [T]) {
        output.fill(T::ZERO);
        let scale = 1.0 / (input.spacing() * input.spacing());
        for (component, output) in output.chunks_exact_mut(BLOCK_POINTS).enumerate() {
            let values = input.values(component);
            for axis in 0..3 {
                let stride = input.side().pow(axis as u32);
                for (k, weight) in self.0.second().iter().enumerate() {
                    // The middle point is added twice, once from each side.
                    let weight = T::from_f64(scale * weight * if k == 0 { 0.5 } else { 1.0 });
                    for_lines(input, output, |at, line| {
                        let (left, right) = (&values[at - k * stride..], &values[at + k * stride..]);
                        for (out, (l, r)) in line.iter_mut().zip(left.iter().zip(right)) {
                            *out += weight * (*l + *r);
                        }
                    });
                }
            }
        }
    }
}
