//! The parameters of the kernels of `kernels/tree.cu` and `kernels/sort.cuh`.

use super::build::Header;
use crate::device::{Changing, In, Out, RangeOf, parameters};

parameters! {
    /// Parameters of `bounds`.
    pub(super) struct Bounds<T> { points: In<T>, count: u32, tree: Out<Header> }

    /// Parameters of `shape`.
    pub(super) struct Shape<T> {
        sources: In<T>,
        source_count: u32,
        targets: In<T>,
        target_count: u32,
        leaf_mean: f64,
        root_scale: f64,
        min_side: f64,
        key_levels: u32,
        tree: Out<Header>,
    }

    /// Parameters of `keys`.
    pub(super) struct Keys<T> {
        points: In<T>,
        count: u32,
        first: u32,
        tree: In<Header>,
        key_levels: u32,
        passes: u32,
        keys: Out<u64>,
        indices: Out<u32>,
        histograms: Out<u32>,
    }

    /// Parameters of `sort_pass`.
    pub(crate) struct SortPass {
        keys: In<u64>,
        indices: In<u32>,
        count: u32,
        shift: u32,
        histogram: In<u32>,
        status: Out<Changing>,
        ticket: Out<u32>,
        sorted_keys: Out<u64>,
        sorted_indices: Out<u32>,
    }

    /// Parameters of `occupancy`.
    pub(super) struct Occupancy { keys: In<u64>, count: u32, key_levels: u32, tree: Out<Header> }

    /// Parameters of `choose_min_level`.
    pub(super) struct ChooseMinLevel { count: u32, leaf_mean: f64, key_levels: u32, tree: Out<Header> }

    /// Parameters of `count_boxes`.
    pub(super) struct CountBoxes {
        keys: In<u64>,
        indices: In<u32>,
        count: u32,
        source_count: u32,
        key_levels: u32,
        limit: u32,
        tree: Out<Header>,
        counts: Out<u32>,
    }

    /// Parameters of `scan_boxes`.
    pub(super) struct ScanBoxes { counts: Out<u32>, blocks: u32, totals: Out<u32>, tree: Out<Header> }

    /// Parameters of `write_boxes`.
    pub(super) struct WriteBoxes {
        keys: In<u64>,
        indices: In<u32>,
        count: u32,
        source_count: u32,
        key_levels: u32,
        limit: u32,
        tree: In<Header>,
        counts: In<u32>,
        box_key: Out<u64>,
        box_points: Out<RangeOf>,
        before: Out<u32>,
        source_permutation: Out<u32>,
        target_permutation: Out<u32>,
    }

    /// Parameters of `link_boxes`.
    pub(super) struct LinkBoxes {
        tree: In<Header>,
        boxes: u32,
        box_key: In<u64>,
        box_points: In<RangeOf>,
        before: In<u32>,
        one_set: u32,
        key_levels: u32,
        limit: u32,
        sources: Out<RangeOf>,
        targets: Out<RangeOf>,
        parent: Out<i32>,
        children: Out<i32>,
        is_leaf: Out<u8>,
        neighbours: Out<i32>,
    }

    /// Parameters of `mark_mixed`.
    pub(super) struct MarkMixed { boxes: u32, is_leaf: In<u8>, neighbours: In<i32>, tree: Out<Header> }
}
