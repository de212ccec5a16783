//! Isosurfaces of a field on a regular grid, by marching tetrahedra.
//!
//! Every cell of the grid is divided into six tetrahedra around one of its diagonals. Neighbouring cells divide their
//! common faces alike, so the surface has no gaps. The corners of the surface are interpolated linearly along edges.

use crate::error::Error;
use crate::vec3::Vec3;
use std::collections::HashMap;

/// A triangulated surface, with a second field at its corners.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// The positions of the corners.
    pub points: Vec<Vec3>,
    /// The corners of each triangle.
    pub triangles: Vec<[usize; 3]>,
    /// The second field at each corner.
    pub values: Vec<f64>,
}

/// A regular grid: the first point, the distance between points, and the numbers of points along x, y and z (x
/// fastest).
#[derive(Debug, Clone, Copy)]
pub struct Lattice {
    pub origin: Vec3,
    pub spacing: f64,
    pub size: [usize; 3],
}

/// The six tetrahedra around the diagonal from corner 0 to 7, as corners of the cell (x fastest).
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 3, 2, 7],
    [0, 2, 6, 7],
    [0, 6, 4, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
];

/// The surface on which the first of two fields equals `level`, with the second field interpolated to it. `layer` reads
/// both fields on one layer of points, x fastest. It is called once for each layer, in order, and two layers are held
/// in memory.
pub fn surface(
    lattice: &Lattice,
    level: f64,
    mut layer: impl FnMut(usize) -> Result<[Vec<f64>; 2], Error>,
) -> Result<Surface, Error> {
    let [nx, ny, nz] = lattice.size;
    let of_layer = nx * ny;
    let mut made = Surface::default();
    // The index of each corner, by the two grid points of its edge.
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    if lattice.size.contains(&0) {
        return Ok(made);
    }
    let mut above = layer(0)?;
    for z in 0..nz - 1 {
        let below = std::mem::replace(&mut above, layer(z + 1)?);
        let at = |k: usize, field: usize| match k / of_layer == z {
            true => below[field][k % of_layer],
            false => above[field][k % of_layer],
        };
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let first = (z * ny + y) * nx + x;
                let corners: [usize; 8] =
                    std::array::from_fn(|c| first + (c & 1) + (c >> 1 & 1) * nx + (c >> 2) * of_layer);
                let higher = corners.iter().filter(|c| at(**c, 0) > level).count();
                if higher == 0 || higher == 8 {
                    continue;
                }
                for tetrahedron in TETRAHEDRA {
                    let ends = tetrahedron.map(|c| corners[c]);
                    let mut corner = |one: usize, two: usize| {
                        let (low, high) = (ends[one].min(ends[two]), ends[one].max(ends[two]));
                        *known.entry((low, high)).or_insert_with(|| {
                            let (from, to) = (at(low, 0), at(high, 0));
                            let share = ((level - from) / (to - from)).clamp(0.0, 1.0);
                            made.points.push(between(lattice, low, high, share));
                            made.values.push(at(low, 1) + share * (at(high, 1) - at(low, 1)));
                            made.points.len() - 1
                        })
                    };
                    let inside: Vec<usize> = (0..4).filter(|k| at(ends[*k], 0) > level).collect();
                    let outside: Vec<usize> = (0..4).filter(|k| at(ends[*k], 0) <= level).collect();
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
                    // Triangles of zero area occur where the value at a grid point equals `level`.
                    made.triangles
                        .extend(faces.into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
                }
            }
        }
        // The next layer of cells shares only the edges within its lower layer of points.
        known.retain(|(low, _), _| *low >= (z + 1) * of_layer);
    }
    Ok(made)
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

    fn surface_of(lattice: &Lattice, field: &[f64], level: f64) -> Surface {
        let of_layer = lattice.size[0] * lattice.size[1];
        let layer = |z: usize| Ok([0, 1].map(|_| field[z * of_layer..(z + 1) * of_layer].to_vec()));
        surface(lattice, level, layer).unwrap()
    }

    #[test]
    fn a_sphere_has_its_area_and_no_gaps() {
        let (lattice, field) = ball(41);
        let found = surface_of(&lattice, &field, 0.0);
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
    fn a_level_outside_the_range_gives_an_empty_surface() {
        let (lattice, field) = ball(9);
        assert_eq!(surface_of(&lattice, &field, 5.0), Surface::default());
    }
}
