//! Points for pictures where ranks share them: some of each rank's, on the first.

use crate::model::{Cloud, Snapshot};
use crate::ranks::{Ranks, count_all, to_first};

/// More points than this are thinned out: no picture shows them apart.
const MOST: usize = 1 << 18;

/// What the first rank draws: of the points that are drawn, every k-th of every rank, so that there are not too many. Empty on the
/// others. Called by all ranks together.
pub(super) fn of_all(ranks: &dyn Ranks, own: &Snapshot) -> Snapshot {
    let Some(cloud) = own.clouds.first() else {
        return Snapshot::default();
    };
    let every = count_all(ranks, cloud.points.len()).div_ceil(MOST).max(1);
    let points = cloud.points.iter().zip(&cloud.groups).step_by(every);
    let rows: Vec<f64> = points
        .flat_map(|([x, y, z], group)| [*x, *y, *z, f64::from(*group)])
        .collect();
    let all = to_first(ranks, &rows);
    let rows = all.as_chunks::<4>().0;
    Snapshot {
        clouds: vec![Cloud {
            name: cloud.name,
            points: rows.iter().map(|[x, y, z, _]| [*x, *y, *z]).collect(),
            scalars: Vec::new(),
            vectors: Vec::new(),
            groups: rows.iter().map(|row| row[3] as u32).collect(),
        }],
        ..Snapshot::default()
    }
}
