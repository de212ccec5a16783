//! The data structure alone, to a fixed depth: the counterpart of [`farfield_core::structure`].

use crate::device::{Buffers, Device, Precision, Timeline};
use crate::error::Error;
use crate::tree::{Octree, Points, TreeShape};
use farfield_core::report::{Phase, Seconds};
use std::sync::Arc;

/// How long the data structure took, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureTiming {
    /// Of the device, from points in its memory to boxes with their points, children and neighbours.
    pub seconds: f64,
    /// Occupied boxes of all levels.
    pub boxes: usize,
    /// The number of the deepest level.
    pub depth: usize,
}

/// Builds the tree of sources and receivers down to a level.
///
/// # Errors
/// Those of the device.
pub fn build_to_level<T: Precision>(
    device: &Arc<Device>,
    sources: &[[T; 3]],
    receivers: &[[T; 3]],
    level: u32,
) -> Result<StructureTiming, Error> {
    let buffers = Buffers::new(device)?;
    let device_sources = buffers.upload(sources.as_flattened())?;
    let device_receivers = buffers.upload(receivers.as_flattened())?;
    let points = Points {
        sources: &device_sources,
        source_count: sources.len(),
        targets: Some((&device_receivers, receivers.len())),
    };
    let shape = TreeShape {
        leaf_capacity: 0,
        leaf_mean: 1.0,
        root_scale: Some(1.0),
        min_side: 0.75 * largest_extent(&[sources, receivers]) * 0.5f64.powi(level as i32),
    };
    buffers.wait()?;
    let mut timeline = Timeline::start(buffers.stream())?;
    let tree = Octree::build(&buffers, &points, &shape)?;
    timeline.end(Phase::Tree)?;
    buffers.wait()?;
    let mut seconds = Seconds::default();
    timeline.add_to(&mut seconds)?;
    Ok(StructureTiming {
        seconds: seconds.of(Phase::Tree),
        boxes: tree.boxes,
        depth: tree.depth,
    })
}

/// The longest side of the box around all points.
fn largest_extent<T: Precision>(sets: &[&[[T; 3]]]) -> f64 {
    let mut extent = 0.0f64;
    for axis in 0..3 {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for point in sets.iter().copied().flatten() {
            let at = point[axis].to_f64();
            (low, high) = (low.min(at), high.max(at));
        }
        extent = extent.max(high - low);
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extent_is_that_of_all_sets() {
        let (a, b) = ([[0.0f32, 0.5, 1.0]], [[0.5f32, 3.0, 0.0], [0.25, 1.0, -1.5]]);
        assert_eq!(largest_extent(&[&a, &b]), 2.5);
    }
}
