//! What Python asks for: names and arrays become a sum.

use crate::failure::{Failure, Names};
use crate::numbers::{AnyNumbers, Scalar};
use crate::pools::check_device;
use farfield::kernel::{Core, Kernel, Output, Sizes, Softening};
use farfield::plane::Plane;
use farfield::{Device, Geometry, Method, Options, Space, SumOf, plane};
use pyo3::prelude::*;

/// A sum as the package describes it: a dictionary with these keys. All arrays are aligned, in C order and of one precision.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    kernel: String,
    /// 3 in space, 2 in the plane.
    pub dimension: usize,
    pub sources: AnyNumbers,
    targets: Option<AnyNumbers>,
    outputs: Vec<String>,
    pub vectors: usize,
    complex: bool,
    /// The core of vortices and in the plane, or the softening of masses.
    core: Option<String>,
    size: Option<f64>,
    sizes: Option<AnyNumbers>,
    constant: f64,
    allow_unbounded_gradient: bool,
    tolerance: Option<f64>,
    method: String,
    device: String,
    order: Option<usize>,
    theta: Option<f64>,
    leaf_capacity: Option<usize>,
    memory_limit: Option<u64>,
    pub threads: Option<usize>,
    strengths_name: String,
    sizes_name: String,
}

/// The value whose name was given.
fn named<V: Copy>(argument: &str, name: &str, all: &[V], name_of: impl Fn(V) -> &'static str) -> Result<V, Failure> {
    let wanted = name.replace('_', "-");
    all.iter()
        .copied()
        .find(|value| name_of(*value) == wanted)
        .ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|value| name_of(*value).replace('-', "_")).collect();
            Failure::Argument(format!(
                "{argument}: there is no `{name}`; there are: {}",
                names.join(", ")
            ))
        })
}

impl Request {
    /// What the caller calls the arrays.
    pub fn names(&self) -> Names {
        Names {
            strengths: self.strengths_name.clone(),
            dipoles: self.kernel == "coulomb-dipoles",
            sizes: self.sizes_name.clone(),
            sources: self.source_count(),
            vectors: self.vectors,
        }
    }

    pub fn source_count(&self) -> usize {
        self.sources.len() / self.dimension.max(1)
    }

    pub fn has_targets(&self) -> bool {
        self.targets.is_some()
    }

    pub fn target_count(&self) -> usize {
        let targets = self.targets.as_ref();
        targets.map_or(self.source_count(), |targets| targets.len() / self.dimension.max(1))
    }

    /// Whether all pairs at most are so many that someone may want to interrupt the sum; below, a sum is over within a
    /// few hundredths of a second.
    pub fn is_long(&self) -> bool {
        let pairs = self.source_count() as f64 * self.target_count() as f64 * self.vectors as f64;
        pairs > 2e7
    }

    pub fn options(&self) -> Result<Options, Failure> {
        let device: Device = self
            .device
            .parse()
            .map_err(|text| Failure::Argument(format!("device: {text}")))?;
        Ok(Options {
            tolerance: self.tolerance,
            method: named("method", &self.method, &Method::ALL, Method::name)?,
            device: check_device(device)?,
            order: self.order,
            theta: self.theta,
            leaf_capacity: self.leaf_capacity,
            memory_limit: self.memory_limit,
            ..Options::default()
        })
    }

    /// The size of all cores, where it is one.
    pub fn size(&self) -> Option<f64> {
        self.size
    }

    /// What to compute in space.
    pub fn outputs_in_space(&self) -> Result<Vec<Output>, Failure> {
        let named = |name: &String| named("outputs", name, &Output::ALL, Output::name);
        self.outputs.iter().map(named).collect()
    }

    fn sizes<T: Scalar>(&self) -> Result<Sizes<T>, Failure> {
        Ok(match (&self.sizes, self.size) {
            (Some(sizes), _) => Sizes::PerSource(sizes.slice::<T>(&self.sizes_name)?.to_vec()),
            (None, Some(size)) => Sizes::Global(T::from_f64(size)),
            (None, None) => Sizes::None,
        })
    }

    pub fn kernel_in_space(&self) -> Result<Kernel, Failure> {
        let core = self.core.as_deref();
        match self.kernel.as_str() {
            "coulomb" => Ok(Kernel::Coulomb),
            "coulomb-dipoles" => Ok(Kernel::CoulombDipoles),
            "gravity" => Ok(Kernel::Gravity {
                constant: self.constant,
                softening: named(
                    "softening_kernel",
                    core.unwrap_or("plummer"),
                    &Softening::ALL,
                    Softening::name,
                )?,
            }),
            "biot-savart" => Ok(Kernel::BiotSavart {
                core: named("core", core.unwrap_or("singular"), &Core::ALL, Core::name)?,
            }),
            other => Err(Failure::Argument(format!("kernel: there is no `{other}` in space"))),
        }
    }

    /// What all sums have.
    fn finish<'a, T: Scalar, G: Geometry>(
        &'a self,
        sum: SumOf<'a, T, G>,
        points: impl Fn(&'a [T]) -> &'a [G::Point<T>],
        outputs: &[G::Output],
    ) -> Result<SumOf<'a, T, G>, Failure> {
        let mut sum = sum.options(self.options()?).outputs(outputs).vectors(self.vectors);
        if let Some(targets) = &self.targets {
            sum = sum.targets(points(targets.slice("targets")?));
        }
        Ok(sum)
    }
}

/// A geometry, and how a request becomes a sum in it.
pub trait Requested: Geometry {
    /// The sum.
    fn sum<T: Scalar>(request: &Request) -> Result<SumOf<'_, T, Self>, Failure>;
}

impl Requested for Space {
    fn sum<T: Scalar>(request: &Request) -> Result<SumOf<'_, T, Self>, Failure> {
        let outputs = request.outputs_in_space()?;
        let sources = request.sources.slice::<T>("sources")?.as_chunks::<3>().0;
        let mut sum = farfield::Sum::new(request.kernel_in_space()?, sources).sizes(request.sizes()?);
        if request.allow_unbounded_gradient {
            sum = sum.allow_unbounded_gradient();
        }
        request.finish(sum, |numbers| numbers.as_chunks::<3>().0, &outputs)
    }
}

impl Requested for Plane {
    fn sum<T: Scalar>(request: &Request) -> Result<SumOf<'_, T, Self>, Failure> {
        let kernel = named("kernel", &request.kernel, &plane::Kernel::ALL, plane::Kernel::name)?;
        let core = request.core.as_deref().unwrap_or("singular");
        let core = named("core", core, &plane::Core::ALL, plane::Core::name)?;
        let outputs = request.outputs.iter();
        let outputs = outputs.map(|name| named("outputs", name, &plane::Output::ALL, plane::Output::name));
        let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        let sources = request.sources.slice::<T>("sources")?.as_chunks::<2>().0;
        let mut sum = plane::Sum::new(kernel, sources).core(core, request.sizes()?);
        if request.complex {
            sum = sum.complex();
        }
        request.finish(sum, |numbers| numbers.as_chunks::<2>().0, &outputs)
    }
}
