//! Interaction lists of the treecode.
//!
//! [`by_opening`] is the classical criterion: a box of radius a acts through its multipole on a leaf at distance r if
//! a/r < theta, and is opened otherwise. The radius is that of the smallest ball about the expansion centre that holds
//! the sources, r the distance from there to the nearest point of the leaf's bounding box, and the error obeys
//! $$ |\phi - \phi_p| \le \sum_j |q_j| \\, \frac{1}{r-a}\left(\frac ar\right)^{p+1} $$
//! (van Rees et al., eq. 6). [`on_neighbour_lists`] uses the FMM's boxes instead (Yokota and Barba, figure 6).

use crate::fmm::layout::SortedPoints;
use crate::simd::Real;
use crate::tree::lists::{LeafLists, ancestors};
use crate::tree::octree::Node;
use crate::tree::{Lists, Octree};
use rayon::prelude::*;

/// For every box, the distance of its farthest source from its centre.
pub fn radii<T: Real>(tree: &Octree, sources: &SortedPoints<T>) -> Vec<f64> {
    tree.nodes
        .par_iter()
        .map(|node| {
            let centre = tree.centre_of(node);
            node.sources
                .clone()
                .map(|k| {
                    (0..3)
                        .map(|axis| (sources.position[axis][k as usize].to_f64() - centre[axis]).powi(2))
                        .sum::<f64>()
                })
                .fold(0.0, f64::max)
                .sqrt()
        })
        .collect()
}

/// The criterion by which a box acts through its multipole.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// The largest `a / r`.
    pub theta: f64,
    /// The least distance between sources and targets, below which cores matter.
    pub reach: f64,
    /// Boxes of up to this many sources act point by point.
    pub few_sources: usize,
}

/// Lists by the opening criterion.
pub fn by_opening<T: Real>(tree: &Octree, radii: &[f64], targets: &SortedPoints<T>, opening: &Opening) -> Lists {
    let leaves: Vec<u32> = leaves_with_targets(tree);
    let rows: Vec<LeafLists> = leaves
        .par_iter()
        .map(|leaf| open(tree, radii, targets, opening, *leaf))
        .collect();
    Lists::of_leaves(tree, leaves, rows)
}

/// The approximate bytes of the lists of [`by_opening`] while they are joined from pieces, estimated from a few leaves.
pub fn expected_bytes<T: Real>(tree: &Octree, radii: &[f64], targets: &SortedPoints<T>, opening: &Opening) -> u64 {
    const SAMPLE: usize = 64;
    let leaves = leaves_with_targets(tree);
    let stride = leaves.len().div_ceil(SAMPLE).max(1);
    let of_leaf = |leaf: &u32| {
        let (m2p, p2p) = open(tree, radii, targets, opening, *leaf);
        (size_of_val(&m2p[..]) + size_of_val(&p2p[..])) as u64
    };
    let sampled: u64 = leaves.par_iter().step_by(stride).map(of_leaf).sum();
    2 * sampled * stride as u64
}

/// The boxes that act on a leaf by M2P, and the sources that act by P2P.
fn open<T: Real>(tree: &Octree, radii: &[f64], targets: &SortedPoints<T>, opening: &Opening, leaf: u32) -> LeafLists {
    let bounds = bounding_box(&tree.nodes[leaf as usize], targets);
    let (mut m2p, mut p2p, mut open) = (Vec::new(), Vec::new(), vec![0u32]);
    while let Some(at) = open.pop() {
        let node = &tree.nodes[at as usize];
        if node.sources.is_empty() {
            continue;
        }
        let (radius, distance) = (radii[at as usize], distance_to_box(tree.centre_of(node), bounds));
        let is_far = radius < opening.theta * distance && distance - radius >= opening.reach;
        if is_far && node.source_count() > opening.few_sources {
            m2p.push(at);
        } else if is_far || node.is_leaf() {
            if at != leaf {
                p2p.push((node.sources.start, node.sources.end));
            }
        } else {
            open.extend(node.children.clone());
        }
    }
    (m2p, p2p)
}

/// Lists on the FMM's neighbours: the FMM's M2L becomes M2P at every leaf below, and P2L becomes P2P.
pub fn on_neighbour_lists(tree: &Octree, fmm: &Lists) -> Lists {
    let mut acting: Vec<Vec<u32>> = vec![Vec::new(); tree.nodes.len()];
    let mut near: Vec<Vec<(u32, u32)>> = vec![Vec::new(); tree.nodes.len()];
    for block in &fmm.m2l {
        for (target, source) in &block.pairs {
            acting[*target as usize].push(*source);
        }
    }
    for (row, at) in fmm.p2l_boxes.iter().enumerate() {
        for leaf in fmm.p2l.row(row) {
            let sources = &tree.nodes[*leaf as usize].sources;
            near[*at as usize].push((sources.start, sources.end));
        }
    }
    let rows: Vec<LeafLists> = fmm
        .leaves
        .par_iter()
        .enumerate()
        .map(|(row, leaf)| {
            let mut lists: LeafLists = (fmm.m2p.row(row).to_vec(), fmm.p2p.row(row).to_vec());
            for (above, _) in ancestors(tree, *leaf) {
                lists.0.extend(&acting[above as usize]);
                lists.1.extend(&near[above as usize]);
            }
            lists
        })
        .collect();
    Lists::of_leaves(tree, fmm.leaves.clone(), rows)
}

/// Leaves with targets, in the order of their targets.
fn leaves_with_targets(tree: &Octree) -> Vec<u32> {
    let mut leaves: Vec<u32> = (0..tree.nodes.len() as u32)
        .filter(|at| tree.nodes[*at as usize].is_leaf() && !tree.nodes[*at as usize].targets.is_empty())
        .collect();
    leaves.sort_unstable_by_key(|at| tree.nodes[*at as usize].targets.start);
    leaves
}

fn bounding_box<T: Real>(leaf: &Node, targets: &SortedPoints<T>) -> [(f64, f64); 3] {
    std::array::from_fn(|axis| {
        targets.position[axis][leaf.targets.start as usize..leaf.targets.end as usize]
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x.to_f64()), high.max(x.to_f64()))
            })
    })
}

fn distance_to_box(point: [f64; 3], bounds: [(f64, f64); 3]) -> f64 {
    (0..3)
        .map(|axis| {
            let (low, high) = bounds[axis];
            (low - point[axis]).max(point[axis] - high).max(0.0).powi(2)
        })
        .sum::<f64>()
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::oracle;
    use crate::points::{ChargeDistribution, PointSet};
    use crate::tree::TreeShape;

    #[test]
    fn the_error_bound_holds_for_every_box_and_every_point_it_acts_on() {
        for set in [PointSet::Cube, PointSet::Sphere, PointSet::Plummer] {
            let points = set.generate::<f64>(400, 1);
            let charges = ChargeDistribution::Signed.generate::<f64>(400, 2);
            let shape = TreeShape {
                leaf_capacity: 20,
                root_scale: 1.0,
                min_side: 0.0,
            };
            let tree = Octree::build(&points, None, &shape);
            let ordered = SortedPoints::new(&points, &tree.source_permutation);
            let radii = radii(&tree, &ordered);
            for theta in [0.4, 0.7] {
                let opening = Opening {
                    theta,
                    reach: 0.0,
                    few_sources: 0,
                };
                let lists = by_opening(&tree, &radii, &ordered, &opening);
                for (row, leaf) in lists.leaves.iter().enumerate() {
                    for at in lists.m2p.row(row) {
                        let node = &tree.nodes[*at as usize];
                        let (centre, a) = (tree.centre_of(node), radii[*at as usize]);
                        let place = |k: u32| tree.source_permutation[k as usize] as usize;
                        let relative = |k: u32| std::array::from_fn(|axis| points[place(k)][axis] - centre[axis]);
                        for order in [2, 6] {
                            let mut multipole = vec![0.0; (order + 1) * (order + 1)];
                            for k in node.sources.clone() {
                                let basis = oracle::regular(order, relative(k));
                                multipole
                                    .iter_mut()
                                    .zip(basis)
                                    .for_each(|(m, b)| *m += charges[place(k)] * b);
                            }
                            let strength: f64 = node.sources.clone().map(|k| charges[place(k)].abs()).sum();
                            let target = tree.nodes[*leaf as usize].targets.start;
                            let x: [f64; 3] = relative(target);
                            let r = x.iter().map(|c| c * c).sum::<f64>().sqrt();
                            let value: f64 = oracle::irregular(order, x)
                                .iter()
                                .zip(&multipole)
                                .map(|(i, m)| i * m)
                                .sum();
                            let exact: f64 = node
                                .sources
                                .clone()
                                .map(|k| {
                                    let d: f64 = (0..3)
                                        .map(|c| (points[place(target)][c] - points[place(k)][c]).powi(2))
                                        .sum();
                                    charges[place(k)] / d.sqrt()
                                })
                                .sum();
                            let bound = strength / (r - a) * (a / r).powi(order as i32 + 1);
                            assert!(a / r < theta);
                            assert!(
                                (value - exact).abs() <= bound + 1e-13,
                                "{set} order {order}: {value} {exact} {bound:e}"
                            );
                        }
                    }
                }
            }
        }
    }
}
