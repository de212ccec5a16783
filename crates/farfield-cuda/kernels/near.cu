// The near field of a plan made elsewhere: tasks of targets that follow one another, each with its list of source ranges.
// Points come in the caller's order with the plan's permutation, or in the plan's order; strengths in the plan's.
#include "near.cuh"
#include "permute.cuh"

// Sources as the inner loop reads them, one strength vector per blockIdx.y. Strengths are streams, all of one component
// after the other; `size2` are squared core sizes, where each source has its own.
extern "C" __global__ void pack_near(const real *__restrict__ positions, const real *__restrict__ strengths,
                                     const real *__restrict__ size2, uint count, Source *__restrict__ sources) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 vector = blockIdx.y;
    const real *strength = strengths + vector * STRENGTHS * count + k;
    Source source = no_source();
    source.x = positions[3 * (ulong64)k];
    source.y = positions[3 * (ulong64)k + 1];
    source.z = positions[3 * (ulong64)k + 2];
    set_strengths(source, strength, count);
#if FARFIELD_SIZES == 2
    source.size2 = size2[k];
#endif
    sources[vector * count + k] = source;
}
