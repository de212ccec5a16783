//! Draws sample clouds of points into the folder given as the first argument (default: the current
//! one): vortex rings with tracers, a knot, a star cluster, two galaxies, and an animation.

use std::f64::consts::TAU;

use farfield_plot::scene::{Bounds, Camera, Cloud, ColourMap, Scene};
use farfield_plot::{Animation, Color, Error, Image};

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let path = |name: &str| format!("{folder}/{name}");
    rings(1280, 720, 0.6)?.write_png(path("rings.png"))?;
    knot()?.write_png(path("knot.png"))?;
    cluster()?.write_png(path("cluster.png"))?;
    galaxies()?.write_png(path("galaxies.png"))?;

    let mut animation = Animation::create(path("rings.gif"), 16.0)?;
    for frame in 0..80 {
        animation.push(&rings(640, 480, 0.04 * f64::from(frame))?)?;
    }
    animation.finish()
}

/// A random number generator (xorshift).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().max(1e-300).ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

/// Two rings of tracers that roll up with time, each in its own colour.
fn rings(width: u32, height: u32, time: f64) -> Result<Image, Error> {
    let mut random = Random(7);
    let mut ring = |place: f64| -> Vec<[f64; 3]> {
        let tracer = |_| {
            let (around, turn) = (TAU * random.uniform(), TAU * random.uniform());
            let distance = 0.16 * random.uniform().sqrt() + 0.01 * random.normal();
            let angle = turn + time * 0.1 / (distance.abs() + 0.04);
            let squeezed = distance * (1.0 + 0.35 * (turn * 2.0).cos());
            let radius = 1.0 - 0.3 * (2.0 * time + 3.0 * place).sin() + squeezed * angle.cos();
            let along =
                place * (1.0 - 0.8 * time) + 0.7 * time + squeezed * angle.sin() + 0.02 * time * (6.0 * around).sin();
            [along, radius * around.cos(), radius * around.sin()]
        };
        (0..1 << 17).map(tracer).collect()
    };
    let (first, second) = (ring(0.0), ring(0.75));
    let bounds = Bounds {
        min: [-0.3, -1.4, -1.4],
        max: [2.6, 1.4, 1.4],
    };
    Scene::new(width, height)
        .cloud(Cloud::new(&first).colours(ColourMap::Shades(Color::hex(0xF0_8A3C))))
        .cloud(Cloud::new(&second).colours(ColourMap::Shades(Color::hex(0x4A_9CF0))))
        .title("Two vortex rings")
        .caption(format!("t = {time:.2}"))
        .axes(true)
        .render(&Camera::framing(bounds, -62.0, 18.0).zoomed(1.15))
}

/// A trefoil knot, coloured by a value along it.
fn knot() -> Result<Image, Error> {
    let mut random = Random(5);
    let (mut points, mut values) = (Vec::new(), Vec::new());
    for _ in 0..200_000 {
        let t = TAU * random.uniform();
        let radius = 2.0 + (3.0 * t).cos();
        let mut point = [
            radius * (2.0 * t).cos(),
            radius * (2.0 * t).sin(),
            1.2 * (3.0 * t).sin(),
        ];
        point.iter_mut().for_each(|x| *x += 0.11 * random.normal());
        points.push(point);
        values.push(t.sin());
    }
    let bounds = Bounds::of_most(&points, 0.999);
    Scene::new(1280, 720)
        .cloud(
            Cloud::new(&points)
                .coloured_by(&values, Some((-1.0, 1.0)))
                .colours(ColourMap::Plasma),
        )
        .title("Trefoil knot")
        .caption("t = 0.00")
        .colour_bar("speed")
        .frame(bounds)
        .axes(true)
        .render(&Camera::framing(bounds, -35.0, 40.0))
}

/// A star cluster with the Plummer profile.
fn cluster() -> Result<Image, Error> {
    let mut random = Random(11);
    let points: Vec<[f64; 3]> = (0..100_000)
        .map(|_| {
            let radius = (random.uniform().max(1e-9).powf(-2.0 / 3.0) - 1.0)
                .max(1e-12)
                .powf(-0.5);
            let (z, turn) = (2.0 * random.uniform() - 1.0, TAU * random.uniform());
            let flat = (1.0 - z * z).sqrt();
            [radius * flat * turn.cos(), radius * flat * turn.sin(), radius * z]
        })
        .collect();
    Scene::new(960, 720)
        .cloud(Cloud::new(&points))
        .title("Plummer sphere")
        .render(&Camera::framing(Bounds::of_most(&points, 0.94), 20.0, 15.0))
}

/// Two spiral galaxies, each in its own colour, from the side and from above.
fn galaxies() -> Result<Image, Error> {
    let mut random = Random(13);
    let mut disk = |center: [f64; 3], tilt: f64, size: f64| -> Vec<[f64; 3]> {
        (0..120_000)
            .map(|i| {
                let radius = -size * (random.uniform().max(1e-9) * random.uniform().max(1e-9)).ln() * 0.35;
                let arm = f64::from(i % 2) * TAU / 2.0;
                let loose = if i % 3 == 0 {
                    TAU * random.uniform()
                } else {
                    0.35 * random.normal()
                };
                let turn = arm + 2.2 * (radius / size + 0.1).ln() + loose;
                let (x, y, z) = (radius * turn.cos(), radius * turn.sin(), 0.05 * size * random.normal());
                let (sin, cos) = tilt.sin_cos();
                [
                    center[0] + x,
                    center[1] + y * cos - z * sin,
                    center[2] + y * sin + z * cos,
                ]
            })
            .collect()
    };
    let (near, far) = (disk([-1.2, -0.3, 0.0], 0.3, 1.0), disk([1.3, 0.6, 0.5], -0.9, 0.7));
    let bounds = Bounds::of_most(&near, 0.98).union(Bounds::of_most(&far, 0.98));
    let scene = Scene::new(640, 640)
        .cloud(Cloud::new(&near).colours(ColourMap::Shades(Color::hex(0xF0_9A4A))))
        .cloud(Cloud::new(&far).colours(ColourMap::Shades(Color::hex(0x5A_9CF0))))
        .axes(true);
    let side = scene
        .clone()
        .title("Two galaxies")
        .render(&Camera::framing(bounds, -60.0, 25.0))?;
    let above = scene
        .caption("from above")
        .render(&Camera::framing(bounds, -90.0, 90.0))?;
    Ok(side.beside(&above, 4))
}
