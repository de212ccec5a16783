//! Enlarges the box so that the vorticity of bodies at rest stays inside until the end of a run.

use super::body::Body;
use super::clean::FADE;
use crate::case::GridSettings;
use crate::vec3::Vec3;

/// The approximate speed at which the wake of an impulsively started body grows, as a fraction of the stream's.
const WAKE_SPEED: f64 = 0.7;
/// The distance to which viscosity spreads vorticity, in units of $\sqrt{\nu t}$. There it has fallen below a hundredth
/// of its value at the wall. Both effects together took vorticity to the end of a box 1.5 diameters behind a sphere at
/// T = 2.3 at Reynolds number 100, and at T = 3.4 at 550.
const SPREAD: f64 = 5.0;
/// The largest number of root cubes added at one side.
const MOST_ADDED: f64 = 64.0;

/// Adds root cubes to the box, downstream and across the stream, until the vorticity that the stream carries and
/// viscosity spreads stays inside until time `end`. No cubes are added upstream, where the stream holds vorticity back.
/// Returns the number of cubes added along each axis.
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
    fn the_box_contains_the_wake_until_the_end_of_the_run() {
        assert_eq!(setup(&[]).added_roots, [0; 3]);
        for size in ["fine", "finest", "paper-512", "paper-1024"] {
            assert_eq!(setup(&[&format!("size={size}")]).added_roots, [0; 3], "{size}");
        }
        let long = setup(&["time.end=2.5"]);
        assert_eq!((long.added_roots, long.domain.roots()), ([1, 0, 0], [4, 2, 2]));
        // With a stream against x the lower corner moves by whole cubes, so the grid points do not change.
        let back = setup(&["time.end=2.5", "flow.stream=[-1.0, 0.0, 0.0]"]);
        assert_eq!((back.added_roots, back.domain.origin()[0]), ([2, 0, 0], -3.0));
        assert_eq!(setup(&["time.end=2.5", "grid.grow=false"]).added_roots, [0; 3]);
    }

    #[test]
    fn the_box_contains_vorticity_that_spreads_across_the_stream() {
        let slow = setup(&["flow.reynolds=100"]);
        assert_eq!(slow.added_roots, [1, 2, 2]);
        assert_eq!(slow.domain.origin(), [-1.0, -2.0, -2.0]);
        assert_eq!(slow.domain.size(), [4.0, 4.0, 4.0]);
        // In a short run vorticity does not spread that far.
        assert_eq!(setup(&["flow.reynolds=100", "time.end=0.2"]).added_roots, [0; 3]);
    }
}
