//! What pairs on a device cost the cores that work meanwhile.

use crate::auto::BUS;
use crate::device::{Precision, Properties};
use crate::kernel::PairKind;
use crate::tuning::Rates;
use farfield::plan::{PairsElsewhere, Request};
use farfield::tuning::{DeviceRates, MachineProfile};

/// What the device's pairs and transfers of a sum cost, by the profile where it knows the device, else by the rates
/// measured on an H200. All cores of the machine are meant to work beside it, not the threads this process has: equal sums
/// have equal plans.
pub fn pairs_elsewhere<T: Precision>(
    properties: &Properties,
    profile: &MachineProfile,
    request: &Request<T>,
) -> PairsElsewhere {
    let kind = PairKind::of(request);
    let known = profile.device.as_ref().filter(|device| device.name == properties.name);
    let pairs = known.map_or_else(
        || Rates::of::<T>(properties, &kind).pairs,
        |device: &DeviceRates| device.of::<T>().of(kind.vector, kind.derivatives),
    );
    let threads = known.map_or_else(cores, |device| device.speedup);
    let numbers = request.vectors * (kind.strengths() + kind.sums());
    let bytes = (numbers * std::mem::size_of::<T>()) as f64;
    PairsElsewhere {
        pair: 1e9 * threads / pairs,
        point: 1e9 * threads * bytes / known.map_or(BUS, |device| device.bus),
    }
}

/// The machine's cores, as far as this process may use them.
fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::tests::h200;
    use farfield::Sum;
    use farfield::kernel::{Kernel, Output};
    use farfield::tuning::PairRates;

    #[test]
    fn the_profile_counts_where_it_knows_the_device() {
        let rates = PairRates {
            scalar: [4e12, 2e12, 1e12],
            vector: [1e12, 5e11],
        };
        let device = |name: &str| DeviceRates {
            name: name.to_owned(),
            speedup: 16.0,
            bus: 1e10,
            f32: rates.clone(),
            f64: rates.clone(),
        };
        let at = |device: Option<DeviceRates>| {
            let profile = MachineProfile {
                device,
                ..MachineProfile::default()
            };
            let sum = Sum::new(Kernel::Coulomb, &[[0.0f64; 3]]).outputs(&[Output::Potential, Output::Gradient]);
            pairs_elsewhere(&h200(), &profile, &sum.request())
        };
        let known = at(Some(device("H200")));
        assert!((known.pair - 1e9 * 16.0 / 2e12).abs() < 1e-12, "{known:?}");
        // A charge there, four sums back.
        assert!((known.point - 1e9 * 16.0 * 40.0 / 1e10).abs() < 1e-9, "{known:?}");
        assert_eq!(at(Some(device("another"))), at(None));
    }
}
