//! Initial vortices: single ones, sheets, patches, clouds, files.

use super::Vec2;
use crate::case::{Patch, Plane, Sheet, SheetProfile, VortexCloud};
use crate::error::CaseError;
use crate::particles::{Particles, STRENGTHS, sizes_of};
use farfield::points::Random;
use std::f64::consts::PI;

/// Vortices of the plane.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vortices {
    /// Their positions.
    pub positions: Vec<Vec2>,
    /// Their circulations, positive anticlockwise.
    pub circulations: Vec<f64>,
    /// Their core sizes.
    pub sizes: Vec<f64>,
    /// The part of the case that each belongs to.
    pub groups: Vec<u32>,
    /// The names of the parts.
    pub parts: Vec<String>,
}

impl Vortices {
    fn push(&mut self, position: Vec2, circulation: f64, size: f64) {
        self.positions.push(position);
        self.circulations.push(circulation);
        self.sizes.push(size);
        self.groups.push(self.parts.len() as u32);
    }

    fn end_part(&mut self, name: String) {
        self.parts.push(name);
    }
}

/// All vortices of a case, in the order vortices, sheets, patches, clouds, particles.
///
/// # Errors
/// [`CaseError`] if a file cannot be read.
pub fn vortices(plane: &Plane, seed: u64) -> Result<Vortices, CaseError> {
    let mut all = Vortices::default();
    for (k, vortex) in plane.vortices.iter().enumerate() {
        all.push(vortex.position, vortex.circulation, vortex.core);
        all.end_part(format!("vortex{}", k + 1));
    }
    for (k, sheet) in plane.sheets.iter().enumerate() {
        add_sheet(sheet, &mut all);
        all.end_part(format!("sheet{}", k + 1));
    }
    for (k, patch) in plane.patches.iter().enumerate() {
        add_patch(patch, &mut all);
        all.end_part(format!("patch{}", k + 1));
    }
    let mut random = Random::new(seed);
    for (k, cloud) in plane.clouds.iter().enumerate() {
        add_cloud(cloud, &mut random, &mut all);
        all.end_part(format!("cloud{}", k + 1));
    }
    for (k, file) in plane.particles.iter().enumerate() {
        let key = format!("plane.particles.{k}");
        let particles = Particles::read(file, &key)?;
        let points = particles.points()?;
        let (circulations, sizes) = (particles.numbers(&STRENGTHS)?, sizes_of(&particles, file, &key)?);
        for ((point, circulation), size) in points.iter().zip(circulations).zip(sizes) {
            all.push([point[0], point[1]], circulation, size);
        }
        all.end_part(format!("particles{}", k + 1));
    }
    Ok(all)
}

fn add_sheet(sheet: &Sheet, out: &mut Vortices) {
    let along = [sheet.to[0] - sheet.from[0], sheet.to[1] - sheet.from[1]];
    let n = sheet.count as f64;
    for k in 0..sheet.count {
        // The position along the sheet and the circulation, both as fractions of the whole.
        let (place, share) = match sheet.profile {
            SheetProfile::Uniform => ((k as f64 + 0.5) / n, 1.0 / n),
            SheetProfile::Elliptic => {
                // With x = cos(a) from 1 to -1 the circulation to the right of x is sin(a).
                let (before, after) = (PI * k as f64 / n, PI * (k + 1) as f64 / n);
                let middle = 0.5 * (before + after);
                (0.5 * (1.0 - middle.cos()), before.sin() - after.sin())
            }
        };
        let wave = sheet.ripple * (2.0 * PI * f64::from(sheet.ripple_modes) * place).sin();
        let position = [
            sheet.from[0] + place * along[0] - wave * along[1],
            sheet.from[1] + place * along[1] + wave * along[0],
        ];
        out.push(position, sheet.circulation * share, sheet.core);
    }
}

/// Rings of $6k$ vortices around a central one, all with cells of equal area. Each vortex is at the root mean square
/// radius of its cell, so that circulation and second moments are those of the patch.
fn add_patch(patch: &Patch, out: &mut Vortices) {
    let mut rings = 0usize;
    while 1 + 3 * rings * (rings + 1) < patch.count {
        rings += 1;
    }
    let cells = (1 + 3 * rings * (rings + 1)) as f64;
    let [a, b] = patch.axes;
    let area = PI * a * b / cells;
    let size = patch.overlap * area.sqrt();
    let (sine, cosine) = patch.angle.to_radians().sin_cos();
    let mut place = |radius: f64, angle: f64| {
        let (x, y) = (a * radius * angle.cos(), b * radius * angle.sin());
        let position = [
            patch.centre[0] + cosine * x - sine * y,
            patch.centre[1] + sine * x + cosine * y,
        ];
        out.push(position, patch.vorticity * area, size);
    };
    place(0.0, 0.0);
    for k in 1..=rings {
        let inside = (1 + 3 * k * (k - 1)) as f64 / cells;
        let outside = (1 + 3 * k * (k + 1)) as f64 / cells;
        let radius = (0.5 * (inside + outside)).sqrt();
        for j in 0..6 * k {
            // Every second ring is rotated by half a cell, so that the vortices do not align in rays.
            let angle = 2.0 * PI * (j as f64 + 0.5 * (k % 2) as f64) / (6 * k) as f64;
            place(radius, angle);
        }
    }
}

fn add_cloud(cloud: &VortexCloud, random: &mut Random, out: &mut Vortices) {
    let each = cloud.circulation / cloud.count as f64;
    for k in 0..cloud.count {
        let radius = cloud.radius * random.uniform().sqrt();
        let (sine, cosine) = (2.0 * PI * random.uniform()).sin_cos();
        let position = [cloud.centre[0] + radius * cosine, cloud.centre[1] + radius * sine];
        let sign = if cloud.both_signs && k % 2 == 1 { -1.0 } else { 1.0 };
        out.push(position, sign * each, cloud.core);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;

    fn plane(text: &str) -> Plane {
        let text = format!("time = {{ end = 1.0, step = 0.1 }}\n{text}");
        case::read(&text, "test", &[]).unwrap().plane.unwrap()
    }

    #[test]
    fn a_patch_has_the_moments_of_the_ellipse() {
        let vortices = vortices(
            &plane("[[plane.patches]]\ncount = 1000\naxes = [2.0, 1.0]\nvorticity = 3.0\ncentre = [1.0, -1.0]"),
            1,
        )
        .unwrap();
        let total: f64 = vortices.circulations.iter().sum();
        assert!((total - 3.0 * 2.0 * PI).abs() < 1e-10);
        let moment = |axis: usize, middle: f64| {
            let parts = vortices.positions.iter().zip(&vortices.circulations);
            parts.map(|(z, g)| g * (z[axis] - middle).powi(2)).sum::<f64>() / total
        };
        // The moments of the ellipse are a^2/4 and b^2/4; the vortex at the centre contributes none.
        assert!((moment(0, 1.0) - 1.0).abs() < 2e-3, "{}", moment(0, 1.0));
        assert!((moment(1, -1.0) - 0.25).abs() < 5e-4, "{}", moment(1, -1.0));
    }

    #[test]
    fn an_elliptic_sheet_has_opposite_halves() {
        let text =
            "[[plane.sheets]]\ncount = 200\nfrom = [-1.0, 0.0]\nto = [1.0, 0.0]\nprofile = \"elliptic\"\ncore = 0.05";
        let sheet = vortices(&plane(text), 1).unwrap();
        let (left, right): (f64, f64) = (
            sheet.circulations[..100].iter().sum(),
            sheet.circulations[100..].iter().sum(),
        );
        assert!(
            (left + 1.0).abs() < 1e-12 && (right - 1.0).abs() < 1e-12,
            "{left} {right}"
        );
        assert!(sheet.positions[0][0] < -0.99 && sheet.positions[199][0] > 0.99);
    }

    #[test]
    fn a_cloud_is_in_its_disk() {
        let cloud = vortices(
            &plane("[[plane.clouds]]\ncount = 1e3\nradius = 2.0\nboth_signs = true\ncore = 0.1"),
            7,
        )
        .unwrap();
        assert_eq!(cloud.positions.len(), 1000);
        assert!(cloud.positions.iter().all(|z| z[0].hypot(z[1]) <= 2.0));
        assert!(cloud.circulations.iter().sum::<f64>().abs() < 1e-12);
    }
}
