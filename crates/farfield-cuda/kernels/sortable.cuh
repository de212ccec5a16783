// Doubles as integers with the same order, whose maximum can be found by atomics; and the bounds of points.
#pragma once
#include "real.cuh"

// The result is never zero for finite numbers.
__device__ __forceinline__ ulong64 sort_key(double x) {
    long long bits = __double_as_longlong(x);
    return bits < 0 ? ~(ulong64)bits : (ulong64)bits | 0x8000000000000000ull;
}

__device__ __forceinline__ double from_sort_key(ulong64 bits) {
    return __longlong_as_double(bits & 0x8000000000000000ull ? (long long)(bits ^ 0x8000000000000000ull) : (long long)~bits);
}

// The largest coordinate and the largest negated coordinate along each axis; initially zero.
struct Bounds {
    ulong64 high[3], low[3];

    __device__ __forceinline__ void include(int axis, double c) {
        high[axis] = max(high[axis], sort_key(c));
        low[axis] = max(low[axis], sort_key(-c));
    }

    // Extends the bounds in global memory by those of all threads of the warp.
    __device__ __forceinline__ void widen(ulong64 *all_high, ulong64 *all_low) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int lane = 16; lane > 0; lane /= 2) {
                high[axis] = max(high[axis], __shfl_xor_sync(~0u, high[axis], lane));
                low[axis] = max(low[axis], __shfl_xor_sync(~0u, low[axis], lane));
            }
            if (threadIdx.x % 32 == 0) {
                atomicMax(&all_high[axis], high[axis]);
                atomicMax(&all_low[axis], low[axis]);
            }
        }
    }
};
