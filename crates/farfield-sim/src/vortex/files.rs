//! Elements and tracers from files.

use super::{Elements, Tracers};
use crate::case::{self, Vortex};
use crate::error::CaseError;
use crate::particles::{Particles, STRENGTHS, VOLUMES, sizes_of};

/// Adds the elements of all files after `first` rings and knots; returns how many parts they are.
pub(super) fn add_elements(vortex: &Vortex, first: usize, out: &mut Elements) -> Result<u32, CaseError> {
    let mut parts = 0;
    for (k, file) in vortex.particles.iter().enumerate() {
        let key = format!("vortex.particles.{k}");
        let particles = Particles::read(file, &key)?;
        let (groups, count) = particles.parts()?;
        let sizes = sizes_of(&particles, file, &key)?;
        let volumes = match particles.optional_numbers(&VOLUMES)? {
            Some(volumes) => volumes,
            // As of elements whose spacing the overlap tells.
            None => sizes.iter().map(|size| (size / vortex.overlap).powi(3)).collect(),
        };
        out.positions.extend(particles.points()?);
        out.strengths.extend(particles.vectors(&STRENGTHS)?);
        out.sizes.extend(sizes);
        out.volumes.extend(volumes);
        out.groups
            .extend(groups.iter().map(|group| first as u32 + parts + group));
        parts += count;
    }
    Ok(parts)
}

/// Adds the tracers of all files, which belong to parts of their own after `first` rings and knots.
pub(super) fn add_tracers(settings: &case::Tracers, first: usize, out: &mut Tracers) -> Result<(), CaseError> {
    let mut parts = 0;
    for (k, file) in settings.particles.iter().enumerate() {
        let particles = Particles::read(file, &format!("tracers.particles.{k}"))?;
        let (groups, count) = particles.parts()?;
        out.positions.extend(particles.points()?);
        out.groups
            .extend(groups.iter().map(|group| first as u32 + parts + group));
        out.along.extend(std::iter::repeat_n(0.0, particles.len()));
        parts += count;
    }
    Ok(())
}
