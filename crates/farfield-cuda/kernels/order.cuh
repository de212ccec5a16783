#pragma once
#include "real.cuh"

// Positions in another order: order[k] is where the k-th comes from.
extern "C" __global__ void order_points(const real *__restrict__ positions, const uint *__restrict__ order, uint count,
                                        real *__restrict__ ordered) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 j = order[k];
    for (int axis = 0; axis < 3; ++axis) ordered[3 * (ulong64)k + axis] = positions[3 * j + axis];
}
