// The direct sum over all pairs, in space and in the plane; pair.cuh and plane_pair.cuh define the contribution of a
// pair.
//
// A thread keeps FARFIELD_TARGETS targets in registers; a block of FARFIELD_THREADS threads loads the sources tile by
// tile into shared memory. If there are too few targets to fill the GPU, the sources are divided into slices
// (gridDim.y) with separate sums, which `finish` adds in order: the result does not depend on timing.
//
// Constants: FARFIELD_THREADS, FARFIELD_TARGETS, FARFIELD_UNROLL of the loop over a tile, FARFIELD_BLOCKS that must
// fit on a multiprocessor (0: the compiler decides).
#pragma once

#define THREADS FARFIELD_THREADS
#define TARGETS FARFIELD_TARGETS

// partial[((vector * slices + slice) * SUMS + k) * target_count + i]
extern "C" __global__ void __launch_bounds__(THREADS, FARFIELD_BLOCKS)
    direct(const real *__restrict__ targets, uint target_count, const Source *__restrict__ sources, uint source_count,
           uint slice_length, real global_size2, real *__restrict__ partial) {
    __shared__ Source tile[THREADS];
    uint first_target = blockIdx.x * THREADS * TARGETS + threadIdx.x;
    Target target[TARGETS];
    real totals[TARGETS][SUMS];
#pragma unroll
    for (int t = 0; t < TARGETS; ++t) {
        // Threads without a target repeat the last target and discard the result.
        target[t].load(targets, min(first_target + t * THREADS, target_count - 1));
#pragma unroll
        for (int k = 0; k < SUMS; ++k) totals[t][k] = 0;
    }
    sources += (ulong64)blockIdx.z * source_count;
    uint first = blockIdx.y * slice_length, end = min(first + slice_length, source_count);
    for (uint start = first; start < end; start += THREADS) {
        __syncthreads();
        tile[threadIdx.x] = start + threadIdx.x < end ? sources[start + threadIdx.x] : no_source();
        __syncthreads();
        // Each tile is summed separately: round-off grows with the number of tiles, not of sources.
        real sums[TARGETS][SUMS];
#pragma unroll
        for (int t = 0; t < TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
#pragma unroll FARFIELD_UNROLL
        for (int j = 0; j < THREADS; ++j) {
            Source source = tile[j];
#pragma unroll
            for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                bool other = start + j != first_target + t * THREADS;
#else
                const bool other = true;
#endif
                target[t].meet(source, global_size2, other, sums[t]);
            }
        }
#pragma unroll
        for (int t = 0; t < TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) totals[t][k] += sums[t][k];
    }
    partial += ((ulong64)blockIdx.z * gridDim.y + blockIdx.y) * SUMS * target_count;
#pragma unroll
    for (int t = 0; t < TARGETS; ++t) {
        uint i = first_target + t * THREADS;
        if (i < target_count)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) partial[(ulong64)k * target_count + i] = totals[t][k];
    }
}
