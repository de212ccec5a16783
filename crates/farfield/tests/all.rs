//! All tests in one program: every program more links the whole library once more.

mod determinism;
mod doubled;
mod edge_cases;
mod kernels;
mod measured;
mod plane;
mod structured;
mod tolerance;
