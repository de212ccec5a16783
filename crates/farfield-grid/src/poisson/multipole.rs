//! Multipole expansions as polynomials.
//!
//! With moments $M_\alpha=\sum_j w_j(y_j-c)^\alpha$ about the centre $c$, Taylor's formula gives
//! $$ \sum_j\frac{w_j}{|x-y_j|}=\sum_{n\ge0}\frac{H_n(x-c)}{|x-c|^{2n+1}},\qquad
//!    H_n=\sum_{|\alpha|=n}\frac{M_\alpha}{\alpha!}T_\alpha,\qquad
//!    \partial^\alpha\frac1r=(-1)^n\frac{T_\alpha}{r^{2n+1}}. $$
//! $H_n$ is the harmonic polynomial $\sum_mC_n^mr^nY_n^m$ of eq. 5. Every $x^2$ in it can be replaced by $r^2-y^2-z^2$,
//! so it is a sum of $r^{2j}x^b$, $b=0$ or $1$, times polynomials in y and z. After division by $r^{2n}$, the terms of
//! all degrees with the same $m=n-j$ have the same power of r, and
//! $$ \sum_n\frac{H_n}{r^{2n+1}}=\frac1r\sum_{m=0}^p\frac{A_m(y,z)+x\\,B_m(y,z)}{r^{2m}}. $$
//! This form suits bricks: along a line of points y and z are fixed, $A_m$ and $B_m$ are $2p+1$ numbers, and each point
//! takes one Horner evaluation in $1/r^2$. Moments are translated from children to parents by the binomial theorem.
//! Lengths are in units of the node's radius, so that powers do not overflow.

use super::kernel::Quantity;
use super::precision::Precision;
use super::sources::Sources;
use super::tree::{Node, SourceTree};
use farfield::simd::{Lanes, MAX_LANES, Real, SimdLevel, Vectorized, dispatch};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// The highest degree of any expansion.
pub(crate) const MAX_DEGREE: usize = 12;

/// The number of terms of all degrees up to `order`.
pub const fn term_count(order: usize) -> usize {
    (order + 1) * (order + 2) * (order + 3) / 6
}

/// The index of a term of degree n: x^k y^l z^(n-k-l) for moments, r^(2j) x^b y^l z^(n-k-l) with k = 2j + b for
/// expansions.
pub(crate) const fn term(n: usize, k: usize, l: usize) -> usize {
    n * (n + 1) * (n + 2) / 6 + k * (2 * n + 3 - k) / 2 + l
}

/// The exponents (k, l, m) of all x^k y^l z^m of degree up to `order`, in the order of [`term`].
fn powers(order: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..=order).flat_map(|n| (0..=n).flat_map(move |k| (0..=n - k).map(move |l| [k, l, n - k - l])))
}

/// $T_\alpha/\alpha!$ for every $\alpha$, in the terms of an expansion: `table[term of alpha]` holds the coefficients
/// of degree $|\alpha|$.
fn derivatives_of_inverse_distance() -> &'static [Vec<f64>] {
    static TABLE: OnceLock<Vec<Vec<f64>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table = derivatives_in_powers();
        let degrees = powers(MAX_DEGREE).map(|alpha| alpha.iter().sum());
        let in_terms = table.iter().zip(degrees);
        in_terms.map(|(in_powers, n)| without_x_squared(n, in_powers)).collect()
    })
}

/// Converts a homogeneous polynomial of degree n in x, y and z by replacing every x^2 by r^2 - y^2 - z^2.
fn without_x_squared(n: usize, in_powers: &[f64]) -> Vec<f64> {
    let first = term(n, 0, 0);
    let mut terms = vec![0.0; in_powers.len()];
    for ([k, l, _], value) in powers(n).filter(|p| p.iter().sum::<usize>() == n).zip(in_powers) {
        let (squares, b) = (k / 2, k % 2);
        for i in 0..=squares {
            for t in 0..=i {
                // The coefficient of r^(2 (squares - i)) y^2t z^(2i - 2t) in (r^2 - y^2 - z^2)^squares.
                let share = binomial(squares, i) * binomial(i, t) * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
                terms[term(n, 2 * (squares - i) + b, l + 2 * t) - first] += share * value;
            }
        }
    }
    terms
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// $T_\alpha/\alpha!$ in powers of x, y and z.
fn derivatives_in_powers() -> Vec<Vec<f64>> {
    let mut table: Vec<Vec<f64>> = vec![vec![1.0]];
    for alpha in powers(MAX_DEGREE).skip(1) {
        let n: usize = alpha.iter().sum();
        let axis = alpha.iter().position(|power| *power > 0).unwrap_or(0);
        let mut before = alpha;
        before[axis] -= 1;
        let start = term(n - 1, 0, 0);
        let lower = &table[term(n - 1, before[0], before[1])];
        // T_(alpha + e) = (2n - 1) x T_alpha - r^2 dT_alpha/dx, with the factor 1/alpha! built up step by step.
        let mut next = vec![0.0; term(n + 1, 0, 0) - term(n, 0, 0)];
        let mut add = |power: [usize; 3], value: f64| next[term(n, power[0], power[1]) - term(n, 0, 0)] += value;
        for power in powers(n - 1).filter(|power| power.iter().sum::<usize>() == n - 1) {
            let value = lower[term(n - 1, power[0], power[1]) - start] / alpha[axis] as f64;
            let mut raised = power;
            raised[axis] += 1;
            add(raised, (2 * n - 1) as f64 * value);
            if power[axis] > 0 {
                for other in 0..3 {
                    let mut turned = power;
                    turned[axis] -= 1;
                    turned[other] += 2;
                    add(turned, -(power[axis] as f64) * value);
                }
            }
        }
        table.push(next);
    }
    table
}

/// The expansions of all nodes: the coefficients of the polynomials $H_n$ divided by the node's radius, node by node
/// and component by component.
#[derive(Debug, Clone)]
pub struct Expansions<T> {
    pub(crate) coefficients: Vec<T>,
    pub(crate) order: usize,
    pub(crate) components: usize,
}

impl<T: Precision> Expansions<T> {
    /// Builds all expansions from the leaves upward: sources to moments (P2M), children's moments to parents (M2M),
    /// moments to polynomials.
    pub(crate) fn build(
        sources: &Sources<T>,
        tree: &SourceTree,
        order: usize,
        quantity: Quantity,
        simd: SimdLevel,
    ) -> Self {
        let (terms, components) = (term_count(order), sources.components());
        let nodes = tree.nodes();
        let mut moments = vec![0.0; nodes.len() * components * terms];
        let length = components * terms;
        let leaves = moments.par_chunks_exact_mut(length).zip(nodes);
        leaves.filter(|(_, node)| node.is_leaf()).for_each(|(moments, node)| {
            T::moments(simd, sources, node, order, moments);
        });
        let binomials = Binomials::new(order);
        for level in (0..tree.depth()).rev() {
            let (parents, below) = (tree.level(level), tree.level(level + 1).start);
            let (above, children) = moments.split_at_mut(below * length);
            above[parents.start * length..]
                .par_chunks_exact_mut(length)
                .zip(&nodes[parents])
                .for_each(|(moments, node)| {
                    for child in node.children.clone() {
                        let from = &children[(child - below) * length..][..length];
                        binomials.shift(node, &nodes[child], from, moments);
                    }
                });
        }
        if quantity == Quantity::Velocity {
            moments
                .par_chunks_exact_mut(length)
                .zip(nodes)
                .for_each(|(moments, node)| {
                    let curl = curl(order, moments, unit(node));
                    moments.copy_from_slice(&curl);
                });
        }
        let mut coefficients = vec![T::ZERO; moments.len()];
        coefficients
            .par_chunks_exact_mut(terms)
            .zip(moments.par_chunks_exact(terms))
            .enumerate()
            .for_each(|(k, (coefficients, moments))| {
                let scale = 1.0 / unit(&nodes[k / components]);
                for (coefficient, value) in coefficients.iter_mut().zip(polynomials(order, moments)) {
                    *coefficient = T::from_f64(value * scale);
                }
            });
        Self {
            coefficients,
            order,
            components,
        }
    }
}

impl<T: Real> Expansions<T> {
    /// An empty set of expansions.
    pub(crate) fn none(components: usize) -> Self {
        Self {
            coefficients: Vec::new(),
            order: 0,
            components,
        }
    }

    /// The coefficients of one component of one node.
    pub(crate) fn of(&self, node: usize, component: usize) -> &[T] {
        let terms = term_count(self.order);
        &self.coefficients[(node * self.components + component) * terms..][..terms]
    }

    /// One component of one node's expansion at a point: the reference without optimisation.
    pub fn evaluate(&self, tree: &SourceTree, node: usize, component: usize, x: [f64; 3]) -> f64 {
        let at = &tree.nodes()[node];
        let u: [f64; 3] = std::array::from_fn(|axis| (x[axis] - at.center[axis]) / unit(at));
        let inverse = 1.0 / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]).sqrt();
        let mut value = 0.0;
        for ([k, l, m], coefficient) in powers(self.order).zip(self.of(node, component)) {
            let monomial = u[0].powi((k % 2) as i32) * u[1].powi(l as i32) * u[2].powi(m as i32);
            let inverse_powers = 2 * (k + l + m - k / 2) as i32 + 1;
            value += coefficient.to_f64() * monomial * inverse.powi(inverse_powers);
        }
        value
    }
}

/// The moments of the curl of a vector potential, from those of its three components. Since $\partial_e$ of
/// $\sum\frac{M_\alpha}{\alpha!}(-1)^n\partial^\alpha\frac1r$ raises one index,
/// $M'\_{\alpha+e}=-(\alpha_e+1)M\_\alpha$. Degrees up to the order are kept, so the potential contributes with degrees
/// up to one less.
fn curl(order: usize, moments: &[f64], unit: f64) -> Vec<f64> {
    let terms = term_count(order);
    let mut curl = vec![0.0; moments.len()];
    for (at, alpha) in powers(order).enumerate() {
        let derivative = |axis: usize, component: usize| {
            let mut before = alpha;
            match alpha[axis] {
                0 => 0.0,
                power => {
                    before[axis] -= 1;
                    let from = term(before.iter().sum(), before[0], before[1]);
                    -(power as f64) * moments[component * terms + from] / unit
                }
            }
        };
        for c in 0..3 {
            let (next, last) = ((c + 1) % 3, (c + 2) % 3);
            curl[c * terms + at] = derivative(next, last) - derivative(last, next);
        }
    }
    curl
}

/// The unit of length of a node's expansion.
pub(crate) fn unit(node: &Node) -> f64 {
    if node.radius > 0.0 { node.radius } else { 1.0 }
}

/// The coefficients of the polynomials $H_n$ for `moments`.
fn polynomials(order: usize, moments: &[f64]) -> Vec<f64> {
    let table = derivatives_of_inverse_distance();
    let mut coefficients = vec![0.0; term_count(order)];
    for (at, (power, moment)) in powers(order).zip(moments).enumerate() {
        let n: usize = power.iter().sum();
        let degree: Range<usize> = term(n, 0, 0)..term(n + 1, 0, 0);
        for (coefficient, value) in coefficients[degree].iter_mut().zip(&table[at]) {
            *coefficient += moment * value;
        }
    }
    coefficients
}

/// Translates moments from one centre to another.
struct Binomials {
    order: usize,
    choose: [[f64; MAX_DEGREE + 1]; MAX_DEGREE + 1],
}

impl Binomials {
    fn new(order: usize) -> Self {
        let mut choose = [[0.0; MAX_DEGREE + 1]; MAX_DEGREE + 1];
        for n in 0..=MAX_DEGREE {
            choose[n][0] = 1.0;
            for k in 1..=n {
                choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k];
            }
        }
        Self { order, choose }
    }

    /// Adds a child's moments to its parent's.
    fn shift(&self, parent: &Node, child: &Node, from: &[f64], to: &mut [f64]) {
        let ratio = unit(child) / unit(parent);
        // table[axis][n][k]: the factor of the child's k-th power in the parent's n-th along an axis.
        let table = [0, 1, 2].map(|axis| {
            let shift = (child.center[axis] - parent.center[axis]) / unit(parent);
            let mut table = [[0.0; MAX_DEGREE + 1]; MAX_DEGREE + 1];
            for n in 0..=self.order {
                for k in 0..=n {
                    table[n][k] = self.choose[n][k] * ratio.powi(k as i32) * shift.powi((n - k) as i32);
                }
            }
            table
        });
        let terms = term_count(self.order);
        for (from, to) in from.chunks_exact(terms).zip(to.chunks_exact_mut(terms)) {
            for ([a, b, c], to) in powers(self.order).zip(to) {
                for i in 0..=a {
                    for j in 0..=b {
                        let share = table[0][a][i] * table[1][b][j];
                        for k in 0..=c {
                            *to += share * table[2][c][k] * from[term(i + j + k, i, j)];
                        }
                    }
                }
            }
        }
    }
}

/// P2M: the moments of a leaf's sources about its centre, component by component.
pub(crate) fn sources_to_moments<T: Real>(
    simd: SimdLevel,
    sources: &Sources<T>,
    node: &Node,
    order: usize,
    moments: &mut [f64],
) {
    let task = SourcesToMoments {
        sources,
        node,
        order,
        moments,
    };
    dispatch(simd, task);
}

/// Sums the powers of the sources, with one source per lane.
struct SourcesToMoments<'a, T> {
    sources: &'a Sources<T>,
    node: &'a Node,
    order: usize,
    moments: &'a mut [f64],
}

impl<T: Real> Vectorized<T> for SourcesToMoments<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let terms = term_count(self.order);
        let inverse = 1.0 / unit(self.node);
        let range = self.node.sources.clone();
        let mut sums = vec![V::zero(); self.moments.len()];
        let mut first = range.start;
        while first < range.end {
            let count = (range.end - first).min(V::LANES);
            let mut power = [[V::splat(T::ONE); MAX_DEGREE + 1]; 3];
            for axis in 0..3 {
                // The difference from the centre is taken in double precision, to avoid cancellation in single
                // precision.
                let mut lanes = [T::ZERO; MAX_LANES];
                for l in 0..count {
                    let x = self.sources.position[axis][first + l].to_f64();
                    lanes[l] = T::from_f64((x - self.node.center[axis]) * inverse);
                }
                let u = V::from_slice(&lanes);
                for n in 1..=self.order {
                    power[axis][n] = power[axis][n - 1] * u;
                }
            }
            for c in 0..self.sources.components() {
                let weight = V::from_slice_partial(&self.sources.weights[c][first..], count, T::ZERO);
                let sums = &mut sums[c * terms..][..terms];
                for k in 0..=self.order {
                    let wx = weight * power[0][k];
                    for l in 0..=self.order - k {
                        let wxy = wx * power[1][l];
                        for m in 0..=self.order - k - l {
                            let at = &mut sums[term(k + l + m, k, l)];
                            *at = wxy.mul_add(power[2][m], *at);
                        }
                    }
                }
            }
            first += V::LANES;
        }
        for k in 0..sums.len() {
            self.moments[k] = sums[k].sum().to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_numbered_without_gaps() {
        for (at, [k, l, m]) in powers(MAX_DEGREE).enumerate() {
            assert_eq!(term(k + l + m, k, l), at);
        }
        assert_eq!(powers(6).count(), term_count(6));
    }

    #[test]
    fn the_polynomials_of_an_off_centre_charge_are_legendre_polynomials() {
        // H_n(x) = |x|^n |y|^n P_n(cos) for a unit charge at y.
        let (y, x) = ([0.3f64, -0.4, 0.2], [0.7f64, 0.1, -0.9]);
        let moments: Vec<f64> = powers(12)
            .map(|p| (0..3).map(|axis| y[axis].powi(p[axis] as i32)).product())
            .collect();
        let coefficients = polynomials(12, &moments);
        let dot: f64 = (0..3).map(|axis| x[axis] * y[axis]).sum();
        let scale = x.iter().map(|c| c * c).sum::<f64>() * y.iter().map(|c| c * c).sum::<f64>();
        let mut legendre = [1.0, dot];
        for n in 1..=12usize {
            let r2: f64 = x.iter().map(|c| c * c).sum();
            let value = |[k, l, m]: [usize; 3]| {
                r2.powi((k / 2) as i32) * x[0].powi((k % 2) as i32) * x[1].powi(l as i32) * x[2].powi(m as i32)
            };
            let got: f64 = powers(12)
                .zip(&coefficients)
                .filter(|(p, _)| p.iter().sum::<usize>() == n)
                .map(|(p, c)| c * value(p))
                .sum();
            assert!((got - legendre[1]).abs() < 1e-13, "degree {n}: {got} {}", legendre[1]);
            let next = ((2 * n + 1) as f64 * dot * legendre[1] - n as f64 * scale * legendre[0]) / (n + 1) as f64;
            legendre = [legendre[1], next];
        }
    }
}
