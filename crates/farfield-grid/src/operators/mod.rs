//! Operators on blocks: they read a block with its ghosts and write the values of a block.

mod convection;
mod curl;
mod differences;
pub(crate) mod line;
mod pointwise;
mod rates;
mod sweep;

pub use convection::Extremes;
pub use curl::{CURL_GHOSTS, add_curl};
pub use differences::{Curl, Divergence, Gradient, Laplacian, Stencil};
pub use rates::LARGEST_LAPLACIAN;
pub use sweep::Read;

use crate::error::Error;
use crate::grid::{Ghosted, Grid, MAX_GHOSTS};
use farfield::simd::Real;

/// Computes the values of a block from the values of a channel in it and around it.
pub trait BlockOperator<T>: Sync {
    /// The width of the ghost layer that the operator reads.
    fn ghost_width(&self) -> usize;
    /// The number of components of the input for an output with `output_components`; `None` if the operator has no such
    /// output.
    fn input_components(&self, output_components: usize) -> Option<usize>;
    /// Sets `output`, component by component and, within each, point by point.
    fn apply(&self, input: &Ghosted<T>, output: &mut [T]);
}

impl<T: Real> Grid<T> {
    /// Applies an operator to all blocks in parallel. It reads channel `input` with ghosts and sets channel `output`.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`], [`Error::GhostWidth`].
    pub fn apply(&mut self, operator: &impl BlockOperator<T>, input: &str, output: &str) -> Result<(), Error> {
        let width = operator.ghost_width();
        if width > MAX_GHOSTS {
            return Err(Error::GhostWidth {
                width,
                limit: MAX_GHOSTS,
            });
        }
        if input == output {
            return Err(Error::InPlace { name: input.to_owned() });
        }
        let (source, target) = (self.channel(input)?, self.channel(output)?);
        let expected = operator.input_components(target.components());
        if expected != Some(source.components()) {
            return Err(Error::Components {
                name: input.to_owned(),
                found: source.components(),
                expected: expected.unwrap_or(0),
            });
        }
        self.sweep(&[Read::new(input, width)], output, |inputs, output| {
            operator.apply(&inputs[0], output);
        })?;
        Ok(())
    }
}
