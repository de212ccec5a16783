//! All tests in one program: every program more links the whole library once more.

mod compile_kernels;
mod compile_plane_kernels;
mod compiler;
mod without_a_gpu;
