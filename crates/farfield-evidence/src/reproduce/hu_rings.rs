//! Hu, figures A.1 and A.8 to A.11: two vortex rings and the particles around them, until they have passed through each
//! other twice, or collided.
//!
//! As in the paper: rings of radius 0.3 in a unit cube, the polynomial core, the classical stretching, Euler's steps, and
//! one FMM of order 12 in double precision for each step. The paper does not state the distance of the rings, their
//! thickness, or the time step.

use super::published::{HU_FRAME_S, HU_RING_RADIUS, HU_SIMULATION_HARDWARE, HU_SIMULATION_ORDER, HU_SIMULATION_SIZES};
use super::table::{Table, TableOf};
use super::{Context, Reproduction, count};
use crate::Error;
use crate::case::case;
use farfield::Device;
use farfield::memory::Memory;
use farfield_plot::scene::{Bounds, Camera, Cloud, ColourMap, Exposure, Scene};
use farfield_plot::{Color, Image};
use farfield_sim::case::Case;
use farfield_sim::model::Model;
use farfield_sim::reference::{passes, thin_rings, thin_rings_of};
use farfield_sim::vortex::VortexModel;
use std::time::Instant;

/// The unit of time, R²/Γ with Γ = 1: a ring moves by about its radius in three of them.
const UNIT: f64 = HU_RING_RADIUS * HU_RING_RADIUS;
/// Steps that are timed together. The measurement after them waits until the GPU has done them.
const TOGETHER: u64 = 10;
/// Pictures drawn over a run whose end is not known beforehand; those shown of them; and pictures in a row.
const DRAWN: u64 = 36;
const SHOWN: usize = 9;
const COLUMNS: usize = 3;
/// Leapfrogging ends this long after the second pass. Elements that Euler's steps stretch without remeshing or viscosity
/// are soon too far apart to be a ring: with 2^15 elements nothing is left half a unit later.
const AFTERWARDS: f64 = 0.2 * UNIT;
/// The size of a picture in pixels.
const SIZE: [u32; 2] = [480, 400];
/// The colours of the rings.
const COLOURS: [Color; 2] = [Color::hex(0xFF_8A3C), Color::hex(0x3F_B8FF)];

/// One of the paper's simulations.
struct Rings {
    figure: &'static str,
    collide: bool,
    /// Elements around each ring, and layers across its core: together nearly the paper's number of elements.
    around: usize,
    layers: usize,
    tracers: usize,
    /// The tracers that are drawn.
    drawn: usize,
}

const FEW_ELEMENTS: (usize, usize) = (108, 2);
const MANY_ELEMENTS: (usize, usize) = (129, 6);

impl Rings {
    /// No larger than the context allows.
    fn new(
        context: &Context,
        figure: &'static str,
        collide: bool,
        (paper, tracers): (usize, usize),
        drawn: usize,
    ) -> Self {
        let (around, layers) = if paper > 1 << 12 && elements(MANY_ELEMENTS.0, MANY_ELEMENTS.1) <= context.largest {
            MANY_ELEMENTS
        } else {
            FEW_ELEMENTS
        };
        let (around, layers, tracers) = if context.quick {
            (48, 0, 1000)
        } else {
            (around, layers, tracers)
        };
        let tracers = tracers.min(context.largest);
        Self {
            figure,
            collide,
            around,
            layers,
            tracers,
            drawn: drawn.min(tracers),
        }
    }

    /// The case, with its end.
    fn case(&self, quick: bool) -> Result<Case, Error> {
        let (r, a) = (HU_RING_RADIUS, 0.15 * HU_RING_RADIUS);
        let apart = if self.collide { 1.5 * r } else { r };
        let (low, high) = (0.5 - 0.5 * apart, 0.5 + 0.5 * apart);
        let turned = if self.collide { -1.0 } else { 1.0 };
        let step = if quick { 0.1 } else { 0.0125 } * UNIT;
        let text = format!(
            "time = {{ end = {end:?}, step = {step:?}, scheme = \"euler\" }}\n\
             [sum]\nmethod = \"fmm\"\norder = {HU_SIMULATION_ORDER}\n\
             [vortex]\ncore = \"hu-polynomial\"\nstretching = \"classical\"\naround = {around}\nlayers = {layers}\n\
             [[vortex.rings]]\nradius = {r:?}\ncore = {a:?}\ncentre = [0.5, 0.5, {low:?}]\n\
             [[vortex.rings]]\nradius = {r:?}\ncore = {a:?}\ncentre = [0.5, 0.5, {high:?}]\naxis = [0.0, 0.0, {turned:?}]\n\
             [tracers]\ncount = {tracers}\nthickness = 1.2\n",
            end = 6.0 * UNIT,
            around = self.around,
            layers = self.layers,
            tracers = self.tracers,
        );
        let mut case = case::<&str>(&text, &[])?;
        if !self.collide {
            case.time.end = 1.15 * second_pass(&case);
        }
        Ok(case)
    }
}

/// The time at which thin rings have passed through each other twice.
fn second_pass(case: &Case) -> f64 {
    let thin = case.vortex.as_ref().and_then(thin_rings_of).unwrap_or_default();
    let theory = thin_rings(&thin, 20.0 * UNIT, 4000);
    let times: Vec<f64> = theory.iter().map(|(time, _)| *time).collect();
    let place = |k: usize| theory.iter().map(|(_, rings)| rings[k].place).collect::<Vec<f64>>();
    passes(&times, &place(0), &place(1))
        .get(1)
        .copied()
        .unwrap_or(12.0 * UNIT)
}

/// The number of elements of two rings with `layers` layers across their cores.
fn elements(around: usize, layers: usize) -> usize {
    2 * around * (1 + 3 * layers * (layers + 1))
}

/// Figure A.1: leapfrogging, 2^12 elements, 2^14 of 2^18 particles drawn.
pub fn figure_a1(context: &Context) -> Result<Reproduction, Error> {
    reproduce(context, "A.1", false, 0, 1 << 14)
}

/// Figure A.8: collision, 2^12 elements, 2^14 of 2^18 particles drawn.
pub fn figure_a8(context: &Context) -> Result<Reproduction, Error> {
    reproduce(context, "A.8", true, 0, 1 << 14)
}

/// Figure A.9: leapfrogging, 2^15 elements, 2^15 of 2^18 particles drawn.
pub fn figure_a9(context: &Context) -> Result<Reproduction, Error> {
    reproduce(context, "A.9", false, 1, 1 << 15)
}

/// Figure A.10: leapfrogging, 2^15 elements, all of 2^18 particles drawn.
pub fn figure_a10(context: &Context) -> Result<Reproduction, Error> {
    reproduce(context, "A.10", false, 1, 1 << 18)
}

/// Figure A.11: leapfrogging, 2^15 elements, all of 2^20 particles drawn.
pub fn figure_a11(context: &Context) -> Result<Reproduction, Error> {
    reproduce(context, "A.11", false, 2, 1 << 20)
}

fn reproduce(
    context: &Context,
    figure: &'static str,
    collide: bool,
    size: usize,
    drawn: usize,
) -> Result<Reproduction, Error> {
    let rings = Rings::new(context, figure, collide, HU_SIMULATION_SIZES[size], drawn);
    let case = rings.case(context.quick)?;
    let mut model = VortexModel::new(&case, context.profile.clone())?;
    if context.gpu.is_some() {
        let memory = Memory::of(Device::Cuda(0))?;
        model.stay_in(&memory)?;
        model.summation().device = Device::Cuda(0).into();
    }
    let watched = watch(context, &rings, &case, &mut model)?;
    let images: Vec<&Image> = watched.moments.iter().map(|moment| &moment.image).collect();
    let title = format!(
        "Hu, figure {}: {} of two rings, {} elements, {} of {} particles drawn",
        rings.figure,
        if rings.collide { "collision" } else { "leapfrogging" },
        count(elements(rings.around, rings.layers)),
        count(rings.drawn),
        count(rings.tracers)
    );
    let png = Image::grid(&images, COLUMNS, 4).to_png()?;
    let mut reproduction = Reproduction::new(title, HU_SIMULATION_HARDWARE, table(&watched.moments), png);
    reproduction.remarks = remarks(&rings, &case, &watched);
    Ok(reproduction)
}

/// A moment that was drawn.
struct Moment {
    step: u64,
    time: f64,
    image: Image,
    /// Steps since the moment before; none before the first.
    steps: u64,
    /// Seconds of all steps since the moment before, and the largest mean of [`TOGETHER`] steps.
    seconds: f64,
    slowest: f64,
    drawing: f64,
    /// Place and radius of each ring.
    rings: [[f64; 2]; 2],
}

/// A simulation from beginning to end.
struct Watched {
    moments: Vec<Moment>,
    passes: Vec<f64>,
    /// The smallest distance of the rings.
    nearest: f64,
    is_finite: bool,
}

fn watch(context: &Context, rings: &Rings, case: &Case, model: &mut VortexModel) -> Result<Watched, Error> {
    let steps = (case.time.end / case.time.step).ceil() as u64;
    let (mut times, mut places) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut moments: Vec<Moment> = Vec::new();
    let (mut exposure, mut step, mut is_finite) = (None, 0, true);
    // The first evaluation compiles kernels and allocates, which is not the time of a frame.
    model.evaluate()?;
    let (mut seconds, mut slowest) = (0.0, 0.0_f64);
    loop {
        is_finite = is_finite && model.is_finite()?;
        if !is_finite {
            break;
        }
        let time = step as f64 * case.time.step;
        let measured = model.rings()?;
        let now = [0, 1].map(|k| [measured[k].centre[2], measured[k].radius]);
        times.push(time);
        (0..2).for_each(|k| places[k].push(now[k][0]));
        let passed = passes(&times, &places[0], &places[1]);
        let is_over = !rings.collide && passed.get(1).is_some_and(|second| time >= second + AFTERWARDS);
        let is_last = is_over || step >= steps;
        if is_last || step >= steps * moments.len() as u64 / DRAWN {
            context.step(format_args!("step {step} of at most {steps}"));
            let begin = Instant::now();
            moments.push(Moment {
                step,
                time,
                image: draw(rings, model.tracers()?, time, &mut exposure)?,
                steps: step - moments.last().map_or(0, |moment: &Moment| moment.step),
                seconds,
                slowest,
                drawing: begin.elapsed().as_secs_f64(),
                rings: now,
            });
            (seconds, slowest) = (0.0, 0.0);
        }
        if is_last {
            break;
        }
        let begin = Instant::now();
        let many = TOGETHER.min(steps - step);
        for _ in 0..many {
            step += 1;
            model.advance(case.time.step, step)?;
            model.evaluate()?;
        }
        let took = begin.elapsed().as_secs_f64();
        slowest = slowest.max(took / many as f64);
        seconds += took;
    }
    let nearest = places[0]
        .iter()
        .zip(&places[1])
        .map(|(a, b)| (a - b).abs())
        .fold(f64::INFINITY, f64::min);
    Ok(Watched {
        passes: passes(&times, &places[0], &places[1]),
        moments: evenly(moments),
        nearest,
        is_finite,
    })
}

/// The moments that are shown, evenly over the run, with the times of all steps between them.
fn evenly(moments: Vec<Moment>) -> Vec<Moment> {
    let last = moments.len().saturating_sub(1);
    let shown: Vec<usize> = (0..SHOWN).map(|k| k * last / (SHOWN - 1)).collect();
    let (mut kept, mut steps, mut seconds, mut slowest) = (Vec::new(), 0, 0.0, 0.0_f64);
    for (k, moment) in moments.into_iter().enumerate() {
        steps += moment.steps;
        seconds += moment.seconds;
        slowest = slowest.max(moment.slowest);
        if shown.contains(&k) {
            kept.push(Moment {
                steps,
                seconds,
                slowest,
                ..moment
            });
            (steps, seconds, slowest) = (0, 0.0, 0.0);
        }
    }
    kept
}

/// A picture of some of the particles, with the exposure of the first one.
fn draw(rings: &Rings, tracers: &[[f64; 3]], time: f64, exposure: &mut Option<Exposure>) -> Result<Image, Error> {
    // The first half began around the first ring, each in random order.
    let half = tracers.len() / 2;
    let part = |points: &[[f64; 3]]| points[..points.len().min(rings.drawn.div_ceil(2))].to_vec();
    let parts = [part(&tracers[..half]), part(&tracers[half..])];
    let middle = Bounds::of_most(tracers, 0.9).center();
    let r = HU_RING_RADIUS;
    let reach = if rings.collide {
        [2.7 * r, 2.7 * r, 1.2 * r]
    } else {
        [1.5 * r, 1.5 * r, 1.2 * r]
    };
    let bounds = Bounds {
        min: std::array::from_fn(|axis| middle[axis] - reach[axis]),
        max: std::array::from_fn(|axis| middle[axis] + reach[axis]),
    };
    // Rings travel along z, which points right.
    let camera = Camera::framing(bounds, 65.0, 28.0).up([1.0, 0.0, 0.0]);
    let mut scene = Scene::new(SIZE[0], SIZE[1]).caption(format!("t = {:.2} R²/Γ", time / UNIT));
    for (points, colour) in parts.iter().zip(COLOURS) {
        scene = scene.cloud(Cloud::new(points).colours(ColourMap::Shades(colour)).point_size(1.6));
    }
    let exposure = match exposure {
        Some(known) => *known,
        None => *exposure.insert(scene.measure(&camera)?),
    };
    Ok(scene.exposure(exposure).render(&camera)?)
}

fn table(moments: &[Moment]) -> TableOf<'_, Moment> {
    Table::of(moments)
        .column("step", "step", |moment| moment.step)
        .column("time", "time", |moment| moment.time)
        .column("frame_s", "frame (s)", |moment| {
            (moment.steps > 0).then(|| moment.seconds / moment.steps as f64)
        })
        .column("slowest_frame_s", "slowest (s)", |moment| {
            (moment.steps > 0).then_some(moment.slowest)
        })
        .column("paper_from_s", "paper from (s)", |_| HU_FRAME_S.0)
        .column("paper_to_s", "paper to (s)", |_| HU_FRAME_S.1)
        .column("picture_s", "picture (s)", |moment| moment.drawing)
        .column("ring1_z", "ring 1 z", |moment| moment.rings[0][0])
        .column("ring1_radius", "radius", |moment| moment.rings[0][1])
        .column("ring2_z", "ring 2 z", |moment| moment.rings[1][0])
        .column("ring2_radius", "radius", |moment| moment.rings[1][1])
}

fn remarks(rings: &Rings, case: &Case, watched: &Watched) -> Vec<String> {
    let r = HU_RING_RADIUS;
    let mut remarks = vec![
        format!(
            "Γ = 1, R = {r}, a = 0.15 R, {} R apart, Euler's steps of {:.4} R²/Γ; of these the paper states R and Euler alone",
            if rings.collide { 1.5 } else { 1.0 },
            case.time.step / UNIT
        ),
        "a frame is one step with its FMM; picture: drawn on the cores, in the paper on the graphics processor and part of \
         its time"
            .to_owned(),
    ];
    let happened = if rings.collide {
        let grown = watched.moments.last().map_or(1.0, |moment| moment.rings[0][1] / r);
        format!(
            "the rings come to {:.2} R of each other and grow to {grown:.2} times their radius",
            watched.nearest / r
        )
    } else {
        let times: Vec<String> = watched
            .passes
            .iter()
            .map(|time| format!("{:.2}", time / UNIT))
            .collect();
        format!(
            "the rings pass through each other {} times, at t Γ/R² = {}",
            times.len(),
            times.join(" and ")
        )
    };
    remarks.push(happened);
    if !watched.is_finite {
        remarks.push("the run ended early: a number is no longer finite".to_owned());
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_the_paper_nearly() {
        for ((around, layers), paper) in [
            (FEW_ELEMENTS, HU_SIMULATION_SIZES[0].0),
            (MANY_ELEMENTS, HU_SIMULATION_SIZES[1].0),
        ] {
            let share = elements(around, layers) as f64 / paper as f64;
            assert!((share - 1.0).abs() < 0.01, "{share}");
        }
    }
}
