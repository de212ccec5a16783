//! Goude, figure 2.1: the adaptive mesh.

use super::measure::SEED;
use super::published::GOUDE_HARDWARE;
use super::table::Table;
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::Method;
use farfield::plane::{Kernel, PlaneSet, Sum};
use farfield_plot::{BoxMap, Color, Figure, MapBox};

/// The coupling criterion of the figure.
const THETA: f64 = 0.5;
/// Points in a box of the finest level.
const PER_BOX: usize = 32;
/// A point in the box whose couplings are shown: off the centre, where boxes differ in size.
const SHOWN: [f64; 2] = [0.58, 0.62];

const BLACK: Color = Color::hex(0);
const DARK: Color = Color::hex(0x70_7070);
const LIGHT: Color = Color::hex(0xD0_D0D0);

/// Draws the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let level = if context.quick { 3 } else { 5 };
    let n = PER_BOX << (2 * level);
    context.step(format_args!("N = {n}"));
    let points = PlaneSet::Normal.generate::<f64>(n, SEED);
    // Eq. 5.2 gives this level for 5/8 to 5/2 of the points in a box.
    let sum = Sum::new(Kernel::Harmonic, &points).method(Method::Fmm).theta(THETA);
    let sum = sum.leaf_capacity(PER_BOX).profile(context.profile.clone());
    let plan = sum.plan_with_mesh()?;
    let mesh = plan.mesh().ok_or("the plan has no mesh")?;
    let boxes = mesh.boxes(mesh.depth());
    let inside = |[low, high]: &[[f64; 2]; 2]| (0..2).all(|axis| (low[axis]..=high[axis]).contains(&SHOWN[axis]));
    let shown = boxes.iter().position(inside).unwrap_or(0);
    let couplings = mesh.couplings(mesh.depth(), shown).ok_or("the mesh has no such box")?;
    let pictured: Vec<_> = boxes
        .iter()
        .enumerate()
        .map(|(number, [low, high])| {
            let (coupling, color) = if number == shown {
                ("itself", BLACK)
            } else if couplings.strong.contains(&number) {
                ("strong", DARK)
            } else if couplings.weak.contains(&number) {
                ("weak", LIGHT)
            } else {
                ("none", Color::WHITE)
            };
            let pictured = MapBox {
                low: *low,
                high: *high,
                color,
                height: 1.0 / ((high[0] - low[0]) * (high[1] - low[1])),
            };
            (number, coupling, pictured)
        })
        .collect();
    let table = Table::of(&pictured)
        .column("box", "box", |(number, ..)| *number)
        .column("x_low", "x from", |(.., pictured)| pictured.low[0])
        .column("x_high", "to", |(.., pictured)| pictured.high[0])
        .column("y_low", "y from", |(.., pictured)| pictured.low[1])
        .column("y_high", "to", |(.., pictured)| pictured.high[1])
        .column("height", "1/area", |(.., pictured)| pictured.height)
        .column("coupling", "coupling", |(_, coupling, _)| *coupling);
    let picture = BoxMap::new("The adaptive mesh of normally distributed points")
        .subtitle(format!(
            "{} points, {} boxes of level {}, \u{3b8} = 1/2; as in Goude and Engblom, figure 2.1",
            count(n),
            count(boxes.len()),
            mesh.depth()
        ))
        .boxes(pictured.iter().map(|(.., pictured)| *pictured))
        .captions("(a) boxes and couplings", "(b) heights inversely proportional to areas")
        .explain(BLACK, "a box")
        .explain(LIGHT, "weakly coupled (M2L)")
        .explain(DARK, "strongly coupled (next level)");
    let levels: Vec<_> = (0..=mesh.depth())
        .map(|level| {
            let found = mesh.couplings(level, shown >> (2 * (mesh.depth() - level)));
            (
                level,
                found.map_or((0, 0), |found| (found.weak.len(), found.strong.len())),
            )
        })
        .collect();
    let summary = Table::of(&levels)
        .column("level", "level", |(level, _)| *level)
        .column("boxes", "boxes", |(level, _)| 1usize << (2 * level))
        .column("points_per_box", "points per box", |(level, _)| n >> (2 * level))
        .column("weak", "weak couplings", |(_, (weak, _))| *weak)
        .column("strong", "strong couplings", |(_, (_, strong))| *strong);
    let title = format!(
        "Goude, figure 2.1: the mesh of {} normally distributed points",
        count(n)
    );
    Ok(Reproduction::new(title, GOUDE_HARDWARE, summary, picture.to_png()?)
        .table("boxes", table)
        .remark("couplings are those of the box shown, and of the boxes it came from")
        .remark("weak couplings of a level pass R + theta r <= theta d; boxes without colour are coupled on a coarser level"))
}
