//! Remeshing: the strengths of scattered elements are interpolated to a regular grid, so that cores keep overlapping.

use super::Elements;
use crate::ranks::cells::{Cell, of_others};
use crate::ranks::{Ranks, largest, sum_all, words};
use crate::vec3::{Vec3, add_scaled, norm, sum};
use std::collections::{BTreeMap, HashMap};

/// The result of a remeshing.
#[derive(Debug, Clone, PartialEq)]
pub struct Remeshed {
    /// The elements on the grid.
    pub elements: Elements,
    /// The spacing of the grid.
    pub spacing: f64,
    /// The strength of the dropped weak elements, as a fraction of the total.
    pub dropped: f64,
}

/// Monaghan's third-order kernel M4'. It conserves the sum and the first and second moments.
fn m4_prime(x: f64) -> f64 {
    let x = x.abs();
    if x < 1.0 {
        1.0 - 0.5 * x * x * (5.0 - 3.0 * x)
    } else if x < 2.0 {
        0.5 * (1.0 - x) * (2.0 - x) * (2.0 - x)
    } else {
        0.0
    }
}

/// The strength that arrives at a node of the grid.
#[derive(Default)]
struct Node {
    strength: Vec3,
    /// The group of the largest contribution.
    group: u32,
    /// The magnitude of the largest contribution.
    strongest: f64,
}

impl Node {
    const NUMBERS: usize = 5;

    fn numbers(&self) -> [f64; Self::NUMBERS] {
        let [x, y, z] = self.strength;
        [x, y, z, f64::from(self.group), self.strongest]
    }

    fn from_numbers(numbers: &[f64]) -> Self {
        Self {
            strength: [numbers[0], numbers[1], numbers[2]],
            group: numbers[3] as u32,
            strongest: numbers[4],
        }
    }

    /// Adds the contribution of another rank to the same node.
    fn add(&mut self, other: &Self) {
        self.strength = add_scaled(self.strength, 1.0, other.strength);
        if other.strongest > self.strongest {
            (self.strongest, self.group) = (other.strongest, other.group);
        }
    }
}

/// Puts the elements on a grid whose spacing is their mean core size over `overlap`. Nodes weaker than `cutoff` times
/// the strongest are dropped, and their strength is spread evenly over the rest, so that the total is conserved. Each
/// rank has some of the elements, before and after. Called by all ranks together.
pub fn remesh(elements: &Elements, overlap: f64, cutoff: f64, ranks: &dyn Ranks) -> Remeshed {
    let mut sizes = [elements.sizes.iter().sum::<f64>(), elements.len() as f64];
    sum_all(ranks, &mut sizes);
    let size = sizes[0] / sizes[1].max(1.0);
    let spacing = size / overlap;
    let nodes = at_owners(ranks, spread_to_nodes(elements, spacing));
    let strongest = nodes.iter().map(|(_, node)| norm(node.strength)).fold(0.0, f64::max);
    let strongest = largest(ranks, strongest);
    let (kept, weak): (Vec<_>, Vec<_>) = nodes
        .iter()
        .partition(|(_, node)| norm(node.strength) > cutoff * strongest);
    let total: f64 = nodes.iter().map(|(_, node)| norm(node.strength)).sum();
    let lost: f64 = weak.iter().map(|(_, node)| norm(node.strength)).sum();
    let missing = sum(weak.iter().map(|(_, node)| node.strength));
    let mut sums = [total, lost, missing[0], missing[1], missing[2], kept.len() as f64];
    sum_all(ranks, &mut sums);
    let [total, lost, x, y, z, count] = sums;
    let (missing, each) = ([x, y, z], 1.0 / count.max(1.0));
    let volume = spacing.powi(3);
    let mut out = Elements::default();
    for (key, node) in kept {
        out.positions.push(key.map(|k| k as f64 * spacing));
        out.strengths.push(add_scaled(node.strength, each, missing));
        out.sizes.push(size);
        out.volumes.push(volume);
        out.groups.push(node.group);
    }
    Remeshed {
        elements: out,
        spacing,
        dropped: if total > 0.0 { lost / total } else { 0.0 },
    }
}

/// All nodes that receive strength, sorted by position. Elements are added in order, so equal input gives equal bits.
fn spread_to_nodes(elements: &Elements, spacing: f64) -> Vec<([i64; 3], Node)> {
    let mut nodes: HashMap<[i64; 3], Node> = HashMap::new();
    for ((position, strength), group) in elements.positions.iter().zip(&elements.strengths).zip(&elements.groups) {
        let scaled = position.map(|x| x / spacing);
        let corner = scaled.map(|x| x.floor() as i64 - 1);
        let weights: [[f64; 4]; 3] = std::array::from_fn(|axis| {
            std::array::from_fn(|k| m4_prime(scaled[axis] - (corner[axis] + k as i64) as f64))
        });
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..4 {
                    let weight = weights[0][i] * weights[1][j] * weights[2][k];
                    if weight == 0.0 {
                        continue;
                    }
                    let key = [corner[0] + i as i64, corner[1] + j as i64, corner[2] + k as i64];
                    let node = nodes.entry(key).or_default();
                    node.strength = add_scaled(node.strength, weight, *strength);
                    let part = weight.abs() * norm(*strength);
                    if part > node.strongest {
                        (node.strongest, node.group) = (part, *group);
                    }
                }
            }
        }
    }
    let mut nodes: Vec<_> = nodes.into_iter().collect();
    nodes.sort_unstable_by_key(|(key, _)| *key);
    nodes
}

/// Merges the nodes to which several ranks contribute. The nodes of each cell of 8^3 nodes go to the lowest rank that
/// has any of them. Called by all ranks together.
fn at_owners(ranks: &dyn Ranks, nodes: Vec<([i64; 3], Node)>) -> Vec<([i64; 3], Node)> {
    if ranks.size() == 1 {
        return nodes;
    }
    let cell_of = |key: &[i64; 3]| key.map(|k| k >> 3);
    let mut cells: Vec<Cell> = nodes.iter().map(|(key, _)| cell_of(key)).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut owners: HashMap<Cell, usize> = cells.iter().map(|cell| (*cell, ranks.rank())).collect();
    for (rank, theirs) in of_others(ranks, &cells, 0) {
        for cell in theirs {
            owners.entry(cell).and_modify(|owner| *owner = rank.min(*owner));
        }
    }
    let mut leaving: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut all = Vec::with_capacity(nodes.len());
    for (key, node) in nodes {
        match owners.get(&cell_of(&key)) {
            Some(owner) if *owner != ranks.rank() => {
                let bytes = leaving.entry(*owner).or_default();
                bytes.extend(words::of_integers(&key));
                bytes.extend(words::of_numbers(&node.numbers()));
            }
            _ => all.push((key, node)),
        }
    }
    // Own nodes first: the others come from higher ranks.
    for (_, bytes) in ranks.send(leaving.into_iter().collect()) {
        for row in bytes.as_chunks::<{ 8 * (3 + Node::NUMBERS) }>().0 {
            let (key, node) = row.split_at(24);
            let key = words::integers(key);
            all.push(([key[0], key[1], key[2]], Node::from_numbers(&words::numbers(node))));
        }
    }
    all.sort_by_key(|(key, _)| *key);
    all.dedup_by(|(key, node), (first, into)| {
        let same = key == first;
        if same {
            into.add(node);
        }
        same
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Alone;
    use crate::vec3::{cross, scale, sub};
    use farfield::points::{PointSet, Random};

    fn scattered() -> Elements {
        let mut random = Random::new(3);
        let n = 400;
        Elements {
            positions: PointSet::Ring.generate(n, 1),
            strengths: (0..n).map(|_| std::array::from_fn(|_| random.normal())).collect(),
            sizes: vec![0.05; n],
            volumes: vec![1e-4; n],
            groups: (0..n as u32).map(|k| k % 2).collect(),
        }
    }

    /// The largest distance of an element to its nearest neighbour, over the mean core size. Above about 1 the cores do
    /// not overlap.
    fn largest_gap(elements: &Elements) -> f64 {
        let nearest = |i: usize| {
            (0..elements.len())
                .filter(|&j| j != i)
                .map(|j| norm(sub(elements.positions[i], elements.positions[j])))
                .fold(f64::MAX, f64::min)
        };
        let mean = elements.sizes.iter().sum::<f64>() / elements.len() as f64;
        (0..elements.len()).map(nearest).fold(0.0, f64::max) / mean
    }

    #[test]
    fn the_kernel_conserves_moments_up_to_the_second() {
        for x in [0.0, 0.1, 0.37, 0.5, 0.93] {
            for (power, expected) in [(0, 1.0), (1, x), (2, x * x)] {
                let moment: f64 = (-2..=3)
                    .map(|k| f64::from(k).powi(power) * m4_prime(x - f64::from(k)))
                    .sum();
                assert!((moment - expected).abs() < 1e-14, "{x} {power}: {moment}");
            }
        }
    }

    #[test]
    fn remeshing_conserves_total_strength_and_impulses() {
        let before = scattered();
        let after = remesh(&before, 1.0, 0.0, &Alone).elements;
        let invariants = |e: &Elements| {
            let pairs = || e.positions.iter().zip(&e.strengths);
            [
                sum(e.strengths.iter().copied()),
                sum(pairs().map(|(x, g)| scale(cross(*x, *g), 0.5))),
                sum(pairs().map(|(x, g)| scale(cross(*x, cross(*x, *g)), 1.0 / 3.0))),
            ]
        };
        for (a, b) in invariants(&before).into_iter().zip(invariants(&after)) {
            assert!(norm(sub(a, b)) < 1e-11, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_cutoff_conserves_the_total_strength_and_closes_gaps() {
        let before = scattered();
        let remeshed = remesh(&before, 1.0, 1e-3, &Alone);
        let total = |e: &Elements| sum(e.strengths.iter().copied());
        assert!(norm(sub(total(&before), total(&remeshed.elements))) < 1e-11);
        assert!(
            remeshed.dropped > 0.0 && remeshed.dropped < 0.01,
            "{}",
            remeshed.dropped
        );
        assert!(largest_gap(&remeshed.elements) <= 1.0 + 1e-12);
        assert!(largest_gap(&before) > 1.0);
    }
}
