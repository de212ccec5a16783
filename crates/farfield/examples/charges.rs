//! The potential and the field of a hundred thousand charges, and how exact they are.
//!
//! `cargo run --release -p farfield --example charges`

use farfield::kernel::{Kernel, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::verify::{Problem, verify};

fn main() -> Result<(), farfield::Error> {
    let sources = PointSet::Cube.generate::<f64>(100_000, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(100_000, 1);
    let field = farfield::coulomb(&sources, &charges)
        .gradient()
        .tolerance(1e-6)
        .evaluate()?;
    println!("potential at the first charge: {}", field.potential()[0]);
    println!("gradient there:                {:?}", field.gradient()[0]);

    // Pair by pair in double precision, at a hundred random charges.
    let problem = Problem {
        kernel: Kernel::Coulomb,
        sources: &sources,
        targets: None,
        sizes: &Sizes::None,
        strengths: &charges,
    };
    for error in verify(&problem, &field, 100, 1) {
        println!("relative error of the {}: {:.1e}", error.output, error.relative_l2);
    }
    Ok(())
}
