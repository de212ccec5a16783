//! All tests in one program: every program more links the whole library once more.

mod browser;
mod harness;
mod screenshots;
