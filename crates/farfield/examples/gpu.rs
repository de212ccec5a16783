//! A million charges on the faster device: a GPU if there is one, else the CPU.
//!
//! `cargo run --release -p farfield --example gpu`

use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Device, Sum};

fn main() -> Result<(), farfield::Error> {
    match farfield::all_gpus() {
        Ok(gpus) => gpus
            .iter()
            .for_each(|gpu| println!("cuda:{} is {}", gpu.ordinal, gpu.name)),
        Err(reason) => println!("no GPU: {reason}"),
    }
    let sources = PointSet::Cube.generate::<f32>(1_000_000, 1);
    let charges = ChargeDistribution::Signed.generate::<f32>(1_000_000, 1);
    let mut plan = Sum::new(Kernel::Coulomb, &sources)
        .outputs(&[Output::Potential, Output::Gradient])
        .tolerance(1e-3)
        .device(Device::Auto) // Device::Cuda(0) fails if the GPU cannot be used
        .plan()?;
    let field = plan.evaluate(&charges)?;
    let report = plan.report();
    println!("phi = {}, grad phi = {:?}", field.potential()[0], field.gradient()[0]);
    println!(
        "{} on {} ({}) in {:.4} s",
        report.method, report.device, report.simd, report.seconds.total
    );
    Ok(())
}
