//! The cost model of sums: one model for CPU cores and for GPUs, in space and in the plane.
//!
//! [`Work`] counts the operations of a sum: pairs, translations, points and boxes ([`space`] and [`plane`] count those
//! of an FMM from its number of points and the size of its boxes). [`Rates`] are the costs of one of each on a
//! processor: for a thread from the [`MachineProfile`], for a GPU from its number of multiprocessors ([`Gpu`]). Work
//! times rates is the expected time ([`Rates::fmm`], [`Rates::direct`]). Every choice of box size, method and device
//! compares such times.
//!
//! Planning measures no times: equal input and an equal machine give an equal plan.

mod gpu;
mod level_costs;
pub(crate) mod mirror;
pub mod plane;
mod profile;
pub mod space;

pub use gpu::Gpu;
pub use profile::{MachineProfile, OperatorCosts, PlaneCosts};

use crate::expansion::coefficient_count;

/// The numbers of operations of a sum by expansions, on any processor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// Pairs of points.
    pub pairs: f64,
    /// The pairs of one leaf, which one worker does.
    pub pairs_of_leaf: f64,
    /// M2L translations: their order and number.
    pub translations: Vec<(usize, f64)>,
    /// The fraction of the source boxes of a box inside a volume that exist; mirrored ones are translated together.
    pub fill: f64,
    /// The highest order of expansions and the number of boxes with expansions.
    pub boxes: (usize, f64),
    /// Points times coefficients of P2M, L2P, P2L and M2P.
    pub point_coefficients: f64,
    /// Points.
    pub points: f64,
    /// Points times the number of cuts that sort them into boxes.
    pub cuts: f64,
    /// Tests of two boxes for the interaction lists.
    pub tests: f64,
    /// Leaves.
    pub leaves: f64,
    /// Levels.
    pub levels: f64,
}

impl Work {
    /// The work for `vectors` strength vectors, which share the points, the boxes and the lists.
    pub fn of_vectors(mut self, vectors: f64) -> Self {
        self.pairs *= vectors;
        self.pairs_of_leaf *= vectors;
        self.translations.iter_mut().for_each(|(_, count)| *count *= vectors);
        self.boxes.1 *= vectors;
        self.point_coefficients *= vectors;
        self.leaves *= vectors;
        self
    }
}

/// The costs of one of each operation on a fully occupied processor, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// A pair of points in a direct sum.
    pub pair: f64,
    /// A pair of points between leaves.
    pub leaf_pair: f64,
    /// A pair of points between leaves, done by one worker while the others are idle.
    pub leaf_pair_alone: f64,
    /// An M2L translation.
    pub translation: Translation,
    /// The cost of M2M, L2L and the ends of P2M and L2P of a box, in translations of the highest order.
    pub box_translations: f64,
    /// One point and one coefficient of P2M, L2P, P2L or M2P.
    pub point_coefficient: f64,
    /// A point of an FMM: sorting and packing.
    pub point: f64,
    /// A point in a cut of a box.
    pub cut: f64,
    /// A test of two boxes.
    pub test: f64,
    /// A leaf: its lists and its local expansion.
    pub leaf: f64,
    /// A level, regardless of its number of boxes.
    pub level: f64,
    /// A direct sum, regardless of its number of pairs.
    pub direct_start: f64,
    /// An FMM, regardless of its number of points.
    pub fmm_start: f64,
    /// A byte transferred to or from the processor's memory.
    pub byte: f64,
}

impl Rates {
    /// All costs zero, for constructors to fill in.
    const NONE: Self = Self {
        pair: 0.0,
        leaf_pair: 0.0,
        leaf_pair_alone: 0.0,
        translation: Translation::InSpace([0.0; 3]),
        box_translations: 0.0,
        point_coefficient: 0.0,
        point: 0.0,
        cut: 0.0,
        test: 0.0,
        leaf: 0.0,
        level: 0.0,
        direct_start: 0.0,
        fmm_start: 0.0,
        byte: 0.0,
    };

    /// The cost of a direct sum over `pairs` pairs, in nanoseconds.
    pub fn direct(&self, pairs: f64) -> f64 {
        self.direct_start + pairs * self.pair
    }

    /// The cost of a sum by expansions, in nanoseconds.
    pub fn fmm(&self, work: &Work) -> f64 {
        let near = (work.pairs * self.leaf_pair).max(work.pairs_of_leaf * self.leaf_pair_alone);
        let highest = work.boxes.0;
        let of = |order: usize| self.translation.among(order, highest, work.fill);
        let m2l = work.translations.iter().map(|(order, count)| count * of(*order));
        let at_boxes = work.boxes.1 * self.box_translations * self.translation.of(highest, highest);
        let points = work.point_coefficients * self.point_coefficient + work.points * self.point + work.cuts * self.cut;
        let boxes = work.tests * self.test + work.leaves * self.leaf + work.levels * self.level;
        self.fmm_start + near + m2l.sum::<f64>() + at_boxes + points + boxes
    }
}

/// The cost of an M2L translation, by its order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Translation {
    /// By rotations: $a+b(p+1)^2+c(p+1)^3$ nanoseconds.
    InSpace([f64; 3]),
    /// In the plane: $a+bp+cp^2$ nanoseconds.
    InPlane([f64; 3]),
    /// As matrix products in tiles of 16 by 8 coefficients: nanoseconds per floating-point operation.
    InTiles {
        /// If no order exceeds `low_order`; low orders have a separate program.
        low: f64,
        /// The highest low order.
        low_order: usize,
        /// If some order exceeds `low_order`.
        high: f64,
    },
}

impl Translation {
    /// The cost of a translation of order `order`, in nanoseconds, in a sum with the highest order `highest`.
    pub fn of(&self, order: usize, highest: usize) -> f64 {
        match *self {
            Self::InSpace([a, b, c]) => {
                let n = (order + 1) as f64;
                a + n * n * (b + n * c)
            }
            Self::InPlane([a, b, c]) => {
                let p = order as f64;
                a + p * (b + p * c)
            }
            Self::InTiles { low, low_order, high } => {
                let n = coefficient_count(order);
                let operations = 2 * n.next_multiple_of(16) * n.next_multiple_of(8);
                operations as f64 * if highest <= low_order { low } else { high }
            }
        }
    }

    /// The cost of one translation among many, in nanoseconds, if boxes have the fraction `fill` of their possible
    /// sources: in space, sources that are mirror images of one another may be translated together.
    pub fn among(&self, order: usize, highest: usize, fill: f64) -> f64 {
        match *self {
            Self::InSpace(rotation) => mirror::in_volume(rotation, order, fill),
            _ => self.of(order, highest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_work_is_counted_once() {
        let work = Work {
            pairs: 1e3,
            pairs_of_leaf: 10.0,
            translations: vec![(1, 3.0), (2, 1.0)],
            fill: 0.0,
            boxes: (2, 5.0),
            point_coefficients: 7.0,
            points: 11.0,
            cuts: 13.0,
            tests: 17.0,
            leaves: 19.0,
            levels: 23.0,
        };
        let rates = Rates {
            pair: 2.0,
            leaf_pair: 3.0,
            translation: Translation::InPlane([1.0, 1.0, 1.0]),
            box_translations: 2.0,
            point_coefficient: 1.0,
            point: 1.0,
            cut: 1.0,
            test: 1.0,
            leaf: 1.0,
            level: 1.0,
            direct_start: 100.0,
            fmm_start: 50.0,
            ..Rates::NONE
        };
        let boxes = 17.0 + 19.0 + 23.0;
        let translations = 3.0 * 3.0 + 7.0 + 5.0 * 2.0 * 7.0;
        assert_eq!(rates.fmm(&work), 50.0 + 3e3 + translations + 31.0 + boxes);
        assert_eq!(rates.direct(1e3), 2100.0);
        // The slowest worker determines the time.
        let alone = Rates {
            leaf_pair_alone: 1e3,
            ..rates
        };
        assert_eq!(alone.fmm(&work) - rates.fmm(&work), 1e4 - 3e3);
        let two = rates.fmm(&work.clone().of_vectors(2.0)) - rates.fmm(&work);
        assert_eq!(two, 3e3 + translations + 7.0 + 19.0);
    }

    #[test]
    fn translations_in_tiles_count_their_padding() {
        let tiles = Translation::InTiles {
            low: 1.0,
            low_order: 3,
            high: 0.5,
        };
        // 1, 16 and 25 coefficients.
        let of = |order: usize| tiles.of(order, order);
        assert_eq!([0, 3, 4].map(of), [256.0, 512.0, 0.5 * 2.0 * 32.0 * 32.0]);
        assert_eq!(tiles.of(3, 4), 256.0);
    }
}
