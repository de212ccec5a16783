// The direct sum: every target meets every source.
//
// A thread keeps FARFIELD_TARGETS targets in registers; a block of FARFIELD_THREADS threads meets the sources tile by
// tile through shared memory. Where there are too few targets to fill the GPU, the sources are cut into slices
// (gridDim.y), each with sums of its own, which `finish` adds in order: the result does not depend on timing.
#include "pair.cuh"

#define TILE FARFIELD_THREADS

// Packs the sources as the inner loop reads them. One strength vector per blockIdx.y.
extern "C" __global__ void pack_sources(const real *__restrict__ positions, const real *__restrict__ strengths,
                                        const real *__restrict__ sizes, uint count, Source *__restrict__ sources) {
    uint j = blockIdx.x * blockDim.x + threadIdx.x;
    ulong64 vector = blockIdx.y;
    if (j < count) sources[vector * count + j] = load_source(positions, strengths, sizes, count, vector, j);
}

// partial[((vector * slices + slice) * SUMS + k) * target_count + i]
extern "C" __global__ void __launch_bounds__(FARFIELD_THREADS)
    direct(const real *__restrict__ targets, uint target_count, const Source *__restrict__ sources, uint source_count,
           uint slice_length, real global_size2, real *__restrict__ partial) {
    __shared__ Source tile[TILE];
    uint first_target = blockIdx.x * FARFIELD_THREADS * FARFIELD_TARGETS + threadIdx.x;
    real x[FARFIELD_TARGETS], y[FARFIELD_TARGETS], z[FARFIELD_TARGETS];
    real totals[FARFIELD_TARGETS][SUMS];
#pragma unroll
    for (int t = 0; t < FARFIELD_TARGETS; ++t) {
        // Threads without a target repeat the last one and keep the result to themselves.
        ulong64 i = min(first_target + t * FARFIELD_THREADS, target_count - 1);
        x[t] = targets[3 * i];
        y[t] = targets[3 * i + 1];
        z[t] = targets[3 * i + 2];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) totals[t][k] = 0;
    }
    sources += (ulong64)blockIdx.z * source_count;
    uint first = blockIdx.y * slice_length, end = min(first + slice_length, source_count);
    for (uint start = first; start < end; start += TILE) {
        __syncthreads();
        tile[threadIdx.x] = start + threadIdx.x < end ? sources[start + threadIdx.x] : no_source();
        __syncthreads();
        // Sums of a tile are rounded among themselves: the error grows with the number of tiles, not of sources.
        real sums[FARFIELD_TARGETS][SUMS];
#pragma unroll
        for (int t = 0; t < FARFIELD_TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
#pragma unroll FARFIELD_UNROLL
        for (int j = 0; j < TILE; ++j) {
            Source source = tile[j];
#pragma unroll
            for (int t = 0; t < FARFIELD_TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                bool other = start + j != first_target + t * FARFIELD_THREADS;
#else
                const bool other = true;
#endif
                add_pair(x[t] - source.x, y[t] - source.y, z[t] - source.z, source, global_size2, other, sums[t]);
            }
        }
#pragma unroll
        for (int t = 0; t < FARFIELD_TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) totals[t][k] += sums[t][k];
    }
    partial += ((ulong64)blockIdx.z * gridDim.y + blockIdx.y) * SUMS * target_count;
#pragma unroll
    for (int t = 0; t < FARFIELD_TARGETS; ++t) {
        uint i = first_target + t * FARFIELD_THREADS;
        if (i < target_count)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) partial[(ulong64)k * target_count + i] = totals[t][k];
    }
}

// Adds the slices and scales: output[(vector * target_count + i) * components + c] from the sums first_sum + c.
extern "C" __global__ void finish(const real *__restrict__ partial, uint target_count, uint slices, uint first_sum,
                                  uint components, real scale, real *__restrict__ output) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= target_count) return;
    ulong64 vector = blockIdx.y;
    for (uint c = 0; c < components; ++c) {
        real sum = 0;
        for (uint slice = 0; slice < slices; ++slice)
            sum += partial[((vector * slices + slice) * SUMS + first_sum + c) * target_count + i];
        output[(vector * target_count + i) * components + c] = scale * sum;
    }
}
