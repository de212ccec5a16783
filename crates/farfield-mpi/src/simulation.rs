//! Simulations whose state is distributed over ranks: implements `farfield_sim::ranks` by sums over ranks.

use crate::communicator::Communicator;
use crate::error::{Cause, Error};
use crate::plan::Plan;
use crate::problem::Points;
use crate::sum::Sum;
use farfield::Space;
use farfield::kernel::Sizes;
use farfield::memory::{Array, ArraySizes};
use farfield_sim::Error as SimError;
use farfield_sim::ranks::{RankSum, Ranks};
use farfield_sim::summation::Task;
use std::fmt;
use std::mem::ManuallyDrop;
use std::thread::{self, ThreadId};
use std::time::Instant;

/// A communicator that may be held by any thread but used only by the thread that made it, as MPI requires: use by
/// another thread panics.
pub struct OneThread<C> {
    ranks: ManuallyDrop<C>,
    thread: ThreadId,
}

// SAFETY: the communicator is reached only through `get`, which panics on any thread but the one that made it, and is
// dropped by that thread or not at all.
unsafe impl<C> Send for OneThread<C> {}
// SAFETY: as above.
unsafe impl<C> Sync for OneThread<C> {}

impl<C> OneThread<C> {
    /// Binds a communicator to this thread.
    pub fn new(ranks: C) -> Self {
        Self {
            ranks: ManuallyDrop::new(ranks),
            thread: thread::current().id(),
        }
    }

    /// The communicator.
    ///
    /// # Panics
    /// On any thread but the one that made this value.
    pub fn get(&self) -> &C {
        assert_eq!(
            thread::current().id(),
            self.thread,
            "the communicator must be used by the thread that made it"
        );
        &self.ranks
    }
}

impl<C> Drop for OneThread<C> {
    fn drop(&mut self) {
        if thread::current().id() == self.thread {
            // SAFETY: it is dropped once, here, by the thread that made it.
            unsafe { ManuallyDrop::drop(&mut self.ranks) };
        }
    }
}

impl<C> fmt::Debug for OneThread<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "OneThread({:?})", self.thread)
    }
}

impl<C: Communicator> Ranks for OneThread<C> {
    fn rank(&self) -> usize {
        self.get().rank()
    }

    fn size(&self) -> usize {
        self.get().size()
    }

    fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        self.get().all_gather(own)
    }

    fn send(&self, outgoing: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)> {
        self.get().send(outgoing)
    }

    fn sum(&self, task: &Task<'_>) -> Result<RankSum, SimError> {
        let start = Instant::now();
        let mut plan = plan(self.get(), &Sum::of(task.request.clone()).in_place(), task)?;
        let field = plan
            .evaluate(task.strengths.values()?)
            .map_err(|error| during(task.what, error))?;
        Ok(RankSum {
            outputs: field.into_values().into_iter().map(Array::of).collect(),
            parameters: plan.parameters(),
            seconds: start.elapsed().as_secs_f64(),
            unevenness: plan.unevenness(),
        })
    }

    fn deal(&self, task: &Task<'_>, rows: &[f64], columns: usize) -> Result<Vec<f64>, SimError> {
        let plan = plan(self.get(), &Sum::of(task.request.clone()), task)?;
        Ok(plan.follow(rows, columns))
    }
}

fn plan<'c, C: Communicator>(
    ranks: &'c C,
    sum: &Sum<Space>,
    task: &Task<'_>,
) -> Result<Plan<'c, C, Space, f64, 3>, SimError> {
    let points = Points::new(task.points.sources.vectors()?).sizes(match &task.points.sizes {
        ArraySizes::None => Sizes::None,
        ArraySizes::Global(size) => Sizes::Global(*size),
        ArraySizes::PerSource { each, .. } => Sizes::PerSource(each.values()?.to_vec()),
    });
    let points = match task.points.targets {
        Some(targets) => points.targets(targets.vectors()?),
        None => points,
    };
    sum.plan(ranks, points).map_err(|error| during(task.what, error))
}

/// Converts the error of a sum over ranks; `what` names the sum.
fn during(what: &'static str, error: Error) -> SimError {
    match error {
        Error::OnRank { rank, message, cause } => SimError::OnRank {
            rank,
            message: format!("{what}: {message}"),
            blew_up: cause == Cause::Numbers,
        },
        error => SimError::OnRank {
            rank: 0,
            message: error.to_string(),
            blew_up: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;
    use farfield::points::{PointSet, Random};
    use farfield_sim::ranks::{Alone, agree, part, sum_all};
    use farfield_sim::vec3::{Vec3, norm, sub};
    use farfield_sim::vortex::{Borrowed, Elements, remesh, strength_exchange};

    /// Elements of two groups along a ring in the order of their angle, so that each rank has an arc.
    fn ring() -> Elements {
        let mut positions = PointSet::Ring.generate::<f64>(900, 1);
        positions.sort_by(|a, b| a[1].atan2(a[0]).total_cmp(&b[1].atan2(b[0])));
        let mut random = Random::new(3);
        let n = positions.len();
        Elements {
            strengths: (0..n).map(|_| std::array::from_fn(|_| random.normal())).collect(),
            sizes: (0..n).map(|k| if k % 3 == 0 { 0.04 } else { 0.05 }).collect(),
            volumes: (0..n).map(|k| 1e-4 * (1 + k % 5) as f64).collect(),
            groups: (0..n as u32).map(|k| k % 2).collect(),
            positions,
        }
    }

    fn own(all: &Elements, ranks: &dyn Ranks) -> Elements {
        let part = part(ranks, all.len());
        Elements {
            positions: all.positions[part.clone()].to_vec(),
            strengths: all.strengths[part.clone()].to_vec(),
            sizes: all.sizes[part.clone()].to_vec(),
            volumes: all.volumes[part.clone()].to_vec(),
            groups: all.groups[part].to_vec(),
        }
    }

    fn exchanged(elements: &Elements, ranks: &dyn Ranks) -> Vec<Vec3> {
        strength_exchange(ranks, Borrowed::of(elements), 0.05, 0.01)
    }

    #[test]
    fn viscosity_acts_across_ranks() {
        let all = ring();
        let expected = exchanged(&all, &Alone);
        let largest = expected.iter().map(|rate| norm(*rate)).fold(0.0, f64::max);
        for size in [2, 3, 7] {
            let found = Threads::run(size, |ranks| {
                let ranks = OneThread::new(ranks);
                exchanged(&own(&all, &ranks), &ranks)
            });
            let found: Vec<Vec3> = found.into_iter().flatten().collect();
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(&expected) {
                assert!(norm(sub(*a, *b)) < 1e-12 * largest, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn ranks_remesh_to_the_same_grid_as_one_process() {
        let all = ring();
        let expected = remesh(&all, 1.0, 1e-2, &Alone);
        let sorted = |elements: &Elements| {
            let mut nodes: Vec<(Vec3, Vec3, u32)> = (0..elements.len())
                .map(|k| (elements.positions[k], elements.strengths[k], elements.groups[k]))
                .collect();
            nodes.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
            nodes
        };
        for size in [2, 3, 7] {
            let found = Threads::run(size, |ranks| {
                let ranks = OneThread::new(ranks);
                remesh(&own(&all, &ranks), 1.0, 1e-2, &ranks)
            });
            let mut together = Elements::default();
            for remeshed in &found {
                assert!((remeshed.spacing - expected.spacing).abs() < 1e-15);
                assert!((remeshed.dropped - expected.dropped).abs() < 1e-12);
                together.positions.extend(&remeshed.elements.positions);
                together.strengths.extend(&remeshed.elements.strengths);
                together.groups.extend(&remeshed.elements.groups);
            }
            // No node is on two ranks.
            let (found, expected) = (sorted(&together), sorted(&expected.elements));
            assert_eq!(found.len(), expected.len(), "{size} ranks");
            for (a, b) in found.iter().zip(&expected) {
                assert_eq!(a.2, b.2);
                assert!(
                    norm(sub(a.0, b.0)) < 1e-14 && norm(sub(a.1, b.1)) < 1e-12,
                    "{a:?} {b:?}"
                );
            }
        }
    }

    #[test]
    fn all_ranks_end_with_the_same_error_or_without_error() {
        let ended = Threads::run(4, |ranks| {
            let ranks = OneThread::new(ranks);
            let mut sum = [ranks.rank() as f64, 1.0];
            sum_all(&ranks, &mut sum);
            assert_eq!(sum, [6.0, 4.0]);
            let own = match ranks.rank() {
                1 | 2 => Err(SimError::Writer),
                _ => Ok(()),
            };
            let first = agree(&ranks, own).unwrap_err().to_string();
            // An error that is the same on all ranks is not changed.
            let same = agree::<()>(&ranks, Err(SimError::OneProcess)).unwrap_err();
            assert!(matches!(same, SimError::OneProcess));
            agree(&ranks, Ok(())).unwrap();
            first
        });
        for message in ended {
            assert!(message.starts_with("rank 1: the thread that writes"), "{message}");
        }
    }
}
