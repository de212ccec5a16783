//! A million charges on the GPU where there is one, else on the CPU.
//!
//! `cargo run --release -p farfield-cuda --example gpu`

use farfield_core::Sum;
use farfield_core::kernel::{Kernel, Output};
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_cuda::{Device, Plan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sources = PointSet::Cube.generate::<f32>(1_000_000, 1);
    let charges = ChargeDistribution::Signed.generate::<f32>(1_000_000, 1);
    let sum = Sum::new(Kernel::Coulomb, &sources)
        .outputs(&[Output::Potential, Output::Gradient])
        .tolerance(1e-4);

    let (field, seconds) = match Device::open(0) {
        Ok(device) => {
            println!("on {}", device.properties().name);
            let mut plan = Plan::new(&device, &sum)?;
            (plan.evaluate(&charges)?, plan.seconds().total)
        }
        Err(reason) => {
            println!("on the CPU: {reason}");
            let mut plan = sum.plan()?;
            (plan.evaluate(&charges)?, plan.seconds().total)
        }
    };
    println!("potential {:+.4} in {seconds:.4} s", field.potential()[0]);
    Ok(())
}
