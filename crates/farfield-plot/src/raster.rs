//! Rasterises shapes: computes the fraction of each pixel that they cover.

use crate::geometry::{Point, Rect};

/// Coverage between 0 and 1 on a block of pixels.
#[derive(Debug)]
pub(crate) struct Mask {
    pub(crate) left: i64,
    pub(crate) top: i64,
    pub(crate) width: usize,
    data: Vec<f32>,
}

impl Mask {
    /// An empty mask of all pixels that touch the area, which must be finite.
    fn over(area: &Rect) -> Self {
        let (left, top) = (area.x0.floor() as i64, area.y0.floor() as i64);
        let width = (area.x1.ceil() as i64 - left).max(0) as usize;
        let height = (area.y1.ceil() as i64 - top).max(0) as usize;
        Self {
            left,
            top,
            width,
            data: vec![0.0; width * height],
        }
    }

    /// The rows from top to bottom, with their coverage from left to right.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (i64, &[f32])> {
        (self.top..).zip(self.data.chunks_exact(self.width.max(1)))
    }

    /// The coverage of round-ended strokes along segments, limited to `clip`. Where strokes
    /// overlap, the larger coverage counts, so that joints are not visible.
    pub(crate) fn stroke(segments: &[(Point, Point)], width: f64, clip: &Rect) -> Self {
        let reach = width / 2.0 + 1.0;
        let around = clip.grown(reach);
        let seen: Vec<_> = segments.iter().filter_map(|&(a, b)| around.clip(a, b)).collect();
        let Some(area) = bounds(seen.iter().flat_map(|&(a, b)| [a, b])) else {
            return Self::over(&Rect::new(0.0, 0.0, 0.0, 0.0));
        };
        let mut mask = Self::over(&area.grown(reach));
        for (a, b) in seen {
            mask.add_capsule(a, b, width / 2.0);
        }
        mask
    }

    fn add_capsule(&mut self, a: Point, b: Point, radius: f64) {
        let reach = radius + 1.0;
        let rows = self.row_range(a.1.min(b.1) - reach, a.1.max(b.1) + reach);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = dx * dx + dy * dy;
        for row in rows {
            let y = (self.top + row as i64) as f64 + 0.5;
            // The part of the segment near this row limits the columns to visit.
            let near = Rect::new(f64::MIN, y - reach, f64::MAX, y + reach);
            let Some((p, q)) = near.clip(a, b) else {
                continue;
            };
            for column in self.column_range(p.0.min(q.0) - reach, p.0.max(q.0) + reach) {
                let x = (self.left + column as i64) as f64 + 0.5;
                let (px, py) = (x - a.0, y - a.1);
                let t = if length2 > 0.0 {
                    ((px * dx + py * dy) / length2).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let (ex, ey) = (px - t * dx, py - t * dy);
                let distance = (ex * ex + ey * ey).sqrt();
                let cover = (radius + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let cell = &mut self.data[row * self.width + column];
                *cell = cell.max(cover);
            }
        }
    }

    fn row_range(&self, from: f64, to: f64) -> std::ops::Range<usize> {
        let height = self.data.len() / self.width.max(1);
        pixel_range(from, to, self.top, height)
    }

    fn column_range(&self, from: f64, to: f64) -> std::ops::Range<usize> {
        pixel_range(from, to, self.left, self.width)
    }

    /// The coverage of the inside of closed outlines (non-zero winding, exact area per pixel).
    pub(crate) fn fill(outlines: &[Vec<Point>]) -> Self {
        let Some(area) = bounds(outlines.iter().flatten().copied()) else {
            return Self::over(&Rect::new(0.0, 0.0, 0.0, 0.0));
        };
        // Spare columns on the right: an edge writes to its pixel and the next one.
        let mut mask = Self::over(&Rect::new(area.x0, area.y0, area.x1 + 2.0, area.y1));
        for outline in outlines {
            let next = outline.iter().cycle().skip(1);
            for (&a, &b) in outline.iter().zip(next) {
                mask.add_edge(a, b);
            }
        }
        for row in mask.data.chunks_exact_mut(mask.width.max(1)) {
            let mut sum = 0.0;
            for cell in row {
                sum += *cell;
                *cell = sum.abs().min(1.0);
            }
        }
        mask
    }

    /// Adds the change of the covered area from pixel to pixel, in each row that the edge crosses.
    fn add_edge(&mut self, a: Point, b: Point) {
        let shift = |p: Point| (p.0 - self.left as f64, p.1 - self.top as f64);
        let (a, b) = (shift(a), shift(b));
        let (sign, a, b) = if a.1 <= b.1 { (1.0, a, b) } else { (-1.0, b, a) };
        if a.1 == b.1 {
            return;
        }
        let slope = (b.0 - a.0) / (b.1 - a.1);
        for row in a.1.floor() as usize..b.1.ceil() as usize {
            let (top, bottom) = (a.1.max(row as f64), b.1.min(row as f64 + 1.0));
            let (xa, xb) = (a.0 + (top - a.1) * slope, a.0 + (bottom - a.1) * slope);
            let (x0, x1) = (xa.min(xb).max(0.0), xa.max(xb).max(0.0));
            let height = sign * (bottom - top);
            let (first, last) = (x0.floor() as usize, (x1.ceil() as usize).max(x0.floor() as usize + 1));
            for column in first..last {
                let (left, right) = (x0.max(column as f64), x1.min(column as f64 + 1.0));
                let part = if x1 > x0 {
                    height * (right - left) / (x1 - x0)
                } else {
                    height
                };
                let middle = (left + right) / 2.0 - column as f64;
                let at = row * self.width + column;
                self.data[at] += (part * (1.0 - middle)) as f32;
                self.data[at + 1] += (part * middle) as f32;
            }
        }
    }
}

fn pixel_range(from: f64, to: f64, origin: i64, count: usize) -> std::ops::Range<usize> {
    let index = |at: f64| (at - origin as f64).clamp(0.0, count as f64);
    index(from.floor()) as usize..index(to.ceil()) as usize
}

fn bounds(points: impl Iterator<Item = Point>) -> Option<Rect> {
    points.fold(None, |area: Option<Rect>, (x, y)| {
        let area = area.unwrap_or(Rect::new(x, y, x, y));
        Some(Rect::new(
            area.x0.min(x),
            area.y0.min(y),
            area.x1.max(x),
            area.y1.max(y),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(mask: &Mask) -> f32 {
        mask.rows().flat_map(|(_, row)| row).sum()
    }

    #[test]
    fn fill_has_the_exact_area() {
        let triangle = vec![(0.25, 0.5), (7.75, 2.0), (3.0, 9.5)];
        let area = 0.5 * ((7.5 * 9.0) - (2.75 * 1.5));
        assert!((total(&Mask::fill(&[triangle])) - area as f32).abs() < 1e-3);
    }

    #[test]
    fn opposite_outlines_cut_a_hole() {
        let outer = vec![(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        let hole = vec![(2.0, 2.0), (2.0, 8.0), (8.0, 8.0), (8.0, 2.0)];
        assert!((total(&Mask::fill(&[outer, hole])) - 64.0).abs() < 1e-3);
    }

    #[test]
    fn stroke_covers_its_length_once() {
        let clip = Rect::new(0.0, 0.0, 100.0, 100.0);
        let once = Mask::stroke(&[((10.0, 50.0), (60.0, 50.0))], 4.0, &clip);
        let twice = Mask::stroke(&[((10.0, 50.0), (60.0, 50.0)); 2], 4.0, &clip);
        assert!((total(&once) - (200.0 + 4.0 * std::f32::consts::PI)).abs() < 1.0);
        assert_eq!(total(&once), total(&twice));
    }

    #[test]
    fn far_away_and_empty_strokes_cover_nothing() {
        let clip = Rect::new(0.0, 0.0, 10.0, 10.0);
        assert_eq!(
            total(&Mask::stroke(&[((-1e12, -5e11), (-1e11, 3e12))], 2.0, &clip)),
            0.0
        );
        assert_eq!(total(&Mask::stroke(&[], 2.0, &clip)), 0.0);
        assert_eq!(total(&Mask::fill(&[])), 0.0);
    }
}
