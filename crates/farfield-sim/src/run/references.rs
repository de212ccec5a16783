//! Reference curves for the diagnostics of a run: theory and published results, by column.

use super::flow_charts::known_drag;
use crate::case::Case;
use crate::reference::{thin_rings, thin_rings_of};

/// A reference curve for a column of diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The column it belongs to.
    pub column: String,
    /// Its source.
    pub label: &'static str,
    /// Abscissa and value. The abscissa is time, or the column `T` for a flow past a body.
    pub points: Vec<(f64, f64)>,
}

/// The reference curves of a case: radii of thin rings, drag of a sphere.
pub fn references(case: &Case) -> Vec<Reference> {
    let end = case.time.end.max(1e-9);
    if case.flow.is_some() {
        let curves = known_drag(case, 0.02 * end, end).into_iter();
        return curves
            .map(|(label, points)| Reference {
                column: "drag_impulse".to_owned(),
                label,
                points,
            })
            .collect();
    }
    let Some(vortex) = &case.vortex else {
        return Vec::new();
    };
    let Some(rings) = thin_rings_of(vortex) else {
        return Vec::new();
    };
    let path = thin_rings(&rings, end, 1000);
    let radius_of = |k: usize| Reference {
        column: format!("ring{}_radius", k + 1),
        label: "thin rings",
        points: path.iter().map(|(t, rings)| (*t, rings[k].radius)).collect(),
    };
    (0..rings.len()).map(radius_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{BuiltIn, read};

    #[test]
    fn rings_and_spheres_have_reference_curves() {
        let case = |name: &str| read(BuiltIn::find(name).unwrap().text, name, &[]).unwrap();
        let rings = references(&case("leapfrog"));
        assert_eq!(rings.len(), 2);
        assert!((rings[0].points[0].1 - 1.0).abs() < 1e-12);
        let drag = references(&case("sphere"));
        assert!(drag.iter().all(|curve| curve.column == "drag_impulse") && drag.len() == 1);
        assert!(references(&case("plummer")).is_empty());
    }
}
