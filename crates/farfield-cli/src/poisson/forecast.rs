//! Checks that the next level of a grid, and the solution on it, fit into memory, before that level is made.

use super::settings::PoissonSettings;
use crate::failure::Failure;
use farfield::machine;
use farfield_grid::Grid;
use farfield_grid::poisson::Precision;
use rayon::prelude::*;

/// Refuses to cut `cut` blocks if the solution on the resulting grid does not fit into memory. `largest` is the largest
/// vorticity.
pub fn check<T: Precision>(
    settings: &PoissonSettings,
    grid: &Grid<T>,
    cut: usize,
    largest: f64,
) -> Result<(), Failure> {
    let Some(available) = settings.memory_cap.or_else(machine::available_memory) else {
        return Ok(());
    };
    let (now, next) = (grid.forest().leaves().len(), grid.forest().leaves().len() + 7 * cut);
    let growth = next as f64 / now as f64;
    // The share of points that are sources is assumed to stay the same at the next level.
    let threshold = settings.threshold * settings.unit(largest)?;
    let omega = grid.channel("omega")?.values().par_iter();
    let values = omega.filter(|value| value.to_f64().abs() > threshold).count();
    let sources = (values as f64 / 3.0 * growth) as usize;
    let targets = (grid.points() as f64 * growth) as usize;
    let solution = settings
        .solver(largest)?
        .memory_forecast::<T>(sources, targets, settings.components.count());
    // Vorticity and stream function.
    let fields = (targets * size_of::<T>() * 2 * settings.components.count()) as u64;
    let needed = grid.memory_forecast(next).max(fields + solution);
    if needed <= available {
        return Ok(());
    }
    let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
    Err(Failure::Data(format!(
        "the next level would have about {next} blocks and take about {:.1} GiB, but {:.1} GiB are free: choose a lower \
         --resolution or a larger --refine (or --memory-cap)",
        gib(needed),
        gib(available)
    )))
}
