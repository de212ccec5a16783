//! Interaction lists: weakly and strongly coupled boxes, found on the device level by level.

use super::connect_program;
use super::pyramid::{BoxOf, Pyramid};
use crate::device::{Blocks, Buffers, In, Out, Precision, Row, device_struct, kernels, parameters};
use crate::error::Error;
use cudarc::driver::{CudaSlice, ValidAsZeroBits};

/// The number of boxes of a block: `WARPS` of `kernels/plane_connect.cu`.
const BOXES: usize = 8;
/// The largest number of levels of a pyramid below the root.
pub(crate) const MOST_LEVELS: usize = 15;

device_struct! {
    /// The criterion that couples boxes.
    #[derive(PartialEq)]
    pub(crate) struct Criterion = "Criterion" { inverse_theta: f64, reach: f64, shortcut: u32, unused: u32 }
}

impl Criterion {
    /// Boxes closer than `reach`, edge to edge, are strongly coupled, because their cores matter. If the smaller box
    /// has more than `shortcut` points, its expansion is cheaper than its points.
    pub fn new(theta: f64, reach: f64, shortcut: u32) -> Self {
        Self {
            inverse_theta: 1.0 / theta,
            reach,
            shortcut,
            unused: 0,
        }
    }
}

device_struct! {
    /// The contents of the lists.
    #[derive(PartialEq, Eq, Default)]
    pub(crate) struct Totals = "Totals" {
        /// Entries of the weak lists.
        pub weak: u64,
        overfull: u64,
        /// Pairs of points.
        pub p2p: u64,
        /// Pairs of a source and a local expansion.
        pub p2l: u64,
        /// Pairs of a multipole expansion and a target.
        pub m2p: u64,
        strong: [u64; MOST_LEVELS + 1],
    }
}

// SAFETY: zero bits are valid numbers.
unsafe impl ValidAsZeroBits for Totals {}

parameters! {
    /// Parameters of `connect`.
    pub(super) struct Connect<T> {
        boxes: In<BoxOf<T>>,
        level: u32,
        depth: u32,
        criterion: Criterion,
        source_start: In<u32>,
        target_start: In<u32>,
        above: In<Row>,
        above_list: In<u32>,
        weak: Out<Row>,
        weak_list: Out<u32>,
        weak_room: u64,
        strong: Out<Row>,
        strong_list: Out<u32>,
        strong_room: u64,
        totals: Out<Totals>,
    }
}

kernels! {
    /// The kernel of couplings.
    pub(super) struct Kernels<T> { connect: Connect<T> }
}

/// The lists of a pyramid. A row is the start of a box's list, and its length.
#[derive(Debug)]
pub(crate) struct Connections {
    /// For every box (all levels), the boxes whose multipoles reach it by M2L.
    pub weak: CudaSlice<[u32; 2]>,
    pub weak_list: CudaSlice<u32>,
    /// For every leaf, the leaves that interact with it in another way.
    pub strong: CudaSlice<[u32; 2]>,
    pub strong_list: CudaSlice<u32>,
    pub totals: Totals,
}

/// The capacity of the lists, in entries.
#[derive(Debug, Clone, Copy)]
struct Room {
    weak: u64,
    strong: u64,
}

impl Room {
    /// Enough for ordinary points, and ample for the few boxes of a small pyramid.
    fn usual(boxes: usize, leaves: usize) -> Self {
        Self {
            weak: 64 * boxes as u64 + 4096,
            strong: 32 * leaves as u64 + 4096,
        }
    }

    fn bytes(&self) -> u64 {
        4 * (self.weak + 2 * self.strong)
    }
}

impl Connections {
    /// Bytes of device memory for ordinary points.
    pub fn forecast(boxes: usize, leaves: usize) -> u64 {
        Room::usual(boxes, leaves).bytes() + (8 * boxes + 16 * leaves) as u64
    }

    /// Tests all pairs of boxes that can be coupled. `None` if the lists would take more than `most_bytes`, because so
    /// many points coincide that boxes overlap.
    pub fn build<T: Precision>(
        buffers: &Buffers,
        pyramid: &Pyramid<T>,
        criterion: &Criterion,
        most_bytes: u64,
    ) -> Result<Option<Self>, Error> {
        let kernels = Kernels::load(buffers.device(), &connect_program::<T>())?;
        let mut room = Room::usual(pyramid.box_count(), pyramid.leaves());
        loop {
            let connections = Self::build_in(buffers, pyramid, criterion, &kernels, room)?;
            let overfull = connections.totals.overfull;
            if overfull == 0 {
                return Ok(Some(connections));
            }
            room = Room {
                weak: (4 * room.weak).max(overfull),
                strong: (4 * room.strong).max(overfull),
            };
            // Indices in lists have 32 bits.
            if room.bytes() > most_bytes || room.weak.max(room.strong) > u64::from(u32::MAX) {
                return Ok(None);
            }
        }
    }

    fn build_in<T: Precision>(
        buffers: &Buffers,
        pyramid: &Pyramid<T>,
        criterion: &Criterion,
        kernels: &Kernels<T>,
        room: Room,
    ) -> Result<Self, Error> {
        let mut totals = buffers.zeros::<Totals>(1)?;
        let mut weak = buffers.zeros::<[u32; 2]>(pyramid.box_count())?;
        let mut weak_list = buffers.uninit::<u32>(room.weak as usize)?;
        // The root is strongly coupled to itself. One array has the strong couplings of the level above, the other
        // those of this level.
        let mut rows = [
            buffers.uninit::<[u32; 2]>(pyramid.leaves())?,
            buffers.uninit::<[u32; 2]>(pyramid.leaves())?,
        ];
        let mut lists = [
            buffers.uninit::<u32>(room.strong as usize)?,
            buffers.uninit::<u32>(room.strong as usize)?,
        ];
        buffers.write(&[[0, 1]], &mut rows[0])?;
        buffers.write(&[0], &mut lists[0])?;
        let depth = pyramid.depth as u32;
        for level in 1..=depth {
            let grid = ((1u32 << (2 * level)).div_ceil(BOXES as u32), 1, 1);
            let ([above, strong], [above_list, strong_list]) = (&mut rows, &mut lists);
            kernels.connect.launch(
                buffers.stream(),
                Blocks::new(grid, 32 * BOXES as u32),
                &Connect {
                    boxes: In::of(&pyramid.boxes),
                    level,
                    depth,
                    criterion: *criterion,
                    source_start: In::of(&pyramid.sources.leaf_start),
                    target_start: In::of(&pyramid.targets().leaf_start),
                    above: In::of(above),
                    above_list: In::of(above_list),
                    weak: Out::of(&mut weak),
                    weak_list: Out::of(&mut weak_list),
                    weak_room: room.weak,
                    strong: Out::of(strong),
                    strong_list: Out::of(strong_list),
                    strong_room: room.strong,
                    totals: Out::of(&mut totals),
                },
            )?;
            rows.swap(0, 1);
            lists.swap(0, 1);
        }
        let mut host = [Totals::default()];
        buffers.read(&totals, &mut host)?;
        let ([strong, _], [strong_list, _], [mut totals]) = (rows, lists, host);
        if depth == 0 {
            totals.p2p = u64::from(pyramid.sources.count) * u64::from(pyramid.targets().count);
        }
        Ok(Self {
            weak,
            weak_list,
            strong,
            strong_list,
            totals,
        })
    }
}
