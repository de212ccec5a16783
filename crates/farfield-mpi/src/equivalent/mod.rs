//! Equivalent sources: a few points on a sphere around a box that act at a distance like all sources in the box.
//!
//! Sources in a ball of radius $a$ about a centre act at a distance $d>a$ through their moments, and contributions
//! beyond degree $p$ decay like $(a/d)^{p+1}$. Strengths on a sphere about that centre (Anderson's outer ring,
//! Makino's pseudo-particles) have the same moments up to degree $p$ if $$Q_k = w_k\sum_{n\le p}(2n+1)\sum_m
//! R_n^m(s_k)\,\frac{M_n^m}{R^n},\qquad M_n^m=\sum_j q_j R_n^m(x_j-c),$$ with the points $s_k$ and weights $w_k$ of a
//! quadrature rule that is exact for products of two harmonics: Gauss-Legendre nodes along the axis times equal
//! angles around it; in the plane, equal angles. In space fewer points suffice, with the strengths of least norm that
//! have the moments. For an engine they are sources like any others. The map from strengths to equivalent strengths
//! is linear and depends only on positions.

mod harmonics;
mod sphere;

pub use sphere::Sphere;

use crate::tree::Tree;
use farfield::simd::{self, Real, SimdLevel, Vectorized};
use harmonics::LANES;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The radius of the sphere divided by that of the ball around the sources. A smaller sphere has larger strengths of
/// alternating sign; a larger one has larger moments of higher degrees. Errors differ little between 0.6 and 0.85.
pub const SPHERE: f64 = 0.75;

/// The form of strengths, and how equivalent sources represent them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// Independent components of this number; each is represented by the same component of equivalent sources.
    Each(usize),
    /// A charge and a dipole moment; both are represented by the charges of equivalent sources.
    ChargeAndDipole,
}

impl Carried {
    /// The number of components of a source.
    pub fn of_source(self) -> usize {
        match self {
            Carried::Each(count) => count,
            Carried::ChargeAndDipole => 4,
        }
    }

    /// The number of components of an equivalent source.
    pub fn of_equivalent(self) -> usize {
        match self {
            Carried::Each(count) => count,
            Carried::ChargeAndDipole => 1,
        }
    }
}

/// Sources and their strengths: `strengths[(vector * sources + source) * components + component]`.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a, T, const D: usize> {
    /// The points.
    pub points: &'a [[T; D]],
    /// Their strengths.
    pub strengths: &'a [T],
    /// The form of the strengths.
    pub carried: Carried,
    /// The number of strength vectors.
    pub vectors: usize,
}

/// The boxes whose equivalent sources are computed: those requested, and descendants from whose equivalent sources
/// they are computed, if these are fewer than the sources.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    nodes: Vec<bool>,
}

impl Wanted {
    /// The boxes needed for `nodes`; `points` is the number of equivalent sources of a box.
    pub fn new<const D: usize>(tree: &Tree<D>, nodes: impl Iterator<Item = usize>, points: usize) -> Self {
        let mut wanted = vec![false; tree.nodes.len()];
        nodes.for_each(|node| wanted[node] = true);
        // Parents come before their children.
        for k in 0..tree.nodes.len() {
            if wanted[k] && from_children(tree, k, points) {
                for child in tree.nodes[k].children.0..tree.nodes[k].children.1 {
                    wanted[child] |= stands_for_many(tree, child, points);
                }
            }
        }
        Self { nodes: wanted }
    }
}

/// Whether a box has more sources than equivalent sources.
pub fn stands_for_many<const D: usize>(tree: &Tree<D>, node: usize, points: usize) -> bool {
    tree.nodes[node].count() > points && tree.nodes[node].radius > 0.0
}

/// Whether the equivalent sources of a box are computed from those of its children.
fn from_children<const D: usize>(tree: &Tree<D>, node: usize, points: usize) -> bool {
    !tree.nodes[node].is_leaf() && tree.nodes[node].count() > (1 << D) * points
}

/// Computes the equivalent strengths of the wanted boxes: `strengths[(point * vectors + vector) * components +
/// component]` for each box.
pub fn equivalents<T: Real, const D: usize>(
    tree: &Tree<D>,
    sphere: &Sphere<D>,
    wanted: &Wanted,
    sources: Sources<'_, T, D>,
) -> BTreeMap<usize, Vec<f64>> {
    let mut found: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (first, last) in tree.levels.iter().rev() {
        let of_level: Vec<usize> = (*first..*last).filter(|node| wanted.nodes[*node]).collect();
        let of_node = |node: usize| (node, of_box(tree, sphere, node, &found, sources));
        let new: Vec<(usize, Vec<f64>)> = of_level.into_par_iter().map(of_node).collect();
        found.extend(new);
    }
    found
}

/// Computes the equivalent strengths of one box.
fn of_box<T: Real, const D: usize>(
    tree: &Tree<D>,
    sphere: &Sphere<D>,
    node: usize,
    found: &BTreeMap<usize, Vec<f64>>,
    sources: Sources<'_, T, D>,
) -> Vec<f64> {
    let this = &tree.nodes[node];
    let columns = sources.vectors * sources.carried.of_equivalent();
    let mut moments = Moments::new(sphere, this.centre, SPHERE * this.radius, columns);
    if from_children(tree, node, sphere.count()) {
        for child in this.children.0..this.children.1 {
            match found.get(&child) {
                Some(strengths) => {
                    let child = &tree.nodes[child];
                    moments.add_equivalents(child.centre, child.radius, strengths);
                }
                None => moments.add_sources(tree.points_of(child), sources),
            }
        }
    } else {
        moments.add_sources(tree.points_of(node), sources);
    }
    moments.strengths()
}

/// The moments of one box, in units of the sphere's radius.
#[derive(Debug)]
pub struct Moments<'a, const D: usize> {
    sphere: &'a Sphere<D>,
    centre: [f64; D],
    radius: f64,
    columns: usize,
    /// The moments, column by column; the lanes are summed at the end.
    values: Vec<harmonics::Lanes>,
    harmonics: Vec<harmonics::Lanes>,
    /// The charges that are being added, column by column.
    charges: Vec<harmonics::Lanes>,
    simd: SimdLevel,
}

/// Adds the moments of up to [`LANES`] charges, at a SIMD level.
struct Add<'a, const D: usize> {
    recurrence: &'a harmonics::Recurrence,
    points: &'a [harmonics::Lanes; D],
    charges: &'a [harmonics::Lanes],
    harmonics: &'a mut [harmonics::Lanes],
    moments: &'a mut [harmonics::Lanes],
}

impl<const D: usize> Vectorized<f64> for Add<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<V: simd::Lanes<Elem = f64>>(self) {
        self.recurrence.evaluate::<V, D>(self.points, self.harmonics);
        let columns = self.moments.chunks_exact_mut(self.harmonics.len());
        for (moments, charges) in columns.zip(self.charges) {
            // Explicit vectors: otherwise the compiler makes vectors of one lane of several harmonics, and gathers
            // them.
            for first in (0..LANES).step_by(V::LANES) {
                let charges = V::from_slice(&charges[first..]);
                let harmonics = &self.harmonics[..moments.len()];
                for at in 0..moments.len() {
                    let (moment, harmonic) = (&mut moments[at][first..], &harmonics[at][first..]);
                    let sum = V::from_slice(harmonic).mul_add(charges, V::from_slice(moment));
                    sum.write_partial(moment, V::LANES);
                }
            }
        }
    }
}

impl<'a, const D: usize> Moments<'a, D> {
    /// Zero moments for a sphere of this centre and radius, with `columns` numbers for each source.
    pub fn new(sphere: &'a Sphere<D>, centre: [f64; D], radius: f64, columns: usize) -> Self {
        let count = harmonics::count::<D>(sphere.recurrence.order());
        Self {
            sphere,
            centre,
            radius,
            columns,
            values: vec![[0.0; LANES]; count * columns],
            harmonics: vec![[0.0; LANES]; count],
            charges: vec![[0.0; LANES]; columns],
            simd: SimdLevel::best(),
        }
    }

    /// Adds up to [`LANES`] charges; `charge(lane, column)` is called only for existing points.
    fn add(&mut self, points: &[[f64; D]], charge: impl Fn(usize, usize) -> f64) {
        let mut lanes = [[0.0; LANES]; D];
        for (lane, point) in points.iter().enumerate() {
            for axis in 0..D {
                lanes[axis][lane] = (point[axis] - self.centre[axis]) / self.radius;
            }
        }
        for (column, charges) in self.charges.iter_mut().enumerate() {
            *charges = std::array::from_fn(|lane| if lane < points.len() { charge(lane, column) } else { 0.0 });
        }
        let add = Add {
            recurrence: &self.sphere.recurrence,
            points: &lanes,
            charges: &self.charges,
            harmonics: &mut self.harmonics,
            moments: &mut self.values,
        };
        simd::dispatch(self.simd, add);
    }

    /// Adds the sources with these indices.
    pub fn add_sources<T: Real>(&mut self, indices: &[u32], sources: Sources<'_, T, D>) {
        let (all, components) = (sources.points.len(), sources.carried.of_source());
        for chunk in indices.chunks(LANES) {
            let mut points = [[0.0; D]; LANES];
            for (place, index) in points.iter_mut().zip(chunk) {
                *place = sources.points[*index as usize].map(T::to_f64);
            }
            let of_equivalent = sources.carried.of_equivalent();
            let charge = |lane: usize, column: usize| {
                let (vector, component) = (column / of_equivalent, column % of_equivalent);
                sources.strengths[(vector * all + chunk[lane] as usize) * components + component].to_f64()
            };
            self.add(&points[..chunk.len()], charge);
        }
        if sources.carried == Carried::ChargeAndDipole {
            self.add_dipoles(indices, sources);
        }
    }

    fn add_dipoles<T: Real>(&mut self, indices: &[u32], sources: Sources<'_, T, D>) {
        let mut values = vec![[0.0; 2]; self.harmonics.len()];
        for index in indices {
            let point = sources.points[*index as usize];
            let place = std::array::from_fn(|axis| (point[axis].to_f64() - self.centre[axis]) / self.radius);
            for (vector, moments) in self.values.chunks_exact_mut(values.len()).enumerate() {
                let at = (vector * sources.points.len() + *index as usize) * 4 + 1;
                let dipole = std::array::from_fn(|axis| sources.strengths[at + axis].to_f64() / self.radius);
                self.sphere.recurrence.along::<D>(place, dipole, &mut values);
                moments
                    .iter_mut()
                    .zip(&values)
                    .for_each(|(moment, [_, along])| moment[0] += along);
            }
        }
    }

    /// Adds the equivalent sources of another box with this centre and radius.
    pub fn add_equivalents(&mut self, centre: [f64; D], radius: f64, strengths: &[f64]) {
        let (count, columns) = (self.sphere.count(), self.columns);
        for first in (0..count).step_by(LANES) {
            let last = (first + LANES).min(count);
            let points: Vec<[f64; D]> = (first..last)
                .map(|k| self.sphere.place(k, centre, SPHERE * radius))
                .collect();
            let charge = |lane: usize, column: usize| strengths[(first + lane) * columns + column];
            self.add(&points, charge);
        }
    }

    /// The equivalent strengths with these moments: point by point, column by column.
    pub fn strengths(&self) -> Vec<f64> {
        let mut strengths = vec![0.0; self.sphere.count() * self.columns];
        for (column, moments) in self.values.chunks_exact(self.harmonics.len()).enumerate() {
            let moments: Vec<f64> = moments.iter().map(|lanes| lanes.iter().sum()).collect();
            self.sphere.strengths(&moments, &mut strengths, (column, self.columns));
        }
        strengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;
    use crate::curve::Root;
    use farfield::points::{ChargeDistribution, PointSet};

    fn tree_of<const D: usize>(points: &[[f64; D]], capacity: usize) -> Tree<D> {
        let root = Threads::run(1, |ranks| Root::of_all(ranks, [points, &[]]))[0];
        let keys: Vec<u64> = points.iter().map(|point| root.key(*point)).collect();
        Tree::new(points, &keys, |_| 0.0, capacity)
    }

    fn distance<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
        (0..D).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
    }

    /// The potential of the root's equivalent sources at a position.
    fn from_afar<const D: usize>(
        tree: &Tree<D>,
        sphere: &Sphere<D>,
        strengths: &[f64],
        place: [f64; D],
        of_pair: fn(f64) -> f64,
    ) -> f64 {
        let root = &tree.nodes[0];
        let act =
            |k: usize| strengths[k] * of_pair(distance(place, sphere.place(k, root.centre, SPHERE * root.radius)));
        (0..sphere.count()).map(act).sum()
    }

    #[test]
    fn equivalent_sources_in_space_act_at_a_distance_like_the_sources() {
        let points = PointSet::Cube.generate::<f64>(3000, 1);
        let charges = ChargeDistribution::Positive.generate::<f64>(3000, 1);
        // The order, and the error allowed at two and at four times the radius.
        for (order, near, far) in [(4, 5e-4, 3e-5), (8, 1e-5, 1e-7), (12, 1e-6, 1e-9), (20, 1e-8, 1e-12)] {
            let sphere = Sphere::<3>::new(order);
            let tree = tree_of(&points, sphere.count());
            let wanted = Wanted::new(&tree, std::iter::once(0), sphere.count());
            let sources = Sources {
                points: &points,
                strengths: &charges,
                carried: Carried::Each(1),
                vectors: 1,
            };
            let all = equivalents(&tree, &sphere, &wanted, sources);
            for (times, allowed) in [(2.0, near), (4.0, far)] {
                let place = [0.5 + times * 0.866 * 0.6, 0.5, 0.5 - times * 0.866 * 0.8];
                let truth: f64 = points
                    .iter()
                    .zip(&charges)
                    .map(|(point, q)| q / distance(place, *point))
                    .sum();
                let found = from_afar(&tree, &sphere, &all[&0], place, |r| 1.0 / r);
                assert!(
                    (found / truth - 1.0).abs() < allowed,
                    "order {order}: {:e}",
                    found / truth - 1.0
                );
            }
        }
    }

    #[test]
    fn equivalent_sources_in_the_plane_act_at_a_distance_like_the_sources() {
        let points: Vec<[f64; 2]> = PointSet::Cube
            .generate::<f64>(2000, 1)
            .iter()
            .map(|p| [p[0], p[1]])
            .collect();
        let charges = ChargeDistribution::Positive.generate::<f64>(2000, 1);
        let sphere = Sphere::<2>::new(16);
        let tree = tree_of(&points, sphere.count());
        let wanted = Wanted::new(&tree, std::iter::once(0), sphere.count());
        let sources = Sources {
            points: &points,
            strengths: &charges,
            carried: Carried::Each(1),
            vectors: 1,
        };
        let all = equivalents(&tree, &sphere, &wanted, sources);
        let place = [2.0, 1.2];
        let truth: f64 = points
            .iter()
            .zip(&charges)
            .map(|(point, q)| q * distance(place, *point).ln())
            .sum();
        let found = from_afar(&tree, &sphere, &all[&0], place, f64::ln);
        assert!((found / truth - 1.0).abs() < 1e-8, "{:e}", found / truth - 1.0);
    }

    #[test]
    fn equivalent_charges_represent_dipoles() {
        let points = PointSet::Cube.generate::<f64>(500, 1);
        let strengths = ChargeDistribution::Signed.generate::<f64>(4 * 500, 1);
        let sphere = Sphere::<3>::new(14);
        let tree = tree_of(&points, 60);
        let wanted = Wanted::new(&tree, std::iter::once(0), 60);
        let sources = Sources {
            points: &points,
            strengths: &strengths,
            carried: Carried::ChargeAndDipole,
            vectors: 1,
        };
        let all = equivalents(&tree, &sphere, &wanted, sources);
        let place = [2.5, 1.0, -0.5];
        let act = |(point, strength): (&[f64; 3], &[f64; 4])| {
            let r = distance(place, *point);
            let along: f64 = (0..3)
                .map(|axis| strength[1 + axis] * (place[axis] - point[axis]))
                .sum();
            strength[0] / r + along / r.powi(3)
        };
        let truth: f64 = points.iter().zip(strengths.as_chunks::<4>().0).map(act).sum();
        let found = from_afar(&tree, &sphere, &all[&0], place, |r| 1.0 / r);
        assert!((found - truth).abs() < 1e-6 * truth.abs(), "{found} and {truth}");
    }

    #[test]
    fn equivalent_sources_from_children_and_from_sources_agree() {
        let points = PointSet::Plummer.generate::<f64>(20_000, 1);
        let charges = ChargeDistribution::Signed.generate::<f64>(2 * 20_000, 1);
        let sphere = Sphere::<3>::new(6);
        let tree = tree_of(&points, sphere.count());
        let sources = Sources {
            points: &points,
            strengths: &charges,
            carried: Carried::Each(1),
            vectors: 2,
        };
        let wanted = Wanted::new(&tree, std::iter::once(0), sphere.count());
        let from_children = equivalents(&tree, &sphere, &wanted, sources);
        assert!(from_children.len() > 50, "the children of the root must be used");
        let root = &tree.nodes[0];
        let mut moments = Moments::new(&sphere, root.centre, SPHERE * root.radius, 2);
        moments.add_sources(tree.points_of(0), sources);
        let largest = moments.strengths().iter().map(|q| q.abs()).fold(0.0, f64::max);
        for (a, b) in from_children[&0].iter().zip(moments.strengths()) {
            assert!((a - b).abs() < 1e-10 * largest, "{a} and {b}");
        }
    }
}
