// P2P of one block of threads: targets that follow one another meet ranges of sources.
//
// The threads are cut into columns, each with FARFIELD_TARGETS targets, and slices, each with every so-manieth source, so
// that few threads idle whatever the number of targets; the slices' sums are added in order.
//
// Constants: FARFIELD_THREADS of the block, FARFIELD_TARGETS of a thread, FARFIELD_TILE sources in shared memory.
#pragma once
#include "pair.cuh"
#include "tree.cuh"

#define THREADS FARFIELD_THREADS
#define TARGETS FARFIELD_TARGETS
#define TILE FARFIELD_TILE
#define MAX_RANGES (27 + 26 * LEVELS + 5)
#define NOT_HERE 0x80000000u

union Memory {
    Source tile[TILE];
    real sums[THREADS * TARGETS * SUMS];
};

// Sources to meet, as ranges in tree order; range r starts at place starts[r] of all.
struct Ranges {
    Range range[MAX_RANGES];
    uint starts[MAX_RANGES + 1];
    uint count;
    uint own_start; // the place of the block's own sources, or NOT_HERE
};

// Adds those of the warp's ranges that hold sources; `own` says whose are the block's own.
__device__ __forceinline__ void add_ranges(Ranges &ranges, uint &found, uint &total, bool meets, bool own, Range range) {
    uint lane = threadIdx.x % 32;
    meets = meets && range.start < range.end;
    uint which = __ballot_sync(~0u, meets), length = meets ? range.end - range.start : 0, sum = length;
    for (uint step = 1; step < 32; step *= 2) {
        uint value = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += value;
    }
    if (meets) {
        uint place = found + __popc(which & ((1u << lane) - 1));
        ranges.range[place] = range;
        ranges.starts[place] = total + sum - length;
    }
    if (own) ranges.own_start = total + sum - length;
    found += __popc(which);
    total += __shfl_sync(~0u, sum, 31);
}

// A thread's part of `count` targets.
struct Targets {
    uint count, columns, slices, column, slice;
    bool works;
    real x[TARGETS], y[TARGETS], z[TARGETS], sums[TARGETS][SUMS];

    // The block's target that is this thread's t-th; the last one again where there are no more.
    __device__ __forceinline__ uint place(int t) const { return min(column + t * columns, count - 1); }

    __device__ __forceinline__ void load(const real *__restrict__ positions, uint first, uint targets) {
        count = targets;
        columns = (count + TARGETS - 1) / TARGETS;
        slices = THREADS / columns;
        column = threadIdx.x % columns;
        slice = threadIdx.x / columns;
        works = slice < slices;
#pragma unroll
        for (int t = 0; t < TARGETS; ++t) {
            ulong64 i = first + place(t);
            x[t] = positions[3 * i];
            y[t] = positions[3 * i + 1];
            z[t] = positions[3 * i + 2];
#pragma unroll
            for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
        }
    }

    // Meets all sources of the ranges. `self` is the place of the block's first target among them, where pairs of a point
    // with itself are skipped. Of LONG lists every tile is summed by itself: the error grows with the number of tiles.
    template <bool LONG>
    __device__ __forceinline__ void meet(Memory &memory, const Ranges &ranges, const Source *__restrict__ sources, uint self,
                                         real global_size2) {
        uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, total = ranges.starts[ranges.count];
        for (uint tile_start = 0; tile_start < total; tile_start += TILE) {
            uint tile_end = min(tile_start + TILE, total);
            for (uint r = warp; r < ranges.count; r += THREADS / 32) {
                uint from = max(ranges.starts[r], tile_start), to = min(ranges.starts[r + 1], tile_end);
                for (uint j = from + lane; j < to; j += 32)
                    memory.tile[j - tile_start] = sources[ranges.range[r].start + (j - ranges.starts[r])];
            }
            __syncthreads();
            if (works) {
                real before[LONG ? TARGETS : 1][SUMS];
                if (LONG)
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t)
#pragma unroll
                        for (int k = 0; k < SUMS; ++k) {
                            before[t][k] = sums[t][k];
                            sums[t][k] = 0;
                        }
                uint length = tile_end - tile_start;
#pragma unroll 4
                for (uint j = slice; j < length; j += slices) {
                    Source source = memory.tile[j];
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                        bool other = tile_start + j != self + place(t);
#else
                        const bool other = true;
#endif
                        add_pair(x[t] - source.x, y[t] - source.y, z[t] - source.z, source, global_size2, other, sums[t]);
                    }
                }
                if (LONG)
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t)
#pragma unroll
                        for (int k = 0; k < SUMS; ++k) sums[t][k] += before[t][k];
            }
            __syncthreads();
        }
    }

    // Leaves the sums for all threads to read: memory.sums[(slice * SUMS + k) * count + i].
    __device__ __forceinline__ void share(Memory &memory) const {
        if (works)
#pragma unroll
            for (int t = 0; t < TARGETS; ++t) {
                uint i = column + t * columns;
                if (i < count)
#pragma unroll
                    for (int k = 0; k < SUMS; ++k) memory.sums[(slice * SUMS + k) * count + i] = sums[t][k];
            }
        __syncthreads();
    }

    // Adds to `sum` the k-th sum of the block's i-th target, slice by slice.
    __device__ __forceinline__ real add_slices(const Memory &memory, int k, uint i, real sum) const {
        for (uint s = 0; s < slices; ++s) sum += memory.sums[(s * SUMS + k) * count + i];
        return sum;
    }
};
