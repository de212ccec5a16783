//! The sums at the points of a brick: over sources directly (P2P) and over expansions (M2P).
//!
//! The points of a brick form 64 lines along x. A register holds points of several lines with the same x, so y and z
//! differ from lane to lane, while x and everything that depends on it alone is the same in all lanes. For each group
//! of lines, quantities that depend on y and z are computed once and used for the eight points along x.

mod direct;
mod indirect;

pub(super) use direct::add_direct;
pub(super) use indirect::add_indirect;

use super::lists::{BRICK_POINTS, BRICK_SIDE};
use farfield::simd::{Lanes, MAX_LANES, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};

/// The number of lines along x.
const LINES: usize = BRICK_SIDE * BRICK_SIDE;

const _: () = assert!(LINES.is_multiple_of(MAX_LANES));

/// The index of point (x, y, z) of a component in the sums of a brick: component by component, then x, then line by
/// line (y fastest).
#[inline(always)]
pub(crate) fn sum_index(component: usize, [x, y, z]: [usize; 3]) -> usize {
    component * BRICK_POINTS + x * LINES + z * BRICK_SIDE + y
}

/// The y and z of each line, in spacings from the brick's first point.
struct LineTable<T> {
    y: [T; LINES],
    z: [T; LINES],
}

impl<T: Real> LineTable<T> {
    #[inline(always)]
    fn new() -> Self {
        let mut table = Self {
            y: [T::ZERO; LINES],
            z: [T::ZERO; LINES],
        };
        for line in 0..LINES {
            table.y[line] = T::from_f64((line % BRICK_SIDE) as f64);
            table.z[line] = T::from_f64((line / BRICK_SIDE) as f64);
        }
        table
    }
}

/// The cheapest reciprocal square root whose relative error is at most `error`.
pub(crate) fn rsqrt_accuracy<T: Real>(simd: SimdLevel, error: f64) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_error::<V>(self.0)
        }
    }
    dispatch::<T, _>(simd, Choose(error))
}
