//! All points of one level of a flow, layer by layer, with at most a few slabs in memory.

use crate::error::Error;
use crate::model::{Cut, FlowField, GridFields};
use crate::vec3::Vec3;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// The number of cached slabs: the Q criterion needs a slab and both of its neighbours.
const KEPT: usize = 3;

/// A field, the index of a slab, and its values.
type Slab = (FlowField, usize, Rc<Vec<Vec3>>);

/// A reader of a cut.
pub struct Layers<'a> {
    /// The grid of its points.
    pub cut: Cut,
    fields: &'a dyn GridFields,
    slabs: RefCell<Vec<Slab>>,
}

impl<'a> Layers<'a> {
    /// A reader of the fields of a flow.
    pub fn new(fields: &'a dyn GridFields) -> Self {
        Self {
            cut: fields.cut(),
            fields,
            slabs: RefCell::default(),
        }
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.cut.size.iter().product()
    }

    /// The number of points in a layer.
    fn layer_points(&self) -> usize {
        self.cut.size[0] * self.cut.size[1]
    }

    /// A field at the points of a layer.
    pub fn layer(&self, field: FlowField, z: usize) -> Result<Layer, Error> {
        let (slab, points) = (z / Cut::SLAB, self.layer_points());
        let first = z % Cut::SLAB * points;
        let mut slabs = self.slabs.borrow_mut();
        let known = slabs.iter().position(|(of, at, _)| *of == field && *at == slab);
        let place = match known {
            Some(place) => place,
            None => {
                if slabs.len() == KEPT {
                    slabs.remove(0);
                }
                slabs.push((field, slab, Rc::new(self.fields.slab(field, slab)?)));
                slabs.len() - 1
            }
        };
        Ok(Layer {
            slab: slabs[place].2.clone(),
            points: first..first + points,
        })
    }

    /// Appends a field at a range of points. Stops at the first layer that cannot be read; the writer then reports the
    /// missing values.
    pub fn vectors(&self, field: FlowField, points: Range<usize>, out: &mut Vec<f64>) {
        self.by_layers(points, |z, points| {
            let layer = self.layer(field, z)?;
            out.extend_from_slice(layer.values()[points].as_flattened());
            Ok(())
        });
    }

    /// Appends the Q criterion at a range of points.
    pub fn q(&self, points: Range<usize>, out: &mut Vec<f64>) {
        self.by_layers(points, |z, points| self.q_of_layer(z, points, out));
    }

    /// Appends the Q criterion $-\frac12\partial_iu_j\partial_ju_i$ at points of a layer, by second-order differences;
    /// zero at the boundary.
    pub fn q_of_layer(&self, z: usize, points: Range<usize>, out: &mut Vec<f64>) -> Result<(), Error> {
        let [nx, ny, nz] = self.cut.size;
        if z == 0 || z + 1 == nz {
            out.extend(points.map(|_| 0.0));
            return Ok(());
        }
        let around = [z - 1, z, z + 1].map(|z| self.layer(FlowField::Velocity, z));
        let [below, here, above] = around;
        let (below, here, above) = (below?, here?, above?);
        let (below, here, above) = (below.values(), here.values(), above.values());
        let scale = 0.5 / self.cut.spacing;
        out.extend(points.map(|k| {
            let (x, y) = (k % nx, k / nx);
            if x == 0 || x + 1 == nx || y == 0 || y + 1 == ny {
                return 0.0;
            }
            let pairs = [
                (&here[k - 1], &here[k + 1]),
                (&here[k - nx], &here[k + nx]),
                (&below[k], &above[k]),
            ];
            // slopes[i][j] is the derivative of component j along i.
            let slopes = pairs.map(|(before, after)| [0, 1, 2].map(|j| scale * (after[j] - before[j])));
            let sum: f64 = (0..9).map(|k| slopes[k / 3][k % 3] * slopes[k % 3][k / 3]).sum();
            -0.5 * sum
        }));
        Ok(())
    }

    /// Calls `with` for each layer of a range of points, with the indices of the points within the layer.
    fn by_layers(&self, points: Range<usize>, mut with: impl FnMut(usize, Range<usize>) -> Result<(), Error>) {
        let of_layer = self.layer_points();
        let mut first = points.start;
        while first < points.end {
            let z = first / of_layer;
            let last = points.end.min((z + 1) * of_layer);
            if with(z, first - z * of_layer..last - z * of_layer).is_err() {
                return;
            }
            first = last;
        }
    }
}

/// One layer of a slab.
pub struct Layer {
    slab: Rc<Vec<Vec3>>,
    points: Range<usize>,
}

impl Layer {
    /// The values, x fastest, then y.
    pub fn values(&self) -> &[Vec3] {
        &self.slab[self.points.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solid rotation about z with strain, on 8 x 6 x 48 points: Q is constant inside.
    struct Turning;

    const TURN: f64 = 0.7;
    const STRAIN: f64 = 0.2;

    impl GridFields for Turning {
        fn side(&self) -> usize {
            16
        }

        fn blocks(&self) -> Vec<(Vec3, f64)> {
            Vec::new()
        }

        fn at_cells(&self, _: FlowField, _: Range<usize>, _: &mut Vec<f64>) {}

        fn cut(&self) -> Cut {
            Cut {
                origin: [0.0; 3],
                spacing: 0.5,
                size: [8, 6, 48],
                q_level: 1.0,
            }
        }

        fn slab(&self, field: FlowField, slab: usize) -> Result<Vec<Vec3>, Error> {
            Ok((0..8 * 6 * 16)
                .map(|k| {
                    let [x, y, z] = [k % 8, k / 8 % 6, k / 48 + 16 * slab].map(|c| 0.5 * c as f64);
                    match field {
                        FlowField::Velocity => [STRAIN * x - TURN * y, TURN * x + STRAIN * y, -2.0 * STRAIN * z],
                        FlowField::Vorticity => [x, y, z],
                    }
                })
                .collect())
        }
    }

    #[test]
    fn fields_and_q_do_not_depend_on_the_pieces() {
        let layers = Layers::new(&Turning);
        let (mut all, mut pieces, mut q) = (Vec::new(), Vec::new(), Vec::new());
        layers.vectors(FlowField::Vorticity, 0..layers.points(), &mut all);
        for first in (0..layers.points()).step_by(100) {
            let points = first..layers.points().min(first + 100);
            layers.vectors(FlowField::Vorticity, points.clone(), &mut pieces);
            layers.q(points, &mut q);
        }
        assert_eq!(all, pieces);
        assert_eq!(all.as_chunks::<3>().0[48 * 33 + 8 + 2], [1.0, 0.5, 16.5]);
        let expected = TURN * TURN - 3.0 * STRAIN * STRAIN;
        for (k, q) in q.iter().enumerate() {
            let at = [k % 8, k / 8 % 6, k / 48];
            let rim = (0..3).any(|a| at[a] == 0 || at[a] + 1 == [8, 6, 48][a]);
            assert!((q - if rim { 0.0 } else { expected }).abs() < 1e-12, "{at:?}: {q}");
        }
    }
}
