use super::Bounds;

/// A point on the image and its depth: the distance from the eye along the line of sight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) depth: f64,
}

const DEFAULT_FIELD: f64 = 32.0;
/// The fraction of the image that a framed box leaves free on each side.
const MARGIN: f64 = 0.06;

/// A perspective camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    aim: Aim,
    up: [f64; 3],
    field_of_view: f64,
    roll: f64,
    zoom: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    At {
        eye: [f64; 3],
        target: [f64; 3],
    },
    Box {
        bounds: Bounds,
        azimuth: f64,
        elevation: f64,
    },
}

impl Camera {
    /// A camera at `eye` with `target` at the centre of the image and the vertical field of view
    /// `field_of_view_degrees`. The direction `up` points to the top; if it is along the line of
    /// sight, another one is used.
    #[must_use]
    pub fn looking_at(eye: [f64; 3], target: [f64; 3], up: [f64; 3], field_of_view_degrees: f64) -> Self {
        Self {
            aim: Aim::At { eye, target },
            up,
            field_of_view: field_of_view_degrees,
            roll: 0.0,
            zoom: 1.0,
        }
    }

    /// A camera that shows a whole box as large as it fits on the image. `azimuth_degrees` is the
    /// angle of the camera around the z axis, counted from the x axis, and `elevation_degrees` the
    /// angle above the xy plane.
    #[must_use]
    pub fn framing(bounds: Bounds, azimuth_degrees: f64, elevation_degrees: f64) -> Self {
        Self {
            aim: Aim::Box {
                bounds,
                azimuth: azimuth_degrees,
                elevation: elevation_degrees,
            },
            up: [0.0, 0.0, 1.0],
            field_of_view: DEFAULT_FIELD,
            roll: 0.0,
            zoom: 1.0,
        }
    }

    /// Rotates the camera around its line of sight; the image turns clockwise.
    #[must_use]
    pub fn rolled(mut self, degrees: f64) -> Self {
        self.roll += degrees;
        self
    }

    /// Magnifies the image by `factor`.
    #[must_use]
    pub fn zoomed(mut self, factor: f64) -> Self {
        self.zoom *= factor;
        self
    }

    /// Sets the direction that points to the top of the image (default: the z axis).
    #[must_use]
    pub fn up(mut self, up: [f64; 3]) -> Self {
        self.up = up;
        self
    }

    /// The view of the camera on an image of this size.
    pub(crate) fn view(&self, (width, height): (f64, f64)) -> View {
        let degrees = |angle: f64, default: f64| if angle.is_finite() { angle } else { default }.to_radians();
        let half_field = (degrees(self.field_of_view, DEFAULT_FIELD) / 2.0).clamp(0.005, 1.4);
        let (roll, zoom) = (
            degrees(self.roll, 0.0),
            if self.zoom.is_finite() {
                self.zoom.abs().max(1e-6)
            } else {
                1.0
            },
        );
        let middle = (width / 2.0, height / 2.0);
        match self.aim {
            Aim::At { eye, target } => {
                let distance = length(difference(target, eye));
                let distance = if distance.is_normal() { distance } else { 1.0 };
                let axes = axes(difference(target, eye), self.up, roll);
                let focal = zoom * height / 2.0 / half_field.tan();
                View {
                    eye,
                    axes,
                    focal,
                    middle,
                    distance,
                    reach: distance / 2.0,
                }
            }
            Aim::Box {
                bounds,
                azimuth,
                elevation,
            } => {
                let bounds = usable(bounds);
                let (az, el) = (degrees(azimuth, 0.0), degrees(elevation, 0.0));
                let outwards = [el.cos() * az.cos(), el.cos() * az.sin(), el.sin()];
                let center = bounds.center();
                let radius = length(difference(bounds.max, bounds.min)) / 2.0;
                let distance = radius / half_field.sin();
                let eye = std::array::from_fn(|axis| center[axis] + distance * outwards[axis]);
                let mut view = View {
                    eye,
                    axes: axes(outwards.map(|x| -x), self.up, roll),
                    focal: 1.0,
                    middle: (0.0, 0.0),
                    distance,
                    reach: radius,
                };
                view.fit(&bounds, (width, height));
                view.focal *= zoom;
                view.middle.0 = middle.0 + zoom * (view.middle.0 - middle.0);
                view.middle.1 = middle.1 + zoom * (view.middle.1 - middle.1);
                view
            }
        }
    }
}

/// The box slightly enlarged, so that it has a volume; a default box if it is empty or not finite.
fn usable(bounds: Bounds) -> Bounds {
    let finite = bounds.min.iter().chain(&bounds.max).all(|x| x.is_finite());
    if bounds.is_empty() || !finite {
        return Bounds {
            min: [-1.0; 3],
            max: [1.0; 3],
        };
    }
    let size = length(difference(bounds.max, bounds.min));
    let least = if size > 0.0 { size * 1e-3 } else { 1.0 };
    Bounds {
        min: bounds.min.map(|x| x - least),
        max: bounds.max.map(|x| x + least),
    }
}

/// A camera for an image of known size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    eye: [f64; 3],
    /// Unit vectors to the right, downwards and forwards.
    axes: [[f64; 3]; 3],
    /// The focal length in pixels.
    focal: f64,
    /// The point of the image on the line of sight.
    middle: (f64, f64),
    /// The distance of the scene's centre from the eye.
    pub(crate) distance: f64,
    /// The approximate distance of the scene's nearest and farthest parts from its centre.
    pub(crate) reach: f64,
}

impl View {
    /// The position of a point on the image; `None` if it is not in front of the eye.
    pub(crate) fn project(&self, point: [f64; 3]) -> Option<Seen> {
        let offset = difference(point, self.eye);
        let [right, down, depth] = self.axes.map(|axis| dot(axis, offset));
        // A NaN depth does not count as in front of the eye.
        if depth.is_nan() || depth <= 1e-6 * self.distance {
            return None;
        }
        let scale = self.focal / depth;
        Some(Seen {
            x: self.middle.0 + right * scale,
            y: self.middle.1 + down * scale,
            depth,
        })
    }

    /// Pixels per unit of length at the centre of the scene.
    pub(crate) fn pixels_per_length(&self) -> f64 {
        self.focal / self.distance
    }

    /// The components of a direction to the right, downwards and away from the eye.
    pub(crate) fn turn(&self, direction: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, direction))
    }

    /// Sets the focal length and `middle` so that the box fills the image up to the margin.
    fn fit(&mut self, bounds: &Bounds, (width, height): (f64, f64)) {
        let corners = bounds.corners().map(|corner| self.project(corner));
        let seen = || corners.iter().flatten();
        let range = |of: fn(&Seen) -> f64| {
            let low = seen().map(of).fold(f64::INFINITY, f64::min);
            let high = seen().map(of).fold(f64::NEG_INFINITY, f64::max);
            (low, high)
        };
        let ((left, right), (top, bottom)) = (range(|s| s.x), range(|s| s.y));
        // Near corners are farther from the centre of the image than far ones. The content of a box is
        // mostly near its centre, so the image is centred halfway between the projected centre of the
        // box and the middle of the projected corners.
        let (x, y) = ((left + right) / 4.0, (top + bottom) / 4.0);
        let room = 0.5 - MARGIN;
        let across = width * room / (right - x).max(x - left);
        let down = height * room / (bottom - y).max(y - top);
        let focal = across.min(down);
        if focal.is_finite() && focal > 0.0 {
            self.focal = focal;
            self.middle = (width / 2.0 - focal * x, height / 2.0 - focal * y);
        }
    }
}

/// Unit vectors to the right, down and forward for a line of sight, with the image turned clockwise by `roll`.
fn axes(forward: [f64; 3], up: [f64; 3], roll: f64) -> [[f64; 3]; 3] {
    let forward = unit(forward).unwrap_or([1.0, 0.0, 0.0]);
    let candidates = [up, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let sideways = candidates.into_iter().filter_map(|up| {
        let up = unit(up)?;
        let right = cross(forward, up);
        (length(right) > 1e-6).then(|| unit(right)).flatten()
    });
    let right = { sideways }.next().unwrap_or([0.0, 1.0, 0.0]);
    let down = cross(forward, right);
    let (sin, cos) = roll.sin_cos();
    let mix = |a: f64, b: f64| std::array::from_fn(|i| a * right[i] + b * down[i]);
    [mix(cos, -sin), mix(sin, cos), forward]
}

pub(crate) fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let length = length(a);
    (length.is_normal()).then(|| a.map(|x| x / length))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (f64, f64) = (640.0, 360.0);

    fn unit_box() -> Bounds {
        Bounds {
            min: [-1.0, -2.0, 0.0],
            max: [1.0, 3.0, 0.5],
        }
    }

    #[test]
    fn the_target_is_at_the_centre_and_up_points_up() {
        let view = Camera::looking_at([5.0, 0.0, 0.0], [0.0; 3], [0.0, 0.0, 1.0], 40.0).view(SIZE);
        let seen = |p| view.project(p).unwrap();
        assert_eq!(
            seen([0.0; 3]),
            Seen {
                x: 320.0,
                y: 180.0,
                depth: 5.0
            }
        );
        assert!(seen([0.0, 0.0, 1.0]).y < 180.0);
        // Seen from the x axis, y increases to the right.
        assert!(seen([0.0, 1.0, 0.0]).x > 320.0);
        let border = 5.0 * 20f64.to_radians().tan();
        assert!(seen([0.0, 0.0, border]).y.abs() < 1e-9);
        assert_eq!(view.project([6.0, 0.0, 0.0]), None);
        assert_eq!(view.project([f64::NAN; 3]), None);
    }

    #[test]
    fn a_framed_box_fills_the_image_from_every_side() {
        for azimuth in [0.0, 33.0, 170.0, 275.0] {
            for elevation in [-90.0, -20.0, 0.0, 35.0, 90.0] {
                let view = Camera::framing(unit_box(), azimuth, elevation).view(SIZE);
                let seen = unit_box().corners().map(|c| view.project(c).unwrap());
                let (mut across, mut down) = ((1e9, -1e9), (1e9, -1e9));
                for Seen { x, y, .. } in seen {
                    across = (f64::min(across.0, x), f64::max(across.1, x));
                    down = (f64::min(down.0, y), f64::max(down.1, y));
                }
                assert!(across.0 > 0.0 && across.1 < 640.0 && down.0 > 0.0 && down.1 < 360.0);
                let fill = ((across.1 - across.0) / 640.0).max((down.1 - down.0) / 360.0);
                assert!((0.7..0.9).contains(&fill), "{azimuth} {elevation}: {fill}");
            }
        }
    }

    #[test]
    fn a_roll_turns_the_image_around_its_centre() {
        let camera = Camera::looking_at([5.0, 1.0, 2.0], [0.0; 3], [0.0, 0.0, 1.0], 40.0);
        let point = [0.2, 0.5, 0.1];
        let (straight, rolled) = (camera.view(SIZE), camera.rolled(90.0).view(SIZE));
        let (a, b) = (straight.project(point).unwrap(), rolled.project(point).unwrap());
        assert!((b.x - 320.0 + (a.y - 180.0)).abs() < 1e-9 && (b.y - 180.0 - (a.x - 320.0)).abs() < 1e-9);
    }

    #[test]
    fn degenerate_cameras_still_project_points() {
        let odd = [
            Camera::framing(Bounds::EMPTY, 0.0, 0.0),
            Camera::framing(Bounds::of(&[[1.0; 3]]), f64::NAN, 1e9),
            Camera::looking_at([0.0; 3], [0.0; 3], [0.0; 3], f64::NAN).zoomed(0.0),
            Camera::looking_at([0.0, 0.0, 5.0], [0.0; 3], [0.0, 0.0, 1.0], 400.0),
        ];
        for camera in odd {
            let view = camera.view(SIZE);
            let ahead = std::array::from_fn(|i| view.eye[i] + view.axes[2][i]);
            let seen = view.project(ahead).unwrap();
            assert!(seen.x.is_finite() && seen.y.is_finite(), "{camera:?}");
        }
    }
}
