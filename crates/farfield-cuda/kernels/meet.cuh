// P2P of one thread block: consecutive targets and ranges of sources.
//
// The threads are divided into columns, each with FARFIELD_TARGETS targets, and slices, each with a part of the
// sources, so that few threads are idle for any number of targets. The sums of the slices are added in a fixed order.
//
// Constants: FARFIELD_THREADS per block, FARFIELD_TARGETS per thread, FARFIELD_TILE sources in shared memory,
// FARFIELD_BLOCKS that must fit on a multiprocessor (0: the compiler decides), FARFIELD_VECTORS strength vectors per
// pass, which share the distances (more than one for scalar strengths only).
#pragma once
#include "copy.cuh"
#include "pair.cuh"
#include "tree.cuh"

#ifndef FARFIELD_VECTORS
#define FARFIELD_VECTORS 1
#endif
#define VECTORS FARFIELD_VECTORS
// Sums per target, vector by vector.
#define ROWS (SUMS * VECTORS)

// The strengths of one source in all vectors of a pass.
#if VECTORS > 1
struct __align__(16) Charges {
    real of[VECTORS];
};
#else
struct Charges;
#endif

#define THREADS FARFIELD_THREADS
#define TARGETS FARFIELD_TARGETS
#define TILE FARFIELD_TILE
#define MAX_RANGES (27 + 26 * LEVELS + 5)
#define NOT_HERE 0x80000000u

// a / b for numbers up to some thousands; an integer division would take twenty instructions.
__device__ __forceinline__ uint quotient(uint a, uint b) { return (uint)__fdividef(a + 0.5f, (float)b); }

// The acting sources, as ranges in tree order. Range r has the positions starts[r] up to starts[r + 1] in the list;
// position j is source shift[r] + j.
struct Ranges {
    uint starts[MAX_RANGES + 1];
    uint shift[MAX_RANGES];
    uint count;
    uint own_start; // the position of the block's own sources, or NOT_HERE
};

// Adds the ranges of the warp's lanes that are not empty, and joins adjacent ones. `own` marks the block's own
// sources.
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

// The shared memory of a block: the tile of sources, and at the end the sums.
struct Memory {
    union {
        struct {
            Source tile[TILE];
#if VECTORS > 1
            Charges charges[TILE];
#endif
        };
        real sums[THREADS * TARGETS * ROWS];
    };

    // All threads: `fetch` copies sources `from` up to `to` of the ranges into the tile. `round` is the number of
    // tiles fetched before.
#if BULK_COPIES
    Arrivals arrivals;

    // One thread, before the first tile.
    __device__ __forceinline__ void prepare() { arrivals.prepare(); }

    // One thread per range, spread over all warps, because a warp starts its copies one by one.
    __device__ __forceinline__ void fetch(const Ranges &ranges, const Source *__restrict__ sources,
                                          const Charges *__restrict__ more, uint from, uint to, uint round) {
        const uint warps = THREADS / 32;
        uint bytes = sizeof(Source);
#if VECTORS > 1
        bytes += sizeof(Charges);
#endif
        if (threadIdx.x == 0) arrivals.expect((to - from) * bytes);
        for (uint r = threadIdx.x / 32 + warps * (threadIdx.x % 32); r < ranges.count; r += THREADS) {
            uint first = max(ranges.starts[r], from), last = min(ranges.starts[r + 1], to);
            if (first >= last) continue;
            arrivals.copy(&tile[first - from], &sources[ranges.shift[r] + first], (last - first) * sizeof(Source));
#if VECTORS > 1
            arrivals.copy(&charges[first - from], &more[ranges.shift[r] + first], (last - first) * sizeof(Charges));
#endif
        }
        arrivals.wait(round);
    }
#else
    __device__ __forceinline__ void prepare() {}

    // One warp per range.
    __device__ __forceinline__ void fetch(const Ranges &ranges, const Source *__restrict__ sources,
                                          const Charges *__restrict__ more, uint from, uint to, uint) {
        uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        for (uint r = warp; r < ranges.count; r += THREADS / 32) {
            uint last = min(ranges.starts[r + 1], to), shift = ranges.shift[r];
            // Nearly always at most two rounds.
#pragma unroll 1
            for (uint j = max(ranges.starts[r], from) + lane; j < last; j += 32) {
                uint at = shift + j;
#pragma unroll
                for (int byte = 0; byte < sizeof(Source); byte += 16)
                    copy_16_bytes((char *)&tile[j - from] + byte, (const char *)&sources[at] + byte, true);
#if VECTORS > 1
#pragma unroll
                for (int byte = 0; byte < sizeof(Charges); byte += 16)
                    copy_16_bytes((char *)&charges[j - from] + byte, (const char *)&more[at] + byte, true);
#endif
            }
        }
        wait_for_copies();
        __syncthreads();
    }
#endif
};

// The targets of a thread, of `count` in the block.
struct Targets {
    uint count, columns, slices, column, slice;
    uint round = 0; // tiles so far
    bool works;
    Target target[TARGETS];
    real sums[TARGETS][ROWS];

    // The index in the block of this thread's t-th target; the last target if there are no more.
    __device__ __forceinline__ uint place(int t) const { return min(column + t * columns, count - 1); }

    __device__ __forceinline__ void load(const real *__restrict__ positions, uint first, uint targets) {
        count = targets;
        columns = (count + TARGETS - 1) / TARGETS;
        slices = quotient(THREADS, columns);
        slice = quotient(threadIdx.x, columns);
        column = threadIdx.x - slice * columns;
        works = slice < slices;
#pragma unroll
        for (int t = 0; t < TARGETS; ++t) {
            target[t].load(positions, first + place(t));
#pragma unroll
            for (int k = 0; k < ROWS; ++k) sums[t][k] = 0;
        }
    }

    // Sums over all sources of the ranges, which the block's first warp has just written. `own` is the position of the
    // block's first target among its own sources; pairs of a point with itself are skipped.
    __device__ __forceinline__ void meet(Memory &memory, const Ranges &ranges, const Source *__restrict__ sources,
                                         const Charges *__restrict__ charges, uint own, real global_size2) {
        __syncthreads();
        uint total = ranges.starts[ranges.count], self = ranges.own_start + own;
        for (uint tile_start = 0; tile_start < total; tile_start += TILE) {
            uint tile_end = min(tile_start + TILE, total), length = tile_end - tile_start;
            memory.fetch(ranges, sources, charges, tile_start, tile_end, round);
            ++round;
            // A slice of the tile. Its length is not a multiple of eight, so that slices do not all start in the same
            // bank.
            uint chunk = quotient(length + slices - 1, slices);
            chunk += chunk % 8 == 0;
            uint begin = slice * chunk;
            if (works && begin < length) {
                uint steps = min(chunk, length - begin);
                const Source *at = memory.tile + begin;
#pragma unroll 4
                for (uint k = 0; k < steps; ++k) {
                    Source source = at[k];
#if VECTORS > 1
                    Charges charge = memory.charges[begin + k];
                    source.s0 = 1;
#endif
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                        bool other = tile_start + begin + k != self + place(t);
#else
                        const bool other = true;
#endif
#if VECTORS > 1
                        real unit[SUMS] = {};
                        target[t].meet(source, global_size2, other, unit);
#pragma unroll
                        for (int v = 0; v < VECTORS; ++v)
#pragma unroll
                            for (int s = 0; s < SUMS; ++s)
                                sums[t][v * SUMS + s] = fma(charge.of[v], unit[s], sums[t][v * SUMS + s]);
#else
                        target[t].meet(source, global_size2, other, sums[t]);
#endif
                    }
                }
            }
            __syncthreads();
        }
    }

    // Writes the sums for all threads to read: memory.sums[(slice * ROWS + k) * count + i].
    __device__ __forceinline__ void share(Memory &memory) const {
        if (works)
#pragma unroll
            for (int t = 0; t < TARGETS; ++t) {
                uint i = column + t * columns;
                if (i < count)
#pragma unroll
                    for (int k = 0; k < ROWS; ++k) memory.sums[(slice * ROWS + k) * count + i] = sums[t][k];
            }
        __syncthreads();
    }

    // Adds the slices of sum at / count of target at % count to `sum`, in order.
    __device__ __forceinline__ real add_slices(const Memory &memory, uint at, real sum) const {
        for (uint s = 0; s < slices; ++s) sum += memory.sums[s * ROWS * count + at];
        return sum;
    }
};
