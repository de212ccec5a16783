// Products of small tiles on tensor cores.
//
// A single is split into two numbers of 11 bits each, a = a_hi + a_lo, and a b = a_hi b_hi + a_hi b_lo + a_lo b_hi:
// three products on the TF32 units are as accurate as one in single precision.
#pragma once
#include "real.cuh"

// The entries of a lane in a tile of 16 rows and 8 columns: lane 4 g + t holds rows g and g + 8 of column t, then of
// column t + 4.
#define FRAGMENT 4

struct Fragment {
    real a[FRAGMENT];
};

__device__ __forceinline__ Fragment load_fragment(const real *__restrict__ at) {
    Fragment f;
    const int4 *from = reinterpret_cast<const int4 *>(at);
    int4 words[sizeof(Fragment) / 16];
#pragma unroll
    for (int k = 0; k < sizeof(Fragment) / 16; ++k) words[k] = __ldg(from + k);
    memcpy(&f, words, sizeof f);
    return f;
}

#if FARFIELD_DOUBLE
// c (16 x 8) += a (16 x 8) b (8 x 8); the lane holds b of rows t and t + 4, column g.
__device__ __forceinline__ void multiply(real (&c)[4], const Fragment &f, real b0, real b1) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(f.a[0]), "d"(f.a[1]), "d"(f.a[2]), "d"(f.a[3]), "d"(b0), "d"(b1));
#else
    for (int half = 0; half < 2; ++half)
        for (int part = 0; part < 2; ++part)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                : "d"(f.a[half + 2 * part]), "d"(part == 0 ? b0 : b1));
#endif
}
#else
// Splits a number into the sum of two TF32 numbers; tensor cores ignore the last 13 bits. Integer additions round to
// nearest, four times as fast as the conversion instruction.
__device__ __forceinline__ void split(float value, uint &high, uint &low) {
    high = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
    low = __float_as_uint(value - __uint_as_float(high)) + 0x1000u;
}

// c (16 x 8) += a (16 x 8) b (8 x 8) with a and b rounded to TF32; the lane holds b of rows t and t + 4, column g.
__device__ __forceinline__ void tf32_product(float (&c)[4], const uint (&a)[4], const uint (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// c (16 x 8) += a (16 x 8) b (8 x 8) in single precision.
__device__ __forceinline__ void multiply(real (&c)[4], const Fragment &f, real b0, real b1) {
    uint a_high[4], a_low[4], b_high[2], b_low[2];
    split(b0, b_high[0], b_low[0]);
    split(b1, b_high[1], b_low[1]);
    for (int i = 0; i < 4; ++i) split(f.a[i], a_high[i], a_low[i]);
    // The small terms first.
    tf32_product(c, a_low, b_high);
    tf32_product(c, a_high, b_low);
    tf32_product(c, a_high, b_high);
}
#endif
