//! Goude, figure 2.1: the adaptive mesh.

use super::measure::SEED;
use super::published::GOUDE_HARDWARE;
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Method;
use farfield::plane::{Kernel, PlaneSet, Sum};
use farfield_io::units;
use farfield_plot::{BoxMap, Color, Figure, MapBox};

/// The coupling criterion of the figure.
const THETA: f64 = 0.5;
/// Points in a box of the finest level.
const PER_BOX: usize = 32;
/// The box whose couplings are shown has this point in it: off the centre, where boxes differ in size.
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
    let mut table = Table::new([
        ("box", "box"),
        ("x_low", "x from"),
        ("x_high", "to"),
        ("y_low", "y from"),
        ("y_high", "to"),
        ("height", "1/area"),
        ("coupling", "coupling"),
    ]);
    let mut pictured = Vec::new();
    for (number, [low, high]) in boxes.iter().enumerate() {
        let (coupling, color) = if number == shown {
            ("itself", BLACK)
        } else if couplings.strong.contains(&number) {
            ("strong", DARK)
        } else if couplings.weak.contains(&number) {
            ("weak", LIGHT)
        } else {
            ("none", Color::WHITE)
        };
        let height = 1.0 / ((high[0] - low[0]) * (high[1] - low[1]));
        table.row([
            Cell::Count(number as u64),
            Cell::Number(low[0]),
            Cell::Number(high[0]),
            Cell::Number(low[1]),
            Cell::Number(high[1]),
            Cell::Number(height),
            Cell::Text(coupling.to_owned()),
        ]);
        pictured.push(MapBox {
            low: *low,
            high: *high,
            color,
            height,
        });
    }
    let count = |boxes: usize| units::count(boxes as u64);
    let picture = BoxMap::new("The adaptive mesh of normally distributed points")
        .subtitle(format!(
            "{} points, {} boxes of level {}, \u{3b8} = 1/2; as in Goude and Engblom, figure 2.1",
            count(n),
            count(boxes.len()),
            mesh.depth()
        ))
        .boxes(pictured)
        .captions("(a) boxes and couplings", "(b) heights inversely proportional to areas")
        .explain(BLACK, "a box")
        .explain(LIGHT, "weakly coupled (M2L)")
        .explain(DARK, "strongly coupled (next level)");
    let mut summary = Table::new([
        ("level", "level"),
        ("boxes", "boxes"),
        ("points_per_box", "points per box"),
        ("weak", "weak couplings"),
        ("strong", "strong couplings"),
    ]);
    for level in 0..=mesh.depth() {
        let number = shown >> (2 * (mesh.depth() - level));
        let found = mesh.couplings(level, number);
        let found = found.map_or((0, 0), |found| (found.weak.len(), found.strong.len()));
        summary.row([level, 1 << (2 * level), n >> (2 * level), found.0, found.1].map(|k| Cell::Count(k as u64)));
    }
    Ok(Reproduction {
        title: format!(
            "Goude, figure 2.1: the mesh of {} normally distributed points",
            count(n)
        ),
        hardware: GOUDE_HARDWARE,
        tables: vec![("", summary), ("boxes", table)],
        remarks: vec![
            "couplings are those of the box shown, and of the boxes it came from".to_owned(),
            "weak couplings of a level pass R + theta r <= theta d; boxes without colour are coupled on a coarser level"
                .to_owned(),
        ],
        png: picture.to_png()?,
    })
}
