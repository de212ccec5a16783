// P2P: the sources of the boxes that touch a leaf act on its targets.
//
// These are the boxes of the leaf's level that touch it, cut further or not, and the leaves that touch one of its
// ancestors. (Sources of smaller boxes nearby thus act by pairs: on a GPU pairs are so cheap that expansions between
// boxes of different size are not faster.) Together with M2L, every source acts on every target once.
//
// In a treecode (FARFIELD_TREECODE is 1) they are the boxes that act by pairs according to the opening criterion.
//
// A block handles one leaf, or a part of a large one.
#include "meet.cuh"
#include "opening.cuh"

struct Output {
    real *values;     // [(vector * target_count + caller's index) * components + component]
    uint first_sum, components;
    real scale;
};

#if FARFIELD_TREECODE
// The next boxes of a treecode's walk, written by the first warp; false if there are no more. Called by all threads.
__device__ __forceinline__ bool next_ranges(Ranges &ranges, Walk &walk, const Boxes &boxes, const Opening &opening, uint box) {
    uint count = walk_on(walk, boxes, opening, PAIRS), lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        uint found = 0, total = 0;
        if (lane == 0) ranges.own_start = NOT_HERE;
        __syncwarp();
        for (uint first = 0; first < count; first += 32) {
            bool there = first + lane < count;
            int other = there ? walk.found[first + lane] : 0;
            add_ranges(ranges, found, total, there, there && other == (int)box, there ? boxes.sources[other] : Range{0, 0});
        }
        if (lane == 0) {
            ranges.starts[found] = total;
            ranges.count = found;
        }
    }
    return count > 0;
}
#else
// For each octant of a box in its parent, the 27 boxes that touch it, parent by parent, within a parent along the
// Morton curve, so that their sources are adjacent where possible. Eight of the boxes are all children of one parent.
struct Arrangement {
    unsigned char neighbour[8][27];
    __device__ constexpr Arrangement() : neighbour() {
        for (int octant = 0; octant < 8; ++octant) {
            int count = 0;
            for (int key = 0; key < 64; ++key) {
                int index = 0, scale = 1;
                bool touches = true;
                for (int axis = 0; axis < 3; ++axis, scale *= 3) {
                    int own = octant >> axis & 1, child = key >> axis & 1;
                    bool other_parent = key >> (3 + axis) & 1;
                    touches = touches && !(other_parent && child == own);
                    index += scale * (1 + (other_parent ? own - child : child - own));
                }
                if (touches) neighbour[octant][count++] = index;
            }
        }
    }
};
__constant__ Arrangement arrangement;

// The neighbours of a leaf. Called by the block's first warp.
__device__ __forceinline__ void find_neighbours(Ranges &ranges, const Tree *__restrict__ tree, const Boxes &boxes, uint box) {
    uint found = 0, total = 0, lane = threadIdx.x % 32, mixed = tree->mixed;
    uint level = mixed ? level_of(tree, box) : 0;
    int at = box;
    while (true) {
        if (at == (int)box || mixed >> level & 1) {
            uint which = lane < 27 ? arrangement.neighbour[boxes.key[at] & 7][lane] : 0;
            int other = lane < 27 ? boxes.neighbours[27 * (ulong64)at + which] : -1;
            bool meets = other >= 0 && (at == (int)box || which != 13 && boxes.is_leaf[other]);
            Range range = meets ? boxes.sources[other] : Range{0, 0};
            add_ranges(ranges, found, total, meets, at == (int)box && which == 13, range);
        }
        // The ancestors of the leaf, up to the coarsest that may touch a leaf.
        if (!(mixed & ((1u << level) - 1))) break;
        at = boxes.parent[at];
        --level;
    }
    if (lane == 0) {
        ranges.starts[found] = total;
        ranges.count = found;
    }
}
#endif

// `far` holds the sums of L2P or M2P, or is null; `opening` is for treecodes; `permutation` maps tree order to the
// caller's; `pairs` counts pairs of points. A block handles VECTORS of the `vectors` strength vectors, with their
// `charges` if VECTORS is more than one.
extern "C" __global__ void __launch_bounds__(THREADS, FARFIELD_BLOCKS)
    p2p(const Tree *__restrict__ tree, Boxes boxes, const real *__restrict__ targets, uint target_count, const uint *__restrict__ permutation,
        const Source *__restrict__ sources, uint source_count, real global_size2, const real *__restrict__ far, Output out0,
        Output out1, Output out2, uint outputs, ulong64 *__restrict__ pairs, Opening opening, uint vectors,
        const Charges *__restrict__ charges) {
    __shared__ Memory memory;
    __shared__ Ranges ranges;
    uint box = blockIdx.x;
    Range mine = boxes.targets[box];
    if (!boxes.is_leaf[box]) return;
    // Several blocks handle a leaf with more targets than a block holds.
    uint first = mine.start + blockIdx.y * THREADS * TARGETS;
    if (first >= mine.end) return;
    uint count = min(mine.end - first, (uint)(THREADS * TARGETS));
    if (threadIdx.x == 0) memory.prepare();
#if FARFIELD_TREECODE
    __shared__ Walk walk;
    start_walk(walk, targets, mine);
#else
    if (threadIdx.x < 32) find_neighbours(ranges, tree, boxes, box);
#endif

    Targets met;
    met.load(targets, first, count);
    sources += (ulong64)blockIdx.z * VECTORS * source_count;
#if VECTORS > 1
    charges += (ulong64)blockIdx.z * source_count;
#endif
#if FARFIELD_TREECODE
    while (next_ranges(ranges, walk, boxes, opening, box)) {
#else
    {
#endif
        if (threadIdx.x == 0 && blockIdx.z == 0) atomicAdd(pairs, (ulong64)ranges.starts[ranges.count] * count);
        met.meet(memory, ranges, sources, charges, first - mine.start, global_size2);
    }
    met.share(memory);
    // Each thread adds the slices of one sum of one target.
    for (uint at = threadIdx.x; at < ROWS * count; at += THREADS) {
        uint row = quotient(at, count), i = at - row * count, k = row % SUMS;
        ulong64 vector = blockIdx.z * VECTORS + row / SUMS;
        if (vector >= vectors) break;
        real sum = met.add_slices(memory, at, far ? far[(vector * SUMS + k) * target_count + first + i] : real(0));
        ulong64 place = vector * target_count + permutation[first + i];
#pragma unroll
        for (int o = 0; o < 3; ++o) {
            const Output &out = o == 0 ? out0 : o == 1 ? out1 : out2;
            if (o < outputs && k >= out.first_sum && k < out.first_sum + out.components)
                out.values[place * out.components + k - out.first_sum] = out.scale * sum;
        }
    }
}
