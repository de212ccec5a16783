//! The shifts of M2L, M2M and L2L, and the matrix of each.
//!
//! If matrices are large, a shift and its mirror images share one: there is a matrix for every shift without negative
//! components, 56 for M2L. Mirroring changes signs, which the kernel applies (`Step::mirror`). At low orders each of
//! the 316 shifts has its own matrix.

use super::Kind;
use crate::device::{Buffers, device_struct};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::tuning::class_of;
use std::sync::Arc;

device_struct! {
    /// One shift into a box.
    #[derive(PartialEq, Eq, Default)]
    pub(crate) struct Step = "Step" {
        /// The index of the matrix.
        pub matrix: u16,
        /// For M2L, the index of the source's parent among the 27 neighbours of the target's parent.
        pub neighbour: u8,
        /// The octant of the source in its parent.
        pub child: u8,
        /// The mirrored axes as bits x, y, z.
        pub mirror: u8,
        /// The class of the shift, which determines its order.
        pub shift_class: u8,
        unused: [u8; 2],
    }
}

/// The steps of all translations, on the device and shared by all plans.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Eight steps.
    pub m2m: CudaSlice<Step>,
    /// 189 steps for each octant of the target.
    pub m2l: CudaSlice<Step>,
    /// One step for each octant of the target.
    pub l2l: CudaSlice<Step>,
}

impl Steps {
    /// The steps, computed at first use; `mirrored` if mirror images share a matrix.
    pub fn of(buffers: &Buffers, mirrored: bool) -> Result<Arc<Self>, Error> {
        buffers.device().keep(format!("steps, mirrored {mirrored}"), || {
            let steps = Self {
                m2m: buffers.upload(&octant_steps(mirrored, Kind::M2m))?,
                m2l: buffers.upload(&m2l_steps(mirrored))?,
                l2l: buffers.upload(&octant_steps(mirrored, Kind::L2l))?,
            };
            // Other streams use the steps.
            buffers.wait()?;
            Ok(steps)
        })
    }
}

/// The centres of the octants that have matrices of M2M and L2L, in units of the parent's side.
pub(super) fn octant_centres(mirrored: bool) -> Vec<[f64; 3]> {
    let centre = |octant: u8| std::array::from_fn(|axis| if octant >> axis & 1 == 1 { 0.25 } else { -0.25 });
    (if mirrored { 7..8 } else { 0..8 }).map(centre).collect()
}

/// The shifts of M2L that have matrices, in their order.
pub(super) fn m2l_shifts(mirrored: bool) -> Vec<[i32; 3]> {
    let all = (0..343).map(|k| [k % 7 - 3, k / 7 % 7 - 3, k / 49 - 3]);
    all.filter(|shift| class_of(*shift).is_some() && !(mirrored && shift.iter().any(|c| *c < 0)))
        .collect()
}

/// For each octant of the target, the 189 shifts of M2L. They are sorted by mirroring, because a change of mirroring
/// flips the signs of all sums, and then by decreasing cost.
fn m2l_steps(mirrored: bool) -> Vec<Step> {
    let shifts = m2l_shifts(mirrored);
    let first_matrix = 2 * octant_centres(mirrored).len();
    let mut steps = Vec::new();
    for octant in 0..8 {
        let mut of_octant = Vec::new();
        for source in 0..216 {
            // The cell of the source, counted from the first child of the first neighbour of the parent.
            let cell = [source % 6, source / 6 % 6, source / 36];
            let shift: [i32; 3] = std::array::from_fn(|axis| 2 + (octant >> axis & 1) - cell[axis]);
            let Some(class) = class_of(shift) else { continue };
            let of_matrix = if mirrored { shift.map(i32::abs) } else { shift };
            let matrix = shifts.iter().position(|known| *known == of_matrix).unwrap_or(0);
            of_octant.push(Step {
                matrix: (first_matrix + matrix) as u16,
                neighbour: (cell[0] / 2 + 3 * (cell[1] / 2) + 9 * (cell[2] / 2)) as u8,
                child: (cell[0] % 2 + 2 * (cell[1] % 2) + 4 * (cell[2] % 2)) as u8,
                mirror: if mirrored { mirror_of(shift.map(|c| c < 0)) } else { 0 },
                shift_class: class as u8,
                unused: [0; 2],
            });
        }
        of_octant.sort_by_key(|step| (step.mirror, step.shift_class, step.matrix));
        steps.extend(of_octant);
    }
    steps
}

/// The steps of M2M from the eight children, or the one step of L2L for each octant of the target.
fn octant_steps(mirrored: bool, kind: Kind) -> Vec<Step> {
    let first_matrix = if kind == Kind::M2m {
        0
    } else {
        octant_centres(mirrored).len()
    };
    (0..8)
        .map(|octant: u8| Step {
            // Shared matrices belong to the octant at positive x, y and z.
            matrix: (first_matrix + if mirrored { 0 } else { octant as usize }) as u16,
            mirror: if mirrored { !octant & 7 } else { 0 },
            child: octant,
            ..Step::default()
        })
        .collect()
}

fn mirror_of(negative: [bool; 3]) -> u8 {
    negative
        .iter()
        .enumerate()
        .map(|(axis, negative)| u8::from(*negative) << axis)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_octant_has_189_shifts_to_distinct_boxes_and_each_matrix_is_used() {
        for (mirrored, count) in [(true, 56), (false, 316)] {
            let steps = m2l_steps(mirrored);
            assert_eq!((steps.len(), m2l_shifts(mirrored).len()), (8 * 189, count));
            for of_octant in steps.chunks(189) {
                let sources: HashSet<_> = of_octant.iter().map(|step| (step.neighbour, step.child)).collect();
                assert_eq!(sources.len(), 189);
            }
            let matrices: HashSet<_> = steps.iter().map(|step| step.matrix as usize).collect();
            let first = 2 * octant_centres(mirrored).len();
            assert_eq!(matrices, (first..first + count).collect());
        }
    }

    #[test]
    fn a_step_leads_from_its_source_to_the_target() {
        for mirrored in [true, false] {
            let (shifts, first) = (m2l_shifts(mirrored), 2 * octant_centres(mirrored).len());
            for (octant, of_octant) in m2l_steps(mirrored).chunks(189).enumerate() {
                for step in of_octant {
                    for axis in 0..3 {
                        let neighbour = i32::from(step.neighbour) / 3i32.pow(axis) % 3 - 1;
                        let source = 2 * neighbour + (i32::from(step.child) >> axis & 1);
                        let shift = (octant as i32 >> axis & 1) - source;
                        let sign = if step.mirror >> axis & 1 == 1 { -1 } else { 1 };
                        assert_eq!(shift, sign * shifts[step.matrix as usize - first][axis as usize]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_step_of_m2m_or_l2l_mirrors_its_matrix_into_its_octant() {
        for mirrored in [true, false] {
            let centres = octant_centres(mirrored);
            for (kind, first) in [(Kind::M2m, 0), (Kind::L2l, centres.len())] {
                for (octant, step) in octant_steps(mirrored, kind).iter().enumerate() {
                    let centre = centres[step.matrix as usize - first];
                    for axis in 0..3 {
                        let sign = if step.mirror >> axis & 1 == 1 { -1.0 } else { 1.0 };
                        let side = if octant >> axis & 1 == 1 { 0.25 } else { -0.25 };
                        assert_eq!(sign * centre[axis], side);
                    }
                }
            }
        }
    }
}
