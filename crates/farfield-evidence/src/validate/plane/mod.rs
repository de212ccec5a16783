//! Vortices in the plane against motions with exact solutions.

pub mod kirchhoff;
pub mod lamb_oseen;
pub mod three_vortices;
pub mod two_vortices;

use crate::Error;
use crate::case::case;
use farfield::tuning::MachineProfile;
use farfield_sim::model::Model;
use farfield_sim::plane::PlaneModel;

/// Vortices from a case whose text has no times and sums yet.
fn model(scheme: &str, tolerance: f64, text: &str) -> Result<PlaneModel, Error> {
    let time = format!("time = {{ end = 1.0, step = 0.1, scheme = \"{scheme}\" }}");
    let text = format!("{time}\nsum = {{ tolerance = {tolerance:?} }}\n{text}");
    Ok(PlaneModel::new(&case::<&str>(&text, &[])?, MachineProfile::default())?)
}

/// Point vortices from their circulations and positions.
fn points(vortices: &[(f64, [f64; 2])]) -> Result<PlaneModel, Error> {
    let one = |(circulation, [x, y]): &(f64, [f64; 2])| {
        format!("[[plane.vortices]]\ncirculation = {circulation:?}\nposition = [{x:?}, {y:?}]\n")
    };
    let vortices: String = vortices.iter().map(one).collect();
    model("rk4", 1e-10, &format!("[plane]\ncore = \"singular\"\n{vortices}"))
}

/// Advances by `time` in `steps` equal steps and calls `look` after each.
fn advance(
    model: &mut PlaneModel,
    time: f64,
    steps: u64,
    mut look: impl FnMut(&mut PlaneModel, f64) -> Result<(), Error>,
) -> Result<(), Error> {
    let dt = time / steps as f64;
    for step in 1..=steps {
        model.advance(dt, step)?;
        look(model, step as f64 * dt)?;
    }
    Ok(())
}

/// A column of the diagnostics. The Hamiltonian needs a sum of its own.
fn measured(model: &mut PlaneModel, name: &str) -> Result<f64, Error> {
    let at = model.columns().iter().position(|column| column == name);
    let values = model.measure(name == "hamiltonian")?;
    Ok(at.and_then(|at| values.get(at)).copied().unwrap_or(f64::NAN))
}

/// The square of the distance between two points.
fn square([ax, ay]: [f64; 2], [bx, by]: [f64; 2]) -> f64 {
    (ax - bx).powi(2) + (ay - by).powi(2)
}
