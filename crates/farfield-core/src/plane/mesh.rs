//! The mesh of a plan, for inspection: the boxes and their couplings.

use super::Plan;
use super::pyramid::{Pyramid, first_of_level};
use crate::plan::engine::Engine;
use crate::simd::Real;

/// The boxes of its level that a box interacts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Couplings {
    /// Boxes that act on it by M2L.
    pub weak: Vec<usize>,
    /// Boxes whose interaction is left to the next level, or to pairs of points on the finest level. The box itself is
    /// one of them.
    pub strong: Vec<usize>,
}

/// The mesh of a plan (Goude and Engblom, figure 2.1). Level `l` has `4^l` boxes; the children of box `b` are the boxes
/// `4b` to `4b + 3` of the next level.
#[derive(Debug, Clone)]
pub struct Mesh<'a, T: Real> {
    plan: &'a Plan<T>,
    /// The regions of all levels, the coarsest first.
    regions: Vec<[[f64; 2]; 2]>,
}

impl<T: Real> Plan<T> {
    /// The mesh of the FMM; `None` for a direct sum.
    ///
    /// ```
    /// use farfield_core::plane::{Kernel, PlaneSet};
    /// use farfield_core::{Method, Plane, Request};
    ///
    /// let points = PlaneSet::Normal.generate::<f64>(4096, 1);
    /// let mut request = Request::<Plane>::new(Kernel::Harmonic);
    /// request.options.method = Method::Fmm;
    /// let plan = request.between(&points).plan()?;
    /// let mesh = plan.mesh().unwrap();
    /// println!("{} boxes on the finest level", mesh.boxes(mesh.depth()).len());
    /// # Ok::<(), farfield_core::Error>(())
    /// ```
    pub fn mesh(&self) -> Option<Mesh<'_, T>> {
        match &self.engine {
            Engine::Direct(_) => None,
            Engine::Tree(fmm) => Some(Mesh {
                plan: self,
                regions: regions(&fmm.pyramid),
            }),
        }
    }
}

impl<T: Real> Mesh<'_, T> {
    /// The finest level.
    pub fn depth(&self) -> usize {
        self.plan.parameters().depth.unwrap_or(0)
    }

    /// The boxes of a level as lower and upper corners. Together they fill the bounding rectangle of all points. Empty
    /// for levels beyond the finest.
    pub fn boxes(&self, level: usize) -> &[[[f64; 2]; 2]] {
        if level > self.depth() {
            return &[];
        }
        &self.regions[first_of_level(level)..first_of_level(level + 1)]
    }

    /// The couplings of box `number` of a level; `None` if there is no such box.
    pub fn couplings(&self, level: usize, number: usize) -> Option<Couplings> {
        let Engine::Tree(fmm) = &self.plan.engine else {
            return None;
        };
        if number >= self.boxes(level).len() {
            return None;
        }
        let mut found = Couplings {
            weak: Vec::new(),
            strong: vec![0],
        };
        // Children of boxes that are strongly coupled to the parent are tested again.
        for l in 1..=level {
            let first = first_of_level(l);
            let row = fmm.connections.weak.row(first + (number >> (2 * (level - l))));
            found.weak = row.iter().map(|b| *b as usize - first).collect();
            let children = found.strong.iter().flat_map(|parent| 4 * parent..4 * parent + 4);
            found.strong = children.filter(|child| !found.weak.contains(child)).collect();
        }
        Some(found)
    }
}

/// The regions of the boxes of all levels, reconstructed from the bounding rectangles of their points: a cut divides
/// the longer side and passes through the first point beyond it.
fn regions<T: Real>(pyramid: &Pyramid<T>) -> Vec<[[f64; 2]; 2]> {
    let around = |b: usize| pyramid.boxes.rectangle[b].map(|corner| corner.map(Real::to_f64));
    let mut regions = vec![around(0); first_of_level(pyramid.depth + 1)];
    for parent in 0..first_of_level(pyramid.depth) {
        let child = 4 * parent + 1;
        let [left, right] = halves(regions[parent], &[around(child + 2), around(child + 3)]);
        for (half, first) in [(left, child), (right, child + 2)] {
            [regions[first], regions[first + 1]] = halves(half, &[around(first + 1)]);
        }
    }
    regions
}

/// Divides the longer side of a region at the lowest of the rectangles `beyond` the cut.
fn halves(region: [[f64; 2]; 2], beyond: &[[[f64; 2]; 2]]) -> [[[f64; 2]; 2]; 2] {
    let [low, high] = region;
    let axis = usize::from(high[1] - low[1] > high[0] - low[0]);
    let at = beyond.iter().map(|[low, _]| low[axis]).fold(high[axis], f64::min);
    let (mut lower, mut upper) = (region, region);
    (lower[1][axis], upper[0][axis]) = (at, at);
    [lower, upper]
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, PlaneSet};
    use super::*;
    use crate::geometry::Plane;
    use crate::sum::{Method, Options, Request};

    fn fmm(theta: Option<f64>) -> Request<Plane> {
        Request {
            options: Options {
                method: Method::Fmm,
                leaf_capacity: Some(12),
                theta,
                ..Options::default()
            },
            ..Request::new(Kernel::Harmonic)
        }
    }

    fn area([low, high]: [[f64; 2]; 2]) -> f64 {
        (high[0] - low[0]) * (high[1] - low[1])
    }

    #[test]
    fn boxes_hold_their_points_and_fill_the_plane() {
        for set in [PlaneSet::Square, PlaneSet::Normal, PlaneSet::Layer] {
            let points = set.generate::<f64>(3000, 1);
            let plan = fmm(None).between(&points).plan().unwrap();
            let Engine::Tree(fmm) = &plan.engine else {
                panic!("the plan has no mesh")
            };
            let mesh = plan.mesh().unwrap();
            for level in 0..=mesh.depth() {
                let boxes = mesh.boxes(level);
                assert_eq!(boxes.len(), 1 << (2 * level));
                let total: f64 = boxes.iter().map(|b| area(*b)).sum();
                assert!((total - area(mesh.boxes(0)[0])).abs() < 1e-12, "{set}, level {level}");
                for (b, [low, high]) in boxes.iter().enumerate() {
                    let [from, to] = fmm.pyramid.boxes.rectangle[first_of_level(level) + b];
                    for axis in 0..2 {
                        assert!(
                            low[axis] <= from[axis] && to[axis] <= high[axis],
                            "{set}, level {level}, box {b}"
                        );
                    }
                }
            }
            assert!(mesh.boxes(mesh.depth() + 1).is_empty());
        }
    }

    #[test]
    fn couplings_follow_the_theta_criterion_and_are_symmetric() {
        let points = PlaneSet::Normal.generate::<f64>(4000, 1);
        let plan = fmm(Some(0.5)).between(&points).plan().unwrap();
        let Engine::Tree(fmm) = &plan.engine else {
            panic!("the plan has no mesh")
        };
        let mesh = plan.mesh().unwrap();
        let level = mesh.depth();
        let all: Vec<Couplings> = (0..mesh.boxes(level).len())
            .map(|b| mesh.couplings(level, b).unwrap())
            .collect();
        let circle = |b: usize| {
            let b = first_of_level(level) + b;
            (fmm.pyramid.boxes.centre[b], fmm.pyramid.boxes.radius[b])
        };
        let apart = |a: usize, b: usize| {
            let ((ca, ra), (cb, rb)) = (circle(a), circle(b));
            let d = (ca[0] - cb[0]).hypot(ca[1] - cb[1]);
            ra.max(rb) + 0.5 * ra.min(rb) <= 0.5 * d
        };
        for (b, found) in all.iter().enumerate() {
            assert!(found.strong.contains(&b));
            assert!(
                found
                    .weak
                    .iter()
                    .all(|other| apart(b, *other) && all[*other].weak.contains(&b))
            );
            assert!(
                found
                    .strong
                    .iter()
                    .all(|other| !apart(b, *other) && all[*other].strong.contains(&b))
            );
        }
        assert_eq!(mesh.couplings(level, all.len()), None);
        let few = Request::<Plane>::new(Kernel::Log).between(&points[..5]).plan().unwrap();
        assert!(few.mesh().is_none());
    }
}
