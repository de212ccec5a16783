/// An axis-parallel box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub min: [f64; 3],
    /// The corner with the largest coordinates.
    pub max: [f64; 3],
}

impl Bounds {
    /// An empty box; its union with another box is the other box.
    pub const EMPTY: Self = Self {
        min: [f64::INFINITY; 3],
        max: [f64::NEG_INFINITY; 3],
    };

    /// The smallest box that holds the points. Points that are not finite are left out.
    #[must_use]
    pub fn of(points: &[[f64; 3]]) -> Self {
        let finite = points.iter().filter(|p| p.iter().all(|x| x.is_finite()));
        finite.fold(Self::EMPTY, |bounds, &point| {
            bounds.union(Self { min: point, max: point })
        })
    }

    /// A box that leaves out stray points: along each axis it holds `fraction` of the points and
    /// leaves out equally many on both sides. A fraction of 0.99 leaves out half a percent on each side.
    #[must_use]
    pub fn of_most(points: &[[f64; 3]], fraction: f64) -> Self {
        let finite = points.iter().filter(|p| p.iter().all(|x| x.is_finite()));
        let finite: Vec<_> = finite.copied().collect();
        if finite.is_empty() {
            return Self::EMPTY;
        }
        let outside = (1.0 - fraction.clamp(0.0, 1.0)) / 2.0;
        let last = finite.len() - 1;
        let low = (outside * last as f64).round() as usize;
        let mut bounds = Self::EMPTY;
        let mut values: Vec<f64> = Vec::with_capacity(finite.len());
        for axis in 0..3 {
            values.clear();
            values.extend(finite.iter().map(|point| point[axis]));
            bounds.min[axis] = *values.select_nth_unstable_by(low, f64::total_cmp).1;
            bounds.max[axis] = *values.select_nth_unstable_by(last - low, f64::total_cmp).1;
        }
        bounds
    }

    /// The smallest box that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            min: std::array::from_fn(|axis| self.min[axis].min(other.min[axis])),
            max: std::array::from_fn(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    /// Whether the box is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|axis| self.min[axis] > self.max[axis])
    }

    /// The centre of the box.
    #[must_use]
    pub fn center(&self) -> [f64; 3] {
        std::array::from_fn(|axis| 0.5 * (self.min[axis] + self.max[axis]))
    }

    /// The eight corners.
    pub(crate) fn corners(&self) -> [[f64; 3]; 8] {
        let corner = |index: usize| std::array::from_fn(|axis| [self.min, self.max][index >> axis & 1][axis]);
        std::array::from_fn(corner)
    }

    /// The pairs of [`corners`](Self::corners) that are joined by an edge.
    pub(crate) fn edges() -> impl Iterator<Item = (usize, usize)> {
        let upwards = |corner: usize| (0..3).map(move |axis| (corner, corner | 1 << axis));
        (0..8).flat_map(upwards).filter(|(a, b)| a != b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_the_finite_points() {
        let points = [[0.0, 5.0, -1.0], [f64::NAN, 90.0, 0.0], [2.0, -3.0, 4.0]];
        let bounds = Bounds::of(&points);
        assert_eq!((bounds.min, bounds.max), ([0.0, -3.0, -1.0], [2.0, 5.0, 4.0]));
        assert_eq!(bounds.union(Bounds::EMPTY), bounds);
        assert!(Bounds::of(&points[1..2]).is_empty());
    }

    #[test]
    fn stray_points_can_be_left_out() {
        let mut points: Vec<_> = (0..=1000).map(|i| [f64::from(i); 3]).collect();
        points.push([1e9; 3]);
        let bounds = Bounds::of_most(&points, 0.98);
        assert!(bounds.max[0] < 1000.0 && bounds.max[0] > 980.0, "{bounds:?}");
        assert_eq!(Bounds::of_most(&points, 1.0), Bounds::of(&points));
    }

    #[test]
    fn a_box_has_twelve_edges() {
        let corners = Bounds {
            min: [0.0; 3],
            max: [1.0; 3],
        }
        .corners();
        let lengths = Bounds::edges().map(|(a, b)| (0..3).map(|x| (corners[a][x] - corners[b][x]).abs()).sum::<f64>());
        assert_eq!(lengths.collect::<Vec<_>>(), [1.0; 12]);
    }
}
