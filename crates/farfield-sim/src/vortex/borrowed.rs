//! The elements for sums over near pairs: this rank's own, followed by copies of near elements of other ranks.

use super::Elements;
use super::neighbours::cell_of;
use crate::ranks::cells::{Cell, of_others};
use crate::ranks::{Ranks, words};
use crate::vec3::Vec3;
use std::borrow::Cow;
use std::collections::HashSet;

/// Elements, those of this rank first.
#[derive(Debug, Clone)]
pub struct Borrowed<'a> {
    /// The number of this rank's own elements.
    pub own: usize,
    /// Their positions.
    pub positions: Cow<'a, [Vec3]>,
    /// Vorticity times volume.
    pub strengths: Cow<'a, [Vec3]>,
    /// Core sizes.
    pub sizes: Cow<'a, [f64]>,
    /// The volume of each.
    pub volumes: Cow<'a, [f64]>,
}

/// Position, strength, size and volume.
const COLUMNS: usize = 8;

impl<'a> Borrowed<'a> {
    /// This rank's own elements.
    pub fn own(positions: &'a [Vec3], strengths: &'a [Vec3], sizes: &'a [f64], volumes: &'a [f64]) -> Self {
        Self {
            own: positions.len(),
            positions: positions.into(),
            strengths: strengths.into(),
            sizes: sizes.into(),
            volumes: volumes.into(),
        }
    }

    /// This rank's own elements, from arrays on the host.
    pub fn of(elements: &'a Elements) -> Self {
        Self::own(
            &elements.positions,
            &elements.strengths,
            &elements.sizes,
            &elements.volumes,
        )
    }

    /// Adds the elements of other ranks in cells of side `reach` next to cells with own elements. Called by all ranks
    /// together.
    #[must_use]
    pub fn with_near_ones(mut self, ranks: &dyn Ranks, reach: f64) -> Self {
        if ranks.size() == 1 || reach <= 0.0 {
            return self;
        }
        let cell_of_each: Vec<Cell> = self.positions.iter().map(|x| cell_of(*x, reach)).collect();
        let mut cells = cell_of_each.clone();
        cells.sort_unstable();
        cells.dedup();
        let parcel = |(rank, theirs): (usize, Vec<Cell>)| {
            let wanted: HashSet<Cell> = theirs.into_iter().flat_map(around).collect();
            let sent = (0..self.own).filter(|k| wanted.contains(&cell_of_each[*k]));
            (
                rank,
                words::of_numbers(&sent.flat_map(|k| self.row(k)).collect::<Vec<f64>>()),
            )
        };
        let outgoing = of_others(ranks, &cells, 1).into_iter().map(parcel).collect();
        for (_, bytes) in ranks.send(outgoing) {
            for [x, y, z, a, b, c, size, volume] in words::numbers(&bytes).as_chunks::<COLUMNS>().0 {
                self.positions.to_mut().push([*x, *y, *z]);
                self.strengths.to_mut().push([*a, *b, *c]);
                self.sizes.to_mut().push(*size);
                self.volumes.to_mut().push(*volume);
            }
        }
        self
    }

    fn row(&self, k: usize) -> [f64; COLUMNS] {
        let ([x, y, z], [a, b, c]) = (self.positions[k], self.strengths[k]);
        [
            x,
            y,
            z,
            a,
            b,
            c,
            self.sizes[k],
            self.volumes.get(k).copied().unwrap_or(0.0),
        ]
    }
}

/// A cell and its neighbours.
fn around([i, j, k]: Cell) -> impl Iterator<Item = Cell> {
    let near = |c: i64| [c.saturating_sub(1), c, c.saturating_add(1)];
    near(i)
        .into_iter()
        .flat_map(move |i| near(j).into_iter().flat_map(move |j| near(k).map(|k| [i, j, k])))
}
