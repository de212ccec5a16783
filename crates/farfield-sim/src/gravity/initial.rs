//! Initial bodies: single ones, star clusters, galaxies, files.

use super::Bodies;
use crate::case::{Disk, Gravity, Plummer};
use crate::error::CaseError;
use crate::particles::{MASSES, ParticleFile, Particles, VELOCITIES};
use crate::ranks::{Kept, Ranks};
use crate::vec3::{Vec3, add, add_scaled, frame_across, scale, unit};
use farfield::points::Random;
use std::f64::consts::PI;

/// This rank's part of the bodies of a case, in the order bodies, plummer, disks, particles. Each body, cluster and
/// disk is a separate group.
///
/// # Errors
/// [`CaseError`] if a file cannot be read.
pub fn bodies(gravity: &Gravity, seed: u64, ranks: &dyn Ranks) -> Result<Bodies, CaseError> {
    let mut random = Random::new(seed);
    let mut own = Made {
        bodies: Bodies::default(),
        kept: Kept::of(ranks, count(gravity)?),
    };
    let mut group = 0;
    for body in &gravity.bodies {
        own.push(body.position, body.velocity, body.mass, group);
        group += 1;
    }
    for cluster in &gravity.plummer {
        add_plummer(cluster, gravity.constant, group, &mut random, &mut own);
        group += 1;
    }
    for disk in &gravity.disks {
        add_disk(disk, gravity, group, &mut random, &mut own);
        group += 1;
    }
    for (k, file) in gravity.particles.iter().enumerate() {
        let particles = read(file, k)?;
        let (groups, count) = particles.parts()?;
        let (points, velocities) = (particles.points()?, particles.vectors(&VELOCITIES)?);
        let bodies = points
            .iter()
            .zip(velocities)
            .zip(particles.numbers(&MASSES)?)
            .zip(groups);
        bodies.for_each(|(((position, velocity), mass), part)| own.push(*position, velocity, mass, group + part));
        group += count;
    }
    Ok(own.bodies)
}

/// This rank's part of bodies that are generated one after the other.
struct Made {
    bodies: Bodies,
    kept: Kept,
}

impl Made {
    fn push(&mut self, position: Vec3, velocity: Vec3, mass: f64, group: u32) {
        if self.kept.takes_next() {
            self.bodies.push(position, velocity, mass, group);
        }
    }
}

/// The number of bodies of a case.
fn count(gravity: &Gravity) -> Result<usize, CaseError> {
    let stars: usize = gravity.plummer.iter().map(|cluster| cluster.count).sum();
    let of_disks: usize = gravity.disks.iter().map(|disk| disk.count + 1).sum();
    let mut count = gravity.bodies.len() + stars + of_disks;
    for (k, file) in gravity.particles.iter().enumerate() {
        count += read(file, k)?.len();
    }
    Ok(count)
}

fn read(file: &ParticleFile, number: usize) -> Result<Particles, CaseError> {
    Particles::read(file, &format!("gravity.particles.{number}"))
}

fn direction(random: &mut Random) -> Vec3 {
    let z = 2.0 * random.uniform() - 1.0;
    let (sine, cosine) = (2.0 * PI * random.uniform()).sin_cos();
    let across = (1.0 - z * z).sqrt();
    [across * cosine, across * sine, z]
}

/// A Plummer sphere of equal stars (Aarseth, Hénon and Wielen): radii from the mass profile, truncated at 10 Plummer
/// radii, and speeds from the distribution function, proportional to $q^2(1-q^2)^{7/2}$, where $q$ is the speed over
/// the escape speed. Its centre of mass is shifted to the position and velocity of the case.
fn add_plummer(cluster: &Plummer, constant: f64, group: u32, random: &mut Random, out: &mut Made) {
    let mass = cluster.mass / cluster.count as f64;
    // Stars are drawn twice, so that they need not be stored: first for the mean over all stars.
    let (mut again, mut sums) = (random.clone(), [[0.0; 3]; 2]);
    for _ in 0..cluster.count {
        let star = star(cluster, constant, &mut again);
        sums = [add(sums[0], star[0]), add(sums[1], star[1])];
    }
    let means = sums.map(|sum| scale(sum, 1.0 / cluster.count as f64));
    for _ in 0..cluster.count {
        let [position, velocity] = star(cluster, constant, random);
        let position = add(add_scaled(position, -1.0, means[0]), cluster.centre);
        let velocity = add(add_scaled(velocity, -1.0, means[1]), cluster.velocity);
        out.push(position, velocity, mass, group);
    }
}

/// Position and velocity of the next star of a cluster.
fn star(cluster: &Plummer, constant: f64, random: &mut Random) -> [Vec3; 2] {
    let radius = loop {
        let enclosed = random.uniform().cbrt();
        let radius = enclosed / ((1.0 - enclosed) * (1.0 + enclosed)).sqrt();
        if radius < 10.0 {
            break radius;
        }
    };
    let share = loop {
        let q = random.uniform();
        // The largest value of q^2 (1 - q^2)^(7/2) is 0.0922.
        if 0.0923 * random.uniform() < q * q * (1.0 - q * q).powf(3.5) {
            break q;
        }
    };
    let escape = (2.0 * constant * cluster.mass / cluster.radius).sqrt() * (1.0 + radius * radius).powf(-0.25);
    let position = scale(direction(random), radius * cluster.radius);
    let velocity = scale(direction(random), share * escape);
    [position, velocity]
}

/// A heavy centre and stars on circular orbits about it, with radii distributed uniformly from a tenth of the disk
/// radius to the whole. The orbital speed accounts for the softened centre and the stars inside the orbit.
fn add_disk(disk: &Disk, gravity: &Gravity, group: u32, random: &mut Random, out: &mut Made) {
    let axis = unit(disk.axis);
    let (first, second) = frame_across(axis);
    out.push(disk.centre, disk.velocity, disk.central_mass, group);
    let mass = disk.mass / disk.count as f64;
    for _ in 0..disk.count {
        let share = 0.1 + 0.9 * random.uniform();
        let radius = share * disk.radius;
        let (sine, cosine) = (2.0 * PI * random.uniform()).sin_cos();
        let outward = add(scale(first, cosine), scale(second, sine));
        let along = add(scale(first, -sine), scale(second, cosine));
        let height = disk.height * disk.radius * random.normal();
        let inside = disk.mass * (share - 0.1) / 0.9;
        let softened = (radius * radius + gravity.softening * gravity.softening).powf(1.5);
        let pull = gravity.constant * (disk.central_mass * radius / softened + inside / (radius * radius));
        let position = add(add_scaled(disk.centre, radius, outward), scale(axis, height));
        let velocity = add_scaled(disk.velocity, (pull.abs() * radius).sqrt(), along);
        out.push(position, velocity, mass, group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;
    use crate::ranks::{Alone, tests::Rank};
    use crate::vec3::{dot, norm, sum};

    fn case(text: &str) -> Gravity {
        let text = format!("time = {{ end = 1.0, step = 0.1, scheme = \"leapfrog\" }}\n{text}");
        case::read(&text, "test", &[]).unwrap().gravity.unwrap()
    }

    #[test]
    fn a_cluster_is_at_rest_and_nearly_in_virial_equilibrium() {
        let bodies = bodies(
            &case("[[gravity.plummer]]\ncount = 4000\nmass = 2.0\nradius = 0.5\ncentre = [1.0, 2.0, 3.0]"),
            1,
            &Alone,
        )
        .unwrap();
        let centre = scale(sum(bodies.positions.iter().copied()), 1.0 / 4000.0);
        assert!(norm([centre[0] - 1.0, centre[1] - 2.0, centre[2] - 3.0]) < 1e-12);
        assert!(norm(sum(bodies.velocities.iter().copied())) < 1e-10);
        let kinetic: f64 = bodies
            .velocities
            .iter()
            .zip(&bodies.masses)
            .map(|(v, m)| 0.5 * m * dot(*v, *v))
            .sum();
        // The kinetic energy of the untruncated model is 3 pi G M^2 / 64 a.
        let expected = 3.0 * PI / 64.0 * 4.0 / 0.5;
        assert!((kinetic / expected - 1.0).abs() < 0.05, "{kinetic} {expected}");
    }

    #[test]
    fn stars_of_a_disk_rotate_about_its_axis() {
        let text =
            "[[gravity.disks]]\ncount = 500\nmass = 0.1\ncentral_mass = 1.0\nradius = 1.0\naxis = [1.0, 0.0, 1.0]";
        let bodies = bodies(&case(text), 1, &Alone).unwrap();
        assert_eq!(bodies.len(), 501);
        let axis = unit([1.0, 0.0, 1.0]);
        for k in 1..501 {
            let spin = crate::vec3::cross(bodies.positions[k], bodies.velocities[k]);
            assert!(dot(unit(spin), axis) > 0.8, "{k}");
        }
    }

    #[test]
    fn the_parts_of_all_ranks_are_the_bodies_of_one_process() {
        let text = "[[gravity.bodies]]\nmass = 2.0\n\
                    [[gravity.plummer]]\ncount = 301\nmass = 2.0\nradius = 0.5\ncentre = [1.0, 2.0, 3.0]\n\
                    [[gravity.disks]]\ncount = 200\nmass = 0.1\ncentral_mass = 1.0\nradius = 1.0";
        let gravity = case(text);
        let whole = bodies(&gravity, 3, &Alone).unwrap();
        assert_eq!(whole.len(), 503);
        for size in [2, 3, 7] {
            let mut together = Bodies::default();
            for rank in 0..size {
                let own = bodies(&gravity, 3, &Rank { rank, size }).unwrap();
                assert!(own.len().abs_diff(503 / size) <= 1 && own.positions.capacity() < 2 * own.len().max(4));
                for k in 0..own.len() {
                    together.push(own.positions[k], own.velocities[k], own.masses[k], own.groups[k]);
                }
            }
            assert_eq!(together, whole, "{size} ranks");
        }
    }
}
