//! Points for pictures of a run that ranks share: a subset of each rank's points, gathered on the first rank.

use crate::model::{Cloud, Snapshot};
use crate::ranks::{Ranks, count_all, to_first};

/// The largest number of points that are drawn; no picture resolves more.
const MOST: usize = 1 << 18;

/// The points that the first rank draws: every k-th point of every rank. Empty on the other ranks. Called by all ranks
/// together.
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
