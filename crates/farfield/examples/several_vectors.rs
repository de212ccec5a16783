//! Several vectors of charges at the same points in one evaluation, which is cheaper than one evaluation for each.
//!
//! `cargo run --release -p farfield --example several_vectors`

use farfield::Sum;
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};

const VECTORS: usize = 4;

fn main() -> Result<(), farfield::Error> {
    let sources = PointSet::Cube.generate::<f64>(50_000, 1);
    // All vectors in one array, one after the other.
    let charges: Vec<f64> = (0..VECTORS as u64)
        .flat_map(|seed| ChargeDistribution::Signed.generate::<f64>(sources.len(), seed))
        .collect();

    let mut plan = Sum::new(Kernel::Coulomb, &sources)
        .vectors(VECTORS)
        .tolerance(1e-6)
        .plan()?;
    let field = plan.evaluate(&charges)?;
    for vector in 0..VECTORS {
        let potential = field.of_vector(Output::Potential, vector).unwrap_or_default();
        println!("vector {vector}: potential at the first point {:+.6}", potential[0]);
    }
    println!("{:.3} s for {VECTORS} vectors", plan.seconds().total);
    Ok(())
}
