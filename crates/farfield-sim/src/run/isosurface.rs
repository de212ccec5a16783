//! The surface on which numbers on a regular grid have one value, by marching tetrahedra.
//!
//! Every cell of the grid is cut into six tetrahedra around one of its diagonals; neighbouring cells cut their common faces
//! alike, so the surface has no gaps. A corner of the surface is where the value lies on an edge, linear between its ends.

use crate::vec3::Vec3;
use std::collections::HashMap;

/// Triangles, their corners, and a second field at the corners.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// Where corners are.
    pub points: Vec<Vec3>,
    /// The corners of each triangle.
    pub triangles: Vec<[usize; 3]>,
    /// The second field at each corner.
    pub values: Vec<f64>,
}

/// A regular grid: the first point, the distance between points, how many along x, y and z (x fastest).
#[derive(Debug, Clone, Copy)]
pub struct Lattice {
    pub origin: Vec3,
    pub spacing: f64,
    pub size: [usize; 3],
}

/// The corners of a cell, x fastest, of the six tetrahedra around the diagonal from corner 0 to 7.
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 3, 2, 7],
    [0, 2, 6, 7],
    [0, 6, 4, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
];

/// The surface where `field` is `level`; `other` is interpolated to it.
pub fn surface(lattice: &Lattice, field: &[f64], level: f64, other: &[f64]) -> Surface {
    let size = lattice.size;
    let mut made = Surface::default();
    // Corners by the two grid points of their edge.
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    if size.contains(&0) {
        return made;
    }
    for z in 0..size[2] - 1 {
        for y in 0..size[1] - 1 {
            for x in 0..size[0] - 1 {
                let first = (z * size[1] + y) * size[0] + x;
                let corners: [usize; 8] =
                    std::array::from_fn(|c| first + (c & 1) + (c >> 1 & 1) * size[0] + (c >> 2) * size[0] * size[1]);
                let above = corners.iter().filter(|c| field[**c] > level).count();
                if above == 0 || above == 8 {
                    continue;
                }
                for tetrahedron in TETRAHEDRA {
                    let ends = tetrahedron.map(|c| corners[c]);
                    let mut corner = |one: usize, two: usize| {
                        let (low, high) = (ends[one].min(ends[two]), ends[one].max(ends[two]));
                        *known.entry((low, high)).or_insert_with(|| {
                            let share = ((level - field[low]) / (field[high] - field[low])).clamp(0.0, 1.0);
                            made.points.push(between(lattice, low, high, share));
                            made.values.push(other[low] + share * (other[high] - other[low]));
                            made.points.len() - 1
                        })
                    };
                    let inside: Vec<usize> = (0..4).filter(|k| field[ends[*k]] > level).collect();
                    let outside: Vec<usize> = (0..4).filter(|k| field[ends[*k]] <= level).collect();
                    let faces: Vec<[usize; 3]> = match (&inside[..], &outside[..]) {
                        ([one], [a, b, c]) | ([a, b, c], [one]) => {
                            vec![[corner(*one, *a), corner(*one, *b), corner(*one, *c)]]
                        }
                        ([a, b], [c, d]) => {
                            let quad = [corner(*a, *c), corner(*a, *d), corner(*b, *d), corner(*b, *c)];
                            vec![[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
                        }
                        _ => Vec::new(),
                    };
                    // Triangles without an area come from values that lie on a grid point.
                    made.triangles
                        .extend(faces.into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
                }
            }
        }
    }
    made
}

fn between(lattice: &Lattice, low: usize, high: usize, share: f64) -> Vec3 {
    let [nx, ny, _] = lattice.size;
    let place = |k: usize| [k % nx, k / nx % ny, k / nx / ny].map(|c| c as f64);
    let (a, b) = (place(low), place(high));
    std::array::from_fn(|axis| lattice.origin[axis] + lattice.spacing * (a[axis] + share * (b[axis] - a[axis])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::{cross, norm, sub};
    use std::f64::consts::PI;

    fn ball(points: usize) -> (Lattice, Vec<f64>) {
        let spacing = 2.0 / (points - 1) as f64;
        let lattice = Lattice {
            origin: [-1.0; 3],
            spacing,
            size: [points; 3],
        };
        let field = (0..points.pow(3)).map(|k| {
            let at = [k % points, k / points % points, k / points / points].map(|c| c as f64 * spacing - 1.0);
            0.6 - norm(at)
        });
        (lattice, field.collect())
    }

    #[test]
    fn a_sphere_has_its_area_and_no_gaps() {
        let (lattice, field) = ball(41);
        let found = surface(&lattice, &field, 0.0, &field);
        let area: f64 = found
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|k| found.points[k]);
                0.5 * norm(cross(sub(b, a), sub(c, a)))
            })
            .sum();
        let want = 4.0 * PI * 0.36;
        assert!((area / want - 1.0).abs() < 0.01, "{area} {want}");
        // Every edge belongs to two triangles.
        let mut edges: HashMap<(usize, usize), u32> = HashMap::new();
        for [a, b, c] in &found.triangles {
            for (one, two) in [(a, b), (b, c), (c, a)] {
                *edges.entry((*one.min(two), *one.max(two))).or_default() += 1;
            }
        }
        assert!(edges.values().all(|count| *count == 2));
        assert!(found.values.iter().all(|v| v.abs() < 1e-12));
    }

    #[test]
    fn nothing_is_made_where_the_value_does_not_occur() {
        let (lattice, field) = ball(9);
        assert_eq!(surface(&lattice, &field, 5.0, &field), Surface::default());
    }
}
