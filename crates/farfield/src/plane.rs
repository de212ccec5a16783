//! Sums in the plane: the harmonic and the logarithmic kernel, direct and by the adaptive fast multipole method of
//! Goude and Engblom on a balanced pyramid.
//!
//! ```
//! use farfield::plane::{Kernel, Output, PlaneSet, Sum};
//!
//! let sources = PlaneSet::Normal.generate::<f64>(5_000, 1);
//! let circulations = vec![1.0; 5_000];
//! let mut plan = Sum::new(Kernel::Harmonic, &sources).tolerance(1e-6).plan()?;
//! let field = plan.evaluate(&circulations)?;
//! println!("{:?}", field.get(Output::Potential)); // real and imaginary parts alternate
//! # Ok::<(), farfield::Error>(())
//! ```

pub use crate::geometry::Plane;
pub use farfield_core::plane::{Core, Couplings, Field, Interaction, Kernel, MAX_ORDER, Mesh, Output, PlaneSet};

/// A sum in the plane that can be planned.
pub type Sum<'a, T> = crate::SumOf<'a, T, Plane>;

/// A planned sum in the plane.
pub type Plan<T> = crate::PlanOf<T, Plane>;
