//! farfield over many machines: sums over points that are spread over the ranks of MPI.
//!
//! ```
//! use farfield::kernel::Kernel;
//! use farfield_mpi::{Communicator, Points, Sum, Threads};
//!
//! // Here the ranks are threads; under mpirun they are processes, and the communicator is an `Mpi`.
//! let potentials = Threads::run(3, |ranks| {
//!     // Any number of points in any place: rank 2 has none.
//!     let own: Vec<[f64; 3]> = (0..100 * (2 - ranks.rank())).map(|k| [k as f64, ranks.rank() as f64, 0.5]).collect();
//!     let charges = vec![1.0; own.len()];
//!     let mut plan = Sum::space(Kernel::Coulomb).tolerance(1e-6).plan(ranks, Points::new(&own))?;
//!     Ok::<_, farfield_mpi::Error>(plan.evaluate(&charges)?.potential().to_vec())
//! });
//! assert_eq!(potentials[0].as_ref().map(Vec::len), Ok(200));
//! ```
//!
//! # How it works
//!
//! The engine of each rank is `farfield`, on the CPU or on a GPU, and knows nothing of ranks. A plan
//!
//! 1. orders all points of all ranks along one curve (`curve`) and cuts it into pieces of equal work (`partition`),
//! 2. moves points to the rank that has their piece (`route`), and cuts again by the work that ranks then have (`deal`),
//! 3. builds a light tree over each rank's sources (`tree`), and sends to every other rank what it must know of them
//!    (`essential`): sources near its targets as they are, far boxes as a few equivalent sources (`equivalent`),
//! 4. has one engine plan a sum over own sources at own targets meanwhile, and another one over received and equivalent ones.
//!
//! An evaluation sends strengths the same ways while the first engine sums (`local`), has the second sum what arrived, measures the error at a few targets against
//! the true sum over all ranks (`check`), and sends results back to the ranks that have the targets, in their order. Every step that can
//! fail ends with all ranks knowing whether one did ([`agree`]).

mod beside;
mod check;
mod communicator;
mod curve;
mod deal;
mod equivalent;
mod error;
mod essential;
mod local;
pub mod model;
mod partition;
mod plan;
mod problem;
mod received;
mod report;
mod route;
mod segments;
#[cfg(feature = "program")]
mod simulation;
mod sum;
mod top;
mod traffic;
mod tree;
mod tuning;
mod wire;

#[cfg(farfield_has_mpi)]
pub use communicator::Mpi;
pub use communicator::{Communicator, Message, Threads};
pub use equivalent::Carried;
pub use error::{Cause, Error, agree, agree_on};
pub use plan::Plan;
pub use problem::{Plane, Points, Problem, Space};
pub use report::{RankReport, Seconds};
#[cfg(feature = "program")]
pub use simulation::OneThread;
pub use sum::Sum;
pub use traffic::Traffic;
