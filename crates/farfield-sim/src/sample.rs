//! Fields sampled from particles: velocity, vorticity, Q and lambda-2 on a uniform grid or a slice.

use crate::error::Error;
use crate::model::Model;
use crate::vec3::{Vec3, norm};
use farfield_io::vtk::{Attributes, RegularGrid, write_vti};
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use farfield_plot::scene::ColourMap;
use farfield_plot::{FieldMap, Figure};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A quantity that can be sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The velocity.
    Velocity,
    /// The vorticity.
    Vorticity,
    /// The Q criterion $-\frac12\partial_iu_j\partial_ju_i$: positive where rotation exceeds strain.
    Q,
    /// The middle eigenvalue of $S^2+\Omega^2$: negative in vortices.
    Lambda2,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Quantity; 4] = [Quantity::Velocity, Quantity::Vorticity, Quantity::Q, Quantity::Lambda2];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Velocity => "velocity",
            Quantity::Vorticity => "vorticity",
            Quantity::Q => "q",
            Quantity::Lambda2 => "lambda2",
        }
    }
}

/// A uniform grid in space. With one point along an axis it is a slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// The first point.
    pub origin: Vec3,
    /// The distance between points.
    pub spacing: f64,
    /// Points along x, y and z.
    pub size: [usize; 3],
}

impl Region {
    /// The largest number of points; more are taken for a typing error.
    pub const MOST: usize = 1 << 28;

    /// A grid over a box, with `resolution` points along its longest side.
    ///
    /// # Errors
    /// A sentence naming the problem.
    pub fn new(low: Vec3, high: Vec3, resolution: usize) -> Result<Self, String> {
        let sides: Vec3 = std::array::from_fn(|axis| high[axis] - low[axis]);
        if !sides.iter().all(|side| side.is_finite() && *side >= 0.0) {
            return Err(format!(
                "the box from {low:?} to {high:?} is invalid: its sides must be finite and not negative"
            ));
        }
        let longest = sides.iter().copied().fold(0.0, f64::max);
        if longest == 0.0 || resolution < 2 {
            return Err("a grid needs at least two points along its longest side".to_owned());
        }
        let spacing = longest / (resolution - 1) as f64;
        let size = sides.map(|side| (side / spacing).round() as usize + 1);
        let points = size.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
        if points.is_none_or(|points| points > Self::MOST) {
            return Err(format!("{} x {} x {} points are too many", size[0], size[1], size[2]));
        }
        Ok(Self {
            origin: low,
            spacing,
            size,
        })
    }

    /// The slice of this grid at coordinate `at` of `axis`.
    #[must_use]
    pub fn slice(mut self, axis: usize, at: f64) -> Self {
        self.origin[axis] = at;
        self.size[axis] = 1;
        self
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.size.iter().product()
    }

    /// The positions of all points, x fastest.
    pub fn positions(&self) -> Vec<Vec3> {
        let [nx, ny, _] = self.size;
        (0..self.points())
            .map(|k| {
                let at = [k % nx, k / nx % ny, k / nx / ny];
                std::array::from_fn(|axis| self.origin[axis] + at[axis] as f64 * self.spacing)
            })
            .collect()
    }

    /// The axis normal to a slice.
    fn across(&self) -> Option<usize> {
        (0..3).rev().find(|axis| self.size[*axis] == 1)
    }
}

/// Velocities at points, and their gradients if the model computes them.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowAt {
    /// The velocity at each point.
    pub velocities: Vec<Vec3>,
    /// The gradient at each point; entry `3 i + j` is the derivative of u_i along x_j.
    pub gradients: Option<Vec<[f64; 9]>>,
}

/// Sampled fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The grid.
    pub region: Region,
    /// The vector fields.
    pub vectors: Vec<(&'static str, Vec<Vec3>)>,
    /// The scalar fields.
    pub scalars: Vec<(&'static str, Vec<f64>)>,
}

/// Samples the current state of a model.
///
/// # Errors
/// [`Error::Folder`] for a model without a velocity field, and the errors of its sum.
pub fn sample(model: &mut dyn Model, region: Region, quantities: &[Quantity]) -> Result<Sampled, Error> {
    let flow = model.flow_at(&region.positions())?.ok_or_else(|| Error::Folder {
        folder: PathBuf::from("sample"),
        why: "only cases with [vortex] or [plane] can be sampled; cases with [flow] write their velocity to fields/"
            .to_owned(),
    })?;
    let gradients = match flow.gradients {
        Some(gradients) => gradients,
        None => differences(&flow.velocities, &region),
    };
    let mut sampled = Sampled {
        region,
        vectors: Vec::new(),
        scalars: Vec::new(),
    };
    for quantity in quantities {
        let name = quantity.name();
        match quantity {
            Quantity::Velocity => sampled.vectors.push((name, flow.velocities.clone())),
            Quantity::Vorticity => {
                let curl = |g: &[f64; 9]| [g[7] - g[5], g[2] - g[6], g[3] - g[1]];
                sampled.vectors.push((name, gradients.iter().map(curl).collect()));
            }
            Quantity::Q => sampled.scalars.push((name, gradients.iter().map(q).collect())),
            Quantity::Lambda2 => sampled.scalars.push((name, gradients.iter().map(lambda2).collect())),
        }
    }
    Ok(sampled)
}

/// Gradients by central differences on the grid, one-sided at its boundary, zero normal to a slice.
fn differences(u: &[Vec3], region: &Region) -> Vec<[f64; 9]> {
    let size = region.size;
    let strides = [1, size[0], size[0] * size[1]];
    (0..u.len())
        .map(|k| {
            let at = [k % size[0], k / size[0] % size[1], k / strides[2]];
            let mut gradient = [0.0; 9];
            for along in 0..3 {
                let (before, after) = (usize::from(at[along] > 0), usize::from(at[along] + 1 < size[along]));
                if before + after == 0 {
                    continue;
                }
                let width = (before + after) as f64 * region.spacing;
                for (of, entry) in (0..3).map(|of| (of, 3 * of + along)) {
                    let change = u[k + after * strides[along]][of] - u[k - before * strides[along]][of];
                    gradient[entry] = change / width;
                }
            }
            gradient
        })
        .collect()
}

fn q(g: &[f64; 9]) -> f64 {
    let mut sum = 0.0;
    for i in 0..3 {
        for j in 0..3 {
            sum += g[3 * i + j] * g[3 * j + i];
        }
    }
    -0.5 * sum
}

/// The middle eigenvalue of the symmetric matrix $S^2+\Omega^2=\frac12(G^2+G^{2T})$, by its trigonometric formula.
fn lambda2(g: &[f64; 9]) -> f64 {
    let square = |i: usize, j: usize| (0..3).map(|k| g[3 * i + k] * g[3 * k + j]).sum::<f64>();
    let m = |i: usize, j: usize| 0.5 * (square(i, j) + square(j, i));
    let mean = (m(0, 0) + m(1, 1) + m(2, 2)) / 3.0;
    let off = m(0, 1).powi(2) + m(0, 2).powi(2) + m(1, 2).powi(2);
    let d = [m(0, 0) - mean, m(1, 1) - mean, m(2, 2) - mean];
    let p = ((d.iter().map(|x| x * x).sum::<f64>() + 2.0 * off) / 6.0).sqrt();
    if p == 0.0 {
        return mean;
    }
    let determinant = d[0] * (d[1] * d[2] - m(1, 2).powi(2)) - m(0, 1) * (m(0, 1) * d[2] - m(1, 2) * m(0, 2))
        + m(0, 2) * (m(0, 1) * m(1, 2) - d[1] * m(0, 2));
    let angle = (determinant / (2.0 * p * p * p)).clamp(-1.0, 1.0).acos() / 3.0;
    let third = 2.0 * std::f64::consts::PI / 3.0;
    let largest = mean + 2.0 * p * angle.cos();
    let smallest = mean + 2.0 * p * (angle + third).cos();
    3.0 * mean - largest - smallest
}

impl Sampled {
    /// Writes `STEM.vti`, `STEM.npz` and, for a slice, a picture of each quantity. Returns the paths.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Plot`] if a file cannot be written.
    pub fn write(&self, stem: &Path, time: f64) -> Result<Vec<PathBuf>, Error> {
        let mut written = vec![stem.with_extension("vti"), stem.with_extension("npz")];
        let grid = RegularGrid {
            origin: self.region.origin,
            spacing: [self.region.spacing; 3],
            points: self.region.size,
            point_data: Attributes {
                scalars: self.scalars.iter().map(|(name, values)| (*name, &values[..])).collect(),
                vectors: self.vectors.iter().map(|(name, values)| (*name, &values[..])).collect(),
                ..Attributes::default()
            },
            cell_data: Attributes::default(),
        };
        write_vti(&written[0], &grid, Precision::Single)?;
        write_arrays(&written[1], &self.arrays(), Precision::Double)?;
        if let Some(axis) = self.region.across() {
            let name = stem.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for (quantity, label, values) in self.shown(axis) {
                let path = stem.with_file_name(format!("{name}-{quantity}.png"));
                let image = self.picture(axis, &label, &values, time).to_image()?;
                image.write_png(&path)?;
                written.push(path);
            }
        }
        Ok(written)
    }

    /// The fields, one row for each point, x fastest, and the grid.
    fn arrays(&self) -> Vec<NamedArray> {
        let vectors = self
            .vectors
            .iter()
            .map(|(name, values)| NamedArray::new(*name, Array::from_rows(values)));
        let scalars = self
            .scalars
            .iter()
            .map(|(name, values)| NamedArray::new(*name, Array::column(values.clone())));
        let place = [
            ("size", self.region.size.map(|n| n as f64).to_vec()),
            ("origin", self.region.origin.to_vec()),
            ("spacing", vec![self.region.spacing]),
        ];
        let place = place.map(|(name, values)| NamedArray::new(name, Array::column(values)));
        vectors.chain(scalars).chain(place).collect()
    }

    /// Name, label and values of the pictures of a slice: the magnitude of the velocity, the component of vorticity
    /// normal to the slice (its magnitude if that component is only noise), and scalars as they are.
    fn shown(&self, axis: usize) -> Vec<(&'static str, String, Vec<f64>)> {
        let letter = ["x", "y", "z"][axis];
        let largest = |values: &[f64]| values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        let vectors = self.vectors.iter().map(|(name, values)| {
            let across: Vec<f64> = values.iter().map(|v| v[axis]).collect();
            let sizes: Vec<f64> = values.iter().map(|v| norm(*v)).collect();
            // If the vorticity lies in the slice, as for a ring cut through its plane, the normal component is only
            // noise.
            if *name == Quantity::Vorticity.name() && largest(&across) >= 1e-2 * largest(&sizes) {
                (*name, format!("vorticity component {letter}"), across)
            } else {
                (*name, format!("|{name}|"), sizes)
            }
        });
        let scalars = self
            .scalars
            .iter()
            .map(|(name, values)| (*name, (*name).to_owned(), values.clone()));
        vectors.chain(scalars).collect()
    }

    fn picture(&self, axis: usize, label: &str, values: &[f64], time: f64) -> FieldMap {
        let (right, up) = [(1, 2), (0, 2), (0, 1)][axis];
        let names = ["x", "y", "z"];
        let (region, h) = (&self.region, self.region.spacing);
        let low = [region.origin[right] - 0.5 * h, region.origin[up] - 0.5 * h];
        let (nx, ny) = (region.size[right], region.size[up]);
        let signed = values.iter().any(|value| *value < 0.0);
        let mut map = FieldMap::new(format!(
            "{label} at {} = {:.3}, t = {time:.3}",
            names[axis], region.origin[axis]
        ))
        .axes(names[right], names[up])
        .extent(low, [low[0] + nx as f64 * h, low[1] + ny as f64 * h])
        .fitted(1000);
        if signed {
            // Two empty cells make the colour range symmetric, so that zero has the middle colour.
            let span = values
                .iter()
                .map(|value| value.abs())
                .fold(0.0, f64::max)
                .max(f64::MIN_POSITIVE);
            map = map
                .colours(ColourMap::Diverging)
                .cell(low, low, -span)
                .cell(low, low, span);
        }
        for (k, value) in values.iter().enumerate() {
            let corner = [low[0] + (k % nx) as f64 * h, low[1] + (k / nx) as f64 * h];
            map = map.cell(corner, [corner[0] + h, corner[1] + h], *value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_the_requested_points() {
        let region = Region::new([0.0; 3], [2.0, 1.0, 1.0], 5).unwrap();
        assert_eq!((region.size, region.spacing), ([5, 3, 3], 0.5));
        let slice = region.slice(2, 0.25);
        assert_eq!(slice.size, [5, 3, 1]);
        assert_eq!(slice.positions()[14], [2.0, 1.0, 0.25]);
        assert_eq!(slice.across(), Some(2));
        assert!(Region::new([0.0; 3], [1.0; 3], 1).is_err());
        assert!(Region::new([0.0; 3], [f64::NAN; 3], 8).is_err());
        assert!(Region::new([0.0; 3], [1.0; 3], 100_000).is_err());
    }

    #[test]
    fn q_and_lambda2_of_known_flows() {
        // Where two eigenvalues are equal, only half of the digits are accurate.
        // Solid rotation about z with angular velocity 1: Q = 1, and S^2 + Omega^2 = diag(-1, -1, 0).
        let turning = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!((q(&turning) - 1.0).abs() < 1e-14 && (lambda2(&turning) + 1.0).abs() < 1e-7);
        // A straining flow: Q = -1, and the eigenvalues are 1, 1, 0.
        let straining = [1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0];
        assert!((q(&straining) + 1.0).abs() < 1e-14 && (lambda2(&straining) - 1.0).abs() < 1e-7);
        assert_eq!(lambda2(&[0.0; 9]), 0.0);
    }

    #[test]
    fn a_slice_shows_normal_vorticity_or_else_its_magnitude() {
        let region = Region::new([0.0; 3], [1.0; 3], 4).unwrap().slice(2, 0.0);
        let shown = |vorticity: Vec3| {
            let sampled = Sampled {
                region,
                vectors: vec![(Quantity::Vorticity.name(), vec![vorticity; 16])],
                scalars: Vec::new(),
            };
            let (_, label, values) = sampled.shown(2).remove(0);
            (label, values[0])
        };
        assert_eq!(shown([1.0, 0.0, -2.0]), ("vorticity component z".to_owned(), -2.0));
        assert_eq!(shown([3.0, 4.0, 1e-9]), ("|vorticity|".to_owned(), 5.0));
    }

    #[test]
    fn differences_are_exact_for_linear_flows() {
        let region = Region::new([0.0; 3], [1.0; 3], 4).unwrap().slice(2, 0.0);
        let velocities: Vec<Vec3> = region.positions().iter().map(|p| [2.0 * p[1], -p[0], 0.0]).collect();
        for gradient in differences(&velocities, &region) {
            assert!(
                (gradient[1] - 2.0).abs() < 1e-12 && (gradient[3] + 1.0).abs() < 1e-12,
                "{gradient:?}"
            );
        }
    }
}
