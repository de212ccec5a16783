//! All tests in one program: every program more links the whole library once more.

mod after_a_run;
mod bench;
mod campaign;
mod evaluate;
mod files;
mod honest_resumes;
mod poisson;
mod program;
mod run;
mod usage;
mod view;
