#pragma once
#include "real.cuh"

// Permutes positions: permutation[k] is the old index of the k-th point.
extern "C" __global__ void permute_points(const real *__restrict__ positions, const uint *__restrict__ permutation, uint count,
                                        real *__restrict__ permuted) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 j = permutation[k];
    for (int axis = 0; axis < 3; ++axis) permuted[3 * (ulong64)k + axis] = positions[3 * j + axis];
}
