//! Solves for the stream function and the velocity of a Gaussian vortex in free space, on an adapted grid.
//!
//! `cargo run --release -p farfield-grid --example poisson`

use farfield_grid::poisson::{Accuracy, Poisson};
use farfield_grid::{Adaptation, Domain, Error, Grid, Sampling};

/// A Gaussian blob of vorticity along z.
fn vorticity(x: [f64; 3]) -> [f64; 3] {
    let r2: f64 = x.iter().map(|c| (c - 0.5).powi(2)).sum();
    [0.0, 0.0, (-r2 / 0.01).exp()]
}

fn main() -> Result<(), Error> {
    let builder = Grid::<f64>::builder(Domain::unit_cube()).start_level(1);
    let mut grid = builder.vector("omega").vector("psi").vector("u").build()?;

    // Refines where wavelet details exceed 1e-3 and joins where they are below 1e-5, up to 128 points across the box.
    grid.adapt_to(&["omega"], &Adaptation::new(1e-3, 1e-5, 3), |grid| {
        grid.fill_vector("omega", Sampling::Exact, vorticity)
    })?;
    let blocks = grid.forest().leaves().len();
    println!(
        "{blocks} blocks, {} points; uniform: {}",
        grid.points(),
        128usize.pow(3)
    );

    let solver = Poisson::new(Accuracy::Tolerance(1e-5));
    let report = solver.solve(&mut grid, "omega", "psi")?;
    println!("stream function by {} in {:.3} s", report.method, report.seconds.total);
    let report = solver.solve_velocity(&mut grid, "omega", "u")?;
    println!("velocity by {} in {:.3} s", report.method, report.seconds.total);
    println!("largest velocity {:.5}", grid.largest("u")?);
    Ok(())
}
