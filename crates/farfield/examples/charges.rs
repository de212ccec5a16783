//! The potential and the field of a hundred thousand charges, and their measured error.
//!
//! `cargo run --release -p farfield --example charges`

use farfield::points::{ChargeDistribution, PointSet};

fn main() -> Result<(), farfield::Error> {
    let sources = PointSet::Cube.generate::<f64>(100_000, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(100_000, 1);
    let field = farfield::coulomb(&sources, &charges)
        .gradient()
        .tolerance(1e-6)
        .evaluate()?;
    println!("potential at the first charge: {}", field.potential()[0]);
    println!("gradient there:                {:?}", field.gradient()[0]);

    // Every evaluation measures its own error against exact sums at a few dozen charges.
    for measured in field.check().map_or(&[][..], |check| &check.outputs) {
        println!(
            "relative error of the {}: {:.1e}, at most about {:.1e}",
            measured.output, measured.relative_l2, measured.upper
        );
    }
    Ok(())
}
