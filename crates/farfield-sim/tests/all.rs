//! All tests in one program: every program more links the whole library once more.

mod flow;
mod flow_convergence;
mod mutations;
mod particles;
mod plane;
mod runs;
