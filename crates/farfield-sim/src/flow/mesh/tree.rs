//! A tree of bounding boxes of triangles, to find the nearest triangle without testing all.

use crate::vec3::Vec3;

/// The largest number of triangles in a leaf.
const LEAF: usize = 8;

#[derive(Debug)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// For a leaf, the index in `order` of its first triangle. For other nodes, the index of the second child; the
    /// first child is the next node.
    first: usize,
    /// The number of triangles of a leaf; 0 for other nodes.
    count: usize,
}

/// A tree of bounding boxes of triangles.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    order: Vec<usize>,
}

impl Tree {
    pub fn new(points: &[Vec3], triangles: &[[usize; 3]]) -> Self {
        let boxes: Vec<[Vec3; 2]> = triangles
            .iter()
            .map(|t| {
                let at = |pick: fn(f64, f64) -> f64| -> Vec3 {
                    std::array::from_fn(|a| pick(pick(points[t[0]][a], points[t[1]][a]), points[t[2]][a]))
                };
                [at(f64::min), at(f64::max)]
            })
            .collect();
        let mut tree = Self {
            nodes: Vec::new(),
            order: (0..triangles.len()).collect(),
        };
        tree.build(&boxes, 0, triangles.len());
        tree
    }

    fn build(&mut self, boxes: &[[Vec3; 2]], from: usize, to: usize) {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for &t in &self.order[from..to] {
            for a in 0..3 {
                low[a] = low[a].min(boxes[t][0][a]);
                high[a] = high[a].max(boxes[t][1][a]);
            }
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            low,
            high,
            first: from,
            count: to - from,
        });
        if to - from <= LEAF {
            return;
        }
        let axis = (0..3)
            .max_by(|&i, &j| (high[i] - low[i]).total_cmp(&(high[j] - low[j])))
            .unwrap_or(0);
        let middle = |t: &usize| boxes[*t][0][axis] + boxes[*t][1][axis];
        let half = (to - from) / 2;
        self.order[from..to].select_nth_unstable_by(half, |i, j| middle(i).total_cmp(&middle(j)));
        self.build(boxes, from, from + half);
        self.nodes[node].first = self.nodes.len();
        self.nodes[node].count = 0;
        self.build(boxes, from + half, to);
    }

    /// Calls `look(triangle, best)` for all triangles that may be nearer than `best`, the smallest squared distance so
    /// far.
    pub fn visit(&self, p: Vec3, best: &mut f64, mut look: impl FnMut(usize, &mut f64)) {
        if self.order.is_empty() {
            return;
        }
        let mut waiting = vec![(0usize, self.away(0, p))];
        while let Some((node, away)) = waiting.pop() {
            if away >= *best {
                continue;
            }
            let Node { first, count, .. } = self.nodes[node];
            if count > 0 {
                for &t in &self.order[first..first + count] {
                    look(t, best);
                }
                continue;
            }
            let children = [(node + 1, self.away(node + 1, p)), (first, self.away(first, p))];
            // The nearer child is visited first.
            let nearer = usize::from(children[1].1 < children[0].1);
            waiting.push(children[1 - nearer]);
            waiting.push(children[nearer]);
        }
    }

    /// The squared distance to a box.
    fn away(&self, node: usize, p: Vec3) -> f64 {
        let Node { low, high, .. } = &self.nodes[node];
        (0..3)
            .map(|a| (low[a] - p[a]).max(p[a] - high[a]).max(0.0).powi(2))
            .sum()
    }
}
