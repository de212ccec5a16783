//! Trails: the positions of points in previous pictures.

use crate::vec3::{Vec3, add_scaled, scale};
use std::collections::VecDeque;

/// The number of points drawn along the path of a body between two pictures.
const BETWEEN: usize = 24;
/// The largest number of points in all trails; more are thinned out.
const MOST: usize = 400_000;

/// The points of previous pictures, part by part.
#[derive(Debug, Clone, PartialEq)]
pub struct Trails {
    length: usize,
    before: VecDeque<Vec<Vec<Vec3>>>,
}

impl Trails {
    /// Trails over `length` pictures.
    pub fn new(length: usize) -> Self {
        Self {
            length,
            before: VecDeque::new(),
        }
    }

    /// The points drawn behind the current ones, part by part: smooth curves if the points are `few`, otherwise their
    /// previous positions.
    pub fn behind(&self, now: &[Vec<Vec3>], few: bool) -> Vec<Vec<Vec3>> {
        if self.length == 0 || self.before.is_empty() {
            return Vec::new();
        }
        let all: usize = self.before.iter().flatten().map(Vec::len).sum();
        let thin = all.div_ceil(MOST).max(1);
        let part = |k: usize| {
            let moments = || {
                self.before
                    .iter()
                    .map(move |parts| parts.get(k).map_or(&[][..], |part| part))
            };
            if !few {
                return moments().flat_map(|part| part.iter().step_by(thin).copied()).collect();
            }
            let count = now[k].len();
            (0..count)
                .flat_map(|body| {
                    let places = moments().filter_map(|part| part.get(body).copied());
                    curve(&places.chain([now[k][body]]).collect::<Vec<Vec3>>())
                })
                .collect()
        };
        (0..now.len()).map(part).collect()
    }

    /// Adds the points of a picture.
    pub fn keep(&mut self, parts: Vec<Vec<Vec3>>) {
        if self.length == 0 {
            return;
        }
        self.before.push_back(parts);
        while self.before.len() > self.length {
            self.before.pop_front();
        }
    }
}

/// Points along the Catmull-Rom spline through `places`.
fn curve(places: &[Vec3]) -> Vec<Vec3> {
    let at = |k: isize| places[k.clamp(0, places.len() as isize - 1) as usize];
    let mut points = Vec::new();
    for k in 0..places.len().saturating_sub(1) as isize {
        let [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
        for j in 0..BETWEEN {
            let t = j as f64 / BETWEEN as f64;
            let weights = [
                -0.5 * t * (1.0 - t) * (1.0 - t),
                1.0 - t * t * (2.5 - 1.5 * t),
                t * (0.5 + t * (2.0 - 1.5 * t)),
                -0.5 * t * t * (1.0 - t),
            ];
            let sum = add_scaled(scale(a, weights[0]), weights[1], b);
            points.push(add_scaled(add_scaled(sum, weights[2], c), weights[3], d));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::norm;

    #[test]
    fn the_trail_of_a_body_on_a_circle_is_nearly_circular() {
        let place = |k: usize| {
            let (sine, cosine) = (k as f64 * 0.3).sin_cos();
            [cosine, sine, 0.0]
        };
        let mut trails = Trails::new(8);
        assert!(trails.behind(&[vec![place(0)]], true).is_empty());
        (0..20).for_each(|k| trails.keep(vec![vec![place(k)]]));
        let behind = trails.behind(&[vec![place(20)]], true);
        assert_eq!(behind[0].len(), 8 * BETWEEN);
        // The first and last pieces have only one neighbour.
        for point in &behind[0][BETWEEN..7 * BETWEEN] {
            assert!((norm(*point) - 1.0).abs() < 1e-3, "{point:?}");
        }
        assert_eq!(trails.behind(&[vec![place(20); 500]], false)[0].len(), 8);
    }
}
