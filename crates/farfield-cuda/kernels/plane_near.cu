// The near field of a plan of the plane that was made elsewhere. Points and strengths come in the plan's order, strengths part by
// part, core sizes squared.
#define FARFIELD_PLANE 1
#include "near.cuh"

extern "C" __global__ void pack_near(const complex *__restrict__ positions, const real *__restrict__ strengths,
                                     const real *__restrict__ size2, uint count, Source *__restrict__ sources) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    complex position = positions[k];
    Source source = {position.re, position.im, strengths[k], 0};
#if FARFIELD_COMPLEX
    source.extra = strengths[(ulong64)count + k];
#endif
#if FARFIELD_SIZES == 2
    source.extra = size2[k];
#endif
    sources[k] = source;
}
