// The direct sum in space: pack the sources, sum over all pairs, add the slices.
#include "pair.cuh"
#include "all_pairs.cuh"

// Packs the sources for the inner loop. One strength vector per blockIdx.y.
extern "C" __global__ void pack_sources(const real *__restrict__ positions, const real *__restrict__ strengths,
                                        const real *__restrict__ sizes, uint count, Source *__restrict__ sources) {
    uint j = blockIdx.x * blockDim.x + threadIdx.x;
    ulong64 vector = blockIdx.y;
    if (j < count) sources[vector * count + j] = load_source(positions, strengths, sizes, count, vector, j);
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
