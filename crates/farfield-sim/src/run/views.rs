//! Views of pictures: predefined views that frame the points, and user-defined views whose camera is fixed, follows the
//! points, rotates or moves along a path.

use crate::case::{OwnView, View};
use crate::vec3::{Vec3, add, add_scaled, rotate, scale, sub, unit};
use farfield_plot::scene::{Bounds, Camera};

/// The field of view of user-defined cameras, in degrees.
const FIELD: f64 = 32.0;

/// A view of pictures.
#[derive(Debug, Clone, PartialEq)]
pub enum Viewpoint {
    /// A predefined view.
    Named(View),
    /// A user-defined view.
    Own(OwnView),
}

impl Viewpoint {
    /// The name of its folder.
    pub fn name(&self) -> &str {
        match self {
            Viewpoint::Named(view) => view.name(),
            Viewpoint::Own(view) => &view.name,
        }
    }

    /// Whether the centre of the picture moves with the points, so that the picture does not show their displacement.
    pub fn follows(&self) -> bool {
        match self {
            Viewpoint::Named(_) => true,
            Viewpoint::Own(view) => view.follow,
        }
    }

    /// The camera at `time` for points within `bounds`. If the points travel along z, as vortices do, z is to the
    /// right.
    pub fn camera(&self, bounds: Bounds, time: f64, travelling: bool) -> Camera {
        let view = match self {
            Viewpoint::Named(view) => return named(*view, bounds, travelling),
            Viewpoint::Own(view) => view,
        };
        let (eye, target) = on_path(view, time);
        let angle = (view.turn * time).to_radians();
        let outwards = rotate(sub(eye, target), unit(view.up), angle);
        let shift = if view.follow { bounds.center() } else { [0.0; 3] };
        let target = add(target, shift);
        Camera::looking_at(add(target, outwards), target, view.up, FIELD).zoomed(view.scale)
    }
}

fn named(view: View, bounds: Bounds, travelling: bool) -> Camera {
    let z_to_the_right = [1.0, 0.0, 0.0];
    match (view, travelling) {
        (View::Oblique, true) => Camera::framing(bounds, 65.0, 28.0).up(z_to_the_right),
        (View::Oblique, false) => Camera::framing(bounds, -60.0, 35.0),
        (View::Side, true) => Camera::framing(bounds, 90.0, 0.0).up(z_to_the_right),
        (View::Side, false) => Camera::framing(bounds, -90.0, 2.0),
        (View::Axis, _) => Camera::framing(bounds, -90.0, 89.9),
    }
}

/// Eye and target at a time, interpolated along the path with a smooth start and end.
fn on_path(view: &OwnView, time: f64) -> (Vec3, Vec3) {
    let mut before = (0.0, view.eye, view.target);
    for point in &view.path {
        if time < point.time {
            let share = ((time - before.0) / (point.time - before.0)).clamp(0.0, 1.0);
            let share = share * share * (3.0 - 2.0 * share);
            let between = |a: Vec3, b: Vec3| add_scaled(scale(a, 1.0 - share), share, b);
            return (between(before.1, point.eye), between(before.2, point.target));
        }
        before = (point.time, point.eye, point.target);
    }
    (before.1, before.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Waypoint;

    #[test]
    fn a_camera_follows_its_path() {
        let view = OwnView {
            name: "path".to_owned(),
            eye: [4.0, 0.0, 0.0],
            target: [0.0; 3],
            up: [0.0, 0.0, 1.0],
            scale: 1.0,
            follow: false,
            turn: 0.0,
            path: vec![
                Waypoint {
                    time: 2.0,
                    eye: [0.0, 4.0, 0.0],
                    target: [1.0, 0.0, 0.0],
                },
                Waypoint {
                    time: 3.0,
                    eye: [0.0, 0.0, 4.0],
                    target: [1.0, 0.0, 0.0],
                },
            ],
        };
        assert_eq!(on_path(&view, 0.0), ([4.0, 0.0, 0.0], [0.0; 3]));
        assert_eq!(on_path(&view, 1.0), ([2.0, 2.0, 0.0], [0.5, 0.0, 0.0]));
        assert_eq!(on_path(&view, 2.0).0, [0.0, 4.0, 0.0]);
        assert_eq!(on_path(&view, 9.0).0, [0.0, 0.0, 4.0]);
    }
}
