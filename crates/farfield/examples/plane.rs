//! Vortices in the plane: the velocity of a vortex sheet that is about to roll up.
//!
//! `cargo run --release -p farfield --example plane`

use farfield::kernel::Sizes;
use farfield::plane::{Core, Kernel, Output, Sum};
use std::f64::consts::{PI, TAU};

fn main() -> Result<(), farfield::Error> {
    // A sheet along x with a small wave on it, with a circulation of one per unit of length.
    let n = 20_000;
    let sheet: Vec<[f64; 2]> = (0..n)
        .map(|k| (k as f64 + 0.5) / n as f64)
        .map(|x| [x, 0.01 * (TAU * x).sin()])
        .collect();
    let circulations = vec![1.0 / n as f64; n];

    // The potential is sum gamma ln|z - z_j|; its derivative is 2 pi (u_y + i u_x).
    let mut plan = Sum::new(Kernel::Log, &sheet)
        .core(Core::Algebraic, Sizes::Global(0.02))
        .outputs(&[Output::Derivative])
        .tolerance(1e-6)
        .plan()?;
    let field = plan.evaluate(&circulations)?;
    let derivative = field.get(Output::Derivative).unwrap_or_default();
    for k in (0..n).step_by(n / 8) {
        let [along, across] = [derivative[2 * k + 1], derivative[2 * k]].map(|part| part / (2.0 * PI));
        println!("x = {:.3}: velocity ({along:+.4}, {across:+.4})", sheet[k][0]);
    }
    Ok(())
}
