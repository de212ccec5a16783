//! New charges at the same points: the tree is built once, and further evaluations allocate nothing.
//!
//! `cargo run --release -p farfield --example plan_reuse`

use farfield::Sum;
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};

fn main() -> Result<(), farfield::Error> {
    let sources = PointSet::Sphere.generate::<f64>(100_000, 1);
    let mut plan = Sum::new(Kernel::Coulomb, &sources)
        .outputs(&[Output::Potential, Output::Gradient])
        .tolerance(1e-6)
        .plan()?;
    println!("method {}, {} boxes", plan.parameters().method, plan.parameters().boxes);

    let mut field = plan.field();
    for step in 0..5 {
        let charges = ChargeDistribution::Signed.generate::<f64>(sources.len(), step);
        plan.evaluate_into(&charges, &mut field)?;
        println!(
            "step {step}: potential {:+.6} in {:.3} s",
            field.potential()[0],
            plan.seconds().total
        );
    }
    Ok(())
}
