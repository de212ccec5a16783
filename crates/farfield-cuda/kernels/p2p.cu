// P2P: the targets of a leaf meet the sources of the boxes that touch it.
//
// Those are the boxes of the leaf's own level that touch it, cut further or not, and the leaves that touch one of the
// boxes it lies in. (A leaf thus meets the sources of smaller boxes nearby in pairs: on a GPU pairs are so cheap that
// expansions between boxes of different size do not pay.) Together with M2L every target meets every source once.
//
// In a treecode (FARFIELD_TREECODE is 1) they are the boxes that the leaf meets in pairs by the opening criterion.
//
// A block serves one leaf. Its threads are cut into columns, each with FARFIELD_TARGETS targets, and slices, each with
// a part of the sources, so that few threads idle whatever the number of targets; the slices' sums are added in order.
#include "copy.cuh"
#include "pair.cuh"
#if FARFIELD_TREECODE
#include "opening.cuh"
#else
#include "tree.cuh"
#endif

#define THREADS FARFIELD_THREADS
#define TARGETS FARFIELD_TARGETS
#define TILE FARFIELD_TILE
#define MAX_RANGES (27 + 26 * LEVELS + 5)

struct Output {
    real *values;     // [(vector * target_count + caller's index) * components + component]
    uint first_sum, components;
    real scale;
};

union Memory {
    Source tile[TILE];
    real sums[THREADS * TARGETS * SUMS];
};

// Sources to meet, as ranges in tree order. Range r holds places starts[r] up to starts[r + 1] of all; place j is source
// shift[r] + j.
struct Ranges {
    uint starts[MAX_RANGES + 1];
    uint shift[MAX_RANGES];
    uint count;
    uint own_start; // the place of the leaf's own sources, or NOT_HERE
};

#define NOT_HERE 0x80000000u

// Adds those of the warp's ranges that hold sources, those that adjoin the one before as one; `own` says whose are the leaf's
// own.
__device__ __forceinline__ void add_ranges(Ranges &ranges, uint &found, uint &total, bool meets, bool own, Range range) {
    uint lane = threadIdx.x % 32, below = (1u << lane) - 1;
    meets = meets && range.start < range.end;
    uint which = __ballot_sync(~0u, meets);
    if (which == 0) return;
    uint length = meets ? range.end - range.start : 0, sum = length;
    for (uint step = 1; step < 32; step *= 2) {
        uint value = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += value;
    }
    uint place = total + sum - length, end_before = __shfl_sync(~0u, range.end, 31 - __clz(which & below | 1));
    bool begins = meets && (!(which & below) || end_before != range.start);
    uint heads = __ballot_sync(~0u, begins);
    if (begins) {
        uint at = found + __popc(heads & below);
        ranges.starts[at] = place;
        ranges.shift[at] = range.start - place;
    }
    if (own) ranges.own_start = place;
    found += __popc(heads);
    total += __shfl_sync(~0u, sum, 31);
}

#if FARFIELD_TREECODE
// The next boxes of a treecode's walk; false when there are no more. All threads.
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
    __syncthreads();
    return count > 0;
}
#else
// For each octant of a box in its parent, the 27 boxes that touch it, parent by parent, within a parent along the Morton
// curve: so their sources adjoin wherever they can. Eight of them are all children of one parent.
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

// The neighbours of a leaf. The block's first warp.
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
        // The boxes it lies in, up to the coarsest that may touch a leaf.
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

// `far` is what L2P or M2P left, or null; `order` maps tree order to the caller's; `pairs` counts pairs of points.
extern "C" __global__ void __launch_bounds__(THREADS)
    p2p(const Tree *__restrict__ tree, Boxes boxes, const real *__restrict__ targets, uint target_count, const uint *__restrict__ order,
        const Source *__restrict__ sources, uint source_count, real global_size2, const real *__restrict__ far, Output out0,
        Output out1, Output out2, uint outputs, ulong64 *__restrict__ pairs
#if FARFIELD_TREECODE
        ,
        Opening opening
#endif
    ) {
    __shared__ Memory memory;
    __shared__ Ranges ranges;
    uint box = blockIdx.x;
    Range mine = boxes.targets[box];
    if (!boxes.is_leaf[box]) return;
    // Leaves of more targets than a block holds are served by several.
    uint first = mine.start + blockIdx.y * THREADS * TARGETS;
    if (first >= mine.end) return;
    uint count = min(mine.end - first, (uint)(THREADS * TARGETS));
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if FARFIELD_TREECODE
    __shared__ Walk walk;
    start_walk(walk, targets, mine);
#else
    if (warp == 0) find_neighbours(ranges, tree, boxes, box);
    __syncthreads();
#endif

    uint columns = (count + TARGETS - 1) / TARGETS, slices = THREADS / columns;
    uint column = threadIdx.x % columns, slice = threadIdx.x / columns;
    bool works = slice < slices;
    real x[TARGETS], y[TARGETS], z[TARGETS], sums[TARGETS][SUMS];
#pragma unroll
    for (int t = 0; t < TARGETS; ++t) {
        uint i = min(column + t * columns, count - 1);
        x[t] = targets[3 * (ulong64)(first + i)];
        y[t] = targets[3 * (ulong64)(first + i) + 1];
        z[t] = targets[3 * (ulong64)(first + i) + 2];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
    }
    sources += (ulong64)blockIdx.z * source_count;
#if FARFIELD_TREECODE
    while (next_ranges(ranges, walk, boxes, opening, box)) {
#else
    {
#endif
#if FARFIELD_SKIP_SAME
        uint self[TARGETS];
#pragma unroll
        for (int t = 0; t < TARGETS; ++t) self[t] = ranges.own_start + first - mine.start + min(column + t * columns, count - 1);
#endif
        uint total = ranges.starts[ranges.count];
        if (threadIdx.x == 0 && blockIdx.z == 0) atomicAdd(pairs, (ulong64)total * count);
        for (uint tile_start = 0; tile_start < total; tile_start += TILE) {
            uint tile_end = min(tile_start + TILE, total), length = tile_end - tile_start;
            for (uint r = warp; r < ranges.count; r += THREADS / 32) {
                uint end = min(ranges.starts[r + 1], tile_end), shift = ranges.shift[r];
                // Two rounds at most, nearly always.
#pragma unroll 1
                for (uint j = max(ranges.starts[r], tile_start) + lane; j < end; j += 32) {
                    uint at = shift + j;
#pragma unroll
                    for (int byte = 0; byte < sizeof(Source); byte += 16)
                        copy_16_bytes((char *)&memory.tile[j - tile_start] + byte, (const char *)&sources[at] + byte, true);
                }
            }
            wait_for_copies();
            __syncthreads();
            // A slice of the tile, its length not a multiple of eight: else all slices would start in the same bank.
            uint chunk = (length + slices - 1) / slices;
            chunk += chunk % 8 == 0;
            uint begin = slice * chunk;
            if (works && begin < length) {
                uint steps = min(chunk, length - begin);
                const Source *at = memory.tile + begin;
#pragma unroll 4
                for (uint k = 0; k < steps; ++k) {
                    Source source = at[k];
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                        bool other = tile_start + begin + k != self[t];
#else
                        const bool other = true;
#endif
                        add_pair(x[t] - source.x, y[t] - source.y, z[t] - source.z, source, global_size2, other, sums[t]);
                    }
                }
            }
            __syncthreads();
        }
    }

    // memory.sums[(slice * SUMS + k) * count + i]
    if (works)
#pragma unroll
        for (int t = 0; t < TARGETS; ++t) {
            uint i = column + t * columns;
            if (i < count)
#pragma unroll
                for (int k = 0; k < SUMS; ++k) memory.sums[(slice * SUMS + k) * count + i] = sums[t][k];
        }
    __syncthreads();
    // A thread adds the slices of one sum of one target.
    ulong64 vector = blockIdx.z;
    for (uint at = threadIdx.x; at < SUMS * count; at += THREADS) {
        uint k = at / count, i = at % count;
        real sum = far ? far[(vector * SUMS + k) * target_count + first + i] : real(0);
        for (uint s = 0; s < slices; ++s) sum += memory.sums[s * SUMS * count + at];
        ulong64 place = vector * target_count + order[first + i];
#pragma unroll
        for (int o = 0; o < 3; ++o) {
            const Output &out = o == 0 ? out0 : o == 1 ? out1 : out2;
            if (o < outputs && k >= out.first_sum && k < out.first_sum + out.components)
                out.values[place * out.components + k - out.first_sum] = out.scale * sum;
        }
    }
}
