//! What pairs on a device cost the cores that work meanwhile.

use crate::device::{Precision, Properties};
use crate::kernel::PairKind;
use farfield_core::cost::MachineProfile;
use farfield_core::plan::{CheckedSum, PairsElsewhere};

/// What the device's pairs and transfers of a sum cost, by the profile where it knows the device, else by what was measured
/// on an H200. All cores of the machine are meant to work beside it, not the threads this process has: equal sums have equal
/// plans.
pub fn pairs_elsewhere<T: Precision>(
    properties: &Properties,
    profile: &MachineProfile,
    checked: &CheckedSum<T>,
) -> PairsElsewhere {
    let known = profile.device.as_ref().filter(|device| device.name == properties.name);
    let rates = known.cloned().unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        properties.gpu().beside(&properties.name, cores)
    });
    let kind = PairKind::of(checked);
    let bytes = checked.vectors * (kind.strengths() + kind.sums()) * std::mem::size_of::<T>();
    PairsElsewhere {
        pair: 1e9 * rates.speedup / rates.of::<T>().of(kind.form, kind.derivatives),
        point: 1e9 * rates.speedup * bytes as f64 / rates.bus,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::tests::h200;
    use farfield_core::Sum;
    use farfield_core::cost::{DeviceRates, PairRates};
    use farfield_core::kernel::{Kernel, Output};

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
            pairs_elsewhere(&h200(), &profile, &sum.checked())
        };
        let known = at(Some(device("H200")));
        assert!((known.pair - 1e9 * 16.0 / 2e12).abs() < 1e-12, "{known:?}");
        // A charge there, four sums back.
        assert!((known.point - 1e9 * 16.0 * 40.0 / 1e10).abs() < 1e-9, "{known:?}");
        assert_eq!(at(Some(device("another"))), at(None));
    }
}
