// The precision of a program, `real`, and the reciprocal square root for pairs of points.
#pragma once

#ifndef FARFIELD_DOUBLE
#error "FARFIELD_DOUBLE is 0 for single and 1 for double precision"
#endif

typedef unsigned int uint;
typedef unsigned long long ulong64;

#if FARFIELD_DOUBLE
typedef double real;

// The hardware's estimate has about 20 correct bits. With e = 1 - x y^2, one cubic step y (1 + e/2 + 3 e^2/8) leaves
// an error below round-off. x = 0 gives NaN: see `is_positive`.
__device__ __forceinline__ real inverse_sqrt(real x) {
    real y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    real e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

// Whether a square is nonzero, from its exponent: an integer comparison leaves the double-precision unit free.
// Squares below 1e-308 count as zero.
__device__ __forceinline__ bool is_positive(real square) { return __double2hiint(square) >= 0x00100000; }
#else
typedef float real;

// The hardware's estimate has 23 correct bits; denormals are flushed to zero, which is a third faster. x = 0 gives
// infinity.
__device__ __forceinline__ real inverse_sqrt(real x) {
    real y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ bool is_positive(real square) { return square > 0.0f; }
#endif
