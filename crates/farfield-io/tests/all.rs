//! All tests in one program: every program more links the whole library once more.

mod any_bytes;
mod csv_files;
mod fixtures;
mod mutations;
mod npy_and_npz_files;
mod parts;
mod round_trips;
mod vtk;
