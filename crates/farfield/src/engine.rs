//! The plans of all engines behind one interface.

use crate::geometry::{Geometry, Plane, Space};
use crate::memory::not_between_arrays;
use crate::report::Processor;
use crate::{Error, Field};
use farfield_core::plan::Parameters;
use farfield_core::report::Seconds;
use farfield_cuda::Device;
use farfield_cuda::device::Precision;
use farfield_cuda::resident::{Array, Resident};
use std::fmt;
use std::sync::Arc;

/// A plan of one of the engines.
pub trait Engine<T: Precision, G: Geometry>: fmt::Debug + Send {
    /// A field of zeros of the plan's shape.
    fn field(&self) -> Field<T, G>;
    /// Sums into a new field.
    fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, G>, Error>;
    /// Sums. After an error the field keeps its shape.
    fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error>;
    /// Sums for strengths on the device. Only for a plan whose points are on the device.
    fn evaluate_array(&mut self, resident: &Resident<T>, strengths: &Array<T>) -> Result<Vec<Array<T>>, Error> {
        let _ = (resident, strengths);
        Err(not_between_arrays(self))
    }
    /// Returns large memory to the system as soon as an evaluation has finished with it.
    fn spare_memory(&mut self) {}
    /// The parameters of the plan.
    fn parameters(&self) -> &Parameters;
    /// The tolerance; `None` if the order is fixed.
    fn tolerance(&self) -> Option<f64>;
    /// The time of the last evaluation by phase; the first includes the planning.
    fn seconds(&self) -> &Seconds;
    /// Remarks on the plan's choices.
    fn notes(&self) -> &[String];
    /// The processor that sums.
    fn processor(&self) -> Processor;
}

/// A plan and its device, which reports name.
#[derive(Debug)]
pub(crate) struct OnDevice<P> {
    pub plan: P,
    pub device: Arc<Device>,
}

/// Methods that all plans of all engines have under the same name.
macro_rules! same_methods {
    ($self:ident => $plan:expr, $T:ident, $G:ty) => {
        fn field(&$self) -> Field<$T, $G> {
            $plan.field()
        }
        fn evaluate(&mut $self, strengths: &[$T]) -> Result<Field<$T, $G>, Error> {
            $plan.evaluate(strengths)
        }
        fn evaluate_into(&mut $self, strengths: &[$T], field: &mut Field<$T, $G>) -> Result<(), Error> {
            $plan.evaluate_into(strengths, field)
        }
        fn parameters(&$self) -> &Parameters {
            $plan.parameters()
        }
        fn tolerance(&$self) -> Option<f64> {
            $plan.tolerance()
        }
        fn seconds(&$self) -> &Seconds {
            $plan.seconds()
        }
        fn notes(&$self) -> &[String] {
            $plan.notes()
        }
    };
}

macro_rules! engines {
    ($G:ty, $Cpu:ty, $Cuda:ty, $spare_memory:expr) => {
        impl<T: Precision> Engine<T, $G> for $Cpu {
            same_methods!(self => self, T, $G);
            fn spare_memory(&mut self) {
                $spare_memory(self);
            }
            fn processor(&self) -> Processor {
                Processor::cpu::<T>(self.simd())
            }
        }

        impl<T: Precision> Engine<T, $G> for OnDevice<$Cuda> {
            same_methods!(self => self.plan, T, $G);
            fn evaluate_array(&mut self, resident: &Resident<T>, strengths: &Array<T>) -> Result<Vec<Array<T>>, Error> {
                resident.evaluate(&mut self.plan, strengths)
            }
            fn processor(&self) -> Processor {
                Processor::Cuda(self.device.properties().clone())
            }
        }
    };
}

engines!(
    Space,
    farfield_core::Plan<T>,
    farfield_cuda::Plan<T>,
    farfield_core::Plan::spare_memory
);
engines!(
    Plane,
    farfield_core::plane::Plan<T>,
    farfield_cuda::plane::Plan<T>,
    // Expansions in the plane take little memory.
    |_: &mut _| ()
);
