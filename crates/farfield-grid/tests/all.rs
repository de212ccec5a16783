//! All tests in one program: every program more links the whole library once more.

mod adaptation;
mod exact_flows;
mod flow_operators;
mod ghosts;
mod jump;
mod operators;
mod poisson;
mod polynomials;
mod remesh;
mod velocity;
mod velocity_exact;
