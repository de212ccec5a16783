//! Bodies: their shape, their motion, and their smooth characteristic function, one inside and zero outside.
//!
//! Everything follows from the signed distance to the surface, so refining the grid sharpens a body without
//! interpolation.

use super::mesh::Mesh;
use crate::case::{BodySettings, ShapeName};
use crate::vec3::{Vec3, cross, dot, norm};
use std::f64::consts::PI;

/// The width of the band in which the characteristic function falls from one to zero, in spacings.
pub const BAND: f64 = 1.0;
/// The depth of the centre of that band below the surface, in spacings. Points where the function is far below one are
/// stopped as completely as others, and so is the velocity halfway to the next point. The effective wall therefore lies
/// outside the centre of the band. With this value the drag of a sphere at Reynolds number 550 is accurate for T above
/// 0.5, with 64 and with 100 points across.
pub const INSET: f64 = 0.35;

/// A body.
#[derive(Debug, Clone)]
pub struct Body {
    shape: Shape,
    centre: Vec3,
    velocity: Vec3,
    turning: Vec3,
}

/// A shape centred at the origin.
#[derive(Debug, Clone)]
enum Shape {
    Sphere { radius: f64 },
    Ellipsoid { radii: Vec3 },
    Cylinder { radius: f64, length: f64, axis: Vec3 },
    Box { half: Vec3 },
    Torus { radius: f64, tube: f64, axis: Vec3 },
    Mesh(Mesh),
}

impl Body {
    /// The body of a case.
    ///
    /// # Errors
    /// The invalid key, and the reason.
    pub fn new(settings: &BodySettings) -> Result<Self, (&'static str, String)> {
        let needed = |key: &'static str, value: Option<f64>| match value {
            Some(value) if value.is_finite() && value > 0.0 => Ok(value),
            Some(value) => Err((key, format!("{value} is not a finite number above 0"))),
            None => Err((key, "it is required for this shape".to_owned())),
        };
        let needed_all = |key: &'static str, value: Option<Vec3>| match value {
            Some(value) if value.iter().all(|v| v.is_finite() && *v > 0.0) => Ok(value),
            Some(value) => Err((key, format!("{value:?} is not three finite numbers above 0"))),
            None => Err((key, "it is required for this shape".to_owned())),
        };
        let axis = || {
            let length = norm(settings.axis);
            if length > 1e-100 && length.is_finite() {
                Ok(settings.axis.map(|c| c / length))
            } else {
                Err(("axis", "a direction cannot be zero".to_owned()))
            }
        };
        let shape = match settings.shape {
            ShapeName::Sphere => Shape::Sphere {
                radius: needed("radius", settings.radius)?,
            },
            ShapeName::Ellipsoid => Shape::Ellipsoid {
                radii: needed_all("radii", settings.radii)?,
            },
            ShapeName::Cylinder => Shape::Cylinder {
                radius: needed("radius", settings.radius)?,
                length: needed("length", settings.length)?,
                axis: axis()?,
            },
            ShapeName::Box => Shape::Box {
                half: needed_all("size", settings.size)?.map(|s| 0.5 * s),
            },
            ShapeName::Torus => {
                let (radius, tube) = (needed("radius", settings.radius)?, needed("tube", settings.tube)?);
                if tube >= radius {
                    return Err(("tube", format!("{tube} leaves no hole in a torus of radius {radius}")));
                }
                let axis = axis()?;
                Shape::Torus { radius, tube, axis }
            }
            ShapeName::Mesh => {
                let file = settings
                    .file
                    .as_ref()
                    .ok_or(("file", "it is required for this shape".to_owned()))?;
                let scale = needed("scale", Some(settings.scale))?;
                Shape::Mesh(Mesh::read(file.as_ref(), scale).map_err(|why| ("file", why))?)
            }
        };
        Ok(Self {
            shape,
            centre: settings.centre,
            velocity: settings.velocity,
            turning: settings.turning,
        })
    }

    /// Whether it moves or rotates.
    #[inline]
    pub fn moves(&self) -> bool {
        self.velocity != [0.0; 3] || self.turning != [0.0; 3]
    }

    /// Radius and centre, if it is a sphere at rest.
    pub(super) fn sphere_at_rest(&self) -> Option<(f64, Vec3)> {
        match self.shape {
            Shape::Sphere { radius } if !self.moves() => Some((radius, self.centre)),
            _ => None,
        }
    }

    /// Its centre at `time`.
    pub fn centre(&self, time: f64) -> Vec3 {
        std::array::from_fn(|axis| self.centre[axis] + time * self.velocity[axis])
    }

    /// The speed of its centre.
    pub fn speed(&self) -> f64 {
        norm(self.velocity)
    }

    /// The velocity of its material at the point `x`.
    pub fn velocity_at(&self, x: Vec3, time: f64) -> Vec3 {
        let c = self.centre(time);
        let turned = cross(self.turning, std::array::from_fn(|axis| x[axis] - c[axis]));
        std::array::from_fn(|axis| self.velocity[axis] + turned[axis])
    }

    /// The signed distance to its surface, positive outside. For an ellipsoid it is accurate to first order near the
    /// surface.
    pub fn distance(&self, x: Vec3, time: f64) -> f64 {
        let c = self.centre(time);
        let mut p: Vec3 = std::array::from_fn(|axis| x[axis] - c[axis]);
        let rate = norm(self.turning);
        if rate > 0.0 {
            p = turned(p, self.turning.map(|t| t / rate), -rate * time);
        }
        self.shape.distance(p)
    }

    /// The characteristic function: one inside, zero outside, smooth across [`BAND`] spacings.
    pub fn inside(&self, x: Vec3, time: f64, spacing: f64) -> f64 {
        smooth_step(-self.distance(x, time) / spacing - INSET)
    }

    /// The radius of a sphere around its centre that contains it.
    pub fn reach(&self) -> f64 {
        match &self.shape {
            Shape::Sphere { radius } => *radius,
            Shape::Ellipsoid { radii } => radii.iter().copied().fold(0.0, f64::max),
            Shape::Cylinder { radius, length, .. } => radius.hypot(0.5 * length),
            Shape::Box { half } => norm(*half),
            Shape::Torus { radius, tube, .. } => radius + tube,
            Shape::Mesh(mesh) => mesh.reach(),
        }
    }

    /// The reference length of its Reynolds number: the diameter, or the larger of its extents along y and z.
    pub fn length(&self) -> f64 {
        match &self.shape {
            Shape::Sphere { radius } | Shape::Cylinder { radius, .. } => 2.0 * radius,
            Shape::Ellipsoid { radii } => 2.0 * radii[1].max(radii[2]),
            Shape::Box { half } => 2.0 * half[1].max(half[2]),
            Shape::Torus { radius, tube, .. } => 2.0 * (radius + tube),
            Shape::Mesh(mesh) => {
                let size = mesh.size();
                size[1].max(size[2])
            }
        }
    }

    /// The projected area along `direction` (a unit vector).
    pub fn frontal_area(&self, direction: Vec3) -> f64 {
        match &self.shape {
            Shape::Sphere { radius } => PI * radius * radius,
            Shape::Ellipsoid { radii: [a, b, c] } => {
                let n = direction;
                PI * ((b * c * n[0]).powi(2) + (a * c * n[1]).powi(2) + (a * b * n[2]).powi(2)).sqrt()
            }
            Shape::Cylinder { radius, length, axis } => {
                let along = dot(*axis, direction).abs();
                PI * radius * radius * along + 2.0 * radius * length * (1.0 - along * along).max(0.0).sqrt()
            }
            Shape::Box { half: [a, b, c] } => {
                let n = direction.map(f64::abs);
                4.0 * (b * c * n[0] + a * c * n[1] + a * b * n[2])
            }
            Shape::Torus { .. } | Shape::Mesh(_) => self.shadow(direction),
        }
    }

    /// The projected area, by 400 by 400 rays. They are marched by the distance function, so that no ray passes
    /// through.
    fn shadow(&self, direction: Vec3) -> f64 {
        const RAYS: usize = 400;
        let reach = 1.01 * self.reach();
        let other = if direction[0].abs() < 0.9 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let across = cross(direction, other);
        let across = across.map(|c| c / norm(across));
        let up = cross(direction, across);
        let step = 2.0 * reach / RAYS as f64;
        let hits = (0..RAYS * RAYS).filter(|ray| {
            let (a, b) = (
                (*ray % RAYS) as f64 * step + 0.5 * step - reach,
                (*ray / RAYS) as f64 * step + 0.5 * step - reach,
            );
            let mut along = -reach;
            while along < reach {
                let p = std::array::from_fn(|axis| a * across[axis] + b * up[axis] + along * direction[axis]);
                let distance = self.shape.distance(p);
                if distance <= 0.0 {
                    return true;
                }
                along += distance.max(1e-3 * reach);
            }
            false
        });
        hits.count() as f64 * step * step
    }
}

impl Shape {
    fn distance(&self, p: Vec3) -> f64 {
        match self {
            Shape::Sphere { radius } => norm(p) - radius,
            Shape::Ellipsoid { radii } => {
                let scaled = norm(std::array::from_fn(|a| p[a] / radii[a]));
                let slope = norm(std::array::from_fn(|a| p[a] / (radii[a] * radii[a])));
                if slope == 0.0 {
                    -radii.iter().copied().fold(f64::INFINITY, f64::min)
                } else {
                    scaled * (scaled - 1.0) / slope
                }
            }
            Shape::Cylinder { radius, length, axis } => {
                let along = dot(p, *axis);
                let across = norm(std::array::from_fn(|a| p[a] - along * axis[a]));
                let (out, beyond) = (across - radius, along.abs() - 0.5 * length);
                out.max(0.0).hypot(beyond.max(0.0)) + out.max(beyond).min(0.0)
            }
            Shape::Box { half } => {
                let q: Vec3 = std::array::from_fn(|a| p[a].abs() - half[a]);
                norm(q.map(|c| c.max(0.0))) + q[0].max(q[1]).max(q[2]).min(0.0)
            }
            Shape::Torus { radius, tube, axis } => {
                let along = dot(p, *axis);
                let across = norm(std::array::from_fn(|a| p[a] - along * axis[a]));
                (across - radius).hypot(along) - tube
            }
            Shape::Mesh(mesh) => mesh.distance(p),
        }
    }
}

/// Rises from zero at half a band outside to one at half a band inside, with a continuous second derivative.
fn smooth_step(cells: f64) -> f64 {
    let t = cells / (0.5 * BAND);
    // Most points are far from the surface.
    if t <= -1.0 {
        return 0.0;
    }
    if t >= 1.0 {
        return 1.0;
    }
    0.5 * (1.0 + t + (PI * t).sin() / PI)
}

/// A vector rotated about a unit axis (Rodrigues).
fn turned(p: Vec3, axis: Vec3, angle: f64) -> Vec3 {
    let (s, c) = angle.sin_cos();
    let (along, side) = (dot(p, axis), cross(axis, p));
    std::array::from_fn(|k| c * p[k] + s * side[k] + (1.0 - c) * along * axis[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(shape: ShapeName) -> BodySettings {
        BodySettings {
            shape,
            centre: [0.1, -0.2, 0.3],
            radius: Some(0.5),
            radii: Some([0.5, 0.3, 0.2]),
            size: Some([1.0, 0.6, 0.4]),
            length: Some(1.2),
            tube: Some(0.15),
            axis: [0.0, 0.0, 2.0],
            file: None,
            scale: 1.0,
            velocity: [0.0; 3],
            turning: [0.0; 3],
        }
    }

    const SHAPES: [ShapeName; 5] = [
        ShapeName::Sphere,
        ShapeName::Ellipsoid,
        ShapeName::Cylinder,
        ShapeName::Box,
        ShapeName::Torus,
    ];

    #[test]
    fn distances_have_unit_slope_near_the_surface() {
        for shape in SHAPES {
            let body = Body::new(&settings(shape)).unwrap();
            let mut looked = 0;
            for k in 0..4000 {
                let x: Vec3 = std::array::from_fn(|a| {
                    let hash = (k * 3 + a) * 2_654_435_761 % 10_007;
                    body.centre[a] + 1.6 * (hash as f64 / 10_007.0 - 0.5)
                });
                let d = body.distance(x, 0.0);
                if d.abs() > 0.02 {
                    continue;
                }
                let e = 1e-5;
                let slope: Vec3 = std::array::from_fn(|a| {
                    let mut y = x;
                    y[a] += e;
                    (body.distance(y, 0.0) - d) / e
                });
                // For an ellipsoid it is accurate to first order in the distance over the smallest radius of curvature.
                let allowed = if shape == ShapeName::Ellipsoid { 0.4 } else { 1e-3 };
                assert!((norm(slope) - 1.0).abs() < allowed, "{shape:?} {x:?}: {slope:?}");
                looked += 1;
            }
            assert!(looked > 20, "{shape:?}: {looked}");
        }
    }

    #[test]
    fn frontal_areas_match_projections_by_rays() {
        for shape in SHAPES {
            let body = Body::new(&settings(shape)).unwrap();
            for direction in [[1.0, 0.0, 0.0], [0.6, 0.0, 0.8]] {
                let (area, shadow) = (body.frontal_area(direction), body.shadow(direction));
                assert!((area / shadow - 1.0).abs() < 0.02, "{shape:?}: {area} {shadow}");
            }
        }
    }

    #[test]
    fn a_material_point_keeps_its_distance_when_the_body_moves_and_rotates() {
        let mut moving = settings(ShapeName::Box);
        (moving.velocity, moving.turning) = ([0.5, 0.0, 0.0], [0.0, 0.0, 0.7]);
        let body = Body::new(&moving).unwrap();
        let mut x = [0.45, 0.05, 0.35];
        let d = body.distance(x, 0.0);
        let steps = 20_000;
        for k in 0..steps {
            let u = body.velocity_at(x, f64::from(k) / f64::from(steps));
            x = std::array::from_fn(|a| x[a] + u[a] / f64::from(steps));
        }
        assert!((body.distance(x, 1.0) - d).abs() < 1e-4);
    }

    #[test]
    fn errors_name_missing_and_invalid_sizes() {
        let mut wrong = settings(ShapeName::Torus);
        wrong.tube = Some(0.6);
        assert_eq!(Body::new(&wrong).unwrap_err().0, "tube");
        wrong = settings(ShapeName::Sphere);
        wrong.radius = None;
        assert_eq!(Body::new(&wrong).unwrap_err().0, "radius");
        wrong.radius = Some(-1.0);
        assert_eq!(Body::new(&wrong).unwrap_err().0, "radius");
    }
}
