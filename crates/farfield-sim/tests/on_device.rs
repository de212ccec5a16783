//! States that stay on a device, which here is the host's memory with the CPU's engine: the same steps, the same
//! failures, and nothing travels that no one asked for.

use farfield::tuning::MachineProfile;
use farfield::{Plan, Sum};
use farfield_sim::Error;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::checkpoint::Store;
use farfield_sim::device::{Array, Device, DeviceError, Evaluated, Memory, Points, StrengthLaw, Summed, Traffic};
use farfield_sim::model::State;
use farfield_sim::run::{Control, Outcome, Run, Silent};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A device whose memory is vectors.
#[derive(Debug, Default)]
struct Pretended {
    sent: AtomicU64,
    fetched: AtomicU64,
    /// The lengths of all arrays that were fetched, in order.
    fetches: Mutex<Vec<usize>>,
    /// Whether states may stay.
    has_memory: bool,
}

#[derive(Debug)]
struct PretendedMemory(Arc<Pretended>);

#[derive(Debug)]
struct Shared(Arc<Pretended>);

fn plan(sum: Sum<'_, f64>) -> Result<Plan<f64>, DeviceError> {
    sum.plan().map_err(|error| DeviceError::Sum(Box::new(error)))
}

impl Device for Shared {
    fn name(&self) -> String {
        "pretended".to_owned()
    }

    fn evaluate(&self, sum: &Sum<'_, f64>, strengths: &[f64]) -> Result<Evaluated, DeviceError> {
        let mut plan = plan(sum.clone())?;
        let field = plan.evaluate(strengths).map_err(|e| DeviceError::Sum(Box::new(e)))?;
        Ok(Evaluated {
            field,
            parameters: *plan.parameters(),
            seconds: 0.0,
        })
    }

    fn memory(&self) -> Result<Option<Arc<dyn Memory>>, DeviceError> {
        let memory = || Arc::new(PretendedMemory(self.0.clone())) as Arc<dyn Memory>;
        Ok(self.0.has_memory.then(memory))
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            sent: self.0.sent.load(Ordering::Relaxed),
            fetched: self.0.fetched.load(Ordering::Relaxed),
            seconds: 0.0,
        }
    }
}

fn array(values: Vec<f64>) -> Array {
    Array::new(values.len(), values)
}

fn numbers(array: &Array) -> Result<&Vec<f64>, DeviceError> {
    array.of()
}

fn vectors(array: &Array) -> Result<&[[f64; 3]], DeviceError> {
    Ok(numbers(array)?.as_chunks().0)
}

impl Memory for PretendedMemory {
    fn upload(&self, values: &[f64]) -> Result<Array, DeviceError> {
        self.0.sent.fetch_add(8 * values.len() as u64, Ordering::Relaxed);
        Ok(array(values.to_vec()))
    }

    fn download(&self, from: &Array, values: &mut [f64]) -> Result<(), DeviceError> {
        self.0.fetched.fetch_add(8 * values.len() as u64, Ordering::Relaxed);
        self.0.fetches.lock().unwrap().push(values.len());
        values.copy_from_slice(numbers(from)?);
        Ok(())
    }

    fn copy(&self, from: &Array) -> Result<Array, DeviceError> {
        Ok(array(numbers(from)?.clone()))
    }

    fn add_scaled(&self, values: &mut Array, h: f64, rates: &Array) -> Result<(), DeviceError> {
        let values: &mut Vec<f64> = values.of_mut()?;
        for (value, rate) in values.iter_mut().zip(numbers(rates)?) {
            *value += h * rate;
        }
        Ok(())
    }

    fn strength_rates(
        &self,
        law: &StrengthLaw,
        strengths: &Array,
        gradients: &Array,
        sizes: Option<&Array>,
    ) -> Result<Array, DeviceError> {
        let gradients: &[[f64; 9]] = numbers(gradients)?.as_chunks().0;
        let sizes = sizes.map(numbers).transpose()?;
        let mut rates = Vec::new();
        for (i, (s, g)) in vectors(strengths)?.iter().zip(gradients).enumerate() {
            let size = sizes.map_or(law.size, |sizes| sizes[i]);
            let own = law.own_vorticity / size.powi(3);
            let vorticity = [
                g[7] - g[5] + own * s[0],
                g[2] - g[6] + own * s[1],
                g[3] - g[1] + own * s[2],
            ];
            let norm = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let ratio = norm(s) / norm(&vorticity).max(f64::MIN_POSITIVE);
            for k in 0..3 {
                let along = g[3 * k] * s[0] + g[3 * k + 1] * s[1] + g[3 * k + 2] * s[2];
                let across = g[k] * s[0] + g[3 + k] * s[1] + g[6 + k] * s[2];
                let turn = law.relaxation * (ratio * vorticity[k] - s[k]);
                rates.push(law.classical * along + law.transpose * across + turn);
            }
        }
        Ok(array(rates))
    }

    fn all_finite(&self, arrays: &[&Array]) -> Result<bool, DeviceError> {
        let arrays = arrays
            .iter()
            .map(|array| numbers(array))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(arrays.iter().all(|values| values.iter().all(|value| value.is_finite())))
    }

    fn longest(&self, array: &Array, components: usize) -> Result<(f64, usize), DeviceError> {
        let squares = numbers(array)?
            .chunks(components)
            .map(|vector| vector.iter().map(|x| x * x).sum::<f64>());
        let longest = squares.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(longest.map_or((0.0, 0), |(at, square)| (square.sqrt(), at)))
    }

    fn sum(&self, sum: &Sum<'_, f64>, points: &Points<'_>, strengths: &Array) -> Result<Summed, DeviceError> {
        let wanted = sum.request();
        assert!(wanted.sources.is_empty() && wanted.order.is_none());
        let mut here = Sum::new(wanted.kernel, vectors(points.sources)?)
            .sizes(wanted.sizes.clone())
            .outputs(wanted.outputs)
            .vectors(wanted.vectors)
            .method(wanted.method)
            .tolerance(wanted.tolerance)
            .allow_unbounded_gradient();
        if let Some(sizes) = points.sizes {
            here = here.sizes(farfield::kernel::Sizes::PerSource(numbers(sizes)?.clone()));
        }
        if let Some(targets) = points.targets {
            here = here.targets(vectors(targets)?);
        }
        let mut plan = plan(here)?;
        let field = plan
            .evaluate(numbers(strengths)?)
            .map_err(|error| DeviceError::Sum(Box::new(error)))?;
        Ok(Summed {
            outputs: field.into_values().into_iter().map(array).collect(),
            parameters: *plan.parameters(),
            seconds: 0.0,
        })
    }
}

fn pretended() -> (Arc<Pretended>, Arc<dyn Device>) {
    let device = Arc::new(Pretended {
        has_memory: true,
        ..Pretended::default()
    });
    (device.clone(), Arc::new(Shared(device)))
}

fn case(name: &str, set: &[&str]) -> Case {
    let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    case::read(BuiltIn::find(name).unwrap().text, name, &overrides).unwrap()
}

/// Two small rings of different core sizes, so that elements have sizes of their own.
fn rings(more: &[&str]) -> Case {
    let mut set = vec![
        "vortex.around=48",
        "vortex.layers=1",
        "vortex.rings.0.core=0.25",
        "vortex.rings.1.core=0.26",
        "tracers.count=200",
        "time.step=0.1",
        "time.end=0.6",
        "output.views=[]",
        "output.vtk=false",
        "output.npz=false",
        "output.diagnostics_every=3",
        "output.checkpoint_every=0",
    ];
    set.extend(more);
    case("leapfrog", &set)
}

fn cluster(more: &[&str]) -> Case {
    let mut set = vec![
        "gravity.plummer.0.count=150",
        "time.end=0.3",
        "output.views=[]",
        "output.vtk=false",
        "output.npz=false",
    ];
    set.extend(more);
    case("plummer", &set)
}

fn run(case: Case, folder: &Path, device: Option<Arc<dyn Device>>, steps: Option<u64>) -> Result<Outcome, Error> {
    let mut run = Run::new(case, folder, MachineProfile::default())?;
    run.compute_on(device)?;
    let control = Control {
        most_steps: steps,
        ..Control::default()
    };
    run.go(&control, &mut Silent)
}

fn last_state(folder: &Path) -> State {
    Store::new(folder.join("checkpoints"))
        .newest()
        .unwrap()
        .checkpoint
        .state
}

/// The largest difference of any array, relative to its largest number.
fn difference(a: &State, b: &State) -> f64 {
    let mut most = 0.0f64;
    for ((name, _, a), (_, _, b)) in a.arrays.iter().zip(&b.arrays) {
        assert_eq!(a.len(), b.len(), "{name}");
        let largest = a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let differences = a.iter().zip(b).map(|(x, y)| (x - y).abs() / largest);
        most = differences.fold(most, f64::max);
    }
    most
}

#[test]
fn every_scheme_and_law_steps_as_on_the_host() {
    let vortex: [&[&str]; 5] = [
        &["time.scheme=euler", "vortex.stretching=classical"],
        &[
            "time.scheme=rk2",
            "vortex.stretching=mixed",
            "time.adaptive=true",
            "time.limit=0.2",
        ],
        &["time.scheme=rk4", "vortex.core=gaussian", "vortex.relaxation=0.5"],
        &[
            "vortex.viscosity=0.001",
            "vortex.diffusion=core-spreading",
            "vortex.core=gaussian",
        ],
        &[
            "vortex.viscosity=0.001",
            "vortex.diffusion=pse",
            "vortex.remesh_every=2",
            "vortex.remesh_cutoff=0.01",
        ],
    ];
    let gravity: [&[&str]; 3] = [
        &["time.scheme=leapfrog"],
        &["time.scheme=yoshida4"],
        &["time.adaptive=true", "time.limit=0.05"],
    ];
    let without_tracers = Case {
        tracers: None,
        ..rings(&[])
    };
    let cases = vortex.map(rings).into_iter().chain(gravity.map(cluster));
    let cases = cases.chain([without_tracers]);
    for (k, case) in cases.enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        let on_host = run(case.clone(), &here, None, None).unwrap();
        let on_device = run(case, &there, Some(pretended().1), None).unwrap();
        assert_eq!(on_host.steps, on_device.steps, "case {k}");
        let used = on_device.device.unwrap();
        assert!(used.state_stays && used.traffic.sent > 0);
        let difference = difference(&last_state(&here), &last_state(&there));
        assert!(difference < 1e-12, "case {k}: {difference:e}");
        for (name, (a, b)) in on_host.columns.iter().zip(on_host.last.iter().zip(&on_device.last)) {
            assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "case {k}, {name}: {a} {b}");
        }
    }
}

#[test]
fn points_travel_only_when_the_host_needs_them() {
    let folder = tempfile::tempdir().unwrap();
    let (device, shared) = pretended();
    let case = rings(&["time.end=1.0", "output.diagnostics_every=5", "output.energy_every=100"]);
    let outcome = run(case, &folder.path().join("a"), Some(shared), None).unwrap();
    let elements = outcome.last[0] as usize;
    // Rows at the steps 0, 5 and 10: velocities, rates of strengths and gradients; after the first also the elements
    // themselves. Tracers only for the checkpoint at the end, where the elements are known.
    let mut rows = vec![3 * elements, 3 * elements, 9 * elements];
    for _ in 0..2 {
        rows.extend([3 * elements, 3 * elements, 3 * elements, 3 * elements, 9 * elements]);
    }
    rows.push(3 * 200);
    assert_eq!(*device.fetches.lock().unwrap(), rows);
    let used = outcome.device.unwrap();
    // Positions, strengths, sizes and tracers, once.
    assert_eq!(used.traffic.sent as usize, 8 * (7 * elements + 3 * 200));
    assert_eq!(used.traffic.fetched as usize, 8 * rows.iter().sum::<usize>());
}

#[test]
fn a_stopped_and_resumed_run_on_a_device_ends_with_the_same_bits() {
    for (name, case) in [
        (
            "vortex",
            rings(&[
                "vortex.remesh_every=4",
                "vortex.remesh_cutoff=0.01",
                "time.adaptive=true",
            ]),
        ),
        ("gravity", cluster(&[])),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (straight, broken) = (folder.path().join("a"), folder.path().join("b"));
        run(case.clone(), &straight, Some(pretended().1), None).unwrap();
        run(case, &broken, Some(pretended().1), Some(3)).unwrap();
        let (mut resumed, _) = Run::resume(&broken, Ok).unwrap();
        assert!(resumed.compute_on(Some(pretended().1)).unwrap().is_empty());
        assert!(resumed.go(&Control::default(), &mut Silent).unwrap().finished);
        assert_eq!(last_state(&straight), last_state(&broken), "{name}");
    }
}

#[test]
fn going_on_elsewhere_is_said() {
    let folder = tempfile::tempdir().unwrap();
    run(cluster(&[]), folder.path(), Some(pretended().1), Some(2)).unwrap();
    let (mut resumed, _) = Run::resume(folder.path(), Ok).unwrap();
    let remarks = resumed.compute_on(None).unwrap();
    assert!(
        remarks.len() == 1 && remarks[0].contains("pretended") && remarks[0].contains("the CPU"),
        "{remarks:?}"
    );
}

#[test]
fn a_device_without_memory_for_states_sums_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let device: Arc<dyn Device> = Arc::new(Shared(Arc::default()));
    let outcome = run(cluster(&[]), &folder.path().join("a"), Some(device), None).unwrap();
    assert!(!outcome.device.unwrap().state_stays);
    run(cluster(&[]), &folder.path().join("b"), None, None).unwrap();
    assert_eq!(
        last_state(&folder.path().join("a")),
        last_state(&folder.path().join("b"))
    );
}

#[test]
fn a_blow_up_on_a_device_keeps_the_last_sound_state() {
    let folder = tempfile::tempdir().unwrap();
    // The velocities overflow before long.
    let wild = rings(&[
        "time.step=1e80",
        "time.end=1e83",
        "time.scheme=euler",
        "alarm.energy_jump=0",
    ]);
    let error = run(wild, folder.path(), Some(pretended().1), None).unwrap_err();
    assert!(matches!(error, Error::BlowUp { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("is kept") && message.contains("farfield resume"),
        "{message}"
    );
    let kept = last_state(folder.path());
    assert!(
        kept.arrays
            .iter()
            .all(|(_, _, values)| values.iter().all(|x| x.is_finite()))
    );
    assert!(Run::resume(folder.path(), Ok).is_ok());
}
