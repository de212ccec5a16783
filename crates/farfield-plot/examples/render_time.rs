//! Measures the time to draw a million points: `cargo run --release -p farfield-plot --example render_time`.

use std::f64::consts::TAU;
use std::time::Instant;

use farfield_plot::Error;
use farfield_plot::scene::{Bounds, Camera, Cloud, Scene};

fn main() -> Result<(), Error> {
    let ring = |place: f64| -> Vec<[f64; 3]> {
        let point = |k: u32| {
            // A quasi-random sequence that fills the tube evenly.
            let [around, turn, out] =
                [0.754_877_666, 0.569_840_291, 0.430_159_709].map(|step| f64::from(k) * step % 1.0);
            let distance = 0.2 * out.sqrt();
            let radius = 1.0 + distance * (TAU * turn).cos();
            let along = place + distance * (TAU * turn).sin();
            [radius * (TAU * around).cos(), radius * (TAU * around).sin(), along]
        };
        (0..1 << 19).map(point).collect()
    };
    let (first, second) = (ring(0.0), ring(1.0));
    let bounds = Bounds::of(&first).union(Bounds::of(&second));
    let scene = Scene::new(800, 600)
        .cloud(Cloud::new(&first))
        .cloud(Cloud::new(&second));
    for (name, camera) in [
        ("oblique", Camera::framing(bounds, 65.0, 28.0)),
        ("axis", Camera::framing(bounds, -90.0, 89.9)),
    ] {
        let scene = scene.clone().exposure(scene.measure(&camera)?);
        let mut seconds: Vec<f64> = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            let image = scene.render(&camera)?;
            seconds.push(start.elapsed().as_secs_f64());
            assert!(image.width() == 800);
        }
        seconds.sort_by(f64::total_cmp);
        let points = first.len() + second.len();
        println!(
            "{name}: {points} points in {:.3} s (fastest of 5), {:.3} s (slowest)",
            seconds[0], seconds[4]
        );
    }
    Ok(())
}
