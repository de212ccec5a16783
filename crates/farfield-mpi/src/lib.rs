//! farfield on many machines: sums over points that are distributed over MPI ranks.
//!
//! ```
//! use farfield::kernel::Kernel;
//! use farfield::{Request, Space};
//! use farfield_mpi::{Communicator, Points, Sum, Threads};
//!
//! // Here the ranks are threads. Under mpirun they are processes, and the communicator is an `Mpi`.
//! let potentials = Threads::run(3, |ranks| {
//!     // Each rank has any number of points, anywhere: rank 2 has none.
//!     let own: Vec<[f64; 3]> = (0..100 * (2 - ranks.rank())).map(|k| [k as f64, ranks.rank() as f64, 0.5]).collect();
//!     let charges = vec![1.0; own.len()];
//!     let mut plan = Sum::of(Request::<Space>::new(Kernel::Coulomb)).plan(ranks, Points::new(&own))?;
//!     Ok::<_, farfield_mpi::Error>(plan.evaluate(&charges)?.potential().to_vec())
//! });
//! assert_eq!(potentials[0].as_ref().map(Vec::len), Ok(200));
//! ```
//!
//! # How it works
//!
//! The engine of each rank is `farfield`, on the CPU or on a GPU; it does not know about ranks. A plan
//!
//! 1. orders the points of all ranks along a space-filling curve (`curve`) and cuts it into pieces of equal work
//!    (`partition`),
//! 2. moves points to the rank that owns their piece (`route`), and cuts again by the work that results (`deal`),
//! 3. builds a coarse tree over each rank's sources (`tree`), and sends the locally essential sources to every other
//!    rank (`essential`): sources near its targets unchanged, far boxes as a few equivalent sources (`equivalent`),
//! 4. meanwhile plans a sum over own sources with one engine, then a sum over received and equivalent sources with
//!    another.
//!
//! An evaluation exchanges strengths along the same routes while the first engine sums (`local`), sums the received
//! sources with the second engine, measures the error at a few targets against the true sum over all ranks (`check`),
//! and returns the results to the ranks of the targets, in the order of the targets. After every step that can fail,
//! all ranks know whether one of them failed ([`agree`]).

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
pub use problem::{Points, Shared};
pub use report::{RankReport, RankSeconds};
#[cfg(feature = "program")]
pub use simulation::OneThread;
pub use sum::Sum;
pub use traffic::Exchanged;
