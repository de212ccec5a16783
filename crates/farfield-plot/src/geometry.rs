//! Points, rectangles and the space taken by what is already drawn.

pub(crate) type Point = (f64, f64);

/// An axis-parallel rectangle in pixels; `y` grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x0: f64,
    pub(crate) y0: f64,
    pub(crate) x1: f64,
    pub(crate) y1: f64,
}

impl Rect {
    pub(crate) fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { x0, y0, x1, y1 }
    }

    pub(crate) fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub(crate) fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    pub(crate) fn grown(&self, by: f64) -> Self {
        Self::new(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1 && self.y0 < other.y1 && other.y0 < self.y1
    }

    pub(crate) fn within(&self, outer: &Self) -> bool {
        self.x0 >= outer.x0 && self.x1 <= outer.x1 && self.y0 >= outer.y0 && self.y1 <= outer.y1
    }

    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        (self.x0..=self.x1).contains(&x) && (self.y0..=self.y1).contains(&y)
    }

    /// The part of the segment from `a` to `b` that lies in the rectangle.
    pub(crate) fn clip(&self, a: Point, b: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, a.0 - self.x0),
            (dx, self.x1 - a.0),
            (-dy, a.1 - self.y0),
            (dy, self.y1 - a.1),
        ];
        for (speed, room) in sides {
            if speed == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enter = enter.max(room / speed);
            } else {
                leave = leave.min(room / speed);
            }
        }
        let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
        (enter <= leave).then(|| (at(enter), at(leave)))
    }
}

/// Drawn lines and areas that labels and the legend should not cover.
#[derive(Debug, Default)]
pub(crate) struct Obstacles {
    segments: Vec<(Point, Point)>,
    boxes: Vec<Rect>,
}

impl Obstacles {
    pub(crate) fn add_segment(&mut self, a: Point, b: Point) {
        self.segments.push((a, b));
    }

    pub(crate) fn add_box(&mut self, area: Rect) {
        self.boxes.push(area);
    }

    /// Whether the area is free.
    pub(crate) fn leave_free(&self, area: &Rect) -> bool {
        self.hidden_by(area) == 0.0
    }

    /// A measure of what the area would hide: about the length of the lines in it. The part of a box in it counts by
    /// its width and height.
    pub(crate) fn hidden_by(&self, area: &Rect) -> f64 {
        let inside = |&(a, b): &(Point, Point)| {
            let (a, b) = area.clip(a, b)?;
            Some(1.0 + (a.0 - b.0).hypot(a.1 - b.1))
        };
        let common = |other: &Rect| {
            let width = area.x1.min(other.x1) - area.x0.max(other.x0);
            let height = area.y1.min(other.y1) - area.y0.max(other.y0);
            other.intersects(area).then_some(1.0 + 4.0 * (width + height))
        };
        self.segments.iter().filter_map(inside).sum::<f64>() + self.boxes.iter().filter_map(common).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clip_cuts_at_the_border() {
        let area = Rect::new(0.0, 0.0, 10.0, 10.0);
        assert_eq!(area.clip((-5.0, 5.0), (15.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(area.clip((-5.0, -5.0), (-1.0, 20.0)), None);
        assert_eq!(area.clip((3.0, 3.0), (3.0, 3.0)), Some(((3.0, 3.0), (3.0, 3.0))));
    }

    #[test]
    fn obstacles_block_the_areas_they_cross() {
        let mut taken = Obstacles::default();
        taken.add_segment((0.0, 0.0), (10.0, 10.0));
        assert!(!taken.leave_free(&Rect::new(4.0, 4.0, 6.0, 6.0)));
        assert!(taken.leave_free(&Rect::new(6.0, 0.0, 10.0, 4.0)));
        taken.add_box(Rect::new(6.0, 0.0, 8.0, 2.0));
        assert!(!taken.leave_free(&Rect::new(6.0, 0.0, 10.0, 4.0)));
    }

    #[test]
    fn crossing_a_line_hides_less_than_following_it() {
        let mut taken = Obstacles::default();
        taken.add_segment((0.0, 5.0), (100.0, 5.0));
        taken.add_segment((150.0, 0.0), (150.0, 100.0));
        let followed = taken.hidden_by(&Rect::new(20.0, 0.0, 80.0, 10.0));
        let crossed = taken.hidden_by(&Rect::new(120.0, 20.0, 180.0, 30.0));
        assert!(0.0 < crossed && crossed < followed, "{crossed} {followed}");
    }
}
