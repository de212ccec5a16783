//! Flows with known solutions, for tests: vorticity and stream function as functions of position.

mod compact_ring;
mod gaussian_ring;

pub use compact_ring::CompactRing;
pub use gaussian_ring::GaussianRing;

/// The centre of a ring and the axis (0, 1 or 2) it goes around.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RingFrame {
    /// The centre.
    pub center: [f64; 3],
    /// The axis.
    pub axis: usize,
}

/// Cylindrical coordinates of a point, and the azimuthal unit vector there.
struct Cylindrical {
    r: f64,
    z: f64,
    around: [f64; 3],
}

impl RingFrame {
    fn cylindrical(&self, x: [f64; 3]) -> Cylindrical {
        let (u, v) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let [a, b] = [u, v].map(|k| x[k] - self.center[k]);
        let r = a.hypot(b);
        let mut around = [0.0; 3];
        if r > 0.0 {
            (around[u], around[v]) = (-b / r, a / r);
        }
        Cylindrical {
            r,
            z: x[self.axis] - self.center[self.axis],
            around,
        }
    }
}
