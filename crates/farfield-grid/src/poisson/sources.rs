//! The sources: grid points above the threshold, as separate arrays in Morton order.

use super::Poisson;
use super::kernel::{Kernel, Quantity, Smoothing};
use super::quadrature::factors;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Channel, Grid, point_coordinates};
use farfield::simd::Real;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Grid points with a value above the threshold. Leaves of the forest are in Morton order, and so are the points taken
/// from each, so that no sorting is needed.
#[derive(Debug, Clone)]
pub struct Sources<T> {
    /// Coordinates, one array per axis.
    pub(crate) position: [Vec<T>; 3],
    /// $\omega h^3/4\pi$, corrected next to a change of level; one array per component.
    pub(crate) weights: Vec<Vec<T>>,
    /// Squared smoothing lengths; empty for the singular kernel.
    pub(crate) epsilon2: Vec<T>,
}

/// The points of a block in Morton order.
pub(crate) fn morton_points() -> Vec<u16> {
    let mut points: Vec<u16> = (0..BLOCK_POINTS as u16).collect();
    let spread = |c: u16| (0..4).map(|bit| (c >> bit & 1) << (3 * bit)).sum::<u16>();
    let side = BLOCK_SIDE as u16;
    points.sort_by_key(|p| spread(p % side) | spread(p / side % side) << 1 | spread(p / (side * side)) << 2);
    points
}

impl<T: Real> Sources<T> {
    /// Selects the points where the absolute value of some component of `channel` exceeds the threshold.
    pub(crate) fn gather(grid: &Grid<T>, channel: &Channel<T>, solver: &Poisson, quantity: Quantity) -> Self {
        let (threshold, kernel) = (solver.threshold, solver.kernel);
        let order = morton_points();
        let leaves = grid.forest().leaves();
        let components = channel.components();
        let finest = grid.finest_spacing();
        let chosen: Vec<Self> = (0..leaves.len())
            .into_par_iter()
            .map(|leaf| {
                let mut part = Self::empty(components);
                let h = grid.domain().spacing(leaves[leaf].level);
                let epsilon = match kernel {
                    Kernel::Regularised(Smoothing::FinestSpacing) => finest,
                    _ => h,
                };
                let factors = match solver.corrects_interfaces(quantity) {
                    true => factors(grid.forest(), grid.wavelet(), leaf),
                    false => [[1.0; BLOCK_SIDE]; 3],
                };
                let lattice = grid.lattice(leaf);
                let values: Vec<&[T]> = (0..components).map(|c| channel.block(leaf, c)).collect();
                for &point in &order {
                    let point = usize::from(point);
                    if values.iter().all(|v| v[point].to_f64().abs() <= threshold) {
                        continue;
                    }
                    let at = point_coordinates(point);
                    let x = lattice.at(at.map(|c| c as isize));
                    let volume = h * h * h * factors[0][at[0]] * factors[1][at[1]] * factors[2][at[2]];
                    for axis in 0..3 {
                        part.position[axis].push(T::from_f64(x[axis]));
                    }
                    for (weights, values) in part.weights.iter_mut().zip(&values) {
                        weights.push(T::from_f64(values[point].to_f64() * volume / (4.0 * PI)));
                    }
                    if kernel != Kernel::Singular {
                        part.epsilon2.push(T::from_f64(epsilon * epsilon));
                    }
                }
                part
            })
            .collect();
        // Concatenates the parts, one task per array.
        let arrays: Vec<Vec<T>> = (0..3 + components + 1)
            .into_par_iter()
            .map(|k| {
                let parts: Vec<&[T]> = chosen.iter().map(|part| part.array(k)).collect();
                parts.concat()
            })
            .collect();
        let mut arrays = arrays.into_iter();
        Self {
            position: std::array::from_fn(|_| arrays.next().unwrap_or_default()),
            weights: arrays.by_ref().take(components).collect(),
            epsilon2: arrays.next().unwrap_or_default(),
        }
    }

    /// Coordinates, then weights, then squared smoothing lengths.
    fn array(&self, k: usize) -> &[T] {
        match k {
            0..3 => &self.position[k],
            _ => self.weights.get(k - 3).unwrap_or(&self.epsilon2),
        }
    }

    fn empty(components: usize) -> Self {
        Self {
            position: [const { Vec::new() }; 3],
            weights: vec![Vec::new(); components],
            epsilon2: Vec::new(),
        }
    }

    /// The number of sources.
    pub fn len(&self) -> usize {
        self.position[0].len()
    }

    /// Whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of components of a weight.
    pub fn components(&self) -> usize {
        self.weights.len()
    }

    /// The position of a source.
    #[inline]
    pub fn position(&self, source: usize) -> [f64; 3] {
        let [x, y, z] = &self.position;
        [x[source].to_f64(), y[source].to_f64(), z[source].to_f64()]
    }

    /// One component of a source's weight $\omega h^3/4\pi$.
    pub fn weight(&self, source: usize, component: usize) -> f64 {
        self.weights[component][source].to_f64()
    }

    /// The squared smoothing length of a source; zero for the singular kernel.
    pub fn epsilon2(&self, source: usize) -> f64 {
        self.epsilon2.get(source).map_or(0.0, |e| e.to_f64())
    }
}
