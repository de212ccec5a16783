//! Rings and knots: tubes of vortex elements around closed lines.
//!
//! A tube of core radius $a$ has the vorticity $\frac{\Gamma}{\pi a^2}e^{-r^2/a^2}$ across it. It is divided into
//! filaments, one at the centre and $6k$ in the $k$-th layer around it, and every filament into elements. The cores of
//! the elements smooth the profile, so the filaments carry a narrower one, which becomes the desired profile when
//! smoothed: $e^{-r^2/s^2}$ with $s^2 = a^2 - 2\sigma^2$ for Gaussian elements of size $\sigma$.

use super::Elements;
use super::profile::smoothing;
use crate::case::{Knot, Ring, Vortex};
use crate::ranks::Kept;
use crate::vec3::{Vec3, add, add_scaled, cross, dot, frame_across, norm, rotate, scale, sub, unit};
use farfield::kernel::Core;
use std::f64::consts::PI;

/// The outer radius of the layers, in radii of the carried profile. There the profile has fallen to 0.8 %.
const REACH: f64 = 2.2;

/// The closed centre line of a tube: points at equal distances along it, with a frame at each.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The points.
    pub points: Vec<Vec3>,
    /// Two unit vectors across the line at each point.
    pub across: Vec<(Vec3, Vec3)>,
    /// Its length.
    pub length: f64,
    /// The radius of the core around it.
    pub core: f64,
    /// The circulation around it.
    pub circulation: f64,
}

/// The centre lines of a case: rings, then knots.
pub fn lines_of(vortex: &Vortex) -> Vec<Line> {
    let rings = vortex.rings.iter().map(|ring| Line::ring(ring, vortex.around));
    let knots = vortex.knots.iter().map(|knot| Line::knot(knot, vortex.around));
    rings.chain(knots).collect()
}

/// The number of elements in the tubes around lines.
///
/// # Errors
/// A key of the case and the problem with its value, if the elements are too coarse for the core.
pub fn count(vortex: &Vortex, lines: &[Line]) -> Result<usize, (String, String)> {
    let of_line = |line: &Line| Ok(Section::new(line, vortex)?.filaments.len() * line.points.len());
    lines.iter().map(of_line).sum()
}

/// The elements of the tubes around lines that `kept` selects.
///
/// # Errors
/// As [`count`].
pub fn fill(vortex: &Vortex, lines: &[Line], kept: &mut Kept) -> Result<Elements, (String, String)> {
    let mut elements = Elements::default();
    for (group, line) in lines.iter().enumerate() {
        line.fill(vortex, group as u32, kept, &mut elements)?;
    }
    Ok(elements)
}

impl Line {
    /// The centre line of a ring.
    pub fn ring(ring: &Ring, around: usize) -> Self {
        let axis = unit(ring.axis);
        let (first, second) = frame_across(axis);
        let curve = |t: f64| {
            let angle = 2.0 * PI * t;
            let radius = ring.radius * (1.0 + ring.ripple * (f64::from(ring.ripple_modes) * angle).cos());
            let across = add(scale(first, angle.cos()), scale(second, angle.sin()));
            add_scaled(ring.centre, radius, across)
        };
        Self::along(curve, around, ring.core, ring.circulation, ring.ripple == 0.0)
    }

    /// The centre line of a torus knot.
    pub fn knot(knot: &Knot, around: usize) -> Self {
        let curve = |t: f64| {
            let (p, q) = (f64::from(knot.turns_around), f64::from(knot.turns_through));
            let (around, through) = (2.0 * PI * p * t, 2.0 * PI * q * t);
            let radius = knot.radius + knot.tube * through.cos();
            let point = [radius * around.cos(), radius * around.sin(), -knot.tube * through.sin()];
            add(knot.centre, point)
        };
        Self::along(curve, around, knot.core, knot.circulation, false)
    }

    /// Points at equal distances along a closed curve over [0, 1).
    fn along(curve: impl Fn(f64) -> Vec3, count: usize, core: f64, circulation: f64, uniform: bool) -> Self {
        /// Pieces per point for measuring the distance along the curve.
        const FINE: usize = 64;
        let fine = FINE * count;
        let parameter = |k: usize| k as f64 / fine as f64;
        let mut distances = vec![0.0];
        for k in 1..=fine {
            let piece = norm(sub(curve(parameter(k)), curve(parameter(k - 1))));
            distances.push(distances[k - 1] + piece);
        }
        let length = distances[fine];
        let points: Vec<Vec3> = (0..count)
            .map(|k| {
                if uniform {
                    return curve(k as f64 / count as f64);
                }
                let wanted = length * k as f64 / count as f64;
                let at = distances.partition_point(|d| *d <= wanted).clamp(1, fine);
                let share = (wanted - distances[at - 1]) / (distances[at] - distances[at - 1]);
                curve((at as f64 - 1.0 + share) / fine as f64)
            })
            .collect();
        let across = transported_frames(&points);
        Self {
            points,
            across,
            length,
            core,
            circulation,
        }
    }

    /// Adds the elements of the tube.
    fn fill(&self, vortex: &Vortex, group: u32, kept: &mut Kept, out: &mut Elements) -> Result<(), (String, String)> {
        let section = Section::new(self, vortex)?;
        for filament in &section.filaments {
            let own = kept.take(self.points.len());
            if own.is_empty() {
                continue;
            }
            let points: Vec<Vec3> = self
                .points
                .iter()
                .zip(&self.across)
                .map(|(point, (first, second))| {
                    add(
                        add_scaled(*point, filament.place[0], *first),
                        scale(*second, filament.place[1]),
                    )
                })
                .collect();
            for (point, step) in points.iter().zip(steps(&points)).take(own.end).skip(own.start) {
                out.positions.push(*point);
                out.strengths.push(scale(step, self.circulation * filament.share));
                out.sizes.push(section.size);
                out.volumes.push(filament.area * norm(step));
                out.groups.push(group);
            }
        }
        Ok(())
    }
}

/// The line elements (vectors) at the points of a closed line, by fourth-order central differences. Their sum is zero.
fn steps(points: &[Vec3]) -> Vec<Vec3> {
    let n = points.len();
    let at = |k: usize| points[k % n];
    (0..n)
        .map(|k| {
            let near = sub(at(k + 1), at(k + n - 1));
            let far = sub(at(k + 2), at(k + n - 2));
            add_scaled(scale(near, 8.0 / 12.0), -1.0 / 12.0, far)
        })
        .collect()
}

/// Frames normal to a closed line that rotate as little as possible along it and close: the mismatch of parallel
/// transport after one round is spread evenly.
fn transported_frames(points: &[Vec3]) -> Vec<(Vec3, Vec3)> {
    let tangents: Vec<Vec3> = steps(points).into_iter().map(unit).collect();
    let n = points.len();
    let carry = |vector: Vec3, from: Vec3, to: Vec3| {
        let axis = cross(from, to);
        let sine = norm(axis);
        if sine == 0.0 {
            return vector;
        }
        rotate(vector, scale(axis, 1.0 / sine), sine.atan2(dot(from, to)))
    };
    let mut first = vec![frame_across(tangents[0]).0];
    for k in 1..=n {
        let carried = carry(first[k - 1], tangents[k - 1], tangents[k % n]);
        first.push(carried);
    }
    let missed = dot(cross(first[0], first[n]), tangents[0]).atan2(dot(first[0], first[n]));
    (0..n)
        .map(|k| {
            let vector = unit(rotate(first[k], tangents[k], -missed * k as f64 / n as f64));
            (vector, cross(tangents[k], vector))
        })
        .collect()
}

/// A filament of a tube.
struct Filament {
    /// Its position in the cross section.
    place: [f64; 2],
    /// Its fraction of the circulation.
    share: f64,
    /// Its part of the area of the cross section.
    area: f64,
}

/// The cross section of a tube.
struct Section {
    size: f64,
    filaments: Vec<Filament>,
}

impl Section {
    fn new(line: &Line, vortex: &Vortex) -> Result<Self, (String, String)> {
        if vortex.layers == 0 {
            let filament = Filament {
                place: [0.0; 2],
                share: 1.0,
                area: PI * line.core * line.core,
            };
            return Ok(Self {
                size: line.core,
                filaments: vec![filament],
            });
        }
        let smoothing = smoothing(Core::from(vortex.core));
        let layers = vortex.layers as f64;
        // The core size follows from the spacing across the tube, or along it if that is larger.
        let across = vortex.overlap * REACH / (layers + 0.5);
        let along = vortex.overlap * line.length / line.points.len() as f64;
        let mut spread = line.core / (1.0 + smoothing * across * across).sqrt();
        let mut size = across * spread;
        if size < along {
            size = along;
            let left = line.core * line.core - smoothing * size * size;
            if left < 0.05 * line.core * line.core {
                let needed = (vortex.overlap * line.length * (smoothing / 0.9).sqrt() / line.core).ceil();
                return Err((
                    "vortex.around".to_owned(),
                    format!(
                        "{} elements along a line of length {:.3} need a core size of {size:.3} to overlap, too large \
                         for a core of {}: use at least {needed}, or layers = 0",
                        line.points.len(),
                        line.length,
                        line.core
                    ),
                ));
            }
            spread = left.sqrt();
        }
        Ok(Self {
            size,
            filaments: layout(vortex.layers, REACH * spread / (layers + 0.5), spread),
        })
    }
}

/// Filaments in layers of thickness `spacing`: one at the centre, 6 k in layer k. A filament of layer k carries the
/// circulation of the profile exp(-r^2/spread^2) in its sector of the annulus between the radii (k - 1/2) and (k + 1/2)
/// times the spacing, and is placed at the root mean square radius of that part. Finally all filaments are moved
/// slightly outwards, so that their second moment is spread^2, that of the profile without its cutoff.
fn layout(layers: usize, spacing: f64, spread: f64) -> Vec<Filament> {
    let x = |radius: f64| (radius / spread).powi(2);
    // The fraction of the profile beyond a radius, and its second moment there.
    let beyond = |radius: f64| (-x(radius)).exp();
    let moment_beyond = |radius: f64| (1.0 + x(radius)) * (-x(radius)).exp() * spread * spread;
    let total = 1.0 - beyond((layers as f64 + 0.5) * spacing);
    let mut filaments = vec![Filament {
        place: [0.0; 2],
        share: (1.0 - beyond(0.5 * spacing)) / total,
        area: PI * spacing * spacing / 4.0,
    }];
    let mut moment = 0.0;
    for layer in 1..=layers {
        let k = layer as f64;
        let (inner, outer) = ((k - 0.5) * spacing, (k + 0.5) * spacing);
        let held = beyond(inner) - beyond(outer);
        let radius = ((moment_beyond(inner) - moment_beyond(outer)) / held).sqrt();
        moment += held / total * radius * radius;
        for piece in 0..6 * layer {
            let angle = 2.0 * PI * (piece as f64 + 0.5 * (layer % 2) as f64) / (6.0 * k);
            filaments.push(Filament {
                place: [radius * angle.cos(), radius * angle.sin()],
                share: held / (6.0 * k * total),
                area: PI * spacing * spacing / 3.0,
            });
        }
    }
    let stretch = spread / moment.sqrt();
    for filament in &mut filaments {
        filament.place = filament.place.map(|x| stretch * x);
    }
    filaments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::tests::Rank;
    use crate::ranks::{Alone, Ranks};

    /// The lines and this rank's elements.
    fn build_part(vortex: &Vortex, ranks: &dyn Ranks) -> Result<(Vec<Line>, Elements), (String, String)> {
        let lines = lines_of(vortex);
        let mut kept = Kept::of(ranks, count(vortex, &lines)?);
        let elements = fill(vortex, &lines, &mut kept)?;
        Ok((lines, elements))
    }

    fn build(vortex: &Vortex) -> Result<(Vec<Line>, Elements), (String, String)> {
        build_part(vortex, &Alone)
    }

    #[test]
    fn the_parts_of_all_ranks_are_the_elements_of_one_process() {
        let vortex = ring(2);
        let (_, whole) = build(&vortex).unwrap();
        for size in [2, 3, 7] {
            let mut together = Elements::default();
            for rank in 0..size {
                let (_, own) = build_part(&vortex, &Rank { rank, size }).unwrap();
                assert!(own.positions.len().abs_diff(whole.positions.len() / size) <= 1);
                together.positions.extend(own.positions);
                together.strengths.extend(own.strengths);
                together.sizes.extend(own.sizes);
                together.volumes.extend(own.volumes);
                together.groups.extend(own.groups);
            }
            assert_eq!(together, whole, "{size} ranks");
        }
    }

    use crate::case::{self, Case};
    use crate::vec3::sum;

    fn case(text: &str) -> Case {
        case::read(&format!("time = {{ end = 1.0, step = 0.1 }}\n{text}"), "test", &[]).unwrap()
    }

    fn ring(layers: usize) -> Vortex {
        let text = format!(
            "[vortex]\nlayers = {layers}\naround = 120\n[[vortex.rings]]\nradius = 1.0\ncore = 0.15\ncirculation = 2.0"
        );
        case(&text).vortex.unwrap()
    }

    #[test]
    fn a_ring_has_its_circulation_impulse_and_no_net_strength() {
        for layers in [0, 1, 3, 5] {
            let (_, elements) = build(&ring(layers)).unwrap();
            assert_eq!(elements.len(), 120 * (1 + 3 * layers * (layers + 1)));
            assert!(norm(sum(elements.strengths.iter().copied())) < 1e-13);
            // The impulse of the profile is circulation x pi x <r^2>.
            let impulse = sum(elements
                .positions
                .iter()
                .zip(&elements.strengths)
                .map(|(x, g)| scale(cross(*x, *g), 0.5)));
            let expected = 2.0 * PI * (1.0 + if layers == 0 { 0.0 } else { 0.5 * 0.15f64.powi(2) });
            assert!(
                (impulse[2] / expected - 1.0).abs() < 0.01,
                "{layers}: {impulse:?} {expected}"
            );
            assert!(impulse[0].abs() + impulse[1].abs() < 1e-12);
        }
    }

    #[test]
    fn filaments_have_the_moments_of_the_profile() {
        let filaments = layout(4, 0.1, 0.2);
        let total: f64 = filaments.iter().map(|f| f.share).sum();
        assert!((total - 1.0).abs() < 1e-14);
        let centre = filaments.iter().fold([0.0; 2], |c, f| {
            [c[0] + f.share * f.place[0], c[1] + f.share * f.place[1]]
        });
        assert!(centre[0].hypot(centre[1]) < 1e-15);
        let moment: f64 = filaments
            .iter()
            .map(|f| f.share * (f.place[0].powi(2) + f.place[1].powi(2)))
            .sum();
        assert!((moment - 0.04).abs() < 1e-14, "{moment}");
    }

    #[test]
    fn a_trefoil_and_its_frames_close() {
        let text = "[vortex]\naround = 300\n[[vortex.knots]]\nradius = 1.0\ntube = 0.4\ncore = 0.1";
        let (lines, elements) = build(&case(text).vortex.unwrap()).unwrap();
        let line = &lines[0];
        let gap = line.length / 300.0;
        for k in 0..300 {
            let next = (k + 1) % 300;
            let step = norm(sub(line.points[next], line.points[k]));
            assert!((step / gap - 1.0).abs() < 2e-3, "{k}: {step} {gap}");
            // The rotation of the frame is spread over the knot, so neighbouring frames differ little.
            assert!(dot(line.across[k].0, line.across[next].0) > 0.99, "{k}");
        }
        assert!(norm(sum(elements.strengths.iter().copied())) < 1e-13);
    }

    #[test]
    fn the_error_for_a_coarse_ring_suggests_a_working_number() {
        let mut vortex = ring(3);
        vortex.around = 20;
        let (key, why) = build(&vortex).unwrap_err();
        assert_eq!(key, "vortex.around");
        let needed: usize = why
            .split("at least ")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        vortex.around = needed;
        assert!(build(&vortex).is_ok(), "{why}");
    }
}
