// Sources are packed, every target meets every source, sums become outputs. The first and the last kernel serve the FMM
// as well.
#include "plane_pair.cuh"

#define THREADS FARFIELD_THREADS
#define TARGETS FARFIELD_TARGETS

// Packs the sources of strength vector blockIdx.y in the order given (null: as they are). Strengths have `parts` numbers,
// of which a run takes one, or all if they are summed at once: stream = vector * runs + run.
extern "C" __global__ void pack_sources(const complex *__restrict__ positions, const uint *__restrict__ order, uint count,
                                        const real *__restrict__ strengths, uint parts, uint runs,
                                        const real *__restrict__ sizes, Source *__restrict__ sources) {
    uint j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    ulong64 stream = blockIdx.y, vector = stream / runs, run = stream % runs;
    uint index = order ? order[j] : j;
    const real *strength = strengths + (vector * count + index) * parts + run;
    complex position = positions[j];
    Source source = {position.re, position.im, strength[0], 0};
#if FARFIELD_COMPLEX
    source.extra = strength[1];
#endif
#if FARFIELD_SIZES == 2
    source.extra = sizes[index] * sizes[index];
#endif
    sources[stream * count + j] = source;
}

// partial[((stream * slices + slice) * SUMS + k) * target_count + i]; sources are cut into gridDim.y slices where there are
// too few targets to fill the GPU.
extern "C" __global__ void __launch_bounds__(THREADS)
    direct(const complex *__restrict__ targets, uint target_count, const Source *__restrict__ sources, uint source_count,
           uint slice_length, real global_size2, real *__restrict__ partial) {
    __shared__ Source tile[THREADS];
    uint first_target = blockIdx.x * THREADS * TARGETS + threadIdx.x;
    complex z[TARGETS];
    real totals[TARGETS][SUMS];
#pragma unroll
    for (int t = 0; t < TARGETS; ++t) {
        // Threads without a target repeat the last one and keep the result to themselves.
        z[t] = targets[min(first_target + t * THREADS, target_count - 1)];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) totals[t][k] = 0;
    }
    sources += (ulong64)blockIdx.z * source_count;
    uint first = blockIdx.y * slice_length, end = min(first + slice_length, source_count);
    for (uint start = first; start < end; start += THREADS) {
        uint length = min(end - start, (uint)THREADS);
        __syncthreads();
        if (threadIdx.x < length) tile[threadIdx.x] = sources[start + threadIdx.x];
        __syncthreads();
        // Sums of a tile are rounded among themselves: the error grows with the number of tiles, not of sources.
        real sums[TARGETS][SUMS];
#pragma unroll
        for (int t = 0; t < TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
#pragma unroll 4
        for (uint j = 0; j < length; ++j) {
            Source source = tile[j];
#pragma unroll
            for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                bool other = start + j != first_target + t * THREADS;
#else
                const bool other = true;
#endif
                add_pair(z[t].re - source.x, z[t].im - source.y, source, global_size2, other, sums[t]);
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

// Adds slices, joins the runs of a strength vector (blockIdx.y) and writes the outputs in the caller's order. Of a second
// run, that of the imaginary parts, i times the sum counts.
extern "C" __global__ void finish(const real *__restrict__ partial, uint target_count, uint slices, uint runs,
                                  const uint *__restrict__ order, real *__restrict__ potential,
                                  real *__restrict__ derivative) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= target_count) return;
    ulong64 vector = blockIdx.y, place = vector * target_count + (order ? order[i] : i);
    real sums[2][SUMS];
    for (uint run = 0; run < 2; ++run)
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
            real sum = 0;
            if (run < runs)
                for (uint slice = 0; slice < slices; ++slice)
                    sum += partial[(((vector * runs + run) * slices + slice) * SUMS + k) * target_count + i];
            sums[run][k] = sum;
        }
#if FARFIELD_LOG
    if (potential) {
        potential[place * runs] = sums[0][0];
        if (runs == 2) potential[2 * place + 1] = sums[1][0];
    }
#if FARFIELD_DERIVATIVE
    if (derivative) {
        derivative[2 * place] = sums[0][1] - sums[1][2];
        derivative[2 * place + 1] = sums[0][2] + sums[1][1];
    }
#endif
#else
    // The sums are those of 1/(z_i - z_j).
    if (potential) {
        potential[2 * place] = sums[1][1] - sums[0][0];
        potential[2 * place + 1] = -sums[0][1] - sums[1][0];
    }
#if FARFIELD_DERIVATIVE
    if (derivative) {
        derivative[2 * place] = sums[0][2];
        derivative[2 * place + 1] = sums[0][3];
    }
#endif
#endif
}
