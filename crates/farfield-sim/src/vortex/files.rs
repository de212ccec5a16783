//! Elements and tracers from files.

use super::{Elements, Tracers};
use crate::case::{self, Vortex};
use crate::error::CaseError;
use crate::particles::{ParticleFile, Particles, STRENGTHS, VOLUMES, sizes_of};
use crate::ranks::Kept;

/// The number of points in all files.
pub(super) fn count(files: &[ParticleFile], section: &str) -> Result<usize, CaseError> {
    let of_file =
        |(k, file): (usize, &ParticleFile)| Ok(Particles::read(file, &format!("{section}.particles.{k}"))?.len());
    files.iter().enumerate().map(of_file).sum()
}

/// Adds the elements of all files that `kept` selects. Their groups follow the `first` rings and knots. Returns the
/// number of groups.
pub(super) fn add_elements(
    vortex: &Vortex,
    first: usize,
    kept: &mut Kept,
    out: &mut Elements,
) -> Result<u32, CaseError> {
    let mut parts = 0;
    for (k, file) in vortex.particles.iter().enumerate() {
        let key = format!("vortex.particles.{k}");
        let particles = Particles::read(file, &key)?;
        let (groups, count) = particles.parts()?;
        let sizes = sizes_of(&particles, file, &key)?;
        let volumes = match particles.optional_numbers(&VOLUMES)? {
            Some(volumes) => volumes,
            // The volume of elements whose spacing is their size over the overlap.
            None => sizes.iter().map(|size| (size / vortex.overlap).powi(3)).collect(),
        };
        let own = kept.take(particles.len());
        out.positions.extend(&particles.points()?[own.clone()]);
        out.strengths.extend(&particles.vectors(&STRENGTHS)?[own.clone()]);
        out.sizes.extend(&sizes[own.clone()]);
        out.volumes.extend(&volumes[own.clone()]);
        out.groups
            .extend(groups[own].iter().map(|group| first as u32 + parts + group));
        parts += count;
    }
    Ok(parts)
}

/// Adds the tracers of all files that `kept` selects. Their groups follow the `first` rings and knots.
pub(super) fn add_tracers(
    settings: &case::Tracers,
    first: usize,
    kept: &mut Kept,
    out: &mut Tracers,
) -> Result<(), CaseError> {
    let mut parts = 0;
    for (k, file) in settings.particles.iter().enumerate() {
        let particles = Particles::read(file, &format!("tracers.particles.{k}"))?;
        let (groups, count) = particles.parts()?;
        let own = kept.take(particles.len());
        out.positions.extend(&particles.points()?[own.clone()]);
        out.along.extend(std::iter::repeat_n(0.0, own.len()));
        out.groups
            .extend(groups[own].iter().map(|group| first as u32 + parts + group));
        parts += count;
    }
    Ok(())
}
