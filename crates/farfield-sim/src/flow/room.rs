//! How large the box has to be, so that the vorticity of bodies at rest stays inside to the end of a run.

use super::body::Body;
use super::clean::FADE;
use crate::case::GridSettings;
use crate::vec3::Vec3;

/// The stream carries the wake away from a body that starts at once with about this share of its speed.
const WAKE_SPEED: f64 = 0.7;
/// Viscosity spreads vorticity this many times $\sqrt{\nu t}$ far; beyond that there is less than a hundredth of what there is at the
/// wall. With both, vorticity reached the end of a box 1.5 diameters behind a sphere at T = 2.3 at Reynolds number 100, and at T = 3.4 at 550.
const SPREAD: f64 = 5.0;
/// A box is never made longer by more root cubes than this at a side.
const MOST_ADDED: f64 = 64.0;

/// Adds root cubes to the box, downstream and across the stream, until what the stream carries and viscosity spreads stays inside to
/// time `end`; returns how many were added along each axis. Ahead of bodies the stream holds vorticity back.
pub(super) fn make_room(
    grid: &mut GridSettings,
    bodies: &[Body],
    stream: Vec3,
    [viscosity, end]: [f64; 2],
) -> [u32; 3] {
    let mut added = [0; 3];
    let sound = grid.side.is_finite() && grid.side > 0.0 && end.is_finite() && stream.iter().all(|c| c.is_finite());
    if !grid.grow || !sound || bodies.is_empty() || bodies.iter().any(Body::moves) {
        return added;
    }
    let finest = grid.side / (16.0 * f64::from(1u32 << grid.level));
    let spread = SPREAD * (viscosity * end).sqrt() + FADE * finest;
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let away = side * stream[axis];
            if away < 0.0 {
                continue;
            }
            let ends = bodies.iter().map(|body| side * body.centre(0.0)[axis] + body.reach());
            let needed = ends.fold(f64::NEG_INFINITY, f64::max) + WAKE_SPEED * away * end + spread;
            let (low, size) = (grid.origin[axis], grid.side * f64::from(grid.roots[axis]));
            let room = if side > 0.0 { low + size } else { -low };
            let missing = ((needed - room) / grid.side - 1e-9).ceil();
            if missing.is_nan() || missing < 1.0 {
                continue;
            }
            let missing = missing.min(MOST_ADDED);
            added[axis] += missing as u32;
            grid.roots[axis] += missing as u32;
            if side < 0.0 {
                grid.origin[axis] -= missing * grid.side;
            }
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use crate::case::{self, BuiltIn, Override};
    use crate::flow::Setup;

    fn setup(set: &[&str]) -> Setup {
        let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
        let case = case::read(BuiltIn::find("sphere").unwrap().text, "sphere", &overrides).unwrap();
        Setup::new(&case).unwrap()
    }

    #[test]
    fn the_box_holds_what_the_stream_carries_to_the_end_of_the_run() {
        assert_eq!(setup(&[]).added_roots, [0; 3]);
        for size in ["fine", "finest", "paper-512", "paper-1024"] {
            assert_eq!(setup(&[&format!("size={size}")]).added_roots, [0; 3], "{size}");
        }
        let long = setup(&["time.end=2.5"]);
        assert_eq!((long.added_roots, long.domain.roots()), ([1, 0, 0], [4, 2, 2]));
        // Against x the lower corner moves, and the points stay where they are.
        let back = setup(&["time.end=2.5", "flow.stream=[-1.0, 0.0, 0.0]"]);
        assert_eq!((back.added_roots, back.domain.origin()[0]), ([2, 0, 0], -3.0));
        assert_eq!(setup(&["time.end=2.5", "grid.grow=false"]).added_roots, [0; 3]);
    }

    #[test]
    fn the_box_holds_what_viscosity_spreads_across_the_stream() {
        let slow = setup(&["flow.reynolds=100"]);
        assert_eq!(slow.added_roots, [1, 2, 2]);
        assert_eq!(slow.domain.origin(), [-1.0, -2.0, -2.0]);
        assert_eq!(slow.domain.size(), [4.0, 4.0, 4.0]);
        // In a short run it does not come that far.
        assert_eq!(setup(&["flow.reynolds=100", "time.end=0.2"]).added_roots, [0; 3]);
    }
}
