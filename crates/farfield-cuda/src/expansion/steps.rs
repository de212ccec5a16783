//! The shifts of M2L, M2M and L2L, and which matrix serves each.
//!
//! A shift and its mirror images share a matrix, so there is one for every shift without negative components: 56 for
//! M2L. Mirroring changes signs, which the kernel applies (`Step::mirror`).

use crate::device::Buffers;
use crate::error::Error;
use cudarc::driver::{CudaSlice, DeviceRepr};
use farfield::tuning::class_of;
use std::sync::Arc;

/// The matrices before those of M2L: `FIRST_M2L_MATRIX` of `kernels/translate.cu`.
const FIRST_M2L: usize = 2;

/// One shift into a box: `Step` of `kernels/translate.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Step {
    /// M2L: which of the parent's 27 neighbours.
    pub neighbour: u8,
    /// Which of its children.
    pub child: u8,
    /// Which matrix.
    pub matrix: u8,
    /// Which axes are mirrored, bits x, y, z.
    pub mirror: u8,
    /// The class of the shift, which has its own order.
    pub shift_class: u8,
    unused: [u8; 3],
}

// SAFETY: eight bytes, as in the kernel's struct.
unsafe impl DeviceRepr for Step {}

/// The steps of all translations, on the device and shared by all plans.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Eight.
    pub m2m: CudaSlice<Step>,
    /// 189 for each octant of the target.
    pub m2l: CudaSlice<Step>,
    /// One for each octant of the target.
    pub l2l: CudaSlice<Step>,
}

impl Steps {
    /// Those that are there, or new ones.
    pub fn of(buffers: &Buffers) -> Result<Arc<Self>, Error> {
        buffers.device().keep("steps".to_owned(), || {
            let steps = Self {
                m2m: buffers.upload(&m2m_steps())?,
                m2l: buffers.upload(&m2l_steps())?,
                l2l: buffers.upload(&l2l_steps())?,
            };
            // Other streams use them.
            buffers.wait()?;
            Ok(steps)
        })
    }
}

/// The shifts without negative components, in the order of their matrices.
pub(super) fn m2l_shifts() -> Vec<[i32; 3]> {
    let all = (0..64).map(|k| [k % 4, k / 4 % 4, k / 16]);
    all.filter(|shift| class_of(*shift).is_some()).collect()
}

/// For each octant of the target, the 189 shifts of M2L. Those mirrored alike follow one another, because changing the
/// mirror turns all sums.
fn m2l_steps() -> Vec<Step> {
    let shifts = m2l_shifts();
    let mut steps = Vec::new();
    for octant in 0..8 {
        let mut of_octant = Vec::new();
        for source in 0..216 {
            // The source's cell, in cells from the first of the parent's neighbours' children.
            let cell = [source % 6, source / 6 % 6, source / 36];
            let shift: [i32; 3] = std::array::from_fn(|axis| 2 + (octant >> axis & 1) - cell[axis]);
            let Some(class) = class_of(shift) else { continue };
            let mirrored = shift.map(i32::abs);
            let matrix = shifts
                .iter()
                .position(|known| *known == mirrored)
                .map_or(0, |at| FIRST_M2L + at);
            of_octant.push(Step {
                neighbour: (cell[0] / 2 + 3 * (cell[1] / 2) + 9 * (cell[2] / 2)) as u8,
                child: (cell[0] % 2 + 2 * (cell[1] % 2) + 4 * (cell[2] % 2)) as u8,
                matrix: matrix as u8,
                mirror: mirror_of(shift.map(|c| c < 0)),
                shift_class: class as u8,
                unused: [0; 3],
            });
        }
        of_octant.sort_by_key(|step| (step.mirror, step.shift_class, step.matrix));
        steps.extend(of_octant);
    }
    steps
}

/// The eight children of M2M.
fn m2m_steps() -> Vec<Step> {
    (0..8)
        .map(|octant| Step {
            child: octant,
            matrix: 0,
            mirror: mirror_of_octant(octant),
            ..Step::default()
        })
        .collect()
}

/// For each octant of the target, the one step of L2L.
fn l2l_steps() -> Vec<Step> {
    (0..8)
        .map(|octant| Step {
            matrix: 1,
            mirror: mirror_of_octant(octant),
            ..Step::default()
        })
        .collect()
}

/// The matrices of M2M and L2L are those of the octant at positive x, y and z.
fn mirror_of_octant(octant: u8) -> u8 {
    !octant & 7
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
    fn every_octant_has_189_shifts_to_distinct_boxes_and_56_matrices_serve_them() {
        let steps = m2l_steps();
        assert_eq!((steps.len(), m2l_shifts().len()), (8 * 189, 56));
        for of_octant in steps.chunks(189) {
            let sources: HashSet<_> = of_octant.iter().map(|step| (step.neighbour, step.child)).collect();
            assert_eq!(sources.len(), 189);
        }
        let matrices: HashSet<_> = steps.iter().map(|step| step.matrix).collect();
        assert_eq!(matrices.len(), 56);
        assert!(matrices.iter().all(|matrix| (2..58).contains(matrix)));
    }

    #[test]
    fn a_step_leads_from_its_source_to_the_target() {
        let shifts = m2l_shifts();
        for (octant, of_octant) in m2l_steps().chunks(189).enumerate() {
            for step in of_octant {
                for axis in 0..3 {
                    let neighbour = i32::from(step.neighbour) / 3i32.pow(axis) % 3 - 1;
                    let source = 2 * neighbour + (i32::from(step.child) >> axis & 1);
                    let shift = (octant as i32 >> axis & 1) - source;
                    let sign = if step.mirror >> axis & 1 == 1 { -1 } else { 1 };
                    assert_eq!(shift, sign * shifts[step.matrix as usize - 2][axis as usize]);
                }
            }
        }
    }
}
