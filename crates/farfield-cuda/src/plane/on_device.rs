//! Plans in the plane for points on the device, whose results stay there.

use super::Plan;
use super::input::SumInput;
use super::kind::PairKind;
use super::plan::check_extent;
use crate::device::{Buffers, Precision, Values};
use crate::error::Error;
use crate::kernel::SizeKind;
use crate::plan::PointsOnDevice;
use farfield_core::{Plane, Sum};
use std::time::Instant;

impl<T: Precision> Plan<T> {
    /// As [`Plan::new`], for points with extent `extent` that work on the stream of `buffers` has written.
    pub(super) fn of_points_on_device(
        buffers: Buffers,
        sum: &Sum<T, Plane>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        check_extent::<T>(extent)?;
        if sum.options().leaf_capacity.is_some() {
            return Err(Error::Unsupported {
                what: "a leaf capacity for points in the plane on the device".to_owned(),
                remedy: "leave it out, or plan for points on the host",
            });
        }
        let mut kind = PairKind::of(sum);
        if points.sizes.is_some() && kind.sizes == SizeKind::Global {
            kind.sizes = SizeKind::PerSource;
        }
        let input = SumInput {
            asked: *sum,
            kind,
            sources: points.sources,
            targets: points.targets,
            sizes: points.sizes.unwrap_or(Values::Host(&[])),
        };
        Self::build(buffers, &input, start)
    }
}
