//! Case files: a box and the rings in it.
//!
//! ```toml
//! [grid]                       # the unit cube if left out
//! origin = [0.0, 0.0, 0.0]
//! roots = [2, 1, 1]            # cubes along x, y and z
//! side = 1.0                   # of a cube; --resolution counts points along it
//!
//! [[ring]]                     # Gaussian core: omega = circulation / (pi core^2) exp(-d^2 / core^2)
//! centre = [0.5, 0.5, 0.5]
//! axis = [0.0, 0.0, 1.0]       # along a coordinate; or "z"
//! radius = 0.25
//! core = 0.05
//! circulation = 1.0
//!
//! [[compact-ring]]             # the ring of van Rees et al.
//! centre = [1.5, 0.5, 0.5]
//! axis = "x"
//! radius = 0.125
//! ```
//! Instead of rings, `vorticity = "numbers.npz"` names a file with the vorticity on a uniform grid over the box. The
//! keys are those of simulation cases. Older files, with `[box]`, `center` and `grid = "numbers.npz"`, are still read.

use crate::failure::Failure;
use farfield_grid::Domain;
use farfield_grid::flows::{CompactRing, GaussianRing, RingFrame};
use farfield_sim::case;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The distance from the middle of a Gaussian core, in core sizes, at which its vorticity is 1e-12 of its largest.
const REACH: f64 = 5.3;

/// A checked case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    domain: Domain,
    rings: Vec<GaussianRing>,
    compact_rings: Vec<CompactRing>,
    /// The file of the vorticity, unless it is given by rings.
    pub grid: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaseFile {
    #[serde(default)]
    grid: BoxTable,
    #[serde(default)]
    ring: Vec<RingTable>,
    #[serde(default)]
    compact_ring: Vec<CompactRingTable>,
    vorticity: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BoxTable {
    origin: [f64; 3],
    roots: [u32; 3],
    side: f64,
}

impl Default for BoxTable {
    fn default() -> Self {
        Self {
            origin: [0.0; 3],
            roots: [1; 3],
            side: 1.0,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RingTable {
    #[serde(alias = "center")]
    centre: [f64; 3],
    #[serde(deserialize_with = "case::direction", default = "z_axis")]
    axis: [f64; 3],
    radius: f64,
    core: f64,
    #[serde(default = "one")]
    circulation: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompactRingTable {
    #[serde(alias = "center")]
    centre: [f64; 3],
    #[serde(deserialize_with = "case::direction", default = "z_axis")]
    axis: [f64; 3],
    radius: f64,
}

fn z_axis() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn one() -> f64 {
    1.0
}

/// The index of the coordinate axis that a direction is parallel to.
fn coordinate(axis: [f64; 3]) -> Option<usize> {
    let found = (0..3).find(|c| axis[*c] != 0.0)?;
    (axis[found] > 0.0 && (0..3).all(|c| c == found || axis[c] == 0.0)).then_some(found)
}

/// Replaces the names of older files line by line, so that errors keep their positions.
fn with_present_names(text: &str) -> String {
    let rename = |line: &str| {
        let trimmed = line.trim_start();
        if trimmed.starts_with("[box]") {
            line.replacen("[box]", "[grid]", 1)
        } else if trimmed
            .strip_prefix("grid")
            .is_some_and(|rest| rest.trim_start().starts_with("= \""))
        {
            line.replacen("grid", "vorticity", 1)
        } else {
            line.to_owned()
        }
    };
    text.split_inclusive('\n').map(rename).collect()
}

impl Case {
    /// Reads and checks a case file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Data(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let file: CaseFile = case::read_table(&with_present_names(&text), &path.display().to_string())
            .map_err(|error| Failure::Data(error.to_string()))?;
        let BoxTable { origin, roots, side } = file.grid;
        let domain = Domain::new(origin, roots, side).map_err(|error| wrong(error.to_string()))?;
        match (&file.vorticity, file.ring.len() + file.compact_ring.len()) {
            (None, 0) => {
                return Err(wrong(
                    "no [[ring]], [[compact-ring]] or vorticity: nothing to solve for".to_owned(),
                ));
            }
            (Some(_), 1..) => return Err(wrong("rings and a file of vorticity: give one or the other".to_owned())),
            _ => {}
        }
        let frame = |name: &str, k: usize, center, axis: [f64; 3]| match coordinate(axis) {
            Some(axis) => Ok(RingFrame { center, axis }),
            None => Err(wrong(format!(
                "[[{name}]] number {}: axis = {axis:?}: the exact solutions are for rings along x, y or z",
                k + 1
            ))),
        };
        let mut rings = Vec::new();
        for (k, ring) in file.ring.iter().enumerate() {
            rings.push(GaussianRing {
                frame: frame("ring", k, ring.centre, ring.axis)?,
                radius: ring.radius,
                core: ring.core,
                circulation: ring.circulation,
            });
        }
        let mut compact_rings = Vec::new();
        for (k, ring) in file.compact_ring.iter().enumerate() {
            compact_rings.push(CompactRing {
                frame: frame("compact-ring", k, ring.centre, ring.axis)?,
                radius: ring.radius,
                ..CompactRing::two_rings()[0]
            });
        }
        let case = Self {
            domain,
            rings,
            compact_rings,
            // The path is relative to the case file.
            grid: file
                .vorticity
                .map(|grid| path.parent().unwrap_or(Path::new("")).join(grid)),
        };
        case.check().map_err(wrong)?;
        Ok(case)
    }

    /// Checks that every ring is valid and that its vorticity lies inside the box.
    fn check(&self) -> Result<(), String> {
        for (k, ring) in self.rings.iter().enumerate() {
            let name = format!("[[ring]] number {}", k + 1);
            for (what, value) in [("radius", ring.radius), ("core", ring.core)] {
                positive(&name, what, value)?;
            }
            finite(&name, "circulation", ring.circulation)?;
            self.contains(&name, ring.frame, ring.radius, REACH * ring.core)?;
        }
        for (k, ring) in self.compact_rings.iter().enumerate() {
            let name = format!("[[compact-ring]] number {}", k + 1);
            positive(&name, "radius", ring.radius)?;
            self.contains(&name, ring.frame, ring.radius, ring.radius)?;
        }
        Ok(())
    }

    /// Refuses a torus that extends beyond the box, because its vorticity outside would be lost.
    fn contains(&self, name: &str, frame: RingFrame, radius: f64, thickness: f64) -> Result<(), String> {
        let (low, size) = (self.domain.origin(), self.domain.size());
        for axis in 0..3 {
            let reach = if axis == frame.axis {
                thickness
            } else {
                radius + thickness
            };
            let (from, to) = (frame.center[axis] - reach, frame.center[axis] + reach);
            let (lowest, highest) = (low[axis], low[axis] + size[axis]);
            if !(from >= lowest && to <= highest) {
                return Err(format!(
                    "{name} reaches from {from} to {to} along {}, outside the box from {lowest} to {highest}: move it, \
                     make it smaller, or enlarge the box",
                    ["x", "y", "z"][axis]
                ));
            }
        }
        Ok(())
    }

    /// The box.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The vorticity of all rings.
    pub fn vorticity(&self, x: [f64; 3]) -> [f64; 3] {
        let gaussian = self.rings.iter().map(|ring| ring.vorticity(x));
        let compact = self.compact_rings.iter().map(|ring| ring.vorticity(x));
        total(gaussian.chain(compact))
    }

    /// The stream function of all rings.
    pub fn stream_function(&self, x: [f64; 3]) -> [f64; 3] {
        let gaussian = self.rings.iter().map(|ring| ring.stream_function(x));
        let compact = self.compact_rings.iter().map(|ring| ring.stream_function(x));
        total(gaussian.chain(compact))
    }
}

fn total(vectors: impl Iterator<Item = [f64; 3]>) -> [f64; 3] {
    vectors.fold([0.0; 3], |a, b| [0, 1, 2].map(|c| a[c] + b[c]))
}

fn positive(name: &str, what: &str, value: f64) -> Result<(), String> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(format!("{name}: {what} = {value} must be finite and positive")),
    }
}

fn finite(name: &str, what: &str, value: f64) -> Result<(), String> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(format!("{name}: {what} = {value} must be finite")),
    }
}
