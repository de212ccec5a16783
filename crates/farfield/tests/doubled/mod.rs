//! Sums over all pairs in twice double precision: a reference written independently of the library.

use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output};
use farfield::plane;
use rayon::prelude::*;

/// A sum at the sources themselves.
#[derive(Clone)]
pub struct Problem {
    pub name: &'static str,
    pub kernel: Kernel,
    pub points: Vec<[f64; 3]>,
    pub strengths: Vec<f64>,
    pub outputs: Vec<Output>,
    pub size: Option<f64>,
}

impl Problem {
    /// The problem with all numbers rounded to single precision.
    pub fn in_single(&self) -> Self {
        let round = |x: f64| f64::from(x as f32);
        Self {
            points: self.points.iter().map(|p| p.map(round)).collect(),
            strengths: self.strengths.iter().map(|q| round(*q)).collect(),
            size: self.size.map(round),
            ..self.clone()
        }
    }
}

/// A number as the unevaluated sum of two: 32 digits.
#[derive(Clone, Copy, Default)]
struct Doubled(f64, f64);

impl Doubled {
    fn add(self, x: f64) -> Self {
        let sum = self.0 + x;
        let back = sum - self.0;
        let lost = (self.0 - (sum - back)) + (x - back);
        let low = self.1 + lost;
        let high = sum + low;
        Self(high, low - (high - sum))
    }

    /// Adds the product of `a` and `b`, rounded only to the pair.
    fn add_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        self.add(product).add(a.mul_add(b, -product))
    }
}

/// The exact values of each output, and the sums of absolute contributions.
pub struct Exact {
    outputs: Vec<(Output, Vec<f64>, Vec<f64>)>,
}

impl Exact {
    pub fn of(problem: &Problem) -> Self {
        let of = |output: &Output| {
            let (values, absolute): (Vec<Vec<f64>>, Vec<f64>) = (0..problem.points.len())
                .into_par_iter()
                .map(|i| at(problem, *output, i))
                .unzip();
            (*output, values.concat(), absolute)
        };
        Self {
            outputs: problem.outputs.iter().map(of).collect(),
        }
    }

    /// The relative error of values over all targets, with the denominator floored as the library documents.
    pub fn error<T: Precision>(&self, output: Output, values: &[T], epsilon: f64) -> f64 {
        let (_, exact, absolute) = self.outputs.iter().find(|(o, ..)| *o == output).unwrap();
        let difference: f64 = values.iter().zip(exact).map(|(a, b)| (a.to_f64() - b).powi(2)).sum();
        let norm: f64 = exact.iter().map(|x| x * x).sum();
        let floor: f64 = absolute.iter().map(|x| (epsilon * x).powi(2)).sum();
        if difference == 0.0 {
            0.0
        } else {
            (difference / norm.max(floor)).sqrt()
        }
    }
}

/// The exact value at a target. Each contribution is correct to a few units in the last place of double precision, and
/// summing them loses nothing.
fn at(problem: &Problem, output: Output, i: usize) -> (Vec<f64>, f64) {
    let components = output.components();
    let strengths = problem.kernel.strength_components();
    let mut sums = vec![Doubled::default(); components];
    let mut absolute = 0.0;
    let mut term = vec![0.0; components];
    for (j, source) in problem.points.iter().enumerate() {
        if i == j {
            continue;
        }
        let d: [f64; 3] = std::array::from_fn(|axis| problem.points[i][axis] - source[axis]);
        let strength = &problem.strengths[j * strengths..(j + 1) * strengths];
        term.fill(0.0);
        contribution(
            problem.kernel,
            output,
            d,
            strength,
            problem.size.unwrap_or(0.0),
            &mut term,
        );
        absolute += term.iter().map(|t| t * t).sum::<f64>().sqrt();
        for (sum, term) in sums.iter_mut().zip(&term) {
            *sum = sum.add(*term);
        }
    }
    (sums.into_iter().map(|sum| sum.0 + sum.1).collect(), absolute)
}

fn contribution(kernel: Kernel, output: Output, d: [f64; 3], q: &[f64], size: f64, out: &mut [f64]) {
    let square = d.iter().fold(Doubled::default(), |sum, c| sum.add_product(*c, *c)).0;
    match kernel {
        Kernel::BiotSavart { core } => vortex(core, output, d, square, q, size, out),
        _ => {
            let (size, sign) = match kernel {
                Kernel::Gravity { .. } => (size, -1.0),
                _ => (0.0, 1.0),
            };
            let s2 = square + size * size;
            if s2 == 0.0 {
                return;
            }
            let s = s2.sqrt();
            match output {
                Output::Potential => out[0] = sign * q[0] / s,
                Output::Gradient => (0..3).for_each(|a| out[a] = -q[0] * d[a] / (s * s2)),
                Output::Acceleration => (0..3).for_each(|a| out[a] = -q[0] * d[a] / (s * s2)),
                _ => {
                    let mut k = 0;
                    for a in 0..3 {
                        for b in a..3 {
                            let delta = if a == b { 1.0 } else { 0.0 };
                            out[k] = q[0] * (3.0 * d[a] * d[b] / s2 - delta) / (s * s2);
                            k += 1;
                        }
                    }
                }
            }
        }
    }
}

/// `gamma x d K / 4 pi` and its gradient.
fn vortex(core: Core, output: Output, d: [f64; 3], r2: f64, gamma: &[f64], size: f64, out: &mut [f64]) {
    let r = r2.sqrt();
    let (k, slope) = match core {
        Core::Singular if r2 == 0.0 => return,
        Core::HuPolynomial if r2 == 0.0 => return,
        Core::Singular => (1.0 / (r * r2), -3.0 / (r * r2 * r2)),
        Core::HuPolynomial if r <= size => (1.0 / (size * size * r), -1.0 / (size * size * r * r2)),
        Core::HuPolynomial => (1.0 / (r * r2), -3.0 / (r * r2 * r2)),
        Core::WinckelmansLeonard => {
            let s2 = r2 + size * size;
            let (a, root) = (r2 + 2.5 * size * size, s2.sqrt());
            (a / (s2 * s2 * root), (2.0 * s2 - 5.0 * a) / (s2 * s2 * s2 * root))
        }
        _ => gaussian(r, r2, size),
    };
    let scale = 0.25 / std::f64::consts::PI;
    let g: [f64; 3] = std::array::from_fn(|a| scale * gamma[a]);
    let cross = [
        g[1] * d[2] - g[2] * d[1],
        g[2] * d[0] - g[0] * d[2],
        g[0] * d[1] - g[1] * d[0],
    ];
    if output == Output::Velocity {
        (0..3).for_each(|a| out[a] = k * cross[a]);
        return;
    }
    let turn = [[0.0, -g[2], g[1]], [g[2], 0.0, -g[0]], [-g[1], g[0], 0.0]];
    for a in 0..3 {
        for b in 0..3 {
            out[3 * a + b] = k * turn[a][b] + slope * cross[a] * d[b];
        }
    }
}

/// `K` and `K'/r` of the blob `exp(-r^2/2 size^2)`: by its series near the centre, by a continued fraction elsewhere.
fn gaussian(r: f64, r2: f64, size: f64) -> (f64, f64) {
    let two = 2.0 * size * size;
    let s2 = r2 / two;
    let c = 4.0 / std::f64::consts::PI.sqrt() / two.powf(1.5);
    if s2 < 4.0 {
        let (mut value, mut slope, mut term) = (0.0, 0.0, 1.0);
        for k in 0..60 {
            value += term / (2 * k + 3) as f64;
            slope -= term / (2 * k + 5) as f64;
            term *= -s2 / (k + 1) as f64;
        }
        return (c * value, 2.0 * c * slope / two);
    }
    let s = s2.sqrt();
    let mut fraction = s;
    if s2 < 40.0 {
        for k in (1..=60).rev() {
            fraction = s + 0.5 * k as f64 / fraction;
        }
    }
    let erfc = (-s2).exp() / (std::f64::consts::PI.sqrt() * fraction);
    let g = 1.0 - erfc - 2.0 / std::f64::consts::PI.sqrt() * s * (-s2).exp();
    let k = g / (r * r2);
    (k, (c * (-s2).exp() - 3.0 * k) / r2)
}

/// The exact values of all outputs of a kernel of the plane, and their absolute contributions.
pub struct ExactInPlane {
    kernel: plane::Kernel,
    /// Potential, derivative and second derivative, two numbers each, and the sums of their magnitudes.
    values: Vec<([f64; 6], [f64; 3])>,
}

impl ExactInPlane {
    /// The relative error of values over all targets.
    pub fn error(&self, output: plane::Output, values: &[f64]) -> f64 {
        let components = output.components(self.kernel, false);
        let which = output.derivatives();
        let (mut difference, mut norm, mut floor) = (0.0, 0.0, 0.0);
        for (value, (exact, absolute)) in values.chunks(components).zip(&self.values) {
            for (value, exact) in value.iter().zip(&exact[2 * which..]) {
                difference += (value - exact).powi(2);
                norm += exact * exact;
            }
            floor += (f64::EPSILON * absolute[which]).powi(2);
        }
        if difference == 0.0 {
            0.0
        } else {
            (difference / f64::max(norm, floor)).sqrt()
        }
    }
}

/// Sums over all pairs of points of the plane.
pub fn plane_sums(kernel: plane::Kernel, points: &[[f64; 2]], strengths: &[f64]) -> ExactInPlane {
    let at = |i: usize| {
        let mut sums = [Doubled::default(); 6];
        let mut absolute = [0.0; 3];
        for (j, source) in points.iter().enumerate().filter(|(j, _)| *j != i) {
            let (x, y, g) = (points[i][0] - source[0], points[i][1] - source[1], strengths[j]);
            let r2 = x * x + y * y;
            if r2 == 0.0 {
                continue;
            }
            // 1/(z_i - z_j)
            let (re, im) = (x / r2, -y / r2);
            let square = (re * re - im * im, 2.0 * re * im);
            let cube = (square.0 * re - square.1 * im, square.0 * im + square.1 * re);
            let term = match kernel {
                plane::Kernel::Harmonic => [-re, -im, square.0, square.1, -2.0 * cube.0, -2.0 * cube.1],
                plane::Kernel::Log => [0.5 * r2.ln(), 0.0, re, im, -square.0, -square.1],
            };
            for (sum, term) in sums.iter_mut().zip(term) {
                *sum = sum.add(g * term);
            }
            for (absolute, term) in absolute.iter_mut().zip(term.chunks(2)) {
                *absolute += g.abs() * term[0].hypot(term[1]);
            }
        }
        (sums.map(|sum| sum.0 + sum.1), absolute)
    };
    ExactInPlane {
        kernel,
        values: (0..points.len()).into_par_iter().map(at).collect(),
    }
}
