//! Parameters of the kernels of `kernels/points.cu` and `kernels/p2p.cu`.

use crate::device::{Charges, In, Out, Precision, Source, device_struct, kernels, parameters};
use crate::tree::{BoxesArg, Header};
use crate::treecode::OpeningArg;

device_struct! {
    /// The destination of an output.
    pub(crate) struct Output<T> = "Output" { pub values: Out<T>, pub first_sum: u32, pub components: u32, pub scale: T }
}

impl<T: Precision> Output<T> {
    /// No output.
    pub const NONE: Self = Self {
        values: Out::NONE,
        first_sum: 0,
        components: 0,
        scale: T::ZERO,
    };
}

parameters! {
    /// Parameters of `gather_sources`.
    pub(crate) struct GatherSources<T> {
        positions: In<T>,
        strengths: In<T>,
        sizes: In<T>,
        permutation: In<u32>,
        count: u32,
        sources: Out<Source<T>>,
    }

    /// Parameters of `gather_charges`.
    pub(crate) struct GatherCharges<T> {
        strengths: In<T>,
        permutation: In<u32>,
        count: u32,
        vectors: u32,
        at_once: u32,
        charges: Out<T>,
    }

    /// Parameters of `permutation_points`.
    pub(crate) struct PermutePoints<T> { positions: In<T>, permutation: In<u32>, count: u32, permuted: Out<T> }

    /// Parameters of `p2m`.
    pub(crate) struct P2m<T> {
        tree: In<Header>,
        boxes: BoxesArg,
        box_count: u32,
        sources: In<Source<T>>,
        source_count: u32,
        streams: u32,
        multipoles: Out<T>,
    }

    /// Parameters of `l2p`.
    pub(crate) struct L2p<T> {
        tree: In<Header>,
        boxes: BoxesArg,
        targets: In<T>,
        target_count: u32,
        streams: u32,
        locals: In<T>,
        far: Out<T>,
    }

    /// Parameters of `p2p`.
    pub(crate) struct P2p<T> {
        tree: In<Header>,
        boxes: BoxesArg,
        targets: In<T>,
        target_count: u32,
        permutation: In<u32>,
        sources: In<Source<T>>,
        source_count: u32,
        global_size2: T,
        far: In<T>,
        out0: Output<T>,
        out1: Output<T>,
        out2: Output<T>,
        outputs: u32,
        pairs: Out<u64>,
        opening: OpeningArg,
        vectors: u32,
        charges: In<Charges<T>>,
    }
}

kernels! {
    /// The kernels between points and expansions.
    pub(crate) struct PointKernels<T> {
        gather_sources: GatherSources<T>,
        gather_charges: GatherCharges<T>,
        permute_points: PermutePoints<T>,
        p2m: P2m<T>,
        l2p: L2p<T>,
    }
}

kernels! {
    /// The kernel of pairs.
    pub(crate) struct PairKernels<T> { p2p: P2p<T> }
}
