//! Closed surfaces of triangles.

use crate::vec3::Vec3;
use std::path::Path;

/// A closed surface of triangles.
#[derive(Debug, Clone)]
pub struct Mesh {
    size: Vec3,
}

impl Mesh {
    /// Reads a file.
    pub fn read(path: &Path, _scale: f64) -> Result<Self, String> {
        Err(format!("{}: meshes cannot be read yet", path.display()))
    }

    /// Its extent along x, y and z.
    pub fn size(&self) -> Vec3 {
        self.size
    }

    /// The radius of a ball about the origin that holds it.
    pub fn reach(&self) -> f64 {
        crate::vec3::norm(self.size)
    }

    /// The signed distance, positive outside.
    pub fn distance(&self, _p: Vec3) -> f64 {
        f64::INFINITY
    }
}
