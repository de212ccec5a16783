//! Closed triangulated surfaces: read -> join corners -> check -> tree of boxes -> signed distance.
//!
//! The distance is that to the nearest triangle. The normal there determines its sign; on an edge or a corner, the
//! angle-weighted sum of the normals around it, which is always right on a closed surface (Baerentzen and Aanaes).

mod read;
mod tree;

use crate::vec3::{Vec3, add, cross, dot, norm, scale, sub, unit};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tree::Tree;

/// A closed triangulated surface with outward normals.
#[derive(Debug, Clone)]
pub struct Mesh(Arc<Surface>);

#[derive(Debug)]
struct Surface {
    points: Vec<Vec3>,
    triangles: Vec<[usize; 3]>,
    /// The unit normal of each triangle.
    normals: Vec<Vec3>,
    /// The sum of the normals at each edge, whose key is its sorted ends.
    edges: HashMap<[usize; 2], Vec3>,
    /// The angle-weighted sum of the normals at each point.
    corners: Vec<Vec3>,
    low: Vec3,
    high: Vec3,
    tree: Tree,
}

impl Mesh {
    /// Reads an STL (text or binary) or OBJ file and multiplies its coordinates by `factor`.
    ///
    /// # Errors
    /// A sentence naming the problem with the file or its surface.
    pub fn read(path: &Path, factor: f64) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))?;
        let name = path.to_string_lossy().to_lowercase();
        let soup = match name.rsplit('.').next() {
            Some("stl") => read::stl(&bytes),
            Some("obj") => read::obj(&bytes),
            _ => Err("the name of a mesh file must end in .stl or .obj".to_owned()),
        };
        soup.and_then(|soup| Self::new(&soup, factor))
            .map_err(|why| format!("{}: {why}", path.display()))
    }

    /// A surface from separate triangles. Corners at equal positions are joined.
    ///
    /// # Errors
    /// A sentence naming the problem with the surface.
    pub fn new(soup: &[[Vec3; 3]], factor: f64) -> Result<Self, String> {
        let (points, triangles) = joined(soup, factor)?;
        check_closed(&points, &triangles)?;
        let volume: f64 = triangles
            .iter()
            .map(|t| dot(points[t[0]], cross(points[t[1]], points[t[2]])) / 6.0)
            .sum();
        if volume < 0.0 {
            return Err(format!(
                "it is inside out: its volume is {volume:.4e}; reverse the orientation of its triangles"
            ));
        }
        let normals: Vec<Vec3> = triangles.iter().map(|t| unit(normal_of(&points, t))).collect();
        let (mut edges, mut corners) = (HashMap::new(), vec![[0.0; 3]; points.len()]);
        for (t, n) in triangles.iter().zip(&normals) {
            for k in 0..3 {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                let edge = edges.entry([a.min(b), a.max(b)]).or_insert([0.0; 3]);
                *edge = add(*edge, *n);
                let (to_b, to_c) = (unit(sub(points[b], points[a])), unit(sub(points[c], points[a])));
                let angle = dot(to_b, to_c).clamp(-1.0, 1.0).acos();
                corners[a] = add(corners[a], scale(*n, angle));
            }
        }
        let bound = |pick: fn(f64, f64) -> f64, start: f64| -> Vec3 {
            std::array::from_fn(|axis| points.iter().map(|p| p[axis]).fold(start, pick))
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        let tree = Tree::new(&points, &triangles);
        Ok(Self(Arc::new(Surface {
            points,
            triangles,
            normals,
            edges,
            corners,
            low,
            high,
            tree,
        })))
    }

    /// Its extent along x, y and z.
    pub fn size(&self) -> Vec3 {
        sub(self.0.high, self.0.low)
    }

    /// The radius of a sphere about the origin that contains it.
    pub fn reach(&self) -> f64 {
        self.0.points.iter().map(|p| norm(*p)).fold(0.0, f64::max)
    }

    /// The signed distance to it, positive outside.
    pub fn distance(&self, p: Vec3) -> f64 {
        let s = &*self.0;
        let (mut best, mut nearest) = (f64::INFINITY, None);
        s.tree.visit(p, &mut best, |number, best| {
            let t = s.triangles[number];
            let (place, part) = nearest_point(p, t.map(|k| s.points[k]));
            let d = sub(p, place);
            if dot(d, d) < *best {
                *best = dot(d, d);
                nearest = Some((number, part, d));
            }
        });
        let Some((number, part, away)) = nearest else {
            return f64::INFINITY;
        };
        let t = s.triangles[number];
        let normal = match part {
            Part::Face => s.normals[number],
            Part::Corner(k) => s.corners[t[k]],
            Part::Edge(k) => {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                s.edges.get(&[a.min(b), a.max(b)]).copied().unwrap_or(s.normals[number])
            }
        };
        best.sqrt().copysign(dot(away, normal))
    }
}

fn normal_of(points: &[Vec3], t: &[usize; 3]) -> Vec3 {
    cross(sub(points[t[1]], points[t[0]]), sub(points[t[2]], points[t[0]]))
}

/// Joins corners at equal positions. Returns the points and the triangles as indices of points.
fn joined(soup: &[[Vec3; 3]], factor: f64) -> Result<(Vec<Vec3>, Vec<[usize; 3]>), String> {
    if soup.is_empty() {
        return Err("it has no triangles".to_owned());
    }
    let (mut known, mut points, mut triangles) = (HashMap::new(), Vec::new(), Vec::new());
    for (number, corners) in soup.iter().enumerate() {
        if corners.iter().flatten().any(|c| !c.is_finite()) {
            return Err(format!("triangle {} has a coordinate that is not finite", number + 1));
        }
        let t = corners.map(|p| {
            // Zero and minus zero are equal.
            let key = p.map(|c| (c + 0.0).to_bits());
            *known.entry(key).or_insert_with(|| {
                points.push(scale(p, factor));
                points.len() - 1
            })
        });
        // Triangles with two equal corners are dropped. Other triangles of zero area are harmless if the surface
        // closes.
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            triangles.push(t);
        }
    }
    Ok((points, triangles))
}

/// Checks that every edge belongs to exactly two triangles, which traverse it in opposite directions.
fn check_closed(points: &[Vec3], triangles: &[[usize; 3]]) -> Result<(), String> {
    let mut passes: HashMap<[usize; 2], usize> = HashMap::new();
    for t in triangles {
        for k in 0..3 {
            *passes.entry([t[k], t[(k + 1) % 3]]).or_insert(0) += 1;
        }
    }
    let mut wrong: Vec<[usize; 2]> = Vec::new();
    for (edge, count) in &passes {
        if *count != 1 || passes.get(&[edge[1], edge[0]]) != Some(&1) {
            wrong.push(*edge);
        }
    }
    wrong.sort_unstable();
    match wrong.first() {
        None => Ok(()),
        Some([a, b]) => Err(format!(
            "it is not watertight: {} edges do not belong to exactly two consistently oriented triangles; the first is \
             from {:?} to {:?}",
            wrong.len(),
            points[*a],
            points[*b]
        )),
    }
}

/// The part of a triangle that contains the nearest point: its face, edge k (which starts at corner k), or a corner.
#[derive(Clone, Copy)]
enum Part {
    Face,
    Edge(usize),
    Corner(usize),
}

/// The point of a triangle nearest to `p` (Ericson, Real-Time Collision Detection, 5.1.5).
fn nearest_point(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, Part) {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Part::Corner(0));
    }
    let bp = sub(p, b);
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Part::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (add(a, scale(ab, d1 / (d1 - d3))), Part::Edge(0));
    }
    let cp = sub(p, c);
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Part::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (add(a, scale(ac, d2 / (d2 - d6))), Part::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let share = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (add(b, scale(sub(c, b), share)), Part::Edge(1));
    }
    let sum = 1.0 / (va + vb + vc);
    (add(add(a, scale(ab, vb * sum)), scale(ac, vc * sum)), Part::Face)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A triangulated sphere: an octahedron whose faces are divided into four `cuts` times.
    pub fn ball(radius: f64, cuts: usize) -> Vec<[Vec3; 3]> {
        let axis = |k: usize, sign: f64| -> Vec3 { std::array::from_fn(|a| if a == k { sign } else { 0.0 }) };
        let mut faces = Vec::new();
        for signs in 0..8 {
            let s = [0, 1, 2].map(|k| if signs >> k & 1 == 0 { 1.0 } else { -1.0 });
            let corners = [axis(0, s[0]), axis(1, s[1]), axis(2, s[2])];
            let outward = s[0] * s[1] * s[2] > 0.0;
            faces.push(if outward {
                corners
            } else {
                [corners[0], corners[2], corners[1]]
            });
        }
        for _ in 0..cuts {
            let halve = |a: Vec3, b: Vec3| unit(add(a, b));
            faces = faces
                .into_iter()
                .flat_map(|[a, b, c]| {
                    let (ab, bc, ca) = (halve(a, b), halve(b, c), halve(c, a));
                    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                })
                .collect();
        }
        faces.into_iter().map(|f| f.map(|p| scale(p, radius))).collect()
    }

    #[test]
    fn the_distance_to_a_triangulated_sphere_is_that_to_the_sphere() {
        let mesh = Mesh::new(&ball(0.5, 4), 1.0).unwrap();
        for k in 0..500 {
            let p: Vec3 = std::array::from_fn(|a| ((k * 3 + a) * 7919 % 1009) as f64 / 504.5 - 1.0);
            let (got, want) = (mesh.distance(p), norm(p) - 0.5);
            assert!((got - want).abs() < 3e-3, "{p:?}: {got} {want}");
        }
    }

    #[test]
    fn the_sign_is_right_beyond_sharp_edges_and_corners() {
        // A flat tetrahedron.
        let (a, b, c, d) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.1, 0.1, 0.05]);
        let soup = [[a, c, b], [a, b, d], [b, c, d], [c, a, d]];
        let mesh = Mesh::new(&soup, 1.0).unwrap();
        for k in 0..2000 {
            let p: Vec3 = std::array::from_fn(|axis| ((k * 3 + axis) * 7919 % 1009) as f64 / 336.0 - 1.0);
            // A point is inside if it is behind all four faces.
            let inside = soup
                .iter()
                .all(|t| dot(cross(sub(t[1], t[0]), sub(t[2], t[0])), sub(p, t[0])) < 0.0);
            assert_eq!(mesh.distance(p) < 0.0, inside, "{p:?}");
        }
        assert!(mesh.distance([0.1, 0.1, 0.02]) < 0.0);
    }

    #[test]
    fn open_and_inverted_surfaces_are_rejected() {
        let mut soup = ball(1.0, 1);
        let turned: Vec<[Vec3; 3]> = soup.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        assert!(Mesh::new(&turned, 1.0).unwrap_err().contains("inside out"));
        soup[3] = [soup[3][0], soup[3][2], soup[3][1]];
        assert!(Mesh::new(&soup, 1.0).unwrap_err().contains("not watertight"));
        soup.remove(3);
        assert!(Mesh::new(&soup, 1.0).unwrap_err().contains("not watertight"));
        assert!(Mesh::new(&[], 1.0).unwrap_err().contains("no triangles"));
    }
}
